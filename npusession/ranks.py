"""The place of this process among the ranks of a job."""

from __future__ import annotations

import os
import typing

from .environment import CLUSTER_VARIABLES
from .errors import NotInitializedError

if typing.TYPE_CHECKING:
    from .backends import Backend


def ask(backend: Backend, query: str, alone: int, site: str) -> int:
    """Ask HCCL.

    Args:
        backend: whose HCCL.
        query: name of the question in ``hccl.manage.api``.
        alone: the answer where nothing describes a cluster.
        site: the user's line that opened the system.

    Raises:
        NotInitializedError: there is a cluster, and HCCL does not answer.
    """
    from .system import runtime

    runtime.refresh()
    try:
        return int(getattr(backend.ranks, query)())
    except ValueError as error:
        if not any(name in os.environ for name in CLUSTER_VARIABLES):
            # Nothing names a cluster, so HCCL was never set up, and the process is alone.
            return alone
        raise NotInitializedError(
            "HCCL does not answer {}: {}. Ranks are known from the cluster's description ({}) when the system is "
            "initialised; check that the variables were there before it was opened at {}.".format(
                query, error, ", ".join(CLUSTER_VARIABLES), site
            )
        ) from error
