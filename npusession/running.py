"""A session that is open: the TensorFlow session itself, with the NPU's life cycle around it."""

from __future__ import annotations

import os
import typing
import weakref

import wrapt

from ._cleanup import Cleanup
from ._defaults import Defaults
from ._site import caller
from ._tensorflow import tf1
from .errors import GraphRequiredError
from .opening import Opening, graph_of
from .system import warn_of_leak
from .training.methods import TrainingMethods

if typing.TYPE_CHECKING:
    from .backends import Backend
    from .record.recording import SessionRecord
    from .session import NpuSession


# TensorFlow's sessions have no types, and wrapt has some in its newer releases only.
_ObjectProxy: typing.Any = wrapt.ObjectProxy


class RunningSession(TrainingMethods, _ObjectProxy):  # type: ignore[misc]
    """An open session. It is a ``tf.compat.v1.Session`` everywhere one is accepted, and all its methods work.

    Made by entering or starting an :class:`NpuSession`. As a context manager it is the default session, and
    closes at the end, whatever happens within.
    """

    _self_opening: Opening

    @classmethod
    def open(cls, plan: NpuSession, *, needs_graph: bool) -> RunningSession:
        """Open ``plan``; with ``needs_graph`` an empty default graph under eager execution is an error."""
        if plan.record is None:
            return cls(_opened(plan, needs_graph, None))
        from .record.recording import SessionRecord

        record = SessionRecord(plan)
        try:
            return cls(_opened(plan, needs_graph, record))
        except BaseException as error:
            record.end(error)
            raise

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening.session)
        self._self_opening = opening
        self._self_run = opening.session.run
        #: Of each `with`, and of an interactive session.
        self._self_defaults: list[Defaults] = []
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
        except (AttributeError, TypeError, RuntimeError) as error:
            self._explain(error, fetches)
            raise

    def _explain_runs(self) -> None:
        # What hides the method above is in the instance.
        del self.run

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
        self._self_opening.check()
        self._self_defaults.append(Defaults(self))
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        cleanup = Cleanup()
        cleanup.add("close the session", lambda: self._self_opening.close(error))
        cleanup.add("leave the default session", self._self_defaults.pop().end)
        cleanup.run(error)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<RunningSession on {self.backend.name}, {state}, opened at {self._self_opening.site}>"

    def _explain(self, error: Exception, fetches: typing.Any) -> None:
        """Raise a clearer error than TensorFlow's where the reason is one of ours."""
        if "losed" in str(error):
            self._self_opening.check()
        tensors = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        if any(type(tensor).__name__ == "EagerTensor" for tensor in tensors):
            raise GraphRequiredError(
                "a fetch was computed eagerly, outside the session's graph. Build the model inside `with ... as s:`, "
                "or in a graph that is passed to the plan with graph=, or call "
                "tf.compat.v1.disable_eager_execution() before anything is built."
            ) from error


def _opened(plan: NpuSession, needs_graph: bool, record: SessionRecord | None) -> Opening:
    backend = plan.ready()
    if record is not None:
        record.ready(backend.name)
    if needs_graph:
        graph_of(plan)
    opening = Opening(plan, backend, caller(), record)
    opening.open()
    return opening


def _warn_if_open(opening: Opening) -> None:
    if not opening.closed and os.getpid() == opening.pid:
        warn_of_leak(opening)
