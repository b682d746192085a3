"""The one owner of the process's NPU runtime: initialised once, shared by sessions, shut down with the last.

The initialize and shutdown ops live in a private graph with a session of their own, which carries the plan's whole
configuration: the runtime reads the options of initialisation from the session that initialises it.
"""

from __future__ import annotations

import atexit
import contextlib
import enum
import functools
import os
import sys
import threading
import typing
import warnings

from ._cleanup import Cleanup
from ._compat import Protocol
from ._placement import Placement, ask, describe
from ._sidefiles import write_side_files
from ._site import caller
from ._tensorflow import tf1
from .environment import DEVICE_VARIABLES, Layer, device_in
from .errors import ForkedError, NotInitializedError, SystemConflictError
from .options import TABLE, Scope
from .options.basic import GRAPH_RUN_MODE
from .products import WITHOUT_INITIALIZE

if typing.TYPE_CHECKING:
    from .backends import Backend
    from .record.recording import SessionRecord
    from .session import NpuSession
    from .training.acceleration import Acceleration
    from .training.follower import Follower
    from .training.recorder import Recorder
    from .training.state import TrainingState


class State(enum.Enum):
    """Where the process's runtime is in its life."""

    #: Never opened in this process.
    NEW = "new"
    #: Initialised by us, and somebody uses it.
    OPEN = "open"
    #: Shut down; it may be opened again.
    CLOSED = "closed"
    #: Opening it or shutting it down failed; it may be opened again.
    FAILED = "failed"


class User(Protocol):
    """Whoever holds the runtime open."""

    #: The user's line that opened it.
    site: str
    #: Whether a warning was given that it was forgotten.
    leaked: bool

    def close(self) -> None:
        """Give the runtime back."""

    def abandon(self) -> None:
        """Let go, in a forked child, of what belongs to the parent, so that no destructor touches it."""


class Runtime:
    """The runtime of this process as npusession holds it; there is one, :data:`runtime`."""

    def __init__(self) -> None:
        self.state = State.NEW
        #: Where the process was in its job when it initialised last; stays when the runtime is shut down.
        self.placement: Placement | None = None
        #: What is done each time that it has initialised again while somebody holds it.
        self.renewals: list[typing.Callable[[], object]] = []
        self._lock = threading.RLock()
        self._pid = 0
        self._users: list[User] = []
        self._sessions = 0
        self._stale = False
        self._opened_at = ""
        self._plan: NpuSession | None = None
        self._backend: Backend | None = None
        self._cleanup = Cleanup()
        self._graph: typing.Any = None
        self._session: typing.Any = None
        self._initialize: typing.Any = None

    @property
    def backend(self) -> Backend:
        """The backend that it is open on."""
        assert self._backend is not None
        return self._backend

    @property
    def is_open(self) -> bool:
        """Whether it is initialised, or will be again when it is needed, and belongs to this process."""
        return self.state is State.OPEN and self._pid == os.getpid()

    @property
    def users(self) -> tuple[User, ...]:
        """Whoever holds it open, in the order in which they came."""
        return tuple(self._users)

    def acquire(self, user: User, plan: NpuSession, backend: Backend) -> None:
        """Take in one more user; the first one initialises.

        Raises:
            ClusterError: HCCL counts other ranks than the environment describes.
            NotInitializedError: HCCL does not answer.
            SystemConflictError: it is open with other options of initialisation, or on another backend.
            ForkedError: it is open in the parent of this forked process.
        """
        with self._lock:
            if self.state is State.OPEN:
                self._check_process()
                self._check_conflicts(plan, backend)
                self.refresh()
            else:
                self._open(plan, backend, user.site)
            self._users.append(user)

    def release(self, user: User) -> None:
        """Let one user go; the last one shuts down."""
        with self._lock:
            self._users.remove(user)
            if not self._users:
                self.state = State.FAILED
                self.renewals.clear()
                self._cleanup.run()
                self.state = State.CLOSED

    def session_opened(self) -> None:
        """Note that a session of the device is there."""
        with self._lock:
            self._sessions += 1

    def session_closed(self) -> None:
        """Note that a session of the device is gone: with the last one, the runtime finalises by itself."""
        with self._lock:
            self._sessions -= 1
            self._stale = self._sessions == 0

    def refresh(self) -> None:
        """Initialise again if the runtime has finalised by itself while somebody still holds it."""
        with self._lock:
            if self._stale and self.state is State.OPEN:
                self._check_process()
                self._close_session()
                self._run_initialize()
                self._stale = False
                for renew in list(self.renewals):
                    renew()

    def close_users(self) -> None:
        """Close what is still open when the interpreter ends, last opened first: an open device can hang the exit."""
        for user in reversed(list(self._users)):
            warn_of_leak(user)
            try:
                user.close()
            except Exception:
                # Others want closing too; the failure is in the log.
                continue

    def abandon_users(self) -> None:
        """Let go of everything in a forked child; the runtime belongs to the parent."""
        for user in self._users:
            user.abandon()
        if self._session is not None:
            abandon_session(self._session)

    def _open(self, plan: NpuSession, backend: Backend, site: str) -> None:
        self._plan, self._backend, self._opened_at, self._pid = plan, backend, site, os.getpid()
        self._stale = False
        self.state = State.FAILED
        _hook_process()
        cleanup = self._cleanup = Cleanup()
        try:
            if plan.device is not None and device_in(os.environ) is None:
                layer = Layer({DEVICE_VARIABLES[0]: str(plan.device)})
                cleanup.add("restore the environment", layer.restore)
            cluster, product = describe(plan.product, backend)
            self._initialize = None
            # A job has to try all the same, as HCCL answers nobody who has not run the op.
            if cluster.told or product not in WITHOUT_INITIALIZE:
                self._graph = tf1().Graph()
                with self._graph.as_default():
                    self._initialize = backend.npu_ops.initialize_system()
                    shutdown = backend.npu_ops.shutdown_system()
                cleanup.add("close the initialize session", self._close_session)
                self._run_initialize()
                cleanup.add("shut the system down", lambda: self._run_shutdown(shutdown))
            self.placement = ask(cluster, product, backend)
        except BaseException as error:
            cleanup.run(error)
            raise
        self.state = State.OPEN

    def _run_initialize(self) -> None:
        assert self._plan is not None
        if self._initialize is None:
            # The first graph that runs on the device initialises it.
            return
        self._session = tf1().Session(graph=self._graph, config=self._plan.config_proto())
        self._session.run(self._initialize)

    def _run_shutdown(self, shutdown: typing.Any) -> None:
        # There is no session when initialising again failed; then there is nothing to shut down either.
        if self._session is not None:
            self._session.run(shutdown)

    def _close_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedError(
                f"the runtime was opened at {self._opened_at} by process {self._pid}, of which this one "
                f"({os.getpid()}) is a fork. A fork cannot use the device: start the process with "
                'multiprocessing.get_context("spawn").'
            )

    def _check_conflicts(self, plan: NpuSession, backend: Backend) -> None:
        assert self._plan is not None
        assert self._backend is not None
        if backend is not self._backend:
            raise SystemConflictError(
                f"the runtime is open on the {self._backend.name} backend (since {self._opened_at}); "
                f"the {backend.name} backend cannot be used beside it"
            )
        held = self._plan.effective
        # What the session is for always counts as given: each plan is for one scene.
        given = {GRAPH_RUN_MODE.name: plan.effective(GRAPH_RUN_MODE.name), **plan.options}
        clashes = [
            "  {}={!r}, opened with {}".format(name, value, "none" if held(name) is None else repr(held(name)))
            for name, value in given.items()
            if name in TABLE and TABLE[name].scope is Scope.INIT and held(name) != value
        ]
        if clashes:
            raise SystemConflictError(
                f"options that the runtime reads at initialisation differ from those of {self._opened_at}, "
                "where it was opened:\n" + "\n".join(clashes) + "\n"
                "Give them to the session that opens first, or close that one before this one opens."
            )


#: The runtime of this process.
runtime = Runtime()


@functools.lru_cache(maxsize=None)
def _hook_process() -> None:
    # Once the adapter is loaded, so that at exit this runs before the adapter's own handler kills the device.
    atexit.register(runtime.close_users)
    os.register_at_fork(after_in_child=runtime.abandon_users)


def warn_of_leak(user: User) -> None:
    """Warn, once, that whoever opened the runtime forgot to close it."""
    if user.leaked:
        return
    user.leaked = True
    warnings.warn(
        f"what was opened at {user.site} was forgotten while it was open; it stays open until the process ends. "
        "Use `with`, or close it in a `finally`.",
        ResourceWarning,
        stacklevel=2,
    )


def stage(record: SessionRecord | None, name: str) -> typing.ContextManager[None]:
    """Return a context manager that notes what is done in it as a part of the life cycle, if there is a record."""
    return contextlib.nullcontext() if record is None else record.timed(name)


def abandon_session(session: typing.Any) -> None:
    """Keep a TensorFlow session's destructor from closing it, in a child that shares it with its parent."""
    session._closed = True
    session._session = None


class System:
    """Initialisation alone, for Estimator and Horovod-like scripts and for HCCL queries.

    Sessions that open meanwhile share it. While it is held, the runtime is initialised again when it has finalised by
    itself, as it does with the last session that closes.

    Args:
        plan: the options of initialisation; all sessions that share it must agree with them.

    Example::

        with System(NpuSession.for_training(device=0)):
            ...
    """

    def __init__(self, plan: NpuSession) -> None:
        self.site = ""
        self.leaked = False
        self._plan = plan
        #: The plan with side files in place, and the adapter, while it is held.
        self._written = plan
        self._backend: Backend | None = None
        self._held = False
        self._training: TrainingState | None = None
        self._cleanup = Cleanup()

    @property
    def plan(self) -> NpuSession:
        """The options of initialisation; while it is held, with the paths of side files that were given as values."""
        return self._written

    @property
    def rank_id(self) -> int:
        """Rank of this process in the cluster, from 0, which is also the answer where there is no cluster.

        Raises:
            NotInitializedError: it is not held.
        """
        if not self._held or runtime.placement is None:
            raise NotInitializedError("the system is not held; ask inside of `with System(plan) as system:`")
        return runtime.placement.rank

    @property
    def acceleration(self) -> Acceleration | None:
        """How the accelerated training stands while it is held; ``None`` without one."""
        return None if self._training is None else self._training.acceleration

    @property
    def state(self) -> State:
        """Where the process's runtime is in its life."""
        return runtime.state

    def start(self) -> System:
        """Initialise, or join the sessions that have it open; a second call does nothing.

        Raises:
            OptionsError: the plan does not fit this host or its environment.
            BackendError: the backend cannot be loaded.
            ClusterError: HCCL counts other ranks than the environment describes.
            NotInitializedError: HCCL does not answer.
            SystemConflictError: the runtime is open with other options of initialisation.
        """
        if not self._held:
            self.site = caller()
            if self._plan.record is None:
                self._start(None)
                return self
            from .record.recording import SessionRecord

            record = SessionRecord(self._plan)
            try:
                self._start(record)
            except BaseException as error:
                record.end(error)
                raise
        return self

    def _start(self, record: SessionRecord | None) -> None:
        # Imported here, for importing the package has to be quick.
        from .training.state import TrainingState

        backend = self._plan.ready()
        if record is not None:
            record.ready(backend.name)
        cleanup = Cleanup()
        plan, remove = write_side_files(self._plan)
        cleanup.add("remove side files", remove)
        try:
            training = TrainingState(plan, record)
            cleanup.add("restore the environment", training.close)
            with stage(record, "join the open system" if runtime.state is State.OPEN else "initialize the system"):
                runtime.acquire(self, plan, backend)
        except BaseException as error:
            cleanup.run(error)
            raise
        cleanup.add("shut the system down", self._release)
        self._cleanup, self._training, self._written, self._backend = cleanup, training, plan, backend
        self._held = True

    def stop(self) -> None:
        """Give it back; the last user shuts it down. A second call does nothing."""
        self._stop(None)

    close = stop

    def _stop(self, cause: BaseException | None) -> None:
        if not self._held:
            return
        self._held = False
        record = self._record
        try:
            self._cleanup.run(cause)
        except BaseException as error:
            cause = error
            raise
        finally:
            self._training, self._written = None, self._plan
            if record is not None:
                # Of a system that was forgotten the interpreter knows whether an exception ended it all.
                record.end(getattr(sys, "last_value", cause) if self.leaked else cause)

    def _release(self) -> None:
        with self.stage("shut the system down" if runtime.users == (self,) else "leave the system to others"):
            runtime.release(self)

    @property
    def _record(self) -> SessionRecord | None:
        return None if self._training is None else self._training.record

    def stage(self, name: str) -> typing.ContextManager[None]:
        """Return a context manager that notes what is done in it as a part of the life cycle, if there is a record."""
        return stage(self._record, name)

    def report(self, *, step: typing.Any = None, loss: typing.Any = None) -> None:
        """Say how far the training is; see :meth:`RunningSession.report`.

        Raises:
            NotInitializedError: it is not held.
        """
        if self._training is None:
            raise NotInitializedError("the system is not held; report inside of `with System(plan) as system:`")
        self._training.report(step, loss)

    def hooks(self, *, step: typing.Any = None, loss: typing.Any = None) -> list[typing.Any]:
        """Return the hooks that MonitoredSession and Estimator need to follow the plan.

        See :meth:`RunningSession.hooks` for the arguments.
        """
        from .training.hooks import hooks_of

        return hooks_of(self, step=step, loss=loss)

    def follower(self, graph: typing.Any) -> Follower | None:
        """Return what follows the training by the tensors that the plan names; ``None`` when it names none.

        Args:
            graph: the graph that is trained, not final yet.
        """
        accelerate = self._plan.accelerate
        if self._training is None or accelerate is None or accelerate.train_op is None:
            return None
        from .training.follower import Follower

        return Follower(self._training, accelerate, graph)

    def recorder(self, graph: typing.Any) -> Recorder | None:
        """Return what puts the runs of a graph on record; ``None`` without a record."""
        if self._record is None or self._training is None:
            return None
        from .training.recorder import Recorder

        return Recorder(self._plan, self._training, graph)

    def abandon(self) -> None:
        """Let go in a forked child."""
        self._held = False
        self._training = None

    def __enter__(self) -> System:
        return self.start()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        cleanup = Cleanup()
        cleanup.add("shut the system down", lambda: self._stop(error))
        cleanup.run(error)
