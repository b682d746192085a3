"""Keras in the session of a plan."""

from __future__ import annotations

import contextlib
import functools
import sys
import typing

from .._tensorflow import tf1
from ..errors import LifecycleError

if typing.TYPE_CHECKING:
    from ..running import RunningSession
    from ..session import NpuSession

#: Attribute by which Keras knows variables that it need not initialise any more, in whatever session.
_INITIALIZED = "_keras_initialized"


@contextlib.contextmanager
def keras(plan: NpuSession) -> typing.Iterator[RunningSession]:
    """Run Keras in the plan's session; see :meth:`npusession.NpuSession.keras`."""
    backend = tf1().keras.backend
    if not hasattr(backend, "set_session"):
        import tensorflow

        raise LifecycleError(
            f"the Keras of TensorFlow {tensorflow.__version__} has no sessions, so that it cannot run in this one. "
            "Use TensorFlow 1.15 or 2.6.5, the releases that the adapter is made for."
        )
    needed = plan.accelerate is not None or plan.record is not None
    # get_session would make a session where there is none.
    current = sys.modules[backend.set_session.__module__]._SESSION
    with plan as session:
        before = getattr(current, "session", None)
        marked = _marked(session.graph)
        for variable in marked:
            setattr(variable, _INITIALIZED, False)
        backend.set_session(session)
        try:
            with _followed(session, current) if needed else contextlib.nullcontext():
                yield session
        finally:
            current.session = before
            for variable in _marked(session.graph):
                setattr(variable, _INITIALIZED, False)
            for variable in marked:
                setattr(variable, _INITIALIZED, True)


@contextlib.contextmanager
def _followed(session: RunningSession, current: typing.Any) -> typing.Iterator[None]:
    """Give each ``fit`` in the session a callback that follows it, unless it has one."""
    from ..training.keras import AcceleratedTrainingCallback

    module: typing.Any = sys.modules[tf1().keras.callbacks.Callback.__module__]
    configure = module.configure_callbacks

    @functools.wraps(configure)
    def configured(given: typing.Any, *rest: typing.Any, **keywords: typing.Any) -> typing.Any:
        fits = keywords.get("mode", "train") == "train" and not isinstance(given, module.CallbackList)
        if fits and getattr(current, "session", None) is session:
            given = list(given or ())
            if not any(isinstance(callback, AcceleratedTrainingCallback) for callback in given):
                given.append(AcceleratedTrainingCallback(session))
        return configure(given, *rest, **keywords)

    module.configure_callbacks = configured
    try:
        yield
    finally:
        module.configure_callbacks = configure


def _marked(graph: typing.Any) -> list[typing.Any]:
    variables = graph.get_collection(tf1().GraphKeys.GLOBAL_VARIABLES)
    return [variable for variable in variables if getattr(variable, _INITIALIZED, False)]
