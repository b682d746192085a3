"""Hooks of monitored sessions and estimators; importing this imports TensorFlow."""

from __future__ import annotations

import typing

from .._tensorflow import tf1
from .lifecycle import opened
from .training import broadcast_variables

_SessionRunHook: typing.Any = tf1().train.SessionRunHook


class BroadcastVariablesHook(_SessionRunHook):  # type: ignore[misc]
    """Gives every rank one rank's variables when a session was made, and its variables initialised or restored.

    Args:
        root: the rank whose values they are.
        variables: the variables; by default all global ones of the graph.

    Raises:
        NotInitializedError: HCCL is not initialised.
    """

    def __init__(self, root: int = 0, variables: typing.Sequence[typing.Any] | None = None) -> None:
        super().__init__()
        opened("BroadcastVariablesHook(...)")
        self._root = root
        self._variables = variables
        self._broadcast: typing.Any = None

    def begin(self) -> None:
        """Add the broadcasts to the graph, which is final after this."""
        if self._broadcast is None or self._broadcast.graph is not tf1().get_default_graph():
            self._broadcast = broadcast_variables(self._root, self._variables)

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Run them."""
        session.run(self._broadcast)
