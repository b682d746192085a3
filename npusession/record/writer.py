"""Writing a record while a session runs."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
import typing
import warnings

#: Seconds after which lines that were written reach the file, so that one can watch a training.
_FLUSH_SECONDS = 1.0


class Record:
    """The record of one session, added to a file.

    A record never stops a training: when the file cannot be written any longer, one warning says so.

    Args:
        path: the file, which is made if it is not there; a session adds its section to those that are in it.
        rank: this process's rank; ranks above 0 write beside the file, ``run.rank1.jsonl`` for ``run.jsonl``.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], rank: int = 0) -> None:
        self.path = path_of_rank(os.fspath(path), rank)
        self._file: typing.TextIO | None = open(self.path, "a", encoding="utf-8")  # noqa: SIM115
        self._start = self._flushed = time.perf_counter()

    def begin(self, **fields: object) -> None:
        """Begin the session's section."""
        self._start = time.perf_counter()
        self._write({"event": "session", "time": time.time(), "process": os.getpid(), **fields})

    def stage(self, name: str, started: float, ended: float) -> None:
        """Add a part of the life cycle.

        Args:
            name: what was done.
            started: when, by ``time.perf_counter``.
            ended: when it was done.
        """
        self._write({"event": "stage", "name": name, "at": started - self._start, "seconds": ended - started})

    def step(self, step: int, started: float, ended: float, loss: float | None, phase: str | None) -> None:
        """Add a step.

        Args:
            step: its number, from 0.
            started: when it began, by ``time.perf_counter``.
            ended: when it was done.
            loss: the loss, if it is known.
            phase: ``"low"`` or ``"original"`` precision under accelerated training.
        """
        if self._file is None:
            return
        # Composed by hand: this is done at every step.
        shown = "null" if loss is None else f"{loss!r}" if math.isfinite(loss) else f'"{loss}"'
        kind = "null" if phase is None else f'"{phase}"'
        text = (
            f'{{"event": "step", "step": {step}, "at": {started - self._start:.6f}, '
            f'"seconds": {ended - started:.7f}, "loss": {shown}, "phase": {kind}}}\n'
        )
        try:
            self._file.write(text)
            if ended - self._flushed > _FLUSH_SECONDS:
                self._flushed = ended
                self._file.flush()
        except OSError as error:
            self._give_up(error)

    def end(self, error: BaseException | None = None) -> None:
        """End the section and close the file; a second call does nothing."""
        shown = None if error is None else f"{type(error).__name__}: {error}"
        self._write({"event": "end", "at": time.perf_counter() - self._start, "error": shown})
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, fields: dict[str, object]) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(fields, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        file, self._file = self._file, None
        if file is not None:
            # Closing tries to write once more what it holds.
            with contextlib.suppress(OSError):
                file.close()
        warnings.warn(f"the record {self.path!r} is not written any further: {error}", RuntimeWarning, stacklevel=3)


def path_of_rank(path: str, rank: int) -> str:
    """Return the file that a rank writes."""
    root, ending = os.path.splitext(path)
    return path if rank == 0 else f"{root}.rank{rank}{ending}"
