"""What making, reading and checking a large rank table costs, beside ``json.load`` of the same file.

``python benchmarks/ranktable.py [--ranks 32768] [--rounds 5]``

Each round is a process of its own, so that its memory can be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import typing

READ_GOAL, MAKE_GOAL, MEMORY_GOAL = 1.5, 1.0, 300.0
DEVICES = 8


def timed(work: typing.Callable[[], typing.Any]) -> tuple[float, typing.Any]:
    """Return the seconds that something takes, and its result."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def measure(ranks: int, path: str) -> None:
    """Make, read and check once; print the numbers as JSON."""
    from npusession.hccl import RankTable

    hosts = {
        f"node_{server}": {device: f"10.{server >> 8}.{server & 255}.{device + 1}" for device in range(DEVICES)}
        for server in range(ranks // DEVICES)
    }
    making, _ = timed(lambda: RankTable.from_hosts(hosts).write(path, overwrite=True))
    reading, table = timed(lambda: RankTable.read(path))
    checking, report = timed(lambda: table.check("atlas-training"))
    assert table.size == ranks
    assert not list(report)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def load() -> object:
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    loading, _ = timed(load)
    text = table.text().replace('"rank_id": "1"', '"rank_id": "0"')
    finding, found = timed(lambda: RankTable.parse(text).check())
    assert len(found) == 1
    print(json.dumps([making, reading, checking, loading, finding, memory]))


def line(what: str, value: float, unit: str, goal: float) -> str:
    """Return a line with the verdict."""
    return f"{what:34} {value:8.2f} {unit}; goal <= {goal:g} {unit}: {'met' if value <= goal else 'missed'}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What large rank tables cost.")
    parser.add_argument("--ranks", type=int, default=32768, help="ranks in the table (default: 32768)")
    parser.add_argument("--rounds", type=int, default=5, help="processes to measure in (default: 5)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.ranks, args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rank_table.json")
        command = [sys.executable, os.path.abspath(__file__), "--ranks", str(args.ranks), "--measure", path]
        rounds = [json.loads(subprocess.check_output(command)) for _ in range(args.rounds)]
        size = os.path.getsize(path) / 2**20
    making, reading, checking, loading, finding, memory = (statistics.median(column) for column in zip(*rounds))
    print(f"{args.ranks} ranks, {size:.1f} MiB, medians of {args.rounds} processes\n")
    print(line("make and write", making, "s", MAKE_GOAL))
    print(line("read and check", reading + checking, "s", READ_GOAL))
    print(line("read and check, with a mistake", finding, "s", READ_GOAL))
    print(line("memory of all of it", memory, "MiB", MEMORY_GOAL))
    print(f"json.load takes {loading * 1e3:.0f} ms; read and check {(reading + checking) / loading:.0f} times as long")


if __name__ == "__main__":
    main()
