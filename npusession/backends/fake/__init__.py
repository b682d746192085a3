"""The fake backend: an emulation of the adapter and its runtime on TensorFlow's CPU.

It supplies modules with the adapter's own functions, so that everything above a backend is one code path, and it
behaves as the runtime was measured to: the same verdicts on options (an abort becomes
:class:`~npusession.NpuAbortError`), the same life cycle, dumps and profiles in the documented places.
"""

from __future__ import annotations

import atexit
import importlib
import typing

from ..._version import __version__
from ..base import Backend

#: The emulated adapter, also when nobody made it importable under its own name.
_PACKAGE = f"{__name__}.packages.npu_bridge"


def load() -> Backend:
    """Install the emulation in TensorFlow and return the backend.

    Raises:
        TensorFlowNotFoundError: TensorFlow is not installed.
    """
    from . import groups, npu_ops, sessions

    sessions.install()
    return Backend("fake", __version__, npu_ops, groups, lambda: groups, _import)


def _import(name: str) -> typing.Any:
    package = importlib.import_module(_PACKAGE)
    # At exit, what it registers would come before open sessions are closed; the emulated runtime has its own handler.
    atexit.unregister(package.npu_close)
    return importlib.import_module(f"{_PACKAGE}.{name}")
