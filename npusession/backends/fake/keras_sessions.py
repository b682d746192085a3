"""The Keras that TensorFlow brings, and its sessions where it still has them."""

from __future__ import annotations

import typing

from ..._tensorflow import tf1
from ...errors import NotEmulatedError


def backend() -> typing.Any:
    """Return the backend module of the Keras that ``tf.keras`` is."""
    if tf1().__version__.startswith("1."):
        from tensorflow.python.keras import backend

        return backend
    try:
        from keras import backend
    except ImportError:
        from tensorflow.python.keras import backend
    return backend


def sessions() -> typing.Any:
    """Return the backend module.

    Raises:
        NotEmulatedError: this Keras has no sessions.
    """
    module = backend()
    if not hasattr(module, "set_session"):
        import keras

        raise NotEmulatedError(
            f"Keras {keras.__version__} has no sessions, so it cannot run in one that is configured for an NPU.\n"
            "  Run it on TensorFlow 1.15 or 2.6.5, the releases that the adapter is made for."
        )
    return module
