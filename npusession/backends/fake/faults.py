"""Faults that a test plants in the emulated runtime: an exception, or a hang, at a moment or at an op."""

from __future__ import annotations

import dataclasses
import threading
import time
import typing

from ..._tensorflow import tf1
from ...errors import NpuAbortError

#: Moments of a session's life at which something can fail; any other name is that of an op in the graph.
MOMENTS = ("initialize", "session", "run", "shutdown", "close")

#: An exception to raise, or a class that makes one of a message.
Error = typing.Union[BaseException, typing.Type[BaseException], None]


@dataclasses.dataclass
class Fault:
    """One planted fault.

    Attributes:
        at: one of :data:`MOMENTS`, or the name of an op.
        error: what is raised, ``None`` for a hang.
        seconds: how long it hangs.
        wait: how many times the moment passes by before.
    """

    at: str
    error: BaseException | None
    seconds: float
    wait: int

    def __str__(self) -> str:
        what = f"hang({self.at!r}, {self.seconds:g})" if self.error is None else f"fail(at={self.at!r})"
        return what + (f", {self.wait} more to pass before it" if self.wait else "")


class Faults:
    """All planted faults; each comes once, those of one moment in the order in which they were planted."""

    def __init__(self) -> None:
        self._planted: list[Fault] = []
        self._lock = threading.Lock()

    def fail(self, at: str, error: Error = None, after: int = 0) -> None:
        """Plant an exception; see :meth:`FakeRuntime.fail`."""
        if error is None:
            error = _default(at)
        elif isinstance(error, type) and issubclass(error, BaseException):
            error = error(f"planted at {at!r}")
        if not isinstance(error, BaseException):
            raise TypeError(f"error={error!r}: an exception, or a class of exceptions")
        self._plant(Fault(at, error, 0.0, after))

    def hang(self, at: str, seconds: float, after: int = 0) -> None:
        """Plant a hang; see :meth:`FakeRuntime.hang`."""
        if not seconds > 0:
            raise ValueError(f"seconds={seconds!r}: a hang takes longer than 0")
        self._plant(Fault(at, None, float(seconds), after))

    def clear(self) -> None:
        """Take all of them away."""
        self._planted.clear()

    @property
    def left(self) -> tuple[Fault, ...]:
        """The faults whose moment did not come yet."""
        return tuple(self._planted)

    @property
    def in_graphs(self) -> bool:
        """Whether one of them waits for an op."""
        return any(fault.at not in MOMENTS for fault in self._planted)

    def trip(self, at: str, limit: float | None = None) -> None:
        """Let the fault of this moment come, if there is one and it is its turn.

        Args:
            at: the moment, or the name of an op that is about to run.
            limit: seconds after which the runtime gives up waiting, ``None`` for never.
        """
        fault = self._take(at)
        if fault is None:
            return
        if fault.error is not None:
            raise fault.error
        if limit is not None and limit < fault.seconds:
            time.sleep(limit)
            raise internal(f"{at} did not end within {limit:g} s (graph_exec_timeout)")
        time.sleep(fault.seconds)

    def _plant(self, fault: Fault) -> None:
        if not fault.at or not isinstance(fault.at, str):
            raise ValueError("at={!r}: one of {}, or the name of an op".format(fault.at, ", ".join(MOMENTS)))
        if fault.wait < 0:
            raise ValueError(f"after={fault.wait}: the number of times that pass before it, 0 or more")
        self._planted.append(fault)

    def _take(self, at: str) -> Fault | None:
        with self._lock:
            for fault in self._planted:
                if fault.at == at:
                    if fault.wait:
                        fault.wait -= 1
                        return None
                    self._planted.remove(fault)
                    return fault
        return None


def internal(message: str) -> Exception:
    """Return the status with which the runtime refuses and fails."""
    return typing.cast(Exception, tf1().errors.InternalError(None, None, message))


def _default(at: str) -> Exception:
    message = f"planted at {at!r}"
    # Where the device cannot be initialised the real process ends.
    return NpuAbortError(message) if at == "initialize" else internal(message)
