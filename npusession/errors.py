"""Every exception and warning that npusession raises on purpose.

::

    NpuSessionError
     ├── ProblemsError (ValueError)           what a check found wrong
     │    ├── OptionsError                    options that the runtime would refuse, ignore or die of
     │    ├── RankTableError                  a rank table that HCCL would refuse; in hccl
     │    └── ClusterError                    an environment that describes no cluster, or two; in hccl
     ├── DeviceAddressError (LookupError)     the host does not tell its devices' addresses; in hccl
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
     ├── CollectiveError (RuntimeError)       ranks that disagree, are gone, or do not come; in the emulation
     ├── NpuAbortError (RuntimeError)         the emulation, where the real process would have died
     └── NotEmulatedError (NotImplementedError)   what only a device can do

    FakeBackendWarning (UserWarning)          running on the CPU because npu_bridge is not there
    OptionsWarning (UserWarning)              options that work, but not as one may think
    IgnoredOptionsWarning (UserWarning)       the emulation, where the real runtime does something else in silence
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


class ProblemsError(NpuSessionError, ValueError):
    """Something that a check found wrong.

    Attributes:
        problems: every problem found, errors before warnings, each with its code, place, value, allowed values,
            reason and fix.
    """

    #: Where the problems are, in words.
    where = ""
    #: How many of them the message has at most.
    _SHOWN = 100

    def __init__(self, problems: typing.Sequence[Problem], *more: object) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems, *more)

    def __str__(self) -> str:
        count = len(self.problems)
        lines = ["{} {}:".format("1 problem" if count == 1 else f"{count} problems", self.where)]
        lines += map(str, self.problems[: self._SHOWN])
        if count > self._SHOWN:
            lines.append(f"  ... and {count - self._SHOWN} more")
        return "\n".join(lines)


class OptionsError(ProblemsError):
    """Options that the runtime would refuse, ignore in silence, or abort on."""

    where = "in the session options"


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


class CollectiveError(NpuSessionError, RuntimeError):
    """A collective of an emulated job cannot be completed; the message names the ranks.

    On the real runtime the ranks that are left would hang until a timeout.
    """


class NpuAbortError(NpuSessionError, RuntimeError):
    """Raised by the emulation where the real runtime ends the process with SIGABRT."""


class NotEmulatedError(NpuSessionError, NotImplementedError):
    """Raised by the emulation for what only a device can do."""


class FakeBackendWarning(UserWarning):
    """Graphs run on TensorFlow's CPU, because no NPU adapter could be imported."""


class OptionsWarning(UserWarning):
    """An option that works, but is deprecated or does less than it says here."""


class IgnoredOptionsWarning(UserWarning):
    """Given by the emulation, once per session, for options that the real runtime ignores, replaces or carries over.

    It says nothing of that itself, and the graph runs.
    """


class TrainingWarning(UserWarning):
    """A step or a loss at which the runtime does something else than one may think; the message says what."""
