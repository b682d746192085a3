"""A Supervisor's managed session, and contrib modules as scripts of 1.15 import them."""

import tempfile

import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.contrib import slim
from tensorflow.contrib.layers import xavier_initializer

x = tf.random_normal([8, 4])
net = slim.fully_connected(x, 2, weights_initializer=xavier_initializer())
loss = tf.reduce_mean(tf.square(net))
step = slim.get_or_create_global_step()
train_op = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(), global_step=step)
supervisor = tf.train.Supervisor(logdir=tempfile.mkdtemp(), global_step=step, save_summaries_secs=0)
with supervisor.managed_session(config=npu_config_proto()) as sess:
    while not supervisor.should_stop():
        sess.run(train_op)
        if sess.run(step) >= 5:
            supervisor.request_stop()
print("done")
