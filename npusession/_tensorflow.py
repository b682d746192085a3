"""TensorFlow, imported at first use and always in its version 1 API."""

from __future__ import annotations

import typing

from .errors import TensorFlowNotFoundError

_HELP = """TensorFlow cannot be imported: %s
  On a laptop:    pip install "npusession[tensorflow]"
  On an NPU host: install the TensorFlow that the vendor built for your CANN release (1.15 or 2.6.5), in the same
                  Python environment as npu_bridge; the adapter does not work with another build."""


def tf1() -> typing.Any:
    """Return ``tensorflow.compat.v1``.

    Raises:
        TensorFlowNotFoundError: TensorFlow is not installed or does not load; says how to get it.
    """
    try:
        import tensorflow

        return tensorflow.compat.v1
    except ImportError as error:
        raise TensorFlowNotFoundError(_HELP % error) from error
    except Exception as error:
        # protobuf 4 under TensorFlow 1.15 is a TypeError, a half-installed build an AttributeError.
        raise TensorFlowNotFoundError(_HELP % (f"{type(error).__name__}: {error}")) from error
