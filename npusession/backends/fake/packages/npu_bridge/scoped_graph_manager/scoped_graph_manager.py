"""Graphs that leave the device with a scope."""

from __future__ import annotations

import typing

from npusession.backends.fake.runtime import RUNTIME


class ScopedGraphManager:
    """Frees the graph of the one run of a ``with`` statement; the CPU holds no graphs, so it is only recorded."""

    def __enter__(self) -> ScopedGraphManager:
        self.start()
        return self

    def __exit__(self, *raised: typing.Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begin."""
        RUNTIME.record("graph scope", detail="start")

    def stop(self) -> None:
        """Free the graph."""
        RUNTIME.record("graph scope", detail="stop")
