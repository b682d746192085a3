"""Which operators run for a fetch, and which of their tensors can be seen."""

from __future__ import annotations

import typing


def by_name(feeds: typing.Mapping[typing.Any, typing.Any]) -> dict[str, typing.Any]:
    """Return what is fed by the names of tensors."""
    # From TensorFlow 2 on, feeds are keyed by references, since tensors cannot be hashed.
    return {getattr(key, "deref", lambda key=key: key)().name: value for key, value in feeds.items()}


def ancestors(items: typing.Iterable[typing.Any], fed: typing.Container[str]) -> list[typing.Any]:
    """Return every operator that runs for operators or tensors, inputs first.

    What is fed cuts off what lies before it.
    """
    ordered: dict[str, typing.Any] = {}
    seen: set[str] = set()
    stack = [(getattr(item, "op", item), False) for item in reversed(list(items))]
    while stack:
        operation, inputs_done = stack.pop()
        if inputs_done:
            ordered[operation.name] = operation
        elif operation.name not in seen:
            seen.add(operation.name)
            stack.append((operation, True))
            if any(tensor.name in fed for tensor in operation.outputs):
                continue
            inputs = [tensor.op for tensor in operation.inputs]
            stack.extend((before, False) for before in (*inputs, *operation.control_inputs))
    return list(ordered.values())


def can_be_fetched(tensor: typing.Any) -> bool:
    """Tell whether a tensor has one value in every run, that leaves the session."""
    operation = tensor.op
    return bool(
        tensor.dtype.name not in ("resource", "variant")
        and not tensor.dtype._is_ref_dtype
        # Inside tf.cond and tf.while_loop of version 1 a tensor may be dead, or have many values.
        and operation._get_control_flow_context() is None
        and operation.graph.is_fetchable(tensor)
    )
