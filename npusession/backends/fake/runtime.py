"""The state of the emulated runtime, apart from the sessions that use it.

As on the real one: it is initialised by the initialize op or by the first graph that is compiled for the device,
with the options of the session that does it; a second initialisation is a no-op; it is finalised by the shutdown op,
when the last session of the device closes, when the last session that ran the initialize op closes, and at exit.
"""

from __future__ import annotations

import atexit
import collections
import dataclasses
import heapq
import operator
import os
import sys
import threading
import time
import typing

from ...errors import ForkedError, NpuAbortError
from ...options.kinds import Wire
from .faults import Error, Faults, internal
from .job.position import Position
from .ownership import Claim, Held
from .profiling import Profile
from .settings import Settings, inherited
from .startup import Startup, read_environment
from .verdicts import Aborted, Parameters

if typing.TYPE_CHECKING:
    from .device import DeviceSession


#: Events that are kept, the newest runs and the newest others, and sessions likewise.
MAX_EVENTS = 100_000
MAX_SESSIONS = 10_000


class Event(typing.NamedTuple):
    """Something that happened to the runtime.

    Attributes:
        name: ``initialize``, ``open``, ``run``, ``precision``, ``close``, ``shutdown`` or ``finalize``; ``ignored``
            for what the runtime passes over in silence, ``leak`` for what one session's options do to others,
            ``device`` for a device that is touched besides the session's own, ``host`` for a session that runs on
            the host, ``note`` for other news of it.
        session: number of the session that did it, 0 for none.
        detail: what else is known of it.
        seconds: when, by the monotonic clock.
    """

    name: str
    session: int
    detail: str
    seconds: float


class Kept(typing.NamedTuple):
    """An option that the runtime keeps for the whole process.

    Attributes:
        value: field and value.
        session: number of the session that set it.
    """

    value: tuple[str | None, Wire | None]
    session: int


class FakeRuntime:
    """One process's emulated runtime.

    Attributes:
        settings: what the emulation is told about the host; see :meth:`configure`.
        milestones: what happened, in order, but for the runs of sessions; the newest :data:`MAX_EVENTS`.
        sessions: the sessions that were opened, in order; the newest :data:`MAX_SESSIONS`.
        faults: what was planted with :meth:`fail` and :meth:`hang`.
        initialized: whether it is initialised now.
        startup: what it read of the environment when it was initialised.
        parameters: the options of initialisation.
        kept: options that one session leaves to all later ones, by name.
        session_device: the one value of ``session_device_id`` that native code has, of the newest session that was
            configured; -1 when that gave none.
        shutdown_made: whether a shutdown op was made, be it run or not.
        generation: counts initialisations; sessions that ran in an earlier one are dead.
        position: where the process is in its job, once it is initialised.
        groups: ranks of each group of HCCL that was created since.
        profile: where runs are profiled to, ``None`` when profiling is off.
        profiles: directories of all profiles.
        dumps: directories of all dumps.
        finishing: what is called once the runtime is finalised.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._claims: dict[int, Claim] = {}
        self.faults = Faults()
        self.reset()
        atexit.register(self.finalize, "exit")
        os.register_at_fork(after_in_child=self._forked)

    def reset(self) -> None:
        """Forget everything, the settings too, as a new process would."""
        self.settings = Settings()
        # Bounded: a training may make millions of runs, which must not push the others out.
        self._runs: collections.deque[Event] = collections.deque(maxlen=MAX_EVENTS)
        self.milestones: collections.deque[Event] = collections.deque(maxlen=MAX_EVENTS)
        self.sessions: collections.deque[DeviceSession] = collections.deque(maxlen=MAX_SESSIONS)
        self.faults.clear()
        self.initialized = False
        self.startup = Startup()
        self.parameters: Parameters = {}
        self.kept: dict[str, Kept] = {}
        self.session_device = -1
        self.shutdown_made = False
        self.generation = 0
        self.position = Position()
        self.groups: dict[str, tuple[int, ...]] = {}
        self.profile: Profile | None = None
        self.profiles: list[str] = []
        self.dumps: list[str] = []
        self.finishing: list[typing.Callable[[], None]] = []
        self._initializers: set[DeviceSession] = set()
        self._running: set[DeviceSession] = set()
        self._numbers = 0
        self._models = 0
        # Set by the adapter's handler at exit, which forgets to take the flag of initialisation back.
        self._closed_at_exit = False
        self._release_devices()

    def configure(self, **settings: typing.Any) -> None:
        """Change some of the settings.

        Raises:
            TypeError: there is no setting of that name, or its value has another type.
            ValueError: a value is out of range.
        """
        self.settings = dataclasses.replace(self.settings, **settings)

    def fail(self, at: str, error: Error = None, after: int = 0) -> None:
        """Plant an exception, which is raised once.

        Args:
            at: ``"initialize"``, ``"session"`` (a session is made), ``"run"``, ``"shutdown"``, ``"close"``, or the
                name of an op in the graph, for a run that contains the op.
            error: an exception, or a class of exceptions. By default what the runtime fails with: a
                ``tf.errors.InternalError``, at ``"initialize"`` an :class:`~npusession.NpuAbortError`.
            after: how many times the moment passes by before.

        Raises:
            TypeError: ``error`` is no exception.
            ValueError: ``after`` is negative, or ``at`` no name.
        """
        self.faults.fail(at, error, after)

    def hang(self, at: str, seconds: float, after: int = 0) -> None:
        """Plant a hang, which comes once; a run that hangs longer than its ``graph_exec_timeout`` fails then.

        Args:
            at: as for :meth:`fail`.
            seconds: how long it hangs.
            after: how many times the moment passes by before.

        Raises:
            ValueError: a number is out of range, or ``at`` no name.
        """
        self.faults.hang(at, seconds, after)

    def record(self, name: str, session: int = 0, detail: str = "") -> None:
        """Add an event."""
        kept = self._runs if name == "run" else self.milestones
        kept.append(Event(name, session, detail, time.perf_counter()))

    @property
    def events(self) -> list[Event]:
        """What happened, in order: the newest :data:`MAX_EVENTS` runs, and as many other events."""
        return list(heapq.merge(self.milestones, self._runs, key=operator.attrgetter("seconds")))

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

    @property
    def device(self) -> int:
        """The device that was initialised."""
        return self.startup.device

    @property
    def hccl(self) -> bool:
        """Whether collective communication can be asked."""
        return self.initialized and self.startup.hccl

    def died(self, reason: object) -> NpuAbortError:
        """Return the error for where the real process ends; with ``strict_abort`` this one does."""
        message = f"the real process would abort here: {reason}"
        if self.settings.strict_abort:
            print(f"npusession: {message}", file=sys.stderr, flush=True)
            os.abort()
        return NpuAbortError(message)

    def check_process(self, pid: int) -> None:
        """Refuse to work in a fork of the process that initialised the runtime, or that made a session.

        Args:
            pid: the process that made the session.

        Raises:
            ForkedError: this is another one.
        """
        for what, owner in (("the runtime was initialised", self._pid), ("the session was made", pid)):
            if owner != os.getpid():
                raise ForkedError(
                    f"{what} by process {owner}, of which this one ({os.getpid()}) is a fork. A fork cannot use the "
                    'device: start the process with multiprocessing.get_context("spawn").'
                )

    def initialize(self, session: DeviceSession, *, by_op: bool) -> None:
        """Initialise with the options of ``session``; a no-op when it is initialised already.

        Raises:
            NpuAbortError: the real process would have died of what the environment says.
            ClusterError: the environment contradicts itself.
            CollectiveError: not all ranks of the job came in time, or they contradict each other.
            tf.errors.InternalError: another process holds the device.
        """
        with self._lock:
            if by_op:
                self._initializers.add(session)
            if self.initialized or self._closed_at_exit:
                dead = "" if self.initialized else ": the adapter closed the device when the process began to exit"
                self.record("initialize", session.number, "no-op" + dead)
                return
            try:
                startup = read_environment(os.environ)
            except Aborted as fault:
                raise self.died(fault) from None
            for reason in startup.ignored:
                self.record("ignored", session.number, reason)
            if not startup.needed:
                self.record("initialize", session.number, "no-op: TF_CONFIG says that this is a parameter server")
                return
            if startup.device >= self.settings.devices:
                raise self.died(self.no_device(startup.device))
            self.claim(startup.device)
            # Only a process that initialises needs NumPy for it.
            from .job.joining import join

            try:
                self.position = join(os.environ) if startup.cluster and startup.hccl else Position()
            except BaseException:
                self._release_devices()
                raise
            self.startup = startup
            self.parameters = session.parameters
            self.initialized = True
            self.generation += 1
            self.groups.clear()
            self.profile = Profile.of(self.parameters, self.device)
            if self.profile is not None:
                self.profiles.append(self.profile.path)
            self.record("initialize", session.number, f"device {self.device}")

    def no_device(self, device: int) -> str:
        """Say that there is no such device."""
        return f"there is no device {device}: the emulated host has {self.settings.devices}, from 0"

    def claim(self, device: int) -> None:
        """Take hold of a device until the runtime is finalised.

        Raises:
            tf.errors.InternalError: another process has it.
        """
        if device in self._claims:
            return
        try:
            self._claims[device] = Claim(device)
        except Held as held:
            raise internal(
                f"{held}; one process per device. End that process, take another device "
                "(ASCEND_DEVICE_ID, session_device_id), or put this process on an emulated host of its own "
                "(NPUSESSION_FAKE_HOST)."
            ) from None

    def finalize(self, reason: str) -> None:
        """Finalise; harmless when it is not initialised."""
        with self._lock:
            if not self.initialized or os.getpid() != self._pid:
                return
            self.initialized = False
            self._closed_at_exit = reason == "exit"
            self._release_devices()
            self.record("finalize", 0, reason)
            member, self.position = self.position.member, Position()
            finishing, self.finishing = self.finishing, []
            profile, self.profile = self.profile, None
        if member is not None:
            member.leave()
        if profile is not None:
            profile.close()
        for finish in finishing:
            finish()

    def graph_loaded(self, session: DeviceSession) -> None:
        """Note that a session has graphs on the device."""
        self._running.add(session)

    def closed(self, session: DeviceSession) -> None:
        """Note that a session closed, which finalises if it was the last of its kind."""
        with self._lock:
            self.record("close", session.number)
            for kind, members in (("device session", self._running), ("initialize session", self._initializers)):
                if session in members:
                    members.remove(session)
                    if not members:
                        self.finalize(f"last {kind} closed")

    def _release_devices(self) -> None:
        for claim in self._claims.values():
            claim.release()
        self._claims.clear()

    def _forked(self) -> None:
        """Start afresh in a child, unless the device was in use: then everything here is the parent's."""
        self._release_devices()
        # Another thread of the parent may have held it.
        self._lock = threading.RLock()
        if not self.initialized:
            self._pid = os.getpid()


#: The emulated runtime of this process.
RUNTIME = FakeRuntime()
RUNTIME.configure(**inherited())
