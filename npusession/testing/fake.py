"""The emulation under a test's control."""

from __future__ import annotations

import itertools
import os
import sys
import typing
from pathlib import Path

from .. import backends
from .._cleanup import Cleanup
from ..backends.fake import importing, sessions
from ..backends.fake.faults import Error
from ..backends.fake.ownership import VARIABLE as HOST_VARIABLE
from ..backends.fake.runtime import RUNTIME, Event
from ..environment import Layer
from ..errors import LifecycleError
from ..system import runtime
from .guards import differences, environment, open_sessions

_hosts = itertools.count(1)


class SessionRecord(typing.NamedTuple):
    """A session that was made on the emulation, bare ``tf.compat.v1.Session`` objects included.

    Attributes:
        number: counts the sessions of the process, from 1; events name it.
        site: the line that made it, as ``file:line``.
        options: its options as they stand in its ConfigProto, by name.
        device: logical id of its device.
        runs: how many runs it made on the device.
        closed: whether it was closed.
    """

    number: int
    site: str
    options: typing.Mapping[str, object]
    device: int
    runs: int
    closed: bool


class Phase(typing.NamedTuple):
    """A precision that came into force.

    Attributes:
        session: number of the session.
        run: the session's run from which on it holds, from 0.
        mode: the precision mode, ``"original"`` for the one that the session was configured with.
    """

    session: int
    run: int
    mode: str


class FakeNpu:
    """The emulation, fresh for one test.

    As a context manager it takes the process to an emulated host of its own: sessions run on the fake backend,
    bare ones too, nothing from earlier tests is left, and other processes may use devices of the same ids. Leaving it
    closes what the test left open. Without being entered it only looks at what happened so far.

    Args:
        **settings: ``devices`` (8 by default), ``product``, ``strict`` (what the runtime ignores in silence is an
            error), ``strict_abort`` (where the real process dies this one does), ``simulate_precision``.

    Raises:
        TypeError: there is no such setting, or its value has another type.
        ValueError: a value is out of range.
        LifecycleError: on entering, a session is open.
        TensorFlowNotFoundError: on entering, TensorFlow is not installed.
        AssertionError: on leaving, a planted fault was never reached.
    """

    def __init__(self, **settings: typing.Any) -> None:
        self._settings = settings
        self._before = environment()
        self._cleanup = Cleanup()

    def __enter__(self) -> FakeNpu:
        left = open_sessions()
        if left:
            raise LifecycleError("the emulation cannot be made fresh under sessions that are open:\n" + "\n".join(left))
        _forget()
        cleanup = Cleanup()
        cleanup.add("forget what happened", _forget)
        try:
            RUNTIME.configure(**self._settings)
            # A real adapter that is installed makes way; one that was imported has TensorFlow's sessions in its hands.
            importing.enable(shadow=sys.modules.keys().isdisjoint(importing.NAMES))
            cleanup.add("take the emulated packages away", importing.disable)
            if not sessions.installed():
                cleanup.add("give TensorFlow its sessions back", sessions.uninstall)
                cleanup.add("unload the fake backend", lambda: backends.unload("fake"))
            backends.load("fake")
            layer = Layer({backends.VARIABLE: "fake", HOST_VARIABLE: f"{os.getpid()}.{next(_hosts)}"})
            cleanup.add("restore the environment", layer.restore)
        except BaseException as error:
            cleanup.run(error)
            raise
        cleanup.add("finalise the runtime", lambda: RUNTIME.finalize("end of the test"))
        cleanup.add("close what is open", runtime.close_users)
        cleanup.add("take the faults away", RUNTIME.faults.clear)
        self._cleanup = cleanup
        self._before = environment()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        never = RUNTIME.faults.left
        self._cleanup.run(error)
        if never and error is None:
            raise AssertionError("planted, and never reached: {}".format("; ".join(map(str, never))))

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened, in order, each with its name, the session's number, details and the time."""
        return tuple(RUNTIME.events)

    @property
    def sessions(self) -> tuple[SessionRecord, ...]:
        """The sessions that were made, in order; each :class:`NpuSession` makes one to initialise, and its own."""
        return tuple(
            SessionRecord(
                session.number,
                session.site,
                {name: value for name, (_, value) in session.parameters.items()},
                session.device,
                session.runs,
                session.closed,
            )
            for session in RUNTIME.sessions
        )

    @property
    def dumps(self) -> tuple[Path, ...]:
        """The files that the dumps of all sessions wrote, sorted."""
        return tuple(sorted(path for root in set(RUNTIME.dumps) for path in Path(root).rglob("*") if path.is_file()))

    @property
    def profiles(self) -> tuple[Path, ...]:
        """The directories of all profiles, in order."""
        return tuple(map(Path, RUNTIME.profiles))

    @property
    def precision_timeline(self) -> tuple[Phase, ...]:
        """Which precision came into force at which run, by accelerated training, in order."""
        phases = []
        for event in RUNTIME.milestones:
            if event.name == "precision":
                run, _, mode = event.detail.partition(": ")
                phases.append(Phase(event.session, int(run.split()[-1]), mode))
        return tuple(phases)

    def configure(self, **settings: typing.Any) -> None:
        """Change some of the settings; they are those of the constructor."""
        RUNTIME.configure(**settings)

    def fail(self, at: str, error: Error = None, after: int = 0) -> None:
        """Plant an exception, which is raised once.

        Args:
            at: ``"initialize"``, ``"session"`` (a session is made), ``"run"``, ``"shutdown"``, ``"close"``, or the
                name of an op in the graph, for a run that contains the op. An :class:`NpuSession` makes two sessions:
                first the one that initialises, then its own.
            error: an exception, or a class of exceptions. By default what the runtime fails with: a
                ``tf.errors.InternalError``, at ``"initialize"`` an :class:`~npusession.NpuAbortError`.
            after: how many times the moment passes by before.

        Raises:
            TypeError: ``error`` is no exception.
            ValueError: ``after`` is negative, or ``at`` no name.
        """
        RUNTIME.fail(at, error, after)

    def hang(self, at: str, seconds: float, after: int = 0) -> None:
        """Plant a hang, which comes once; a run that hangs longer than its ``graph_exec_timeout`` fails then.

        Args:
            at: as for :meth:`fail`.
            seconds: how long it hangs.
            after: how many times the moment passes by before.

        Raises:
            ValueError: a number is out of range, or ``at`` no name.
        """
        RUNTIME.hang(at, seconds, after)

    def assert_clean_exit(self) -> None:
        """Assert that nothing is left of the code under test.

        Raises:
            AssertionError: a session is open, the system is initialised, or the environment is not as it was when the
                test began; names what was left, and the line that opened it.
        """
        left = [*open_sessions(), *differences(self._before, environment())]
        if RUNTIME.initialized:
            number = next(event.session for event in reversed(RUNTIME.events) if event.name == "initialize")
            site = next((session.site for session in RUNTIME.sessions if session.number == number), "?")
            left.insert(0, f"the system is initialised, by session {number}, made at {site}")
        if left:
            raise AssertionError("the exit was not clean:\n" + "\n".join(f"  {line}" for line in left))


def _forget() -> None:
    RUNTIME.reset()
    runtime.placement = None
