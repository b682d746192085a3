"""A session that is the default one from line to line, for notebooks."""

from __future__ import annotations

import contextlib
import typing
import weakref

if typing.TYPE_CHECKING:
    from ..running import RunningSession
    from ..session import NpuSession


def interactive(plan: NpuSession) -> RunningSession:
    """Open a session and make it the default one; see :meth:`npusession.NpuSession.interactive`."""
    session = plan.start()
    session._self_default = default = _Default(session)
    session._self_opening.at_close(weakref.WeakMethod(default.leave))
    return session


class _Default:
    """The contexts in which a session and its graph are the default ones, until :meth:`leave`."""

    def __init__(self, session: RunningSession) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(session.graph.as_default())
            stack.enter_context(session.as_default())
            self._contexts = stack.pop_all()

    def leave(self) -> None:
        """Leave them. In a notebook that may come in any order, which TensorFlow allows its own sessions only."""
        stacks = _stacks()
        before = [stack.enforce_nesting for stack in stacks]
        try:
            for stack in stacks:
                stack.enforce_nesting = False
            self._contexts.close()
        finally:
            for stack, enforced in zip(stacks, before):
                stack.enforce_nesting = enforced


def _stacks() -> list[typing.Any]:
    """Return TensorFlow's stacks of default graphs and sessions of this thread."""
    from tensorflow.python.framework import ops

    if hasattr(ops, "_default_session_stack"):
        return [ops._default_session_stack, ops._default_graph_stack]
    from tensorflow.python.framework import stack

    return [stack._default_session_stack, ops._default_graph_stack]
