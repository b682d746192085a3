"""The default session and graph of a thread, which several of our sessions are at a time, ended in any order.

TensorFlow's own context managers put back what was there when they began: ended in another order than the opposite of
their beginning they leave a graph, or graph mode under eager execution, to those that are still open.
"""

from __future__ import annotations

import threading
import typing
import warnings

from ._site import stacklevel

if typing.TYPE_CHECKING:
    from .running import RunningSession


class _Begun(threading.local):
    """Those of this thread that have not ended, in the order of their beginning."""

    def __init__(self) -> None:
        self.defaults: list[Defaults] = []


_begun = _Begun()


class Defaults:
    """A session and its graph as the default ones of this thread, from now until :meth:`end`."""

    def __init__(self, session: RunningSession) -> None:
        sessions, graphs = _stacks()
        context = _context()
        self._session: typing.Any = session
        self._graph = session.graph
        self._eager = context.executing_eagerly()
        #: Where in TensorFlow's stack of graphs it is.
        self._place = len(graphs.stack)
        # What Graph.as_default does, in parts that can be undone one by one.
        switches = context.context_switches
        switches.push(self._graph.building_function, self._graph.as_default, self._graph._device_function_stack)
        self._switch = switches.stack[-1]
        graphs.stack.append(self._graph)
        context._thread_local_data.is_eager = False
        sessions.stack.append(session)
        _begun.defaults.append(self)

    def end(self) -> None:
        """Have the next one of those that have not ended be the default; eager execution returns with the last one.

        A second call, and one in another thread, does nothing.
        """
        if self not in _begun.defaults:
            return
        _begun.defaults.remove(self)
        context = _context()
        sessions, graphs = (stack.stack for stack in _stacks())
        _remove(sessions, self._session)
        # The session may hold this object.
        self._session = None
        _remove(context.context_switches.stack, self._switch)
        if self._place >= len(graphs) or graphs[self._place] is not self._graph:
            # Somebody has emptied the stack.
            return
        del graphs[self._place]
        next_ones = [other for other in _begun.defaults if other._place == self._place + 1]
        if next_ones:
            next_ones[0]._eager = self._eager
        elif len(graphs) == self._place:
            context._thread_local_data.is_eager = self._eager
        elif self._eager:
            warnings.warn(
                "the session ended inside of a `with` of another graph that began after it. TensorFlow goes on in "
                "graph mode after that `with`, though it executed eagerly before: end the session outside of it.",
                RuntimeWarning,
                stacklevel=stacklevel(),
            )
        for other in _begun.defaults:
            other._place -= other._place > self._place


def _remove(stack: list[typing.Any], item: object) -> None:
    """Take out the last one that is this very item."""
    for place in reversed(range(len(stack))):
        if stack[place] is item:
            del stack[place]
            return


def _stacks() -> tuple[typing.Any, typing.Any]:
    """Return TensorFlow's stacks of default sessions and graphs."""
    from tensorflow.python.framework import ops

    if hasattr(ops, "_default_session_stack"):
        return ops._default_session_stack, ops._default_graph_stack
    from tensorflow.python.framework import stack

    return stack._default_session_stack, ops._default_graph_stack


def _context() -> typing.Any:
    from tensorflow.python.eager.context import context

    return context()
