"""HCCL from a script's point of view: initialised, asked, shut down."""

from __future__ import annotations

import threading
import typing

from .._cleanup import Cleanup
from .._placement import Placement
from ..errors import NotInitializedError
from ..options.problems import Severity
from ..session import NpuSession
from ..system import System, runtime
from ._environ_rules import NOT_TOLD
from .cluster import ClusterError

if typing.TYPE_CHECKING:
    from ..backends import Backend

_BEFORE = """hccl.{call} needs HCCL, which is not initialised{since}. Initialise it first:
  with hccl.init(NpuSession.for_training()):    # or hccl.init(plan) ... hccl.shutdown()
      ... hccl.{call} ...
or call it inside `with NpuSession.for_training(...) as s:`. hccl.Cluster.from_environ() tells the ranks that the \
environment describes without initialising anything."""

_lock = threading.Lock()
#: What init() opened, and shutdown() closes.
_systems: list[System] = []


def init(plan: NpuSession | None = None) -> System:
    """Initialise HCCL for this process, for scripts that open their sessions by other means than NpuSession.

    The result is a context manager; used without ``with``, :func:`shutdown` ends it::

        with hccl.init(NpuSession.for_training(precision_mode_v2="origin")):
            estimator.train(...)

    Sessions that open meanwhile share it. A process that nothing describes as one of several is rank 0 of 1.

    Args:
        plan: the options of initialisation; by default those of ``NpuSession.for_training()``.

    Raises:
        TypeError: the plan is none.
        OptionsError: the plan does not fit this host, or the cluster contradicts itself.
        ClusterError: Slurm or MPI started several ranks of which HCCL is told nothing, or HCCL counts other ranks than
            the environment describes.
        NotInitializedError: HCCL does not answer.
        BackendError: the backend cannot be loaded.
        SystemConflictError: the runtime is open with other options of initialisation.
    """
    plan = NpuSession.for_training() if plan is None else plan
    if not isinstance(plan, NpuSession):
        raise TypeError(f"hccl.init({plan!r}): the plan is an NpuSession, such as NpuSession.for_training()")
    # For sessions it is a warning: several of them may well train side by side.
    untold = [found._replace(severity=Severity.ERROR) for found in plan.check() if found.rule is NOT_TOLD]
    if untold:
        raise ClusterError(untold)
    system = System(plan).start()
    with _lock:
        _systems.append(system)
    return system


def shutdown() -> None:
    """End what :func:`init` began; without that it does nothing. Ranks stay readable."""
    with _lock:
        systems = _systems[:]
        _systems.clear()
    cleanup = Cleanup()
    for system in systems:
        cleanup.add("shut HCCL down", system.stop)
    cleanup.run()


def is_initialized() -> bool:
    """Tell whether HCCL is initialised in this process, by :func:`init`, a ``System`` or a session."""
    return runtime.is_open


def rank() -> int:
    """Return the rank of this process, from 0.

    It is asked once, when HCCL is initialised, and stays readable afterwards.

    Raises:
        NotInitializedError: HCCL was never initialised in this process.
    """
    return _placement("rank()").rank


def size() -> int:
    """Return the number of ranks; known, and an error, as :func:`rank` is."""
    return _placement("size()").size


def local_rank() -> int:
    """Return the rank of this process on its server, from 0; known, and an error, as :func:`rank` is."""
    return _placement("local_rank()").local_rank


def local_size() -> int:
    """Return the number of ranks on this server; known, and an error, as :func:`rank` is."""
    return _placement("local_size()").local_size


def opened(call: str) -> tuple[Placement, Backend]:
    """Return where this process is and the backend, for calls that need HCCL to be there.

    Raises:
        NotInitializedError: HCCL is not initialised, or not any more.
    """
    placement = _placement(call)
    if not runtime.is_open:
        raise NotInitializedError(_BEFORE.format(call=call, since=" any more: it was shut down"))
    return placement, runtime.backend


def _placement(call: str) -> Placement:
    if runtime.placement is None:
        raise NotInitializedError(_BEFORE.format(call=call, since=""))
    return runtime.placement
