"""Hooks for MonitoredSession and Estimator, where TensorFlow makes the session and the loop."""

from __future__ import annotations

import time
import typing

from .._compat import Protocol
from .._tensorflow import tf1
from ..options.performance import ITERATIONS_PER_LOOP
from .graphs import Reach, counting, find, find_tensor, is_variable, operation_of, read
from .loops import check_looped, created
from .recorder import Recorder

if typing.TYPE_CHECKING:
    from ..session import NpuSession
    from .state import TrainingState


class Source(Protocol):
    """Whose numbers the runtime sees: an open session or a system that is held."""

    @property
    def plan(self) -> NpuSession:
        """The plan that it was opened from."""

    def report(self, *, step: typing.Any = None, loss: typing.Any = None) -> None:
        """Take in how far the training is."""

    @property
    def _training(self) -> TrainingState | None:
        """What is known of the training, while it is open."""


def hooks_of(source: Source, *, step: typing.Any = None, loss: typing.Any = None) -> list[typing.Any]:
    """Return the hooks that a plan needs, an empty list when it needs none."""
    hooks: list[typing.Any] = []
    loop = source.plan.options.get(ITERATIONS_PER_LOOP.name, 1)
    if loop != 1:
        hooks.append(_LoopHook(loop))
    if source.plan.accelerate is not None:
        hooks.append(AcceleratedTrainingHook(source, step=step, loss=loss))
    if source.plan.record is not None:
        # Last, since it goes by what the others report.
        hooks.append(_RecordHook(source, loss))
    return hooks


class _LoopHook(tf1().train.SessionRunHook):  # type: ignore[misc]
    """Sets the number of steps in a run, for what :meth:`npusession.NpuSession.loop` prepared."""

    def __init__(self, steps: typing.Any) -> None:
        self._steps = steps

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Set it, in each new session."""
        for loop in created(session.graph).values():
            loop.load_iteration_per_loop_var(session, self._steps)
        check_looped(session.graph, self._steps, "plan.loop(train_op)")


class _RecordHook(tf1().train.SessionRunHook):  # type: ignore[misc]
    """Has the runs of each new session put on record."""

    def __init__(self, source: Source, loss: typing.Any) -> None:
        self._source = source
        self._loss = loss
        self._began = 0.0
        self._recorder: Recorder | None = None
        self._global_step: typing.Any = None

    def begin(self) -> None:
        """Find what to fetch, before the graph is final."""
        self._began = time.perf_counter()
        graph, training = tf1().get_default_graph(), self._source._training
        loss = None if self._loss is None else read(_named(graph, "loss", self._loss))
        self._global_step = tf1().train.get_global_step(graph)
        self._recorder = (
            None if training is None or training.record is None else Recorder(self._source.plan, training, graph, loss)
        )

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Count from the number of steps that was restored."""
        if self._recorder is not None:
            self._recorder.start(session, self._global_step, self._began)


class AcceleratedTrainingHook(tf1().train.SessionRunHook):  # type: ignore[misc]
    """Tells the runtime how an accelerated training goes, in MonitoredSession and Estimator.

    ::

        with System(plan) as system:
            estimator.train(input_fn, hooks=system.hooks())

    With each run that makes a training step it fetches the number of steps made, or the loss, and no run is made for
    it. After a restart it begins with the global step that was restored.

    Args:
        source: the open session, or the :class:`~npusession.System`, whose plan has the accelerated training, and
            which keeps the runtime's variables.
        step: what counts the steps made, a tensor, a variable, or its name; by default the plan's, else the graph's
            global step. Of a variable the value after it was counted up is told.
        loss: the loss, one number, a tensor or its name; by default the plan's. Needed when the plan goes by the loss.
    """

    def __init__(self, source: Source, *, step: typing.Any = None, loss: typing.Any = None) -> None:
        accelerate = source.plan.accelerate
        if accelerate is None:
            raise ValueError("the plan has no accelerated training; give it accelerate=AcceleratedTraining...")
        self._source = source
        self._trigger = accelerate.trigger
        wanted = step if self._trigger == "step" else loss
        self._wanted = getattr(accelerate, self._trigger) if wanted is None else wanted
        self._train_op = accelerate.train_op
        self._graph: typing.Any = None
        self._reach: Reach | None = None
        #: What to fetch, and what to read when the session is there.
        self._fetch: typing.Any = None
        self._restored: typing.Any = None

    def begin(self) -> None:
        """Find what to fetch, before the graph is final.

        Raises:
            ValueError: it is not in the graph, or the graph does not show which operation makes a step.
        """
        self._graph = tf1().get_default_graph()
        tensor = self._tensor()
        train_ops = self._train_ops(tensor)
        self._reach = Reach(train_ops) if train_ops else None
        self._fetch = read(tensor, train_ops[0] if len(train_ops) == 1 else None)
        self._restored = read(tensor) if self._trigger == "step" and is_variable(tensor) else None

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Begin with the number of steps that was restored."""
        if self._restored is not None:
            self._source.report(step=session.run(self._restored))

    def before_run(self, run_context: typing.Any) -> typing.Any:
        """Fetch it along with a run that makes a training step."""
        if self._reach is not None and not self._reach(self._operations(run_context.original_args.fetches)):
            return None
        return tf1().train.SessionRunArgs(self._fetch)

    def after_run(self, run_context: typing.Any, run_values: typing.Any) -> None:
        """Tell the runtime, for the run to come."""
        if run_values.results is not None:
            self._source.report(**{self._trigger: run_values.results})

    def _tensor(self) -> typing.Any:
        wanted = self._wanted
        if wanted is None and self._trigger == "step":
            wanted = tf1().train.get_global_step(self._graph)
        if wanted is None:
            raise ValueError(
                "the graph has no global step; call tf.train.get_or_create_global_step() and count it up in the train "
                "op, or name what counts the steps: hooks(step=...)"
                if self._trigger == "step"
                else "the plan goes by the loss, so the hook has to know it: hooks(loss=...), a tensor or its name"
            )
        return _named(self._graph, self._trigger, wanted)

    def _train_ops(self, tensor: typing.Any) -> list[typing.Any]:
        """Return the operations of which each makes a training step; none when every run is one."""
        if self._train_op is not None:
            train_op = find(self._graph, self._train_op)
            if train_op is None:
                raise ValueError(f"train_op={self._train_op!r} is not in the graph that is trained")
            return [operation_of(train_op)]
        if self._trigger == "step" and is_variable(tensor):
            operations = counting(tensor)
            if len(operations) != 1:
                raise ValueError(
                    f"{len(operations)} operations count {tensor.name!r} up; name the one that makes a training step: "
                    "AcceleratedTraining.by_step(..., step=..., train_op=...)"
                )
            return operations
        # Where TensorFlow's optimizers leave what they return.
        return [operation_of(item) for item in self._graph.get_collection(tf1().GraphKeys.TRAIN_OP)]

    def _operations(self, fetches: typing.Any) -> typing.Iterator[typing.Any]:
        for fetch in tf1().nest.flatten(fetches, expand_composites=True):
            yield operation_of(find(self._graph, fetch) if isinstance(fetch, str) else fetch)


def _named(graph: typing.Any, argument: str, wanted: typing.Any) -> typing.Any:
    name = wanted if isinstance(wanted, str) else wanted.name
    tensor = find_tensor(graph, name)
    if tensor is None:
        raise ValueError(f"{argument}={name!r} is no tensor of the graph that is trained")
    return tensor
