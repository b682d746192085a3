"""What a run costs through npusession, as a multiple of what ``tf.compat.v1.Session.run`` takes.

``python benchmarks/run.py [--rounds 1500] [--runs 25]``

Nothing but the wrapper differs between the two sides. Sessions open on an adapter that does nothing, which stands in
for npu_bridge: the work that the fake backend does on each run would make the wrapper look cheaper than it is. Both
sides run the very same TensorFlow session, with a trivial graph on the CPU, which is the wrapper's worst case. They
take turns in short blocks, in a new random order each round, and each round gives a ratio. The table has the median of
these ratios with its 95 % confidence interval, and the bare session once more, compared with itself, for the noise.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
import types
import typing

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow.compat.v1 as tf

import npusession
from npusession import AcceleratedTraining, NpuSession

#: Makes as many runs as it is told.
Block = typing.Callable[[int], None]
BARE = "Session.run"


def install_adapter() -> None:
    """Put an adapter that does nothing in the place of npu_bridge and hccl, for this process."""
    operations = types.SimpleNamespace(initialize_system=tf.no_op, shutdown_system=tf.no_op)
    contents: dict[str, dict[str, object]] = {
        "npu_bridge": {},
        "npu_bridge.npu_init": {"npu_ops": operations, "util": types.SimpleNamespace()},
        "hccl": {},
        "hccl.manage": {},
        "hccl.manage.api": {},
    }
    for name, names in contents.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(names)


def plain(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block that just runs."""

    def block(runs: int) -> None:
        for _ in range(runs):
            session.run(fetch)

    return block


def counted(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block that runs in the loop over steps, each block going on where the last one stopped."""
    steps = session.steps(progress=False)

    def block(runs: int) -> None:
        for _ in itertools.islice(steps, runs):
            session.run(fetch)

    return block


def prepared(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block that runs what was prepared."""
    step = session.prepare(fetch)

    def block(runs: int) -> None:
        for _ in range(runs):
            step()

    return block


def prepared_and_counted(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block that runs what was prepared in the loop over steps."""
    step, steps = session.prepare(fetch), session.steps(progress=False)

    def block(runs: int) -> None:
        for _ in itertools.islice(steps, runs):
            step()

    return block


def lasting(session: typing.Any, fetch: typing.Any, total: int) -> Block:
    """Return a block of steps that last 1 ms each and report a loss, in one loop over all blocks."""
    step, steps, clock = session.prepare(fetch), session.steps(total, progress=False), time.perf_counter

    def block(runs: int) -> None:
        for _ in itertools.islice(steps, runs):
            end = clock() + 1e-3
            session.report(loss=step())
            while clock() < end:
                pass

    return block


def lasting_runs(session: typing.Any, train: typing.Any) -> Block:
    """Return a block of runs that no loop counts, with 0.9 ms of other work after each."""
    clock = time.perf_counter

    def block(runs: int) -> None:
        for _ in range(runs):
            session.run(train)
            end = clock() + 0.9e-3
            while clock() < end:
                pass

    return block


def fed(run: typing.Callable[[typing.Any], object], value: typing.Any) -> Block:
    """Return a block that feeds a value."""

    def block(runs: int) -> None:
        for _ in range(runs):
            run(value)

    return block


def measure(blocks: typing.Mapping[str, Block], rounds: int, runs: int) -> dict[str, list[float]]:
    """Return for each kind of block the microseconds per run, round by round."""
    times: dict[str, list[float]] = {name: [] for name in blocks}
    for block in blocks.values():
        block(runs)
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name in random.sample(list(blocks), len(blocks)):
            begin = time.perf_counter()
            blocks[name](runs)
            times[name].append((time.perf_counter() - begin) / runs * 1e6)
    gc.enable()
    return times


def median(values: typing.Sequence[float]) -> tuple[float, float, float]:
    """Return the median, and the ends of its 95 % confidence interval: order statistics, whatever the distribution."""
    ordered, half = sorted(values), 0.98 * len(values) ** 0.5
    low, high = (ordered[round((len(ordered) - 1) / 2 + side)] for side in (-half, half))
    return statistics.median(ordered), low, high


def table(times: typing.Mapping[str, typing.Sequence[float]], goals: typing.Mapping[str, float]) -> None:
    """Print a line for each kind of block; the first one is what the others are measured by."""
    first, *others = times
    print(f"{first:44} {statistics.median(times[first]):7.1f}")
    for name in others:
        ratio, low, high = median([took / base for took, base in zip(times[name], times[first])])
        line = f"{name:44} {statistics.median(times[name]):7.1f}   {ratio:.3f}   {low:.3f} to {high:.3f}"
        if name in goals:
            goal = goals[name]
            verdict = "met" if high <= goal else "missed" if low > goal else "too close to call"
            line += f"   <= {goal:.2f}: {verdict}"
        print(line)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=1500, help="blocks of each kind (default: 1500)")
    parser.add_argument("--runs", type=int, default=25, help="runs in a block (default: 25)")
    args = parser.parse_args()
    install_adapter()
    with tf.Graph().as_default() as graph:
        fetch = tf.identity(tf.constant(1.0))
        placeholder = tf.placeholder(tf.float32, (8,))
        double = placeholder * 2.0
        counter = tf.get_variable("counter", (), tf.int64, tf.zeros_initializer(), use_resource=True)
        train = tf.group(tf.assign_add(counter, 1))
        # As an optimizer of TensorFlow leaves it.
        tf.add_to_collection(tf.GraphKeys.TRAIN_OP, train)
        initialize = tf.global_variables_initializer()
    print(f"npusession {npusession.__version__} in {npusession.__path__[0]}")
    print(f"Python {sys.version.split()[0]}, TensorFlow {tf.version.VERSION}, load {os.getloadavg()[0]:.1f}", end="; ")
    print(f"{args.rounds} rounds of {args.runs} runs each\n")
    print(f"{'':44}  us/run   ratio   95 % interval    goal")

    total = 2 * (args.rounds + 1) * args.runs
    plan = NpuSession.for_training(device=0, graph=graph, backend="npu")
    with plan as s:
        bare = s.__wrapped__
        times = measure(
            {
                BARE: plain(bare, fetch),
                f"{BARE}, once more": plain(bare, fetch),
                "s.run": plain(s, fetch),
                "s.prepare": prepared(s, fetch),
            },
            args.rounds,
            args.runs,
        )
        table(times, {"s.run": 1.01, "s.prepare": 0.6})
        value = np.ones(8, "float32")
        times = measure(
            {
                f"{BARE} with a feed": fed(lambda value: bare.run(double, {placeholder: value}), value),
                "s.prepare with a feed": fed(s.prepare(double, [placeholder]), value),
                "s.prepare with a list to feed": fed(s.prepare(double, [placeholder]), value.tolist()),
            },
            args.rounds,
            args.runs,
        )
        table(times, {"s.prepare with a feed": 0.6})
    with plan.replace(accelerate=AcceleratedTraining.by_step(total)) as s:
        bare = s.__wrapped__
        times = measure(
            {
                BARE: plain(bare, fetch),
                "s.run for each of s.steps()": counted(s, fetch),
                "s.prepare for each of s.steps()": prepared_and_counted(s, fetch),
            },
            args.rounds,
            args.runs,
        )
        table(times, {"s.run for each of s.steps()": 1.05, "s.prepare for each of s.steps()": 0.7})
    for what, step in (("counting its runs", None), ("fetching the step", counter)):
        accelerate = AcceleratedTraining.by_step(total, step=step, train_op=train)
        # The session's own method is the one that follows the train op, so the bare one is that of another session.
        with plan.replace(accelerate=accelerate) as s, tf.Session(graph=graph, config=plan.config_proto()) as bare:
            s.run(initialize)
            bare.run(initialize)
            times = measure(
                {
                    f"{BARE} of a train op": plain(bare, train),
                    f"s.run, {what}": plain(s, train),
                    f"s.prepare, {what}": prepared(s, train),
                },
                args.rounds,
                args.runs,
            )
            table(times, {f"s.prepare, {what}": 0.7})
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "run.jsonl")
        with plan as s, plan.replace(record=record) as recorded:
            times = measure(
                {
                    "steps of 1 ms": lasting(s, fetch, total),
                    "steps of 1 ms, once more": lasting(s, fetch, total),
                    "steps of 1 ms with a record": lasting(recorded, fetch, total),
                },
                args.rounds // 5,
                args.runs,
            )
            table(times, {"steps of 1 ms with a record": 1.02})
            s.run(initialize)
            recorded.run(initialize)
            times = measure(
                {
                    "runs of 1 ms": lasting_runs(s, train),
                    "runs of 1 ms, once more": lasting_runs(s, train),
                    "runs of 1 ms with a record": lasting_runs(recorded, train),
                },
                args.rounds // 5,
                args.runs,
            )
            table(times, {"runs of 1 ms with a record": 1.02})


if __name__ == "__main__":
    main()
