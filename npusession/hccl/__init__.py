"""HCCL: which ranks a job has, and what they do together.

Rank tables and the environment tell of a job before anything starts::

    from npusession.hccl import RankTable

    report = RankTable.check_file("/user/serverid/devindex/config/hccl.json", product="atlas-training")
    RankTable.single_server("0-3").write("rank_table.json")

Within :func:`init`, or a session, its ranks work together::

    with hccl.init(NpuSession.for_training()):
        train_op = hccl.distributed_optimizer(optimizer).minimize(loss, global_step)
        estimator.train(input_fn, hooks=[hccl.BroadcastVariablesHook()])

Importing this imports neither TensorFlow nor an adapter.
"""

import typing

from ._environ_rules import CLUSTER_RULES
from ._rules import TABLE_RULES
from .addresses import DeviceAddressError, device_addresses, read_hccn_conf
from .alltoall import alltoallv
from .cluster import Chief, Cluster, ClusterError, Source
from .collectives import allgather, allreduce, broadcast, receive, reduce, reduce_scatter, send
from .lifecycle import init, is_initialized, local_rank, local_size, rank, shutdown, size
from .model import Address, Level, Rank, Server
from .process_groups import Group, group
from .ranktable import RankTable, RankTableError
from .splitting import split_by_index, split_by_size
from .training import broadcast_variables, distributed_optimizer, mean

if typing.TYPE_CHECKING:
    from ..options.problems import Rule
    from .hooks import BroadcastVariablesHook as BroadcastVariablesHook

__all__ = [
    "RULES",
    "Address",
    "Chief",
    "Cluster",
    "ClusterError",
    "DeviceAddressError",
    "Group",
    "Level",
    "Rank",
    "RankTable",
    "RankTableError",
    "Server",
    "Source",
    "allgather",
    "allreduce",
    "alltoallv",
    "broadcast",
    "broadcast_variables",
    "device_addresses",
    "distributed_optimizer",
    "group",
    "init",
    "is_initialized",
    "local_rank",
    "local_size",
    "mean",
    "rank",
    "read_hccn_conf",
    "receive",
    "reduce",
    "reduce_scatter",
    "send",
    "shutdown",
    "size",
    "split_by_index",
    "split_by_size",
]

#: All rules of rank tables and of clusters, by code.
RULES: "typing.Mapping[str, Rule]" = {rule.code: rule for rule in (*CLUSTER_RULES, *TABLE_RULES)}


def __getattr__(name: str) -> object:
    # The one public name whose class is made of TensorFlow's.
    if name == "BroadcastVariablesHook":
        from .hooks import BroadcastVariablesHook

        return BroadcastVariablesHook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
