"""The user's line that led here, for messages."""

from __future__ import annotations

import os
import sys
import types

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Modules and packages whose frames are not the user's either.
_OTHERS = frozenset({
    "contextlib", "tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "keras_applications",
    "keras_preprocessing", "npu_bridge", "npu_device",
})  # fmt: skip


def stacklevel() -> int:
    """Return the ``stacklevel`` that makes a warning given by the caller point at the user's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inner(frame):
        frame, level = frame.f_back, level + 1
    return level


def caller() -> str:
    """Return ``file:line`` of the innermost frame outside this package and TensorFlow."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_inner(frame):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_inner(frame: types.FrameType) -> bool:
    if frame.f_globals.get("__name__", "").partition(".")[0] in _OTHERS:
        return True
    return os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE)
