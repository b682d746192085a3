"""Profiling of the runs within a scope."""

from __future__ import annotations

import typing

from npusession.backends.fake import profiler


class Profiler:
    """Profiles the runs of a ``with`` statement, or those between ``start`` and ``stop``.

    Args:
        level: ``"L0"``, ``"L1"`` or ``"L2"``.
        aic_metrics: what is counted on the AI cores, at L1 and L2.
        output_path: directory of profiles; the working directory by default.

    Raises:
        ValueError: an argument is no text.
    """

    def __init__(self, *, level: str = "L0", aic_metrics: str = "", output_path: str = "") -> None:
        for name, value in (("level", level), ("aic_metrics", aic_metrics), ("output_path", output_path)):
            if not isinstance(value, str):
                raise ValueError(f"{name}={value!r} must be str, not {type(value).__name__}")
        self._level = level
        self._aic_metrics = aic_metrics
        self._output_path = output_path

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *raised: typing.Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; RuntimeError when an argument is out of range, or another profiler is open."""
        profiler.start(self._level, self._aic_metrics, self._output_path)

    def stop(self) -> None:
        """End, and write the profile."""
        profiler.stop()
