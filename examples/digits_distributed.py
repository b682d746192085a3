"""Train a network on scikit-learn's handwritten digits on several devices, each with its share of every batch.

npusession launch --fake --nproc 4 examples/digits_distributed.py    # four processes on this machine's CPU
npusession launch --devices 0-7 examples/digits_distributed.py       # eight devices of an NPU host
python examples/digits_distributed.py                                # one process, the whole batch

However many there are, the loss is the same: the average over the whole batch.
"""

from __future__ import annotations

import argparse
import os
import types
import typing

# TensorFlow reads it while it is imported. What your shell has set goes first.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf
from sklearn.datasets import load_digits

from npusession import NpuSession, hccl

SEED, BATCH = 1, 96


def build() -> types.SimpleNamespace:
    """Build the network; HCCL is initialised, since its operations need to know the ranks."""
    images = tf.placeholder(tf.float32, [None, 64])
    labels = tf.placeholder(tf.int32, [None])
    with tf.variable_scope("digits", initializer=tf.glorot_uniform_initializer(seed=SEED)):
        hidden = tf.nn.relu(images @ tf.get_variable("hidden", [64, 64]))
        logits = hidden @ tf.get_variable("output", [64, 10])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    optimizer = hccl.distributed_optimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    return types.SimpleNamespace(
        images=images,
        labels=labels,
        train_op=optimizer.minimize(loss),
        loss=hccl.mean(loss),
        correct=tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels),
        initialize=tf.global_variables_initializer(),
        broadcast=hccl.broadcast_variables(root=0),
    )


def main(arguments: typing.Optional[typing.Sequence[str]] = None) -> None:
    """Do it all."""
    parser = argparse.ArgumentParser(description="Train on several devices.")
    parser.add_argument("--steps", type=int, default=200, help="training steps (default: 200)")
    args = parser.parse_args(arguments)
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    rows = np.random.RandomState(SEED).randint(len(images), size=(args.steps, BATCH))
    plan = NpuSession.for_training()
    with hccl.init(plan), tf.Graph().as_default() as graph:
        rank, size = hccl.rank(), hccl.size()
        if BATCH % size:
            raise SystemExit(f"a batch of {BATCH} cannot be shared by {size} ranks")
        net = build()
        with plan.replace(graph=graph) as s:
            s.run(net.initialize)
            s.run(net.broadcast)
            loss = float("nan")
            for step in s.steps(args.steps, progress=rank == 0):
                share = rows[step][rank::size]
                _, loss = s.run([net.train_op, net.loss], {net.images: images[share], net.labels: labels[share]})
            correct = s.run(net.correct, {net.images: images, net.labels: labels})
            if rank == 0:
                print(f"{size} ranks on {s.backend.name}: loss {loss:.6f}, accuracy {np.mean(correct):.4f}", flush=True)


if __name__ == "__main__":
    main()
