"""Several training steps in one run, which the adapter's ``util`` puts into a graph."""

from __future__ import annotations

import typing
import warnings

from .._site import stacklevel
from ..errors import TrainingWarning
from .graphs import find, kept, operation_of

if typing.TYPE_CHECKING:
    from ..backends import Backend
    from ..opening import Opening

#: What the adapter's util adds to a graph that it loops.
_VARIABLE = "npu_runconfig/iterations_per_loop"


def check_looped(graph: typing.Any, steps: int, way: str) -> None:
    """Warn if a graph has no loop that would make that many steps in a run."""
    if find(graph, _VARIABLE) is None:
        warnings.warn(
            f"each run is counted as iterations_per_loop={steps} steps, but makes one as long as the train op is not "
            f"looped: run what train_op = {way} returns.",
            TrainingWarning,
            stacklevel=stacklevel(),
        )


def create(backend: Backend, train_op: typing.Any) -> typing.Any:
    """Add to a train op's graph what a loop needs, and return the operation to run; nothing is set yet."""
    train_op = operation_of(train_op)
    with train_op.graph.as_default():
        loop = backend.util.IterationPerLoop()
        looped = loop.create_iteration_per_loop_var(train_op)
    created(train_op.graph)[looped.name] = loop
    return looped


def created(graph: typing.Any) -> dict[str, typing.Any]:
    """Return the loops of a graph that :func:`create` made, by name of the operation to run."""
    return kept(graph, "loops")


def load(opening: Opening, train_op: typing.Any) -> typing.Any:
    """Loop a train op; see :meth:`npusession.RunningSession.loop`."""
    session, training = opening.session, opening.training
    if training.loop == 1:
        return train_op
    operation = operation_of(find(session.graph, train_op) if isinstance(train_op, str) else train_op)
    graph = session.graph
    if not hasattr(operation, "graph") or operation.graph is not graph:
        raise ValueError(f"train_op={train_op!r} is no operation in the session's graph")
    loops = created(graph)
    if operation.name in loops:
        loops[operation.name].load_iteration_per_loop_var(session, training.loop)
    elif graph.finalized:
        raise ValueError(
            f"the graph is final, and {operation.name!r} was not looped before. Build the graph with "
            "train_op = plan.loop(train_op), and hand that to s.loop()"
        )
    else:
        with graph.as_default():
            operation = opening.backend.util.set_iteration_per_loop(session, operation, training.loop)
    training.looped = True
    return operation
