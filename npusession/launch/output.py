"""Where the output of ranks goes: their log files, the terminal, and the lines to show when one fails."""

from __future__ import annotations

import collections
import os
import time
import typing

#: Bytes that a pipe takes at once whenever it takes any.
_CHUNK = 4096
#: Bytes that may wait for a terminal before ranks that it shows have to wait too.
_ENOUGH = 1 << 20
#: Bytes of a line that are shown before its end is there.
_LONGEST_LINE = 1 << 16
#: Bytes and lines of a rank that are kept to be shown when it fails.
_KEPT_BYTES, _KEPT_LINES = 1 << 14, 20
#: Seconds between two states of a progress bar that go to a terminal with prefixes.
_BAR_SECONDS = 5.0


class Terminal:
    """Output and error output of the launcher, written in turn and without ever waiting for their reader."""

    def __init__(self) -> None:
        self._queue: typing.Deque[tuple[int, memoryview]] = collections.deque()
        self._waiting = 0
        self._gone: set[int] = set()

    @property
    def next_descriptor(self) -> int | None:
        """The descriptor to write to next, ``None`` when nothing waits."""
        return self._queue[0][0] if self._queue else None

    @property
    def full(self) -> bool:
        """Whether so much waits that no more should come."""
        return self._waiting > _ENOUGH

    def put(self, data: bytes, descriptor: int = 1) -> None:
        """Add something to be written; once the reader of a descriptor is gone, that is nothing."""
        if data and descriptor not in self._gone:
            self._queue.append((descriptor, memoryview(data)))
            self._waiting += len(data)

    def write(self) -> None:
        """Write a piece of what waits, after the next descriptor was found ready."""
        descriptor, data = self._queue.popleft()
        self._waiting -= len(data)
        try:
            rest = data[os.write(descriptor, data[:_CHUNK]) :]
        except OSError:
            # A job that has run for days does not end because nobody watches any more.
            self._gone.add(descriptor)
            self._queue = collections.deque(item for item in self._queue if item[0] != descriptor)
            self._waiting = sum(len(waiting) for _, waiting in self._queue)
            return
        if rest:
            self._queue.appendleft((descriptor, rest))
            self._waiting += len(rest)


class Prefixed:
    """Whole lines of one rank with a prefix, for a terminal that shows several.

    Of a line that is overwritten again and again, as progress bars do with carriage returns, the last state is shown,
    and while it goes on one state every five seconds.
    """

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._rest = b""
        self._shown_at = time.monotonic()

    def feed(self, data: bytes) -> bytes:
        """Take in output; return the lines to show now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        shown = [_last_state(line) for line in lines]
        bar = _last_state(self._rest)
        # The carriage return of a line end that was cut into two is none of a bar.
        if len(self._rest) > _LONGEST_LINE or (b"\r" in self._rest[:-1] and self._bar_is_due()):
            shown.append(bar)
            self._rest = b""
        elif b"\r" in self._rest[:-1]:
            self._rest = b"\r" + bar
        if shown:
            self._shown_at = time.monotonic()
        return b"".join(self._prefix + line + b"\n" for line in shown)

    def end(self) -> bytes:
        """Return what was left without a line end."""
        return self.feed(b"\n") if self._rest.strip(b"\r") else b""

    def _bar_is_due(self) -> bool:
        return time.monotonic() - self._shown_at > _BAR_SECONDS


class Output:
    """What one rank writes: kept in its log, shown if it is to be shown, and its end remembered.

    Args:
        terminal: where it is shown.
        shown: whether it is.
        prefix: what each line begins with on the terminal; ``None`` to show the bytes as they come.
        log: path of the log file, to which a job adds.

    Raises:
        OSError: the log cannot be written.
    """

    def __init__(self, terminal: Terminal, shown: bool, prefix: str | None, log: str | None) -> None:
        self.shown = shown
        self._terminal = terminal
        self._lines = None if prefix is None else Prefixed(prefix.encode())
        self._log = None if log is None else open(log, "ab", buffering=0)  # noqa: SIM115 (open as long as the rank)
        self._tail = b""

    def feed(self, data: bytes) -> OSError | None:
        """Take in some output; return why the log takes no more, when that is so for the first time."""
        self._tail = (self._tail + data)[-_KEPT_BYTES:]
        if self.shown:
            self._terminal.put(data if self._lines is None else self._lines.feed(data))
        try:
            view = memoryview(data)
            while self._log is not None and view:
                view = view[self._log.write(view) :]
        except OSError as error:
            self._close_log()
            return error
        return None

    def close(self) -> None:
        """Show what was left without a line end, and close the log; a second call does nothing."""
        if self.shown and self._lines is not None:
            self._terminal.put(self._lines.end())
        self._close_log()

    def last_lines(self) -> list[bytes]:
        """Return the last lines, as a terminal would show them in the end."""
        return [_last_state(line) for line in self._tail.rstrip().split(b"\n")][-_KEPT_LINES:] if self._tail else []

    def _close_log(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            log.close()


def _last_state(line: bytes) -> bytes:
    return line.rstrip(b"\r").rpartition(b"\r")[2]
