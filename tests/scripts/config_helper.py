"""npu_config_proto around a config, a distributed optimizer with loss scaling, a saver, an evaluation session."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu.npu_loss_scale_manager import FixedLossScaleManager
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer

tf.disable_eager_execution() if hasattr(tf, "disable_eager_execution") else None


def model(training):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    hidden = npu_unary_ops.gelu(tf.matmul(x, tf.get_variable("w1", [3, 8])))
    if training:
        hidden = npu_ops.dropout(hidden, keep_prob=0.9)
    logits = tf.matmul(hidden, tf.get_variable("w2", [8, 2]))
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return x, y, loss, tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))


directory = tempfile.mkdtemp()
data = np.random.RandomState(1).randn(200, 3)
labels = (data.sum(1) > 0).astype(int)
with tf.Graph().as_default():
    x, y, loss, accuracy = model(True)
    optimizer = npu_tf_optimizer(tf.train.AdamOptimizer(0.05))
    optimizer = NPULossScaleOptimizer(optimizer, FixedLossScaleManager(loss_scale=128, enable_overflow_check=False))
    train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    saver = tf.train.Saver()
    with tf.Session(config=npu_config_proto(config_proto=tf.ConfigProto())) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(60):
            sess.run(train_op, {x: data, y: labels})
        saver.save(sess, os.path.join(directory, "model.ckpt"))
with tf.Graph().as_default():
    x, y, loss, accuracy = model(False)
    with tf.Session(config=npu_config_proto()) as sess:
        tf.train.Saver().restore(sess, os.path.join(directory, "model.ckpt"))
        print("accurate", bool(sess.run(accuracy, {x: data, y: labels}) > 0.9))
