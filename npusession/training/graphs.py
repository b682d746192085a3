"""Questions to a graph: what is in it, and what runs when something is run."""

from __future__ import annotations

import typing

from .._tensorflow import tf1

#: Operations that count a variable up.
_COUNTING = ("AssignAdd", "AssignAddVariableOp")


def find(graph: typing.Any, name: str) -> typing.Any:
    """Return the tensor or operation of that name, ``None`` when the graph has none."""
    try:
        return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        return None


def operation_of(item: typing.Any) -> typing.Any:
    """Return a tensor's operation, and an operation itself."""
    return getattr(item, "op", item)


def is_variable(tensor: typing.Any) -> bool:
    """Tell whether a tensor stands for a variable, whose value may change within a run."""
    return bool(tensor.op.type == "VarHandleOp" or tensor.dtype._is_ref_dtype)


def read_after(tensor: typing.Any, train_op: typing.Any) -> typing.Any:
    """Return a tensor with a variable's value after ``train_op``; any other tensor as it is.

    Raises:
        RuntimeError: the graph is final, and has no such tensor.
    """
    if not is_variable(tensor):
        return tensor
    with tensor.graph.as_default(), tf1().name_scope("npusession/"), tensor.graph.control_dependencies([train_op]):
        if tensor.op.type == "VarHandleOp":
            return tf1().raw_ops.ReadVariableOp(resource=tensor, dtype=tensor.op.get_attr("dtype"))
        return tf1().identity(tensor)


def counting(variable: typing.Any) -> list[typing.Any]:
    """Return the operations that count a variable up, given its tensor."""
    return [operation for operation in variable.consumers() if operation.type in _COUNTING]


class Reach:
    """Tells whether running some operations runs one of others, too.

    Args:
        wanted: the others.
    """

    def __init__(self, wanted: typing.Iterable[typing.Any]) -> None:
        self._wanted = frozenset(wanted)
        self._known: dict[frozenset[typing.Any], bool] = {}

    def __call__(self, operations: typing.Iterable[typing.Any]) -> bool:
        """Answer; what was asked once is remembered."""
        asked = frozenset(operations)
        if asked not in self._known:
            self._known[asked] = self._search(asked)
        return self._known[asked]

    def _search(self, asked: typing.Iterable[typing.Any]) -> bool:
        seen, stack = set(asked), list(asked)
        while stack:
            operation = stack.pop()
            if operation in self._wanted:
                return True
            for before in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
                if before not in seen:
                    seen.add(before)
                    stack.append(before)
        return False
