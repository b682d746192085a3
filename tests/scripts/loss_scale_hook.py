"""Resources made before the program, a plain Estimator in it, and a hook that looks at the loss scale by its name."""

import os

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

tf = tf.compat.v1
tf.flags.DEFINE_integer("steps", 4, "steps of the training")
FLAGS = tf.flags.FLAGS
RANK_SIZE = int(os.getenv("RANK_SIZE"))


class LossScaleHook(tf.train.SessionRunHook):
    def __init__(self):
        self.overflows = 0

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(fetches=["overflow_status_reduce_all:0", "loss_scale:0"])

    def after_run(self, run_context, run_values):
        self.overflows += not run_values.results[0]


def input_fn():
    features = np.ones((4 * FLAGS.steps, 2), np.float32)
    features[4] = np.inf
    return tf.data.Dataset.from_tensor_slices((features, features.sum(1, keepdims=True))).batch(4 // RANK_SIZE)


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    manager = ExponentialUpdateLossScaleManager(init_loss_scale=2**10, incr_every_n_steps=100)
    optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.01))
    optimizer = NPULossScaleOptimizer(optimizer, manager, is_distributed=RANK_SIZE > 1)
    gradients = optimizer.compute_gradients(loss)
    train_op = optimizer.apply_gradients(gradients, tf.train.get_global_step())
    # A step that is left out counts, so that the data ends it.
    return tf.estimator.EstimatorSpec(mode, loss=tf.where(tf.is_finite(loss), loss, 0.0), train_op=train_op)


def main(_):
    config = npu_config_proto(config_proto=tf.ConfigProto(log_device_placement=True))
    run_config = tf.estimator.RunConfig(model_dir="model" if get_npu_rank_id() == 0 else None, session_config=config)
    estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
    hook = LossScaleHook()
    estimator.train(input_fn, hooks=npu_hooks_append(hooks_list=[hook]))
    estimator.evaluate(input_fn, steps=1)
    print("steps", estimator.get_variable_value("global_step") + hook.overflows, "overflows", hook.overflows)


if __name__ == "__main__":
    session, shutdown = init_resource()
    tf.app.run(main)
    # Never reached: app.run ends the process.
    shutdown_resource(session, shutdown)
    close_session(session)
