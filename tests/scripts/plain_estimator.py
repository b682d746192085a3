"""A plain Estimator whose RunConfig is made fit by npu_run_config_init."""

import tempfile

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode):
    prediction = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, prediction)
    train_op = npu_tf_optimizer(tf.train.AdamOptimizer(0.1)).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = np.random.rand(32, 2).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": data}, data.sum(1, keepdims=True))).repeat().batch(8)


run_config = tf.estimator.RunConfig(
    model_dir=tempfile.mkdtemp(), session_config=tf.ConfigProto(allow_soft_placement=True), save_checkpoints_steps=10
)
estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=20, hooks=npu_hooks_append()),
    tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=0),
)
print("steps", estimator.get_variable_value("global_step"))
