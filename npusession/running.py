"""A session that is open: the TensorFlow session itself, with the NPU's life cycle around it."""

from __future__ import annotations

import os
import threading
import typing
import weakref
from contextlib import ExitStack

import wrapt

from ._cleanup import Cleanup
from ._sidefiles import write_side_files
from ._site import caller
from ._tensorflow import tf1
from .environment import Layer
from .errors import ForkedError, GraphRequiredError, SessionClosedError
from .system import abandon_session, runtime, warn_of_leak

if typing.TYPE_CHECKING:
    from ._placement import Placement
    from .backends import Backend
    from .session import NpuSession


class Opening:
    """What was done to open one session, and how it is undone.

    The runtime holds it as its user, so that a session that is forgotten is not closed, and the runtime with it
    finalised, at whatever moment the garbage collector comes by.
    """

    def __init__(self, plan: NpuSession, backend: Backend, site: str) -> None:
        self.plan = plan
        self.backend = backend
        self.site = site
        self.leaked = False
        self.pid = os.getpid()
        self.closed = False
        #: STEP_NOW and its like, ``None`` without accelerated training.
        self.numbers: Layer | None = None
        self.session: typing.Any = None
        self.placement: Placement
        self._at_close: weakref.WeakMethod[typing.Any] | None = None
        self._cleanup = Cleanup()
        self._lock = threading.RLock()

    def open(self) -> None:
        """Set the environment, initialise the system, create the session; undo it all if one of them fails."""
        cleanup = self._cleanup
        try:
            plan, remove = write_side_files(self.plan)
            cleanup.add("remove side files", remove)
            if plan.accelerate is not None:
                self.numbers = Layer(plan.accelerate.environment())
                cleanup.add("restore the environment", self.numbers.restore)
            runtime.acquire(self, plan, self.backend)
            cleanup.add("shut the system down", lambda: runtime.release(self))
            assert runtime.placement is not None
            self.placement = runtime.placement
            config = plan.config_proto()
            self.session = tf1().Session(target=plan.target, graph=plan.graph, config=config)
            runtime.session_opened()
            cleanup.add("count the session out", runtime.session_closed)
            cleanup.add("close the session", self.session.close)
        except BaseException as error:
            cleanup.run(error)
            raise

    def at_close(self, method: weakref.WeakMethod[typing.Any]) -> None:
        """Have ``method`` called when the session is closed or abandoned, if its object is still there."""
        self._at_close = method

    def _notify(self) -> None:
        method = self._at_close and self._at_close()
        if method is not None:
            method()

    def close(self, cause: BaseException | None = None) -> None:
        """Undo it all; a second call does nothing, a call from another thread waits until it is done."""
        with self._lock:
            if not self.closed and os.getpid() == self.pid:
                self.closed = True
                self._notify()
                self._cleanup.run(cause)

    def abandon(self) -> None:
        """Let go of a session that belongs to the parent of a fork."""
        self.closed = True
        self._notify()
        if self.session is not None:
            abandon_session(self.session)


# TensorFlow's sessions have no types, and wrapt has some in its newer releases only.
_ObjectProxy: typing.Any = wrapt.ObjectProxy


class RunningSession(_ObjectProxy):  # type: ignore[misc]
    """An open session. It is a ``tf.compat.v1.Session`` everywhere one is accepted, and all its methods work.

    Made by entering or starting an :class:`NpuSession`. As a context manager it is the default session, and
    closes at the end, whatever happens within.
    """

    _self_opening: Opening

    @classmethod
    def open(cls, plan: NpuSession, *, needs_graph: bool) -> RunningSession:
        """Open ``plan``; with ``needs_graph`` an empty default graph under eager execution is an error."""
        backend = plan.ready()
        eager = plan.graph is None and tf1().executing_eagerly()
        if needs_graph and eager and not tf1().get_default_graph().get_operations():
            raise GraphRequiredError(
                "TensorFlow executes eagerly, and there is no graph to run. Build one and pass it: "
                "NpuSession.for_training(graph=graph), or open the session with `with`, or call "
                "tf.compat.v1.disable_eager_execution() before anything is built."
            )
        opening = Opening(plan, backend, caller())
        opening.open()
        return cls(opening)

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening.session)
        self._self_opening = opening
        self._self_run = opening.session.run
        self._self_contexts = ExitStack()
        if opening.plan.graph is not None or not tf1().executing_eagerly():
            # No fetch can have been computed eagerly by mistake, so until it closes run needs no explanations.
            self.run = opening.session.run  # type: ignore[method-assign]
            opening.at_close(weakref.WeakMethod(self._explain_runs))
        weakref.finalize(self, _warn_if_open, opening).atexit = False

    def __getattr__(self, name: str) -> typing.Any:
        # wrapt 1.12, which TensorFlow 2.6 asks for, drops what a property raises and comes here: ask it again.
        own = getattr(type(self), name, None)
        return own.__get__(self) if isinstance(own, property) else getattr(self.__wrapped__, name)

    @property
    def plan(self) -> NpuSession:
        """The plan that it was opened from."""
        return self._self_opening.plan

    @property
    def backend(self) -> Backend:
        """The adapter that it runs on; its ``name`` is ``"npu"`` or ``"fake"``."""
        return self._self_opening.backend

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._self_opening.closed

    @property
    def rank_id(self) -> int:
        """Rank of this process in the cluster, from 0; known from the opening on, also after the session closed."""
        return self._self_opening.placement.rank

    @property
    def rank_size(self) -> int:
        """Number of ranks in the cluster; known as :attr:`rank_id` is."""
        return self._self_opening.placement.size

    @property
    def local_rank_id(self) -> int:
        """Rank of this process on its server, from 0; known as :attr:`rank_id` is."""
        return self._self_opening.placement.local_rank

    @property
    def local_rank_size(self) -> int:
        """Number of ranks on this server; known as :attr:`rank_id` is."""
        return self._self_opening.placement.local_size

    def run(
        self,
        fetches: typing.Any,
        feed_dict: typing.Any = None,
        options: typing.Any = None,
        run_metadata: typing.Any = None,
    ) -> typing.Any:
        """Run as ``tf.compat.v1.Session.run`` does.

        Raises:
            SessionClosedError: the session is closed.
            GraphRequiredError: a fetch was computed eagerly, outside any graph.
            ForkedError: the session belongs to the parent of this process.
        """
        try:
            return self._self_run(fetches, feed_dict, options, run_metadata)
        except (TypeError, RuntimeError) as error:
            self._explain(error, fetches)
            raise

    def _explain_runs(self) -> None:
        # What hides the method above is in the instance.
        del self.run

    def steps(self, total: int | None = None, **keywords: typing.Any) -> typing.Iterator[int]:
        """Count training steps; see :func:`npusession.training.steps` for the arguments."""
        from .training import steps

        return steps(self._self_opening, total, **keywords)

    def close(self) -> None:
        """Close the session, and shut the system down if it was the last user; a second call does nothing.

        All steps are carried out, whatever fails; the first failure is raised, with the others in
        ``cleanup_errors``.
        """
        self._self_opening.close()

    #: The counterpart of :meth:`NpuSession.start`.
    stop = close

    def as_default(self) -> typing.Any:
        """Return a context manager that makes this very object the default session."""
        return type(self.__wrapped__).as_default(self)

    def __enter__(self) -> RunningSession:
        self._check_open()
        with ExitStack() as entered:
            entered.enter_context(self.graph.as_default())
            entered.enter_context(self.as_default())
            self._self_contexts = entered.pop_all()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        cleanup = Cleanup()
        cleanup.add("close the session", lambda: self._self_opening.close(error))
        cleanup.add("leave the default session", self._self_contexts.close)
        cleanup.run(error)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<RunningSession on {self.backend.name}, {state}, opened at {self._self_opening.site}>"

    def _check_open(self) -> None:
        opening = self._self_opening
        if os.getpid() != opening.pid:
            raise ForkedError(
                f"the session was opened at {opening.site} by process {opening.pid}, of which this one "
                f"({os.getpid()}) is a fork. A fork cannot use the device: start the process with "
                'multiprocessing.get_context("spawn") and open a session there.'
            )
        if opening.closed:
            raise SessionClosedError(
                f"the session that was opened at {opening.site} is closed; enter the plan again for a new one"
            )

    def _explain(self, error: Exception, fetches: typing.Any) -> None:
        """Raise a clearer error than TensorFlow's where the reason is one of ours."""
        if "losed" in str(error):
            self._check_open()
        tensors = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        if any(type(tensor).__name__ == "EagerTensor" for tensor in tensors):
            raise GraphRequiredError(
                "a fetch was computed eagerly, outside the session's graph. Build the model inside `with ... as s:`, "
                "or in a graph that is passed to the plan with graph=, or call "
                "tf.compat.v1.disable_eager_execution() before anything is built."
            ) from error


def _warn_if_open(opening: Opening) -> None:
    if not opening.closed and os.getpid() == opening.pid:
        warn_of_leak(opening)
