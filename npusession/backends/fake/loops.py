"""Several training steps in one run, as the device makes them.

``set_iteration_per_loop`` puts a count into a variable on the device and groups the train op under a name that the
device knows. A run that reaches such an op makes as many steps as the variable says; the option
``iterations_per_loop`` is only there to be checked against it.
"""

from __future__ import annotations

import typing
import weakref

from ..._tensorflow import tf1

#: Scope of the variables, and the name of the group.
SCOPE = "npu_runconfig"
ITERATION_OP = "IterationOp"
#: One less than the steps of a run, and what the device counts with.
COUNT = "iterations_per_loop"
NAMES = (COUNT, "loop_cond", "zero", "one")

#: For each graph, whether runs of some fetches reach a loop.
_reached: weakref.WeakKeyDictionary[typing.Any, dict[typing.FrozenSet[str], bool]] = weakref.WeakKeyDictionary()


def variable(name: str) -> typing.Any:
    """Return one of the loop's variables in the default graph, made at the first call.

    Raises:
        RuntimeError: the graph has several of that name.
    """
    collection = f"{SCOPE}_{name}"
    found = tf1().get_default_graph().get_collection(collection)
    if len(found) > 1:
        raise RuntimeError(f"the graph has {len(found)} variables in the collection {collection!r}; the loop needs one")
    if found:
        return found[0]
    with tf1().variable_scope(SCOPE, reuse=tf1().AUTO_REUSE):
        return tf1().get_variable(
            name,
            shape=[],
            dtype=tf1().int64,
            initializer=tf1().zeros_initializer(),
            trainable=False,
            collections=[collection, tf1().GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def group(train_op: typing.Any) -> typing.Any:
    """Return the train op under the name by which the device knows it.

    Raises:
        ValueError: it is a tensor, not an operation.
    """
    if not isinstance(train_op, tf1().Operation):
        kind = getattr(getattr(train_op, "dtype", None), "name", type(train_op).__name__)
        raise ValueError(f"train_op is a {kind} tensor, or no part of a graph; it must be an Operation")
    return tf1().group(train_op, name=ITERATION_OP)


def load(variables: typing.Sequence[typing.Any], session: typing.Any, steps: int) -> None:
    """Give the variables, in the order of :data:`NAMES`, their values for a number of steps per run."""
    for item, value in zip(variables, (steps - 1, 0, 0, 1)):
        item.load(value, session=session)


def steps_of(
    read: typing.Callable[[typing.Any], typing.Any], graph: typing.Any, operations: typing.Sequence[typing.Any]
) -> int:
    """Return the number of steps that a run makes.

    Args:
        read: gets the value of a tensor, in the session of the run.
        graph: the session's graph.
        operations: what is run.
    """
    counts = graph.get_collection(f"{SCOPE}_{COUNT}")
    if not counts:
        return 1
    known = _reached.setdefault(graph, {})
    names = frozenset(operation.name for operation in operations)
    if names not in known:
        known[names] = _reaches_loop(operations)
    # The tensor that reads the variable is as old as the variable: a final graph stays as it is.
    return 1 + int(read(counts[0]._graph_element)) if known[names] else 1


def _reaches_loop(operations: typing.Iterable[typing.Any]) -> bool:
    seen = set(operations)
    stack = list(seen)
    while stack:
        operation = stack.pop()
        if operation.type == "NoOp" and operation.name.rpartition("/")[2].startswith(ITERATION_OP):
            return True
        before = {tensor.op for tensor in operation.inputs}.union(operation.control_inputs) - seen
        seen |= before
        stack.extend(before)
    return False
