"""Train a small convolutional network on scikit-learn's handwritten digits, then freeze it and serve it.

python examples/digits.py                   # on the NPU, or if there is none on the fake backend, with a warning
python examples/digits.py --backend fake    # on the fake backend: TensorFlow's CPU, and no warning

One file for TensorFlow 1.15 and 2.x. What npusession adds to a TensorFlow 1 script is in `train` and `serve`.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import tempfile
import time
import types
import typing
from pathlib import Path

# TensorFlow reads these while it is imported. What your shell has set goes first.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow.compat.v1 as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from npusession import AcceleratedTraining, Dump, NpuSession, Profiling

# Only to show what the fake backend logged; a script of yours has no use for it.
from npusession.testing import FakeNpu

SEED, BATCH, FRACTION = 1, 64, 0.9
#: The phases of the program so far, each with the moment that it ended.
Laps = typing.List[typing.Tuple[str, float]]


def load() -> types.SimpleNamespace:
    """Return 1437 images to train on and 360 to test on, 8 x 8 with values from 0 to 1, and their labels."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    parts = train_test_split(images, labels.astype(np.int32), test_size=0.2, stratify=labels, random_state=SEED)
    return types.SimpleNamespace(images=parts[0], test_images=parts[1], labels=parts[2], test_labels=parts[3])


def layer(inputs: tf.Tensor, *shape: int) -> tf.Tensor:
    """Add a convolution if `shape` has four dimensions, else a dense layer."""
    with tf.variable_scope(None, default_name="layer"):
        kernel = tf.get_variable("kernel", shape, initializer=tf.glorot_uniform_initializer(seed=SEED))
        bias = tf.get_variable("bias", shape[-1:], initializer=tf.zeros_initializer())
    return bias + (tf.nn.conv2d(inputs, kernel, [1, 1, 1, 1], "SAME") if len(shape) == 4 else inputs @ kernel)


def build() -> types.SimpleNamespace:
    """Build the network, in a graph of its own so that it does not matter whether TensorFlow executes eagerly."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
        labels = tf.placeholder(tf.int32, [None])
        maps = tf.nn.max_pool2d(tf.nn.relu(layer(images, 3, 3, 1, 16)), 2, 2, "SAME")
        maps = tf.nn.relu(layer(maps, 3, 3, 16, 32))
        hidden = tf.nn.relu(layer(tf.reshape(maps, [-1, 4 * 4 * 32]), 4 * 4 * 32, 64))
        logits = layer(hidden, 64, 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        return types.SimpleNamespace(
            graph=graph,
            images=images,
            labels=labels,
            loss=loss,
            train_op=tf.train.AdamOptimizer(0.002).minimize(loss),
            digits=tf.argmax(logits, axis=1, name="digits"),
            initializer=tf.global_variables_initializer(),
            saver=tf.train.Saver(),
        )


def train(args: argparse.Namespace, data: types.SimpleNamespace, laps: Laps) -> typing.Tuple[str, float, tf.GraphDef]:
    """Train; return the backend's name, the accuracy on the test images, and the frozen graph."""
    net = build()
    # Whatever is wrong with a plan is reported here, all of it at once, and before the device is touched.
    plan = NpuSession.for_training(
        device=0,
        graph=net.graph,
        dump=Dump(args.output / "dump", steps=args.steps // 2, mode="all"),
        profiling=Profiling(output=args.output / "profile", training_trace=True, task_time="l1"),
        accelerate=AcceleratedTraining.by_step(total_steps=args.steps, dtype="float16", fraction=FRACTION),
        backend=args.backend,
        record=args.output / "run.jsonl",
    )
    rows = np.random.RandomState(SEED).randint(len(data.images), size=(args.steps, BATCH))
    laps.append(("plan", time.perf_counter()))
    # Entering it initialises the device and opens the session; leaving it undoes both, whatever happens in between.
    with plan as s:
        laps.append(("open", time.perf_counter()))
        s.run(net.initializer)
        laps.append(("first run", time.perf_counter()))
        # The loop knows its length from the plan, and tells the runtime where the training is.
        for step in s.steps():
            feeds = {net.images: data.images[rows[step]], net.labels: data.labels[rows[step]]}
            _, loss = s.run((net.train_op, net.loss), feeds)
            s.report(loss=loss)
        laps.append(("training", time.perf_counter()))
        digits = s.run(net.digits, {net.images: data.test_images})
        # `s` is taken wherever TensorFlow takes a session.
        net.saver.save(s, str(args.output / "model" / "digits"), global_step=args.steps)
        frozen = tf.graph_util.convert_variables_to_constants(s, net.graph.as_graph_def(), ["digits"])
        laps.append(("test and save", time.perf_counter()))
    laps.append(("close", time.perf_counter()))
    return s.backend.name, float(np.mean(digits == data.test_labels)), frozen


def serve(args: argparse.Namespace, data: types.SimpleNamespace, frozen: tf.GraphDef, laps: Laps) -> float:
    """Run the frozen graph on the test images; return the accuracy."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen, name="")
    tf.io.write_graph(frozen, str(args.output / "model"), "frozen.pb", as_text=False)
    with NpuSession.for_inference(device=0, graph=graph, backend=args.backend) as s:
        laps.append(("open to serve", time.perf_counter()))
        digits = s.run("digits:0", {"images:0": data.test_images})
        laps.append(("serving", time.perf_counter()))
    laps.append(("close", time.perf_counter()))
    return float(np.mean(digits == data.test_labels))


def precision(steps: int, fake: bool, training_began: float) -> str:
    """Tell for how many steps the training ran in low precision."""
    # The runtime computes this in single precision. The last step is always one in the graph's own precision.
    expected = min(int(np.float32(steps) * np.float32(FRACTION)), steps - 1)
    if not fake:
        return f"float16 is expected for the first {expected} of {steps} steps, then the graph's own"
    names = [event.name for event in FakeNpu().events if event.seconds >= training_began]
    low = names[: names.index("precision")].count("run")
    logged = f"float16 for the first {low} of {steps} steps by the fake backend's log (expected: {expected})"
    return logged + "; the CPU computed in float32"


def logged(begin: float, end: float, start: float) -> str:
    """Return what the fake backend logged from `begin` to `end`, with the number of seconds since `start`."""
    events = [event for event in FakeNpu().events if begin <= event.seconds < end]
    shown = []
    for (name, session), group in itertools.groupby(events, lambda event: (event.name, event.session)):
        first, *others = group
        numbered = name + (f" #{session}" if session else "")
        special = {"run": f"{1 + len(others)} x run", "precision": "precision " + first.detail.rpartition(": ")[2]}
        shown.append(f"{special.get(name, numbered)} {first.seconds - start:.2f}")
    return ", ".join(shown)


def report(args: argparse.Namespace, backend: str, laps: Laps) -> None:
    """Print when precision changed, where the results are, and what happened when."""
    fake = backend == "fake"
    print("precision   ", precision(args.steps, fake, dict(laps)["first run"]))
    for name in ("dump", "profile", "model"):
        files = sum(path.is_file() for path in (args.output / name).rglob("*"))
        print(f"{name:12} {args.output / name} (files: {files})")
    print("record      ", args.output / "run.jsonl", "(npusession report makes a page of it)")
    print("life cycle    seconds" + ("    by the fake backend's log: event, session and time" if fake else ""))
    for (_, begin), (phase, end) in zip(laps, laps[1:]):
        print(f"  {phase:15} {end - begin:5.2f}  {logged(begin, end, laps[0][1])}".rstrip())


def main(arguments: typing.Optional[typing.Sequence[str]] = None) -> None:
    """Do it all."""
    parser = argparse.ArgumentParser(description="Train, freeze and serve a network that reads handwritten digits.")
    parser.add_argument("--steps", type=int, default=400, help="training steps (default: 400)")
    parser.add_argument("--output", type=Path, help="a new or empty directory (default: a temporary one)")
    parser.add_argument("--backend", choices=("npu", "fake"), help="default: npu if it can be imported, else fake")
    args = parser.parse_args(arguments)
    args.output = (args.output or Path(tempfile.mkdtemp(prefix="digits-"))).resolve()
    if args.output.exists() and any(args.output.iterdir()):
        parser.error(f"{args.output} is not empty")
    for name in ("dump", "model"):
        (args.output / name).mkdir(parents=True)
    # Where there is no terminal for a progress bar, npusession logs the progress at the level INFO.
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    tf.logging.set_verbosity(tf.logging.ERROR)
    data = load()
    laps = [("", time.perf_counter())]
    backend, trained, frozen = train(args, data, laps)
    served = serve(args, data, frozen, laps)
    print("backend     ", backend + (": TensorFlow's CPU in the place of the device" if backend == "fake" else ""))
    print(f"accuracy     {trained:.4f} trained, {served:.4f} served, on {len(data.test_labels)} images")
    report(args, backend, laps)


if __name__ == "__main__":
    main()
