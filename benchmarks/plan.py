"""What making and checking a plan costs, as a multiple of writing the same ConfigProto by hand.

``python benchmarks/plan.py [--rounds 200]``

Both sides end with a ConfigProto that carries the same options. They take turns in a random order; the table has the
medians, and the median of the ratios.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
import typing
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

from npusession import NpuSession
from npusession.options import TABLE, Scene, check
from npusession.options.kinds import Choice, Flag, IntChoice, Integer

GOAL = 5.0


def example(name: str) -> typing.Any:
    """Return a value for an option, the reference's default where it has one."""
    option = TABLE[name]
    default = option.default(Scene.TRAINING)
    if default is not None:
        return default
    kind = option.kind
    if isinstance(kind, (Choice, IntChoice)):
        return kind.values[0].value
    if isinstance(kind, Integer):
        return kind.minimum
    return True if isinstance(kind, Flag) else "/data/file"


def most_options() -> dict[str, typing.Any]:
    """Return as many options of a training as go together."""
    chosen: dict[str, typing.Any] = {}
    for name, option in TABLE.items():
        if Scene.TRAINING in option.scenes and not option.removed:
            _, report = check({**chosen, name: example(name)}, scene=Scene.TRAINING)
            if not report:
                chosen[name] = example(name)
    return chosen


def by_hand(options: typing.Mapping[str, typing.Any]) -> tf.ConfigProto:
    """Write the ConfigProto as scripts do."""
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    for name, value in options.items():
        if isinstance(value, bool):
            entry.parameter_map[name].b = value
        elif isinstance(value, int):
            entry.parameter_map[name].i = value
        else:
            entry.parameter_map[name].s = tf.compat.as_bytes(value)
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
    return config


def planned(options: typing.Mapping[str, typing.Any]) -> tf.ConfigProto:
    """Make a plan, which checks everything, and have it write the ConfigProto."""
    return NpuSession.for_training(**options).config_proto()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What making and checking a plan costs.")
    parser.add_argument("--rounds", type=int, default=200, help="times of each kind (default: 200)")
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    options = most_options()
    assert planned(options) == by_hand(options)
    times: dict[typing.Any, list[float]] = {by_hand: [], planned: []}
    for _ in range(rounds):
        for make in random.sample(list(times), 2):
            begin = time.perf_counter()
            make(options)
            times[make].append((time.perf_counter() - begin) * 1e3)
    ratio = statistics.median(took / base for took, base in zip(times[planned], times[by_hand]))
    print(f"{len(options)} options, {rounds} times each")
    for make, took in times.items():
        print(f"{make.__name__:10} {statistics.median(took):7.3f} ms")
    print(f"ratio {ratio:.2f}, goal <= {GOAL:g}: {'met' if ratio <= GOAL else 'missed'}")


if __name__ == "__main__":
    main()
