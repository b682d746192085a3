"""Profiling of the runs within a scope, beside that of a whole initialisation."""

from __future__ import annotations

from .profiling import Profile
from .runtime import RUNTIME

LEVELS = ("L0", "L1", "L2")
METRICS = (
    "ArithmeticUtilization",
    "L2Cache",
    "Memory",
    "MemoryL0",
    "MemoryUB",
    "PipeUtilization",
    "ResourceConflictRatio",
)

#: Where the profile of the open scope goes, and the profile once something ran.
_output: str | None = None
_profile: Profile | None = None


def start(level: str, aic_metrics: str, output_path: str) -> None:
    """Profile runs from now on.

    Args:
        level: ``"L0"``, ``"L1"`` or ``"L2"``.
        aic_metrics: what is counted on the AI cores at L1 and L2; empty for PipeUtilization. The emulation counts
            nothing.
        output_path: directory of profiles; empty for the working directory.

    Raises:
        RuntimeError: an argument is out of range, or runs are profiled already.
    """
    global _output
    if _output is not None:
        raise RuntimeError("a Profiler is open already; they cannot be nested")
    if level not in LEVELS:
        raise RuntimeError(f"level={level!r}; it is one of {', '.join(LEVELS)}")
    if aic_metrics and level == "L0":
        raise RuntimeError(f"aic_metrics={aic_metrics!r} at level L0; metrics are collected at L1 and L2")
    if aic_metrics and aic_metrics not in METRICS:
        raise RuntimeError(f"aic_metrics={aic_metrics!r}; it is one of {', '.join(METRICS)}")
    _output = output_path or "./"


def stop() -> None:
    """Write the profile; nothing is written where nothing ran."""
    global _output, _profile
    profile, _output, _profile = _profile, None, None
    if profile is not None:
        profile.close()


def current() -> Profile | None:
    """Return the profile that a run goes to, ``None`` when none is open."""
    global _profile
    if _output is not None and _profile is None:
        _profile = Profile(_output, RUNTIME.device)
    return _profile
