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


def find_tensor(graph: typing.Any, name: str) -> typing.Any:
    """Return the tensor of that name, or of an operation that makes just one; else ``None``."""
    found = find(graph, name)
    if hasattr(found, "outputs"):
        return found.outputs[0] if len(found.outputs) == 1 else None
    return found


def operation_of(item: typing.Any) -> typing.Any:
    """Return a tensor's operation, and an operation itself."""
    return getattr(item, "op", item)


def is_variable(tensor: typing.Any) -> bool:
    """Tell whether a tensor stands for a variable, whose value may change within a run."""
    return bool(tensor.op.type == "VarHandleOp" or tensor.dtype._is_ref_dtype)


def kept(graph: typing.Any, kind: str) -> dict[typing.Any, typing.Any]:
    """Return a dictionary that lives as long as the graph: what was added to it need not be added again."""
    dictionaries: dict[str, dict[typing.Any, typing.Any]] = getattr(graph, "_npusession", {})
    # Newer releases of TensorFlow give graphs no dictionary that could be asked for it.
    graph._npusession = dictionaries
    return dictionaries.setdefault(kind, {})


def read(tensor: typing.Any, train_op: typing.Any = None) -> typing.Any:
    """Return a tensor with a variable's value, after ``train_op`` if one is given; any other tensor as it is.

    Raises:
        RuntimeError: the graph is final, and has no such tensor.
    """
    if not is_variable(tensor):
        return tensor
    reads = kept(tensor.graph, "reads")
    key = tensor.name, None if train_op is None else train_op.name
    if key not in reads:
        reads[key] = _add_read(tensor, [] if train_op is None else [train_op])
    return reads[key]


def _add_read(tensor: typing.Any, before: list[typing.Any]) -> typing.Any:
    graph = tensor.graph
    with graph.as_default(), tf1().name_scope("npusession/"), graph.control_dependencies(before):
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
