"""Runs that make a training step, put on record where no loop of ours counts the steps."""

from __future__ import annotations

import threading
import time
import typing

from .._tensorflow import tf1
from ..options import Scene
from .graphs import Reach, counting, find, operation_of

if typing.TYPE_CHECKING:
    from ..session import NpuSession
    from .state import TrainingState

_clock = time.perf_counter
_Some = typing.Sequence[typing.Any]


class _Thread(threading.local):
    #: Whether this thread is in a prepared run.
    within = False


class Recorder:
    """Knows which runs of a graph make a step, and adds them to the record of a training.

    In training a step is a run of the operation that the plan names, else of one that an optimizer of TensorFlow made,
    else of one that counts the global step up. In inference every run is one.

    Args:
        plan: names the train op, if it does.
        training: has the record, and tells the phase and what is reported.
        graph: the session's graph; it may get its train op later.
        loss: a tensor to fetch with each step. Without one, the loss is what is reported, else what a run fetches of
            the graph's collection of losses.
    """

    def __init__(self, plan: NpuSession, training: TrainingState, graph: typing.Any, loss: typing.Any = None) -> None:
        assert training.record is not None
        self._training, self._record = training, training.record
        self._named = None if plan.accelerate is None else plan.accelerate.train_op
        self._graph = graph
        self._every = plan.scene is Scene.INFERENCE
        self._reach: Reach | None = None
        #: Place in the collection of each loss, by its operation.
        self._losses: dict[typing.Any, int] = {}
        self._version = -1
        self._thread = _Thread()
        self._more = [] if loss is None else [loss]
        #: Steps made, and what the training said of them last.
        self._made = self._said = training.step

    def start(self, session: typing.Any, global_step: typing.Any, began: float) -> None:
        """Put the runs of a session on record that TensorFlow has made, until it is gone.

        Args:
            session: the session.
            global_step: the variable with the number of steps made before; without one it counts from where the
                training is.
            began: when TensorFlow began to make it, by ``time.perf_counter``.
        """
        if global_step is not None:
            self._made = int(session.run(global_step))
        self._record.stage("open the session", began, _clock())
        self.install(session)

    def install(self, session: typing.Any) -> typing.Callable[[], None]:
        """Have the runs of a TensorFlow session put on record; returns what ends it."""
        do_run, before = session._do_run, vars(session).get("_do_run")

        def recorded(handle: object, targets: _Some, fetches: _Some, *rest: typing.Any) -> typing.Any:
            # A handle is that of a partial run; a prepared run is an ordinary one within on the emulation.
            if handle is not None or self._thread.within or not self._makes_a_step(targets, fetches):
                return do_run(handle, targets, fetches, *rest)
            if not self._more:
                return self._timed(fetches, lambda: do_run(handle, targets, fetches, *rest))
            fetched = [*fetches, *self._more]
            return self._timed(fetched, lambda: do_run(handle, targets, fetched, *rest))[: len(fetches)]

        def end() -> None:
            if before is None:
                del session._do_run
            else:
                session._do_run = before

        session._do_run = recorded
        return end

    def calling(self, call: typing.Callable[..., typing.Any], targets: _Some, fetches: _Some) -> typing.Any:
        """Return a function like one that makes a prepared run, put on record if the run makes a step."""
        if not self._makes_a_step(targets, fetches):
            return call

        def run(values: _Some) -> typing.Any:
            self._thread.within = True
            try:
                return call(*values)
            finally:
                self._thread.within = False

        return lambda *values: self._timed(fetches, lambda: run(values))

    def _timed(self, fetches: _Some, run: typing.Callable[[], typing.Any]) -> typing.Any:
        training, record = self._training, self._record
        if record.looping:
            return run()
        if training.step != self._said:
            self._made = self._said = training.step
        losses, phase, started = training.losses, training.phase, _clock()
        values = run()
        ended = _clock()
        loss = self._loss(fetches, values) if self._more or self._losses else None
        record.run(training, self._made, started, ended, loss, losses, phase)
        self._made += training.loop
        return values

    def _makes_a_step(self, targets: _Some, fetches: _Some) -> bool:
        if self._every:
            return True
        if self._graph.version != self._version:
            self._look()
        return self._reach is not None and self._reach([*targets, *(tensor.op for tensor in fetches)])

    def _look(self) -> None:
        """Look for train ops and losses, anew whenever the graph has grown."""
        graph, keys = self._graph, tf1().GraphKeys
        self._version = graph.version
        named = None if self._named is None else find(graph, self._named)
        train_ops = graph.get_collection(keys.TRAIN_OP) if named is None else [named]
        global_step = None if train_ops else tf1().train.get_global_step(graph)
        if global_step is not None:
            train_ops = counting(operation_of(global_step).outputs[0])
        self._reach = Reach(map(operation_of, train_ops)) if train_ops else None
        self._losses = {operation_of(loss): place for place, loss in enumerate(graph.get_collection(keys.LOSSES))}

    def _loss(self, fetches: _Some, values: _Some) -> float | None:
        """Return the loss that was fetched: the one to be fetched, else the last of the graph's."""
        found, last = values[-1] if self._more else None, -1
        if not self._more:
            for fetch, value in zip(fetches, values):
                place = self._losses.get(fetch.op, -1)
                if place > last:
                    found, last = value, place
        if found is None:
            return None
        try:
            return float(found)
        except (TypeError, ValueError, OverflowError):
            return None
