"""Initialisation by init_resource, ranks, a split of gradients, shutdown at the end."""

import numpy as np
import tensorflow as tf
from hccl.split.api import set_split_strategy_by_idx
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_init import *

tf.disable_eager_execution()
npu_int, npu_shutdown = init_resource()
rank, size = get_npu_rank_id(), get_npu_rank_size()
set_split_strategy_by_idx([1, 2])
dataset = tf.data.Dataset.from_tensor_slices(np.arange(8, dtype=np.float32)).shard(size, rank).repeat().batch(2)
value = tf.data.make_one_shot_iterator(dataset).get_next()
w = tf.get_variable("w", initializer=1.0)
loss = tf.reduce_mean(tf.square(value * w))
mean = hccl_ops.allreduce(loss, "sum") / size
train_op = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.01)).minimize(loss)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run([train_op, mean])
print("rank", rank, "of", size, get_npu_local_rank_id(), get_npu_local_rank_size())
shutdown_resource(npu_int, npu_shutdown)
close_session(npu_int)
