"""What ``import npusession``, and its option table alone, cost beyond a bare interpreter, in fresh processes.

``python benchmarks/import_time.py [--repeat 20]``
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time
import typing

GOAL, TABLE_GOAL = 60.0, 25.0
BARE, OURS = "pass", "import npusession"
#: The option table without the rest of the package, whose ``__init__`` imports the rest, too.
TABLE = (
    "import importlib.util, sys, types; package = types.ModuleType('npusession'); "
    "package.__path__ = importlib.util.find_spec('npusession').submodule_search_locations; "
    "sys.modules['npusession'] = package; import npusession.options.table"
)
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


def compared(base: str, code: str, repeat: int) -> list[tuple[float, float]]:
    """Return how many milliseconds more than ``base`` the code took each time; the two take turns."""
    differences = []
    for _ in range(repeat):
        took = {each: timed(each) for each in random.sample((base, code), 2)}
        differences.append((took[code][0] - took[base][0], took[code][1] - took[base][1]))
    return differences


def standard_modules(code: str) -> str:
    """Return code that imports what ``code`` imports of the standard library."""
    bare = modules(BARE)
    names = [name for name in modules(code) if name not in bare and name.partition(".")[0] != "npusession"]
    # A module may be one only for the module that imports it, such as os.path.
    return "import importlib.util, types, {}".format(", ".join(name for name in names if _importable(name)))


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def modules(code: str) -> dict[str, tuple[float, float]]:
    """Return the milliseconds that each module took by itself, and with what it imported first."""
    lines = LINE.findall(python("-X", "importtime", "-c", code).stderr)
    return {name: (int(alone) / 1e3, int(all_in_all) / 1e3) for alone, all_in_all, name in lines}


def middle(values: typing.Sequence[float]) -> str:
    """Return the median and the quartiles."""
    low, median, high = (sorted(values)[round(part * (len(values) - 1))] for part in (0.25, 0.5, 0.75))
    return f"{median:6.1f} ms, half of the times between {low:.1f} and {high:.1f} ms"


def line(what: str, values: typing.Sequence[float], goal: float) -> str:
    """Return a line with the verdict."""
    verdict = "met" if statistics.median(values) < goal else "missed"
    return f"{what:34} {middle(values)}; goal < {goal:.0f} ms: {verdict}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=20, help="processes of each kind (default: 20)")
    args = parser.parse_args()
    # The first import compiles the modules; what it says is which copy is measured.
    place = subprocess.check_output([sys.executable, "-c", f"{OURS}; print(npusession.__path__[0])"], text=True).strip()
    print(f"import npusession, beyond a bare Python {sys.version.split()[0]}, {args.repeat} times; {place}\n")
    wall, processor = zip(*compared(BARE, OURS, args.repeat))
    print(line("wall clock, against a bare process", wall, GOAL))
    print(line("processor time, likewise", processor, GOAL))
    bare = modules(BARE)
    runs = [modules(OURS) for _ in range(args.repeat)]
    print(line("as python -X importtime counts it", [run["npusession"][1] for run in runs], GOAL))
    print("\nthe option table alone, beyond a process that imports the same of the standard library\n")
    wall, processor = zip(*compared(standard_modules(TABLE), TABLE, args.repeat))
    print(line("wall clock", wall, TABLE_GOAL))
    print(line("processor time", processor, TABLE_GOAL))
    wall, _ = zip(*compared(BARE, TABLE, args.repeat))
    print(f"{'standard library included':34} {middle(wall)}")
    added = [name for name in runs[0] if name not in bare]
    alone = {name: statistics.median(run[name][0] for run in runs) for name in added}
    own = sum(took for name, took in alone.items() if name.partition(".")[0] == "npusession")
    print(f"\n{len(added)} modules are added; npusession's own take {own:.1f} of {sum(alone.values()):.1f} ms\n")
    print("    alone  with imports  the ten that take longest by themselves")
    for name in sorted(alone, key=lambda name: alone[name], reverse=True)[:10]:
        print(f"  {alone[name]:4.1f} ms  {statistics.median(run[name][1] for run in runs):9.1f} ms  {name}")


if __name__ == "__main__":
    main()
