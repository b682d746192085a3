"""Where this process is in its job: described by the environment, answered by HCCL, kept for good."""

from __future__ import annotations

import dataclasses
import os
import typing

from .environment import DEVICE_VARIABLES, device_in
from .errors import NotInitializedError
from .options.basic import BAD_DEVICE
from .products import Product, detect

if typing.TYPE_CHECKING:
    from .backends import Backend
    from .hccl.cluster import Cluster
    from .options.problems import Problem


@dataclasses.dataclass(frozen=True)
class Placement:
    """The place of a process in its job.

    Attributes:
        rank: rank of this process, from 0.
        size: number of ranks.
        local_rank: rank of this process on its server, from 0.
        local_size: number of ranks on this server.
        hccl: whether HCCL was set up. It was not where nothing describes a cluster to it.
        cluster: what the environment said.
        product: the product family at hand, if it is known.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int
    hccl: bool
    cluster: Cluster
    product: Product | None = None


def check_cluster(
    environ: typing.Mapping[str, str], product: Product | None, device: int | None = None, *, host: bool = True
) -> tuple[Problem, ...]:
    """Return what is wrong with the description of a cluster in an environment, besides what options say of it.

    Args:
        environ: the environment.
        product: the product family, if it is known.
        device: the device that will be initialised where the environment names none.
        host: whether this is the host that it is for, so that its rank table can be read.
    """
    # Hosts of a single card, and plans that are never opened, do without the checks of rank tables.
    from .hccl.cluster import Cluster

    if device is not None and device_in(environ) is None:
        environ = {**environ, DEVICE_VARIABLES[0]: str(device)}
    return tuple(found for found in Cluster.check_environ(environ, product, host=host) if found.rule is not BAD_DEVICE)


def describe(product: Product | None, backend: Backend) -> tuple[Cluster, Product | None]:
    """Return the cluster that the environment describes, and the product it was checked for; before initialisation.

    Raises:
        ClusterError: the description contradicts itself.
    """
    from .hccl.cluster import Cluster

    known = product or (detect() if backend.name == "npu" else None)
    return Cluster.from_environ(os.environ, known), known


def ask(cluster: Cluster, product: Product | None, backend: Backend) -> Placement:
    """Return the place that HCCL gives this process; right after initialisation.

    Raises:
        NotInitializedError: HCCL does not answer.
        ClusterError: it counts other ranks than the environment described.
    """
    from .hccl.cluster import ClusterError

    alone = Placement(0, 1, 0, 1, hccl=False, cluster=cluster, product=product)
    if not cluster.told:
        # HCCL knows of no cluster, and the process is alone.
        return alone
    ranks = backend.ranks
    try:
        found = cluster.verify(ranks)
        answered = Placement(
            int(ranks.get_rank_id()),
            int(ranks.get_rank_size()),
            int(ranks.get_local_rank_id()),
            int(ranks.get_local_rank_size()),
            hccl=True,
            cluster=cluster,
            product=product,
        )
    except ValueError as error:
        if cluster.size == 1:
            # As for an evaluator, which takes no part in HCCL.
            return alone
        raise NotInitializedError(
            f"HCCL does not answer after initialisation ({error}), although {cluster.source.value} describes "
            f"{cluster.size} ranks. Check in the log of the runtime that every rank started, that all have the same "
            "description of the cluster, and that TF_CONFIG does not take this process out of it."
        ) from error
    if found:
        raise ClusterError(found.errors)
    return answered
