"""The fake backend: an emulation of the adapter and its runtime on TensorFlow's CPU.

It supplies modules with the adapter's own functions, so that everything above a backend is one code path, and it
behaves as the runtime was measured to: the same verdicts on options (an abort becomes
:class:`~npusession.NpuAbortError`), the same life cycle, dumps and profiles in the documented places.
"""

from __future__ import annotations

from ..._version import __version__
from ..base import Backend


def load() -> Backend:
    """Install the emulation in TensorFlow and return the backend.

    Raises:
        TensorFlowNotFoundError: TensorFlow is not installed.
    """
    from . import npu_ops, ranks, sessions, util

    sessions.install()
    return Backend("fake", __version__, npu_ops, ranks, util)
