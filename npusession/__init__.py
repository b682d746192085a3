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
)
from .options import AcceleratedTraining, Dump, Problem, Profiling, Report, Scene, Severity
from .parameters import check_parameters
from .planfile import PlanFileError
from .products import Product
from .session import NpuSession
from .system import System

if typing.TYPE_CHECKING:
    from .running import RunningSession

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
    "__version__",
    "check_parameters",
]


def __getattr__(name: str) -> object:
    # The one public name that needs wrapt, whose import takes longer than all the rest.
    if name == "RunningSession":
        from .running import RunningSession

        return RunningSession
    # Of use to jobs of several ranks only.
    if name == "hccl":
        import importlib

        return importlib.import_module(".hccl", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
