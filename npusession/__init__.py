"""Run TensorFlow sessions on Ascend NPUs: options that are checked, a life cycle that cleans up.

::

    from npusession import NpuSession

    with NpuSession.for_training(device=0) as s:
        s.run(train_op)
"""

import typing

from ._version import __version__
from .errors import (
    BackendError,
    CollectiveError,
    FakeBackendWarning,
    ForkedError,
    GraphRequiredError,
    IgnoredOptionsWarning,
    LifecycleError,
    NotEmulatedError,
    NotInitializedError,
    NpuAbortError,
    NpuSessionError,
    OptionsError,
    OptionsWarning,
    SessionClosedError,
    SystemConflictError,
    TensorFlowNotFoundError,
    TrainingWarning,
)
from .options import AcceleratedTraining, Dump, Problem, Profiling, Report, Scene, Severity
from .parameters import check_parameters
from .planfile import PlanFileError
from .products import Product
from .session import NpuSession
from .system import System

if typing.TYPE_CHECKING:
    from .running import RunningSession
    from .training.hooks import AcceleratedTrainingHook as AcceleratedTrainingHook
    from .training.keras import AcceleratedTrainingCallback as AcceleratedTrainingCallback

__all__ = [
    "AcceleratedTraining",
    "BackendError",
    "CollectiveError",
    "Dump",
    "FakeBackendWarning",
    "ForkedError",
    "GraphRequiredError",
    "IgnoredOptionsWarning",
    "LifecycleError",
    "NotEmulatedError",
    "NotInitializedError",
    "NpuAbortError",
    "NpuSession",
    "NpuSessionError",
    "OptionsError",
    "OptionsWarning",
    "PlanFileError",
    "Problem",
    "Product",
    "Profiling",
    "Report",
    "RunningSession",
    "Scene",
    "SessionClosedError",
    "Severity",
    "System",
    "SystemConflictError",
    "TensorFlowNotFoundError",
    "TrainingWarning",
    "__version__",
    "check_parameters",
]


#: Public names that take long to import: wrapt for RunningSession, TensorFlow for the others. Those are not listed in
#: __all__, so that a star import does without TensorFlow.
_LATER = {
    "AcceleratedTrainingCallback": "training.keras",
    "AcceleratedTrainingHook": "training.hooks",
    "RunningSession": "running",
}


def __getattr__(name: str) -> object:
    import importlib

    if name == "hccl":
        # Of use to jobs of several ranks only.
        return importlib.import_module(".hccl", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
