"""Following a training by a tensor that is fetched along with the train op."""

from __future__ import annotations

import typing
import warnings

from .._site import stacklevel
from ..errors import OptionsError, TrainingWarning
from ..options.model import problem
from ..options.problems import BAD_VALUE
from .graphs import Reach, find, find_tensor, operation_of, read

if typing.TYPE_CHECKING:
    from ..options import AcceleratedTraining
    from .state import TrainingState


class Follower:
    """Knows which runs of a session make a training step, and what to fetch with them.

    Args:
        training: where the values go.
        group: names the train op, and the tensor if there is one.
        graph: the session's graph. It may get the train op later; its tensors are looked for then.

    Attributes:
        tensors: what is to be fetched besides, with a run that makes a step.

    Raises:
        OptionsError: the graph has the train op, and not the tensor or no place for reading it.
    """

    def __init__(self, training: TrainingState, group: AcceleratedTraining, graph: typing.Any) -> None:
        self._training = training
        self._train_op: str = group.train_op
        self._argument = group.trigger
        self._tensor: str | None = getattr(group, group.trigger)
        self._graph = graph
        self._reach: Reach | None = None
        self.tensors: list[typing.Any] = []
        self._look()

    def follows(self, operations: typing.Iterable[typing.Any]) -> bool:
        """Tell whether running these operations makes a training step."""
        reach = self._reach or self._look()
        return reach is not None and reach(operations)

    def take(self, values: typing.Sequence[typing.Any], before: int) -> None:
        """Take in the values of :attr:`tensors` after a run, and the number of steps that were made before it."""
        if values:
            self._training.report(**{self._argument: values[0]})
        else:
            self._training.report(step=before + self._training.loop)

    def install(self, session: typing.Any) -> typing.Callable[[], None]:
        """Have the runs of a TensorFlow session followed; returns what ends it.

        It takes the place of the method that all runs go through once their fetches are flat.
        """
        do_run = session._do_run

        def followed(
            handle: object, targets: typing.Any, fetches: typing.Any, feeds: typing.Any, *rest: typing.Any
        ) -> typing.Any:
            # A handle is that of a partial run.
            if handle is not None or not self.follows([*targets, *(tensor.op for tensor in fetches)]):
                return do_run(handle, targets, fetches, feeds, *rest)
            before = self._training.step
            values = do_run(handle, targets, [*fetches, *self.tensors], feeds, *rest)
            self.take(values[len(fetches) :], before)
            return values[: len(fetches)]

        def end() -> None:
            del session._do_run

        session._do_run = followed
        return end

    def look_back(self) -> None:
        """Warn if there was nothing to follow, and nobody else told the runtime."""
        acceleration = self._training.acceleration
        if acceleration is not None and not acceleration.told:
            warnings.warn(
                f"no run reached the train op {self._train_op!r}, so the runtime was not told how the training went. "
                "Name the operation that is run, or one that it depends on.",
                TrainingWarning,
                stacklevel=stacklevel(),
            )

    def _look(self) -> Reach | None:
        train_op = find(self._graph, self._train_op)
        if train_op is None:
            return None
        train_op = operation_of(train_op)
        if self._tensor is not None:
            self.tensors = [self._found(self._tensor, train_op)]
        self._reach = Reach([train_op])
        return self._reach

    def _found(self, name: str, train_op: typing.Any) -> typing.Any:
        argument = f"AcceleratedTraining.{self._argument}"
        tensor = find_tensor(self._graph, name)
        if tensor is None:
            fix = "a tensor or variable of the graph that the session runs, or its name"
            raise OptionsError([problem(BAD_VALUE, argument, "no tensor of the graph", value=name, fix=fix)])
        try:
            return read(tensor, train_op)
        except RuntimeError:
            message = "the graph is final, so that no read of the variable after the train op can be added"
            fix = "open the session before the graph is final, or give a tensor that depends on the train op"
            raise OptionsError([problem(BAD_VALUE, argument, message, value=name, fix=fix)]) from None
