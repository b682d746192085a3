"""Choosing the adapter that sessions run on."""

from __future__ import annotations

import os
import warnings

from .._site import stacklevel
from ..errors import BackendError, FakeBackendWarning
from .base import Backend

__all__ = ["NAMES", "Backend", "load"]

#: Names a backend for sessions whose plan names none.
VARIABLE = "NPUSESSION_BACKEND"
NAMES = ("npu", "fake")

_loaded: dict[str, Backend] = {}
#: Whether the NPU adapter was tried and is not there; it is not tried again, and the warning not repeated.
_fallback = False


def load(name: str | None = None) -> Backend:
    """Return a backend, importing it at the first call.

    Args:
        name: ``"npu"`` or ``"fake"``. By default what the variable NPUSESSION_BACKEND says, else the NPU adapter
            when it can be imported, else the fake with one FakeBackendWarning that says why: never silently on
            the CPU.

    Raises:
        BackendError: the backend that was asked for cannot be loaded.
        TensorFlowNotFoundError: TensorFlow is not installed.
        ValueError: there is no backend of that name.
    """
    chosen = name or os.environ.get(VARIABLE)
    if chosen is None:
        return _npu_or_fake()
    if chosen not in NAMES:
        source = "backend=" if name else f"the variable {VARIABLE}: "
        raise ValueError("{}{!r} is no backend; there are {}".format(source, chosen, " and ".join(map(repr, NAMES))))
    if chosen not in _loaded:
        if chosen == "npu":
            from .npu import load as load_backend
        else:
            from .fake import load as load_backend
        _loaded[chosen] = load_backend()
    return _loaded[chosen]


def unload(name: str) -> None:
    """Forget a backend, so that :func:`load` loads it anew; sessions of it that are open are not closed."""
    _loaded.pop(name, None)


def _npu_or_fake() -> Backend:
    global _fallback
    if _fallback:
        return load("fake")
    try:
        return load("npu")
    except BackendError as error:
        _fallback = True
        warnings.warn(
            f"graphs run on TensorFlow's CPU, by the fake backend, because {error}",
            FakeBackendWarning,
            stacklevel=stacklevel(),
        )
        return load("fake")
