"""Progress of a loop: a bar on a terminal, log lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import typing

if typing.TYPE_CHECKING:
    from .state import TrainingState

logger = logging.getLogger("npusession")

#: Log lines per loop, where there is no terminal, and the most seconds between two of them.
_LINES = 10
_SECONDS = 60.0


@contextlib.contextmanager
def progress_of(
    training: TrainingState, first: int, total: int | None, shown: bool
) -> typing.Iterator[typing.Callable[[int], object]]:
    """Show the progress of a loop; yields the function to call with the number of steps after each run.

    Args:
        training: tells the loss, and the phase of accelerated training.
        first: steps made before the loop.
        total: steps when it is done, ``None`` when that is not known.
        shown: whether to show anything.
    """
    if not shown:
        yield _nothing
    elif sys.stderr.isatty():
        with _bar(training, first, total) as bar:
            yield bar.update
    else:
        yield _LogLines(training, first, total).advance


def _nothing(steps: int) -> None:
    pass


def _described(training: TrainingState) -> str:
    """Return the loss and the phase, as far as there are any."""
    words = [] if training.loss is None else [f"loss {training.loss:.4g}"]
    if training.acceleration is not None:
        words.append(training.acceleration.phase)
    return ", ".join(words)


def _bar(training: TrainingState, first: int, total: int | None) -> typing.Any:
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        @property
        def format_dict(self) -> typing.Any:
            # Asked for when the bar is drawn, which is far more rarely than a step is made.
            return {**super().format_dict, "postfix": _described(training)}

    return Bar(total=total, initial=first, unit="step", dynamic_ncols=True)


class _LogLines:
    """Writes a line every tenth of the loop, and every minute; with the rate since the last one."""

    def __init__(self, training: TrainingState, first: int, total: int | None) -> None:
        self._training = training
        self._total = total
        self._every = None if total is None else max(1, (total - first) // _LINES)
        self._done = self._last = first
        self._moment = time.monotonic()

    def advance(self, steps: int) -> None:
        self._done += steps
        made, now = self._done - self._last, time.monotonic()
        tenth = self._every is not None and made >= self._every
        if not (tenth or self._done == self._total or now - self._moment >= _SECONDS):
            return
        of = "" if self._total is None else f" of {self._total}"
        rate = made / max(now - self._moment, 1e-9)
        words = [f"step {self._done}{of}", f"{rate:.1f} steps/s", *filter(None, [_described(self._training)])]
        logger.info(", ".join(words))
        self._last, self._moment = self._done, now
