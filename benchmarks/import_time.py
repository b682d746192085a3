"""What ``import npusession`` costs beyond a bare interpreter, measured in fresh processes.

``python benchmarks/import_time.py [--repeat 20]``
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time
import typing

GOAL = 60.0
BARE, OURS = "pass", "import npusession"
LINE = re.compile(r"import time: +(\d+) \| +(\d+) \| +(\S+)")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter anew."""
    # Modules are read compiled, as they are from the second import on.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, *arguments], env=environ, stderr=subprocess.PIPE, text=True, check=True)


def timed(code: str) -> tuple[float, float]:
    """Run ``code`` anew; return the milliseconds on the clock, and those of the processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    python("-c", code)
    end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    return (end - begin) * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def compared(repeat: int) -> list[tuple[float, float]]:
    """Return how many milliseconds more than a bare interpreter it took each time; the two take turns."""
    differences = []
    for _ in range(repeat):
        took = {code: timed(code) for code in random.sample((BARE, OURS), 2)}
        differences.append((took[OURS][0] - took[BARE][0], took[OURS][1] - took[BARE][1]))
    return differences


def modules(code: str) -> dict[str, tuple[float, float]]:
    """Return the milliseconds that each module took by itself, and with what it imported first."""
    lines = LINE.findall(python("-X", "importtime", "-c", code).stderr)
    return {name: (int(alone) / 1e3, int(all_in_all) / 1e3) for alone, all_in_all, name in lines}


def middle(values: typing.Sequence[float]) -> str:
    """Return the median and the quartiles."""
    low, median, high = (sorted(values)[round(part * (len(values) - 1))] for part in (0.25, 0.5, 0.75))
    return f"{median:6.1f} ms, half of the times between {low:.1f} and {high:.1f} ms"


def line(what: str, values: typing.Sequence[float]) -> str:
    """Return a line with the verdict."""
    verdict = "met" if statistics.median(values) < GOAL else "missed"
    return f"{what:34} {middle(values)}; goal < {GOAL:.0f} ms: {verdict}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=20, help="processes of each kind (default: 20)")
    args = parser.parse_args()
    # The first import compiles the modules; what it says is which copy is measured.
    place = subprocess.check_output([sys.executable, "-c", f"{OURS}; print(npusession.__path__[0])"], text=True).strip()
    print(f"import npusession, beyond a bare Python {sys.version.split()[0]}, {args.repeat} times; {place}\n")
    wall, processor = zip(*compared(args.repeat))
    print(line("wall clock, against a bare process", wall))
    print(line("processor time, likewise", processor))
    bare = modules(BARE)
    runs = [modules(OURS) for _ in range(args.repeat)]
    print(line("as python -X importtime counts it", [run["npusession"][1] for run in runs]))
    added = [name for name in runs[0] if name not in bare]
    alone = {name: statistics.median(run[name][0] for run in runs) for name in added}
    own = sum(took for name, took in alone.items() if name.partition(".")[0] == "npusession")
    print(f"\n{len(added)} modules are added; npusession's own take {own:.1f} of {sum(alone.values()):.1f} ms\n")
    print("    alone  with imports  the ten that take longest by themselves")
    for name in sorted(alone, key=lambda name: alone[name], reverse=True)[:10]:
        print(f"  {alone[name]:4.1f} ms  {statistics.median(run[name][1] for run in runs):9.1f} ms  {name}")


if __name__ == "__main__":
    main()
