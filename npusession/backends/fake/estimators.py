"""What the adapter derives from tf.estimator, where TensorFlow still has it (up to 2.15)."""

from __future__ import annotations

import typing

from ..._tensorflow import tf1
from ...errors import NotEmulatedError


def base(name: str) -> typing.Any:
    """Return a class of ``tf.estimator``, or one that cannot be instantiated and says why."""
    try:
        return getattr(tf1().estimator, name)
    except AttributeError:
        return type(name, (_Missing,), {"__doc__": f"tf.estimator.{name}, which this TensorFlow does not have."})


def require(what: str) -> typing.Any:
    """Return ``tf.estimator``.

    Raises:
        NotEmulatedError: TensorFlow has none any more.
    """
    try:
        return tf1().estimator
    except AttributeError:
        raise NotEmulatedError(_message(what)) from None


class _Missing:
    def __new__(cls, *args: object, **keywords: object) -> _Missing:
        raise NotEmulatedError(_message(cls.__name__))


def _message(what: str) -> str:
    import tensorflow

    return (
        f"{what} needs tf.estimator, which TensorFlow has up to 2.15; this is {tensorflow.__version__}.\n"
        "  Run it on TensorFlow 1.15 or 2.6.5, the releases that the adapter is made for."
    )
