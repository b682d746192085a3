"""Every exception and warning that npusession raises on purpose.

::

    NpuSessionError
     ├── OptionsError (ValueError)            options that the runtime would refuse, ignore or die of
     ├── PlanFileError (ValueError)           a file that holds no plan; in planfile
     ├── ConfigFileError (ValueError)         a side file that does not keep to its format; in configfiles
     ├── BackendError (ImportError)           the backend that was asked for cannot be loaded
     ├── TensorFlowNotFoundError (ImportError)
     ├── LifecycleError (RuntimeError)        right call, wrong moment
     │    ├── SystemConflictError             another session opened the runtime with other options
     │    ├── SessionClosedError              the session is closed already
     │    ├── GraphRequiredError              TensorFlow runs eagerly and no graph was given
     │    ├── ForkedError                     a forked child uses its parent's runtime
     │    └── NotInitializedError             HCCL was asked before initialisation
     └── NpuAbortError (RuntimeError)         the emulation, where the real process would have died

    FakeBackendWarning (UserWarning)          running on the CPU because npu_bridge is not there
    OptionsWarning (UserWarning)              options that work, but not as one may think
    TrainingWarning (UserWarning)             numbers of a training that the runtime takes otherwise than one may think
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from .options.problems import Problem


class NpuSessionError(Exception):
    """Base of all errors of this package.

    A failing clean-up lists its further failures in ``cleanup_errors``.
    """

    cleanup_errors: tuple[BaseException, ...] = ()


class OptionsError(NpuSessionError, ValueError):
    """Options that the runtime would refuse, ignore in silence, or abort on.

    Attributes:
        problems: every problem found, errors before warnings, each with its code, option, value, allowed
            values, reason and fix.
    """

    def __init__(self, problems: typing.Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        return "{} in the session options:\n{}".format(head, "\n".join(str(problem) for problem in self.problems))


class BackendError(NpuSessionError, ImportError):
    """The requested backend cannot be loaded; the message lists what was tried and why each failed."""


class TensorFlowNotFoundError(NpuSessionError, ImportError):
    """TensorFlow cannot be imported."""


class LifecycleError(NpuSessionError, RuntimeError):
    """A call that is right at another moment of the session's life."""


class SystemConflictError(LifecycleError):
    """The runtime is open already, with options that contradict the ones given now."""


class SessionClosedError(LifecycleError):
    """The session was closed before this call."""


class GraphRequiredError(LifecycleError):
    """TensorFlow executes eagerly, and the call needs a graph."""


class ForkedError(LifecycleError):
    """A forked child uses a session that belongs to its parent process."""


class NotInitializedError(LifecycleError):
    """HCCL was asked for a rank before the system was initialised."""


class NpuAbortError(NpuSessionError, RuntimeError):
    """Raised by the emulation where the real runtime ends the process with SIGABRT."""


class FakeBackendWarning(UserWarning):
    """Graphs run on TensorFlow's CPU, because no NPU adapter could be imported."""


class OptionsWarning(UserWarning):
    """An option that works, but is deprecated or does less than it says here."""


class TrainingWarning(UserWarning):
    """A step or a loss at which the runtime does something else than one may think; the message says what."""
