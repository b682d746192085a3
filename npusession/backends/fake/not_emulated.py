"""Ops that only a device can run: nodes of the graph that fail when they are run, and say why."""

from __future__ import annotations

import typing

from ..._tensorflow import tf1
from ...errors import NotEmulatedError
from . import python_nodes as nodes

#: A dtype and a shape, ``None`` for an unknown one.
Output = typing.Tuple[typing.Any, typing.Any]

_ADVICE = "Run it on an NPU host, or leave it out where npusession reports the backend 'fake'."


def failure(op: str, why: str) -> NotEmulatedError:
    """Return the error for an op that the emulation cannot run.

    Args:
        op: the op's type, as in ``OCRFindContours``.
        why: what is missing, a clause that goes on after the op's name.
    """
    return NotEmulatedError(f"{op} {why}, so the emulation cannot run it.\n  {_ADVICE}")


def node(
    op: str, why: str, inputs: typing.Sequence[typing.Any], outputs: typing.Sequence[Output], name: str | None = None
) -> list[typing.Any]:
    """Add a node that raises :class:`~npusession.errors.NotEmulatedError` when it is run.

    Args:
        op: the op's type.
        why: as for :func:`failure`.
        inputs: tensors that it depends on.
        outputs: dtype and shape of each result.
        name: name of the node.

    Returns:
        The results, or the operation itself where it has none.

    Raises:
        NotEmulatedError: TensorFlow executes eagerly, so that building is running.
    """
    text = str(failure(op, why))
    if tf1().executing_eagerly():
        raise NotEmulatedError(text)

    def run(*values: object) -> typing.NoReturn:
        raise NotEmulatedError(text)

    results = tf1().numpy_function(nodes.telling(run), inputs, [dtype for dtype, _ in outputs], name=name or op)
    if not outputs:
        return [results]
    for tensor, (_, shape) in zip(results, outputs):
        tensor.set_shape(shape)
    return list(results)
