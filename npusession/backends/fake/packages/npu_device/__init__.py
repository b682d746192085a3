"""The adapter for TensorFlow 2: ``compat.v1``, which runs graphs in sessions, is emulated; the eager mode is not."""

from __future__ import annotations

import typing

from npusession.errors import NotEmulatedError

from . import compat

__all__ = ["compat", "open"]


def open(device_id: int | None = None) -> typing.Any:
    """Open a device for eager execution; not emulated."""
    raise NotEmulatedError(
        "npu_device.open() runs ops eagerly on a device; the emulation has sessions only.\n"
        "  Use npu_device.compat.enable_v1() and tf.compat.v1.Session."
    )
