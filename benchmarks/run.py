"""What a run costs through npusession, as a multiple of ``tf.compat.v1.Session.run``.

``python benchmarks/run.py [--rounds 600] [--runs 50]``

Sessions are opened on an adapter that does nothing, put in the place of npu_bridge. So there is nothing but the wrapper
and TensorFlow, which runs a trivial graph on the CPU: the emulation's own work on each run would make the wrapper look
cheaper than it is. Both sides run the very same TensorFlow session, in short blocks that take turns in random order.
Each round of blocks gives one ratio; the table has their median and its 95 % confidence interval.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import random
import statistics
import sys
import time
import types
import typing

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow.compat.v1 as tf

from npusession import AcceleratedTraining, NpuSession

Block = typing.Callable[[int], None]


class Row(typing.NamedTuple):
    """One line of the table."""

    what: str
    goal: float | None
    bare: list[float]
    ours: list[float]


def install_adapter() -> None:
    """Put an adapter that does nothing in the place of npu_bridge and hccl."""

    def operation(name: str | None = None) -> typing.Any:
        return tf.no_op(name)

    operations = types.SimpleNamespace(initialize_system=operation, shutdown_system=operation)
    contents: dict[str, dict[str, object]] = {
        "npu_bridge": {},
        "npu_bridge.npu_init": {"npu_ops": operations},
        "hccl": {},
        "hccl.manage": {},
        "hccl.manage.api": {},
    }
    for name, names in contents.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(names)


def plain(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block of runs."""

    def block(runs: int) -> None:
        for _ in range(runs):
            session.run(fetch)

    return block


def counted(session: typing.Any, fetch: typing.Any) -> Block:
    """Return a block of runs in the loop over steps; blocks go on where the last one stopped."""
    steps = session.steps(progress=False)

    def block(runs: int) -> None:
        for _ in itertools.islice(steps, runs):
            session.run(fetch)

    return block


def measure(bare: Block, ours: Block, rounds: int, runs: int) -> tuple[list[float], list[float]]:
    """Return the microseconds per run of both in each round."""
    times: dict[Block, list[float]] = {bare: [], ours: []}
    for block in (bare, ours):
        block(runs)
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for block in random.sample([bare, ours], 2):
            begin = time.perf_counter()
            block(runs)
            times[block].append((time.perf_counter() - begin) / runs * 1e6)
    gc.enable()
    return times[bare], times[ours]
    

def table(row: Row) -> str:
    ratios = sorted(ours / bare for bare, ours in zip(row.bare, row.ours))
    reach = 0.98 * len(ratios) ** 0.5
    low, high = (ratios[int(len(ratios) / 2 + sign * reach)] for sign in (-1, 1))
    return f"{row.what:50} {statistics.median(row.bare):7.2f} {statistics.median(ratios):.4f}  {low:.4f}..{high:.4f} diff {statistics.median(o-b for o,b in zip(row.ours,row.bare)):.2f} us, of medians {statistics.median(row.ours)/statistics.median(row.bare):.4f} mins {min(row.ours)/min(row.bare):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--runs", type=int, default=50)
    args = parser.parse_args()
    install_adapter()
    with tf.Graph().as_default() as graph:
        fetch = tf.identity(tf.constant(1.0))
    print(sys.version.split()[0], tf.VERSION if hasattr(tf, "VERSION") else tf.version.VERSION)
    with NpuSession.for_training(device=0, graph=graph, backend="npu") as s:
        raw = s.__wrapped__
        print(table(Row("null", None, *measure(plain(raw, fetch), plain(raw, fetch), args.rounds, args.runs))))
        print(table(Row("run", 1.01, *measure(plain(raw, fetch), plain(s, fetch), args.rounds, args.runs))))
    total = (args.rounds + 1) * args.runs
    plan = NpuSession.for_training(device=0, graph=graph, backend="npu", accelerate=AcceleratedTraining.by_step(total))
    with plan as s:
        raw = s.__wrapped__
        print(table(Row("steps", 1.05, *measure(plain(raw, fetch), counted(s, fetch), args.rounds, args.runs))))
    with NpuSession.for_training(device=0, graph=graph, backend="npu") as s:
        raw = s.__wrapped__
        def counted2(session, fetch, total=total):
            steps = session.steps(total, progress=False)
            def block(runs: int) -> None:
                for _ in itertools.islice(steps, runs):
                    session.run(fetch)
            return block
        print(table(Row("steps, no accel", 1.05, *measure(plain(raw, fetch), counted2(s, fetch), args.rounds, args.runs))))


if __name__ == "__main__":
    main()
