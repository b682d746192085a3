"""HCCL: which ranks a job has, from rank tables and from the environment.

::

    from npusession.hccl import RankTable

    report = RankTable.check_file("/user/serverid/devindex/config/hccl.json", product="atlas-training")
    RankTable.single_server("0-3").write("rank_table.json")
"""

import typing

from ._environ_rules import CLUSTER_RULES
from ._rules import TABLE_RULES
from .addresses import DeviceAddressError, device_addresses, read_hccn_conf
from .cluster import Chief, Cluster, ClusterError, Source
from .model import Address, Level, Rank, Server
from .ranktable import RankTable, RankTableError

if typing.TYPE_CHECKING:
    from ..options.problems import Rule

__all__ = [
    "RULES",
    "Address",
    "Chief",
    "Cluster",
    "ClusterError",
    "DeviceAddressError",
    "Level",
    "Rank",
    "RankTable",
    "RankTableError",
    "Server",
    "Source",
    "device_addresses",
    "read_hccn_conf",
]

#: All rules of rank tables and of clusters, by code.
RULES: "typing.Mapping[str, Rule]" = {rule.code: rule for rule in (*CLUSTER_RULES, *TABLE_RULES)}
