"""What it takes to open one session, and to undo it."""

from __future__ import annotations

import os
import sys
import threading
import typing

from ._cleanup import Cleanup
from ._sidefiles import write_side_files
from ._tensorflow import tf1
from .errors import ForkedError, GraphRequiredError, SessionClosedError
from .system import State, abandon_session, runtime, stage
from .training.follower import Follower
from .training.state import TrainingState

if typing.TYPE_CHECKING:
    from ._placement import Placement
    from .backends import Backend
    from .record.recording import SessionRecord
    from .session import NpuSession
    from .training.recorder import Recorder


#: A weak reference to a method, such as weakref.WeakMethod.
_Weak = typing.Callable[[], typing.Optional[typing.Callable[[], object]]]


def graph_of(plan: NpuSession) -> typing.Any:
    """Return the graph that a plan runs, which exists already.

    Raises:
        GraphRequiredError: TensorFlow executes eagerly, and there is none.
    """
    if plan.graph is not None:
        return plan.graph
    graph = tf1().get_default_graph()
    if tf1().executing_eagerly() and not graph.get_operations():
        raise GraphRequiredError(
            "TensorFlow executes eagerly, and there is no graph to run. Build one and pass it: "
            "NpuSession.for_training(graph=graph), or open the session with `with`, or call "
            "tf.compat.v1.disable_eager_execution() before anything is built."
        )
    return graph


class Opening:
    """What was done to open one session, and how it is undone.

    The runtime holds it as its user, so that a session that is forgotten is not closed, and the runtime with it
    finalised, at whatever moment the garbage collector comes by.
    """

    def __init__(self, plan: NpuSession, backend: Backend, site: str, record: SessionRecord | None) -> None:
        self.plan = plan
        self.backend = backend
        self.site = site
        #: Where its life cycle and its steps are noted, ``None`` when the plan asks for no record.
        self.record = record
        self.leaked = False
        self.pid = os.getpid()
        self.closed = False
        self.session: typing.Any = None
        #: Where this process is in its job, once it is open.
        self.placement: Placement
        #: Where the training is, likewise.
        self.training: TrainingState
        #: What follows the training by the tensors of the plan, ``None`` when it names none.
        self.follower: Follower | None = None
        #: What puts runs on record, ``None`` without a record.
        self.recorder: Recorder | None = None
        self._at_close: list[_Weak] = []
        self._cleanup = Cleanup()
        self._lock = threading.RLock()

    def open(self) -> None:
        """Set the environment, initialise the system, create the session; undo it all if one of them fails."""
        cleanup = self._cleanup
        try:
            plan, remove = write_side_files(self.plan)
            cleanup.add("remove side files", remove)
            self.training = TrainingState(plan, self.record)
            cleanup.add("restore the environment", self.training.close)
            with self._stage("join the open system" if runtime.state is State.OPEN else "initialize the system"):
                runtime.acquire(self, plan, self.backend)
            cleanup.add("shut the system down", self._release)
            assert runtime.placement is not None
            self.placement = runtime.placement
            with self._stage("open the session"):
                config = plan.config_proto()
                self.session = tf1().Session(target=plan.target, graph=plan.graph, config=config)
            runtime.session_opened()
            cleanup.add("count the session out", runtime.session_closed)
            cleanup.add("close the session", self._close_session)
            if plan.accelerate is not None and plan.accelerate.train_op is not None:
                self.follower = Follower(self.training, plan.accelerate, self.session.graph)
                cleanup.add("stop following the training", self.follower.install(self.session))
            if self.record is not None:
                from .training.recorder import Recorder

                self.recorder = Recorder(plan, self.training, self.session.graph)
                cleanup.add("stop recording", self.recorder.install(self.session))
        except BaseException as error:
            cleanup.run(error)
            raise

    def check(self) -> None:
        """See that the session is open in this process.

        Raises:
            ForkedError: it belongs to the parent of this process.
            SessionClosedError: it is closed.
        """
        if os.getpid() != self.pid:
            raise ForkedError(
                f"the session was opened at {self.site} by process {self.pid}, of which this one ({os.getpid()}) is a "
                "fork. A fork cannot use the device: start the process with "
                'multiprocessing.get_context("spawn") and open a session there.'
            )
        if self.closed:
            raise SessionClosedError(
                f"the session that was opened at {self.site} is closed; enter the plan again for a new one"
            )

    def at_close(self, method: _Weak) -> None:
        """Have what ``method`` refers to called when the session is closed or abandoned, if it is still there."""
        self._at_close = [known for known in self._at_close if known() is not None] + [method]

    def _living(self) -> typing.Iterator[typing.Callable[[], object]]:
        for known in self._at_close:
            method = known()
            if method is not None:
                yield method

    def close(self, cause: BaseException | None = None) -> None:
        """Undo it all; a second call does nothing, a call from another thread waits until it is done."""
        with self._lock:
            if not self.closed and os.getpid() == self.pid:
                self.closed = True
                for method in self._living():
                    self._cleanup.add("let go of what was made of the session", method)
                if self.follower is not None and cause is None:
                    self._cleanup.add("look back on the training", self.follower.look_back)
                try:
                    self._cleanup.run(cause)
                except BaseException as error:
                    cause = error
                    raise
                finally:
                    if self.record is not None:
                        # Of a session that was forgotten the interpreter knows whether an exception ended it all.
                        self.record.end(getattr(sys, "last_value", cause) if self.leaked else cause)

    def abandon(self) -> None:
        """Let go of a session that belongs to the parent of a fork."""
        self.closed = True
        self.record = None
        if self.session is not None:
            abandon_session(self.session)
        # After that, so that nothing that is let go of touches the parent's session.
        for method in self._living():
            method()

    def _release(self) -> None:
        with self._stage("shut the system down" if runtime.users == (self,) else "leave the system to others"):
            runtime.release(self)

    def _close_session(self) -> None:
        with self._stage("close the session"):
            self.session.close()

    def _stage(self, name: str) -> typing.ContextManager[None]:
        return stage(self.record, name)
