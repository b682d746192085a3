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


#: Step, start, end, loss, phase.
_Step = typing.Tuple[int, float, float, typing.Optional[float], typing.Optional[str]]


class Record:
    """The record of one session, added to a file.

    A record never stops a training: when the file cannot be written any longer, one warning says so. Several sessions
    may write to a file at a time: whole lines are added, and each names its section.

    Args:
        path: the file, which is made if it is not there, with the directories on the way; a session adds its section
            to those that are in it.
        rank: this process's rank; ranks above 0 write beside the file, ``run.rank1.jsonl`` for ``run.jsonl``.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], rank: int = 0) -> None:
        self.path = path_of_rank(os.fspath(path), rank)
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        # Unbuffered and to be read, too: lines are gathered here, and a line that breaks off is not gone on with.
        self._file: typing.BinaryIO | None = open(self.path, "ab+", buffering=0)  # noqa: SIM115
        self._lines: list[str | _Step] = ["\n"] if _breaks_off(self._file) else []
        self._section = os.urandom(6).hex()
        #: When it began, by ``time.perf_counter``.
        self.started = self._flushed = time.perf_counter()
        self._time = time.time()

    def begin(self, **fields: object) -> None:
        """Begin the session's section."""
        self._write({"event": "session", "time": self._time, "process": os.getpid(), **fields})

    def stage(self, name: str, started: float, ended: float) -> None:
        """Add a part of the life cycle.

        Args:
            name: what was done.
            started: when, by ``time.perf_counter``.
            ended: when it was done.
        """
        self._write({"event": "stage", "name": name, "at": started - self.started, "seconds": ended - started})

    def warning(self, text: str) -> None:
        """Add what the training is warned of."""
        self._write({"event": "warning", "at": time.perf_counter() - self.started, "text": text})

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
        # This is done at every step, so that the line is left for later.
        self._lines.append((step, started, ended, loss, phase))
        if ended - self._flushed > _FLUSH_SECONDS:
            self._flushed = ended
            self._flush()

    def end(self, error: BaseException | None = None) -> None:
        """End the section and close the file; a second call does nothing."""
        shown = None if error is None else f"{type(error).__name__}: {error}".rstrip(": ")
        self._write({"event": "end", "at": time.perf_counter() - self.started, "error": shown})
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, fields: dict[str, object]) -> None:
        if self._file is not None:
            event = fields.pop("event")
            line = {"event": event, "section": self._section, **fields}
            self._lines.append(json.dumps(line, ensure_ascii=False) + "\n")
            self._flush()

    def _flush(self) -> None:
        """Add the lines to the file at once, so that those of other sessions do not come between."""
        lines, self._lines = self._lines, []
        texts = [line if isinstance(line, str) else self._step_line(*line) for line in lines]
        content = "".join(texts).encode("utf-8", "replace")
        try:
            while content and self._file is not None:
                content = content[self._file.write(content) :]
        except OSError as error:
            self._give_up(error)

    def _step_line(self, step: int, started: float, ended: float, loss: float | None, phase: str | None) -> str:
        shown = "null" if loss is None else f"{loss!r}" if math.isfinite(loss) else f'"{loss}"'
        kind = "null" if phase is None else f'"{phase}"'
        return (
            f'{{"event": "step", "section": "{self._section}", "step": {step}, "at": {started - self.started:.6f}, '
            f'"seconds": {ended - started:.7f}, "loss": {shown}, "phase": {kind}}}\n'
        )

    def _give_up(self, error: OSError) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
        warnings.warn(f"the record {self.path!r} is not written any further: {error}", RuntimeWarning, stacklevel=3)


def _breaks_off(file: typing.BinaryIO) -> bool:
    """Tell whether the last line of a file has no end, as a full disk or a crash leaves it."""
    if not file.seekable() or file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def path_of_rank(path: str, rank: int) -> str:
    """Return the file that a rank writes."""
    root, ending = os.path.splitext(path)
    return path if rank == 0 else f"{root}.rank{rank}{ending}"
