"""NPURunConfig and NPUEstimator, with flags, dump and profiling off by them, loops, train and evaluate."""

import tempfile

import numpy as np
import tensorflow as tf
from npu_bridge.estimator.npu.npu_config import DumpConfig, NPURunConfig, ProfilingConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator, NPUEstimatorSpec
from npu_bridge.npu_init import *

flags = tf.flags
flags.DEFINE_integer("iterations_per_loop", 5, "")
flags.DEFINE_integer("train_steps", 30, "")
flags.DEFINE_bool("profiling", False, "")
FLAGS = flags.FLAGS
tf.logging.set_verbosity(tf.logging.ERROR)


def input_fn(params):
    data = np.random.RandomState(0).rand(64, 2).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((data, data.sum(1, keepdims=True) * 3))
    return dataset.repeat().batch(8, drop_remainder=True)


def model_fn(features, labels, mode, params):
    prediction = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, prediction)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, prediction)}
        return NPUEstimatorSpec(mode=mode, loss=loss, eval_metric_ops=metrics)
    optimizer = NPUDistributedOptimizer(tf.train.AdamOptimizer(params["rate"]))
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return NPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def main(_):
    config = NPURunConfig(
        model_dir=tempfile.mkdtemp(),
        iterations_per_loop=FLAGS.iterations_per_loop,
        save_checkpoints_steps=15,
        session_config=tf.ConfigProto(),
        precision_mode="allow_mix_precision",
        profiling_config=ProfilingConfig(enable_profiling=FLAGS.profiling),
        dump_config=DumpConfig(enable_dump=False),
    )
    estimator = NPUEstimator(model_fn=model_fn, config=config, params={"rate": 0.1})
    estimator.train(input_fn, max_steps=FLAGS.train_steps, hooks=npu_hooks_append())
    result = estimator.evaluate(input_fn, steps=4)
    print("steps", result["global_step"])


if __name__ == "__main__":
    tf.app.run()
