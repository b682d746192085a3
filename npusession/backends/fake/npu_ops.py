"""The emulated ``npu_bridge.estimator.npu_ops``: the ops that open and close the runtime."""

from __future__ import annotations

import typing
import weakref

from ..._tensorflow import tf1
from .runtime import RUNTIME

if typing.TYPE_CHECKING:
    from .device import DeviceSession

#: The initialize and shutdown ops of each graph, by name.
_OPERATIONS: weakref.WeakKeyDictionary[typing.Any, dict[str, Lifecycle]] = weakref.WeakKeyDictionary()


class Lifecycle:
    """One initialize or shutdown op."""

    def __init__(self, moment: str) -> None:
        #: ``"initialize"`` or ``"shutdown"``.
        self.moment = moment
        #: The session that runs it, set before each run.
        self.session: DeviceSession | None = None
        #: Why the op failed. TensorFlow makes an UnknownError of every exception in Python code.
        self.error: Exception | None = None

    def __call__(self) -> None:
        """Run, and keep the exception with which it fails."""
        try:
            self._run()
        except Exception as error:
            self.error = error
            raise

    def _run(self) -> None:
        if self.session is None:
            raise RuntimeError(f"{self.moment}_system was run by a session that the emulation does not know")
        if self.moment == "initialize":
            RUNTIME.initialize(self.session, by_op=True)
        else:
            RUNTIME.record("shutdown", self.session.number)
            RUNTIME.finalize("shutdown op")


def initialize_system(name: str | None = None) -> typing.Any:
    """Return an op that initialises the runtime when it is run.

    Raises:
        RuntimeError: TensorFlow executes eagerly.
    """
    return _operation("initialize", name or "NPUInit")


def shutdown_system(name: str | None = None) -> typing.Any:
    """Return an op that finalises the runtime when it is run.

    Raises:
        RuntimeError: TensorFlow executes eagerly.
    """
    operation = _operation("shutdown", name or "NPUShutdown")
    RUNTIME.shutdown_made = True
    return operation


def lifecycle_ops(graph: typing.Any) -> dict[str, Lifecycle]:
    """Return the initialize and shutdown ops of a graph, by their names."""
    return _OPERATIONS.get(graph, {})


def _operation(moment: str, name: str) -> typing.Any:
    if tf1().executing_eagerly():
        raise RuntimeError(
            f"{moment}_system() needs a graph, and TensorFlow is eager: call tf.compat.v1.disable_eager_execution()"
        )
    lifecycle = Lifecycle(moment)
    operation = tf1().numpy_function(lifecycle, [], [], name=name)
    _OPERATIONS.setdefault(operation.graph, {})[operation.name] = lifecycle
    return operation
