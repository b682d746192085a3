"""Exceptions of nodes that are Python functions.

TensorFlow turns what such a function raises into an ``UnknownError`` that quotes it. What it raised on purpose is
remembered here, so that sessions raise the exception itself.
"""

from __future__ import annotations

import collections
import functools
import typing

from ..._tensorflow import tf1
from ...errors import NpuSessionError

Call = typing.TypeVar("Call", bound=typing.Callable[..., typing.Any])

#: The newest exceptions of nodes; several may fail in one run.
_raised: collections.deque[NpuSessionError] = collections.deque(maxlen=64)


def telling(function: Call) -> Call:
    """Return a node's function, of which the package's own exceptions are remembered."""

    @functools.wraps(function)
    def wrapped(*args: typing.Any) -> typing.Any:
        try:
            return function(*args)
        except NpuSessionError as error:
            _raised.append(error)
            raise

    return typing.cast(Call, wrapped)


def translated(call: Call) -> Call:
    """Return the function, with the exception that a node raised in place of TensorFlow's that quotes it."""

    @functools.wraps(call)
    def wrapped(*args: typing.Any, **keywords: typing.Any) -> typing.Any:
        try:
            return call(*args, **keywords)
        except tf1().errors.OpError as error:
            # The longest one, since what one says may end with what another one says.
            quoted = [raised for raised in _raised if str(raised) in str(error.message)]
            if not quoted:
                raise
            raise max(quoted, key=lambda raised: len(str(raised))) from error

    return typing.cast(Call, wrapped)
