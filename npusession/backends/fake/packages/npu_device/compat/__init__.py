"""Sessions on TensorFlow 2."""

from npusession._tensorflow import tf1
from npusession.backends.fake import sessions

from . import v1

__all__ = ["enable_v1", "v1"]


def enable_v1() -> None:
    """Have TensorFlow behave as version 1, and sessions whose configuration says so run on the device."""
    tf1().disable_v2_behavior()
    sessions.install(defaults=False)
