"""Several steps per run, set on the session."""

import tensorflow as tf
from npu_bridge.estimator.npu import util
from npu_bridge.npu_init import *

tf.disable_eager_execution()
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=4.0)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w), global_step=step)
config = npu_config_proto()
custom_op = config.graph_options.rewrite_options.custom_optimizers[0]
custom_op.parameter_map["iterations_per_loop"].i = 10
custom_op.parameter_map["enable_data_pre_proc"].b = True
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    train_op = util.set_iteration_per_loop(sess, train_op, 10)
    for _ in range(4):
        sess.run(train_op)
    print("steps", sess.run(step))
