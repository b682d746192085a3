"""Train a small network on scikit-learn's handwritten digits, with npu_bridge and without npusession.

npusession run examples/npu_bridge_digits.py    # on this machine's CPU, unmodified
python examples/npu_bridge_digits.py            # on an NPU

What a script for the adapter looks like, and one whose calls mypy checks, with the stubs in stubs/ installed.
"""

from __future__ import annotations

import argparse
import typing

import numpy as np
import tensorflow.compat.v1 as tf
from npu_bridge.estimator.npu.npu_scope import keep_dtype_scope
from npu_bridge.npu_init import (
    ExponentialUpdateLossScaleManager,
    NPULossScaleOptimizer,
    RewriterConfig,
    close_session,
    get_npu_rank_id,
    get_npu_rank_size,
    init_resource,
    npu_tf_optimizer,
    npu_unary_ops,
    shutdown_resource,
)
from sklearn.datasets import load_digits

SEED, BATCH, HIDDEN = 1, 64, 64


def configuration(precision_mode: str) -> tf.ConfigProto:
    """Return the configuration of a session on the NPU."""
    config = tf.ConfigProto(allow_soft_placement=True)
    options = config.graph_options.rewrite_options
    options.remapping = RewriterConfig.OFF
    options.memory_optimization = RewriterConfig.OFF
    custom = options.custom_optimizers.add()
    custom.name = "NpuOptimizer"
    custom.parameter_map["use_off_line"].b = True
    custom.parameter_map["precision_mode"].s = precision_mode.encode()
    return config


def dense(inputs: tf.Tensor, name: str, units: int) -> tf.Tensor:
    """Add a dense layer."""
    with tf.variable_scope(name):
        kernel = tf.get_variable(
            "kernel", [inputs.shape[-1], units], initializer=tf.glorot_uniform_initializer(seed=SEED)
        )
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
    return inputs @ kernel + bias


def train_op(loss: tf.Tensor, is_distributed: bool) -> tf.Operation:
    """Return the op of a step: gradients of the scaled loss, averaged over all ranks, clipped."""
    optimizer = tf.train.AdamOptimizer(0.002)
    scale = ExponentialUpdateLossScaleManager(
        init_loss_scale=2.0**15, incr_every_n_steps=1000, decr_every_n_nan_or_inf=2, decr_ratio=0.5
    )
    scaled = NPULossScaleOptimizer(
        npu_tf_optimizer(optimizer) if is_distributed else optimizer, scale, is_distributed=is_distributed
    )
    gradients, variables = zip(*scaled.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
    return scaled.apply_gradients(zip(clipped, variables))


def main(arguments: typing.Sequence[str] | None = None) -> None:
    """Train this rank's share of the images, and tell how many of them are read correctly."""
    parser = argparse.ArgumentParser(description="Train a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20, help="default: 20")
    parser.add_argument("--precision_mode", default="allow_mix_precision", help="default: allow_mix_precision")
    args = parser.parse_args(arguments)
    tf.disable_eager_execution()
    resource, shutdown = init_resource()
    rank, size = get_npu_rank_id(), get_npu_rank_size()

    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = (pixels / 16).astype(np.float32)[rank::size], digits.astype(np.int32)[rank::size]
    images = tf.placeholder(tf.float32, [None, 64])
    labels = tf.placeholder(tf.int32, [None])
    logits = dense(npu_unary_ops.gelu(dense(images, "hidden", HIDDEN)), "logits", 10)
    with keep_dtype_scope():
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels), tf.float32))
    step = train_op(loss, size > 1)

    random = np.random.RandomState(SEED)
    with tf.Session(config=configuration(args.precision_mode)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(args.epochs):
            for rows in np.array_split(random.permutation(len(pixels)), len(pixels) // BATCH):
                sess.run(step, {images: pixels[rows], labels: digits[rows]})
        print(f"rank {rank} of {size}: accuracy {sess.run(accuracy, {images: pixels, labels: digits}):.3f}")
    shutdown_resource(resource, shutdown)
    close_session(resource)


if __name__ == "__main__":
    main()
