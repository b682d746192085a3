"""Gradients of an op that is given as an operation, as the adapter's gradient functions get it."""

from __future__ import annotations

import typing

from ...._tensorflow import tf1


def recomputed(
    compute: typing.Callable[..., typing.Sequence[typing.Any]],
    inputs: typing.Sequence[typing.Any],
    gradients: typing.Sequence[typing.Any],
) -> list[typing.Any]:
    """Compute an op once more, and return the gradients with respect to its inputs; integers come back as they are.

    Args:
        compute: the op.
        inputs: its inputs.
        gradients: the gradient of each of its outputs, ``None`` for zero.
    """
    copies = [tf1().identity(tensor) for tensor in inputs]
    outputs = [(output, gradient) for output, gradient in zip(compute(*copies), gradients) if gradient is not None]
    floats = [copy for copy in copies if copy.dtype.is_floating]
    results = iter(tf1().gradients([output for output, _ in outputs], floats, [gradient for _, gradient in outputs]))
    return [next(results) if copy.dtype.is_floating else tensor for copy, tensor in zip(copies, inputs)]


def attributes(operation: typing.Any, *names: str) -> dict[str, typing.Any]:
    """Return attributes of an operation, text as text."""
    values = {name: operation.get_attr(name) for name in names}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
