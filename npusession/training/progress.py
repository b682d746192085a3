"""Progress of a loop: a bar on a terminal, log lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import typing

logger = logging.getLogger("npusession")

#: Log lines per loop, where there is no terminal.
_LINES = 10


@contextlib.contextmanager
def progress_of(first: int, total: int, shown: bool) -> typing.Iterator[typing.Callable[[], object]]:
    """Show the progress of a loop; yields the function to call after each step.

    Args:
        first: steps made before the loop.
        total: steps when it is done.
        shown: whether to show anything.
    """
    if not shown:
        yield _nothing
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, initial=first, unit="step") as bar:
            yield bar.update
    else:
        yield _log_lines(first, total)


def _nothing() -> None:
    pass


def _log_lines(first: int, total: int) -> typing.Callable[[], None]:
    every = max(1, (total - first) // _LINES)
    started, done = time.perf_counter(), first

    def advance() -> None:
        nonlocal done
        done += 1
        if (done - first) % every == 0 or done == total:
            rate = (done - first) / max(time.perf_counter() - started, 1e-9)
            logger.info("step %d of %d, %.1f steps/s", done, total, rate)

    return advance
