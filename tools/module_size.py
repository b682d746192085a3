"""Keep modules small: no tracked ``.py`` file outside ``tests/data`` may have more than 500 lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Iterator

LIMIT = 500
ROOT = Path(__file__).resolve().parent.parent
EXEMPT = ("tests", "data")


def tracked() -> list[Path]:
    """Return the tracked Python files, relative to the root; outside a checkout, those not in dot folders."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--", "*.py"]
    try:
        listing = subprocess.run(git, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
        return [path for path in found if not any(part.startswith(".") for part in path.parts)]
    return [Path(name) for name in listing.decode().split("\0") if name]


def too_long() -> Iterator[tuple[Path, int]]:
    """Yield each file above the limit with its number of lines."""
    for path in sorted(tracked()):
        if path.parts[:2] == EXEMPT or not (ROOT / path).is_file():
            continue
        lines = len((ROOT / path).read_bytes().splitlines())
        if lines > LIMIT:
            yield path, lines


def main() -> int:
    """Print the offenders; 1 if there are any."""
    offenders = list(too_long())
    for path, lines in offenders:
        print(f"{path}: {lines} lines, the limit is {LIMIT}")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
