"""Ops that only a device can run: nodes of the graph that fail when they are run, and say why.

TensorFlow turns an exception of a Python node into an ``UnknownError`` that quotes it. Sessions turn that back.
"""

from __future__ import annotations

import functools
import typing

from ..._tensorflow import tf1
from ...errors import NotEmulatedError

#: A dtype and a shape, ``None`` for an unknown one.
Output = typing.Tuple[typing.Any, typing.Any]
Call = typing.TypeVar("Call", bound=typing.Callable[..., typing.Any])

_ADVICE = "Run it on an NPU host, or leave it out where npusession reports the backend 'fake'."
#: What nodes say, by which their errors are known again; there are only as many as ops.
_TEXTS: set[str] = set()


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
    _TEXTS.add(text)

    def run(*values: object) -> typing.NoReturn:
        raise NotEmulatedError(text)

    results = tf1().numpy_function(run, inputs, [dtype for dtype, _ in outputs], name=name or op)
    if not outputs:
        return [results]
    for tensor, (_, shape) in zip(results, outputs):
        tensor.set_shape(shape)
    return list(results)


def translated(call: Call) -> Call:
    """Return the function with the errors of :func:`node` in place of TensorFlow's."""

    @functools.wraps(call)
    def wrapped(*args: typing.Any, **keywords: typing.Any) -> typing.Any:
        try:
            return call(*args, **keywords)
        except tf1().errors.OpError as error:
            # The longest one, since the name of an op may end with that of another.
            text = max((text for text in _TEXTS if text in str(error.message)), key=len, default=None)
            if text is None:
                raise
            raise NotEmulatedError(text) from error

    return typing.cast(Call, wrapped)
