"""Dumps on disk, of the runtime and of the emulation: their names, their tree, and what the files hold.

Nothing here needs TensorFlow; NumPy is imported when an array is asked for.
"""

from __future__ import annotations

from .names import DumpName
from .payload import NotADumpError, Tensor, failure, overflow, statistics, tensors
from .summary import Statistics
from .tree import DumpFile, describe, find

__all__ = [
    "DumpFile",
    "DumpName",
    "NotADumpError",
    "Statistics",
    "Tensor",
    "describe",
    "failure",
    "find",
    "overflow",
    "statistics",
    "tensors",
]
