"""A ConfigProto written out, and a session that is never closed."""

import argparse

import numpy as np
import tensorflow as tf
from npu_bridge.estimator import npu_ops  # noqa: F401
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

tf = tf.compat.v1
tf.disable_eager_execution()
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--precision_mode", default="allow_mix_precision")
args = parser.parse_args()

x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)

config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(args.precision_mode)
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF

sess = tf.Session(config=config)
sess.run(tf.global_variables_initializer())
rng = np.random.RandomState(0)
for epoch in range(args.epochs):
    data = rng.rand(32, 4)
    _, value = sess.run([train_op, loss], {x: data, y: data.sum(1, keepdims=True)})
    print("epoch", epoch, "loss decreasing" if value < 3 else value)
