"""Train a linear classifier of handwritten digits in each of the ways in which TensorFlow 1 code runs a graph.

python examples/frontends.py monitored                    # or supervisor, interactive, keras, estimator, npu_estimator
python examples/frontends.py monitored --backend fake     # on TensorFlow's CPU

The plan is the same for all of them. Where a TensorFlow does not have one of them any more, the error says so.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import typing

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf2
import tensorflow.compat.v1 as tf
from sklearn.datasets import load_digits

from npusession import AcceleratedTraining, LifecycleError, NpuSession, System

STEPS, BATCH = 240, 64
IMAGES, LABELS = load_digits(return_X_y=True)
IMAGES, LABELS = (IMAGES / 16).astype("float32"), LABELS.astype("int32")


def batches() -> typing.Any:
    """Return the images and their labels, shuffled, again and again."""
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).shuffle(2000, seed=1).repeat().batch(BATCH)


def model_fn(features: typing.Any, labels: typing.Any, mode: str) -> typing.Any:
    """Build the network, as an Estimator wants it and the others can use it."""
    kernel = tf.get_variable("kernel", [64, 10], initializer=tf.zeros_initializer())
    logits = tf.matmul(features, kernel)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, step)
    if mode == "graph":
        right = tf.equal(tf.argmax(tf.matmul(IMAGES, kernel), 1), LABELS)
        return train_op, step, tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def graph() -> typing.Any:
    """Build it with its input in the default graph: the train op, the step, the accuracy on all images."""
    features, labels = tf.data.make_one_shot_iterator(batches()).get_next()
    return model_fn(features, labels, "graph")


def monitored(plan: NpuSession) -> float:
    """MonitoredTrainingSession: hooks of the plan tell the runtime where the training is."""
    train_op, _, accuracy = graph()
    hooks = [tf.train.StopAtStepHook(last_step=STEPS)]
    with plan.monitored(checkpoint_dir=tempfile.mkdtemp(), hooks=hooks) as session:
        while not session.should_stop():
            _, found = session.run([train_op, accuracy])
    return float(found)


def supervisor(plan: NpuSession) -> float:
    """Supervisor: it runs no hooks, so the plan names what counts the steps."""
    train_op, step, accuracy = graph()
    plan = plan.replace(accelerate=AcceleratedTraining.by_step(STEPS, step=step, train_op=train_op))
    with plan.supervisor(tempfile.mkdtemp(), global_step=step) as (made, session):
        while not made.should_stop():
            session.run(train_op)
            if session.run(step) >= STEPS:
                made.request_stop()
        return float(session.run(accuracy))


def interactive(plan: NpuSession) -> float:
    """InteractiveSession: the default one from line to line, as in a notebook."""
    train_op, _, accuracy = graph()
    s = plan.interactive()
    try:
        tf.global_variables_initializer().run()
        for _ in s.steps(progress=False):
            train_op.run()
        return float(accuracy.eval())
    finally:
        s.close()


def keras(plan: NpuSession) -> float:
    """Keras: each fit tells the runtime where the training is; Keras' own session is back afterwards."""
    with plan.keras():
        model = tf2.keras.models.Sequential([tf2.keras.layers.Dense(10, "softmax", input_shape=(64,))])
        model.compile(tf2.keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=8, verbose=0)
        return float(model.evaluate(IMAGES, LABELS, verbose=0)[1])


def estimator(plan: NpuSession) -> float:
    """tf.estimator: the system is held around it, and initialised again between its phases."""
    with System(plan) as system:
        config = system.plan.run_config(model_dir=tempfile.mkdtemp(), save_checkpoints_steps=120)
        made = tf.estimator.Estimator(model_fn, config=config)
        made.train(batches, steps=STEPS, hooks=system.hooks())
        return float(made.evaluate(batches, steps=30)["accuracy"])


def npu_estimator(plan: NpuSession) -> float:
    """NPUEstimator of the adapter: the plan's options as the keywords of NPURunConfig."""
    os.environ.setdefault("JOB_ID", "digits")
    with System(plan) as system:
        config = system.plan.npu_run_config(model_dir=tempfile.mkdtemp(), save_checkpoints_steps=120)
        module = plan.ready().load("estimator.npu.npu_estimator")
        made = module.NPUEstimator(model_fn, config=config)
        made.train(batches, steps=STEPS, hooks=system.hooks())
        return float(made.evaluate(batches, steps=30)["accuracy"])


WAYS = {way.__name__: way for way in (monitored, supervisor, interactive, keras, estimator, npu_estimator)}


def main() -> None:
    """Train in the way that was asked for."""
    parser = argparse.ArgumentParser(description="Train a classifier in one of TensorFlow's ways.")
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--backend", choices=("npu", "fake"), help="default: npu if it can be imported, else fake")
    args = parser.parse_args()
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_step(STEPS), backend=args.backend)
    try:
        print(f"{args.way}: accuracy {WAYS[args.way](plan):.4f}")
    except LifecycleError as error:
        sys.exit(f"{args.way}: {error}")


if __name__ == "__main__":
    main()
