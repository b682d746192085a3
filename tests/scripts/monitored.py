"""A monitored session with a loop of steps, which ends by a hook."""

import tempfile

import numpy as np
import tensorflow as tf
from npu_bridge.estimator.npu import util
from npu_bridge.npu_init import *

tf.disable_eager_execution()
ITERATIONS = 10
data = np.random.RandomState(0).rand(50, 1).astype(np.float32)
features = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(data).repeat().batch(5)).get_next()
w = tf.get_variable("w", [1, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - 2 * features))
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=global_step)

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = ITERATIONS
custom_op.parameter_map["enable_data_pre_proc"].b = True
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF

iteration = util.IterationPerLoop()
train_op = iteration.create_iteration_per_loop_var(train_op)
hooks = [tf.train.StopAtStepHook(last_step=50), NpuEmptyHook()]
runs = 0
with tf.train.MonitoredTrainingSession(checkpoint_dir=tempfile.mkdtemp(), hooks=hooks, config=config) as sess:
    iteration.load_iteration_per_loop_var(sess, ITERATIONS)
    while not sess.should_stop():
        _, step = sess.run([train_op, global_step])
        runs += 1
print("runs", runs)
