"""Placeholder: configurations."""

from __future__ import annotations

import enum


class NpuExecutePlacement(enum.Enum):
    """The part of the device, or the host, that runs an op."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"
