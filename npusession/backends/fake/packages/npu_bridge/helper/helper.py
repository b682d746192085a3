"""The library of the adapter's ops."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as npu_bridge_handle

__all__ = ["get_gen_ops", "npu_bridge_handle", "version"]

version = "v1.15.0"


def get_gen_ops() -> typing.Any:
    """Return the library of the adapter's ops."""
    return npu_bridge_handle
