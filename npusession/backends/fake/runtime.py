"""The state of the emulated runtime, apart from the sessions that use it.

As on the real one: it is initialised by the initialize op or by the first graph that is compiled for the device,
with the options of the session that does it; a second initialisation is a no-op; it is finalised by the shutdown op,
when the last session of the device closes, when the last session that ran the initialize op closes, and at exit.
"""

from __future__ import annotations

import atexit
import collections
import os
import threading
import time
import typing

from ...environment import device_in
from ...errors import NpuAbortError
from .profiling import Profile
from .verdicts import Parameters

if typing.TYPE_CHECKING:
    from .device import DeviceSession


#: Events that are kept, the newest ones.
MAX_EVENTS = 100_000


class Event(typing.NamedTuple):
    """Something that happened to the runtime.

    Attributes:
        name: ``initialize``, ``open``, ``run``, ``precision``, ``close``, ``shutdown`` or ``finalize``.
        session: number of the session that did it, 0 for none.
        detail: what else is known of it.
        seconds: when, by the monotonic clock.
    """

    name: str
    session: int
    detail: str
    seconds: float


class FakeRuntime:
    """One process's emulated runtime.

    Attributes:
        events: what happened, in order; the newest :data:`MAX_EVENTS`.
        initialized: whether it is initialised now.
        device: the device that was initialised.
        parameters: the options of initialisation.
        generation: counts initialisations; sessions that ran in an earlier one are dead.
        groups: ranks of each group of HCCL that was created since.
        profile: where runs are profiled to, ``None`` when profiling is off.
        faults: exceptions to raise, for tests: at ``initialize``, ``open``, ``run``, ``close`` or ``shutdown``.
    """

    def __init__(self) -> None:
        self.faults: dict[str, BaseException] = {}
        self._lock = threading.RLock()
        self._numbers = 0
        self._models = 0
        self._pid = os.getpid()
        self.reset()
        atexit.register(self.finalize, "exit")

    def reset(self) -> None:
        """Forget everything, as a new process would."""
        # Bounded: a training may make millions of runs.
        self.events: collections.deque[Event] = collections.deque(maxlen=MAX_EVENTS)
        self.initialized = False
        self.device = 0
        self.parameters: Parameters = {}
        self.generation = 0
        self.groups: dict[str, tuple[int, ...]] = {}
        self.faults.clear()
        self._initializers: set[int] = set()
        self._running: set[int] = set()
        self.profile: Profile | None = None

    def record(self, name: str, session: int = 0, detail: str = "") -> None:
        """Add an event."""
        self.events.append(Event(name, session, detail, time.perf_counter()))

    def number(self) -> int:
        """Return the number of a new session, from 1."""
        with self._lock:
            self._numbers += 1
            return self._numbers

    def model_number(self) -> int:
        """Return the number of a new model, which is what a compiled graph is to the device, from 0."""
        with self._lock:
            self._models += 1
            return self._models - 1

    def trip(self, moment: str) -> None:
        """Raise the fault that was planted for this moment, once."""
        if moment in self.faults:
            raise self.faults.pop(moment)

    def initialize(self, session: DeviceSession, *, by_op: bool) -> None:
        """Initialise with the options of ``session``; a no-op when it is initialised already."""
        with self._lock:
            if by_op:
                self._initializers.add(session.number)
            if self.initialized:
                self.record("initialize", session.number, "no-op")
                return
            self.device = _device_of_environment()
            self.parameters = session.parameters
            self.initialized = True
            self.generation += 1
            self.groups.clear()
            self.profile = Profile.of(self.parameters, self.device)
            self.record("initialize", session.number, f"device {self.device}")

    def finalize(self, reason: str) -> None:
        """Finalise; harmless when it is not initialised."""
        with self._lock:
            if not self.initialized or os.getpid() != self._pid:
                return
            self.initialized = False
            self.record("finalize", 0, reason)
            profile, self.profile = self.profile, None
        if profile is not None:
            profile.write()

    def graph_loaded(self, session: DeviceSession) -> None:
        """Note that a session has graphs on the device."""
        self._running.add(session.number)

    def closed(self, session: DeviceSession) -> None:
        """Note that a session closed, which finalises if it was the last of its kind."""
        with self._lock:
            self.record("close", session.number)
            for kind, members in (("device session", self._running), ("initialize session", self._initializers)):
                if session.number in members:
                    members.remove(session.number)
                    if not members:
                        self.finalize(f"last {kind} closed")


def _device_of_environment() -> int:
    name, value = device_in(os.environ) or ("", "0")
    if not (value.isascii() and value.isdigit()):
        raise NpuAbortError(f"{name}={value!r}: the real process would abort here")
    return int(value)


#: The emulated runtime of this process.
RUNTIME = FakeRuntime()
