"""The cluster that a process is a rank of, known before any device is initialised."""

from __future__ import annotations

import dataclasses
import enum
import os
import typing
import warnings

from .._site import stacklevel
from .._visible import logical, visible_in
from ..environment import DEVICE_VARIABLES
from ..errors import OptionsWarning, ProblemsError
from ..options.problems import Problem, Report
from ..products import Product, detect
from ._environ_rules import ANSWER, report
from .model import Rank
from .ranktable import RankTable

if typing.TYPE_CHECKING:
    from ..backends.base import Ranks


class ClusterError(ProblemsError):
    """An environment that describes no cluster, or two of them; it lists every problem, and what to change."""

    where = "in the environment of the cluster"


class Source(enum.Enum):
    """What describes a cluster."""

    RANK_TABLE = "rank table"
    CHIEF = "CM_* variables"
    MPI = "Open MPI or PMI"
    SLURM = "Slurm"
    #: The launcher, of ranks without devices.
    HUB = "emulated job"
    #: Nothing does: a single process on a single device.
    SINGLE = "single device"


class Chief(typing.NamedTuple):
    """Where ranks without a rank table meet (Atlas training series and Atlas A2 only).

    Attributes:
        ip: address of the chief's host.
        port: the port that it listens on.
        device: logical id of the device there that gathers the ranks.
        worker_ip: address of this host.
    """

    ip: str
    port: int
    device: int
    worker_ip: str


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster as one of its processes sees it.

    Attributes:
        source: what describes it.
        rank: the rank of this process, from 0. ``None`` with CM_* variables and more than one rank: HCCL counts those
            when they have met.
        size: the number of ranks.
        local_rank: the rank among those of this server; ``None`` when that cannot be known before HCCL tells it.
        local_size: the number of ranks on this server; ``None`` likewise.
        device: the device of this rank, as the process counts the devices that it sees.
        servers: names of the servers in the order of ranks; empty when they are not known.
        table: the rank table, or ``None``.
        table_file: its path, or empty.
        chief: where ranks meet that have no rank table, or ``None``.
    """

    source: Source
    rank: typing.Optional[int] = 0
    size: int = 1
    local_rank: typing.Optional[int] = 0
    local_size: typing.Optional[int] = 1
    device: int = 0
    servers: typing.Tuple[str, ...] = ()
    table: typing.Optional[RankTable] = None
    table_file: str = ""
    chief: typing.Optional[Chief] = None

    @classmethod
    def from_environ(
        cls, environ: typing.Mapping[str, str] | None = None, product: Product | str | None = None
    ) -> Cluster:
        """Return the cluster that the environment describes.

        The first of these that is there counts: RANK_TABLE_FILE with RANK_ID and RANK_SIZE; CM_CHIEF_IP with the other
        CM_* variables; NPUSESSION_FAKE_HUB with RANK_ID and RANK_SIZE, for an emulated job; Open MPI's or PMI's
        variables; Slurm's. Without any of them the process is alone. An :class:`OptionsWarning` tells what one can
        live with.

        Args:
            environ: the environment; by default that of this process.
            product: the product family at hand; by default this host is asked, if its own environment is read.

        Raises:
            ClusterError: something is missing or contradicts itself.
        """
        cluster, found = _resolve(environ, product)
        if found or cluster is None:
            raise ClusterError(found.errors)
        if found.warnings:
            text = "\n".join(str(problem) for problem in found.warnings).strip()
            warnings.warn(text, OptionsWarning, stacklevel=stacklevel())
        return cluster

    @staticmethod
    def check_environ(
        environ: typing.Mapping[str, str] | None = None, product: Product | str | None = None, *, host: bool = True
    ) -> Report:
        """Return everything that is wrong with the environment.

        Args:
            environ: as for :meth:`from_environ`.
            product: as there.
            host: whether this is the host that the environment is for; elsewhere the rank table is not read.
        """
        return _resolve(environ, product, host=host)[1]

    @classmethod
    def from_table(
        cls,
        table: RankTable,
        path: str | os.PathLike[str],
        rank: int = 0,
        environ: typing.Mapping[str, str] | None = None,
    ) -> Cluster:
        """Return the cluster of a rank table as one of its ranks sees it.

        Args:
            table: the table.
            path: the file that HCCL will read it from.
            rank: the rank.
            environ: what says which devices the process sees; by default nothing does, and it sees all.

        Raises:
            ValueError: the table has no such rank.
        """
        for server in table.servers:
            local = sorted(server.ranks, key=lambda found: found.rank_id)
            for number, entry in enumerate(local):
                if entry.rank_id == rank:
                    device = logical(visible_in(environ or {}), entry.device_id)
                    first = {found.server_id: min(ranked.rank_id for ranked in found.ranks) for found in table.servers}
                    servers = tuple(sorted(first, key=lambda name: first[name]))
                    return cls(
                        Source.RANK_TABLE, rank, table.size, number, len(local), device, servers, table, os.fspath(path)
                    )  # fmt: skip
        raise ValueError(f"the table has ranks 0 to {table.size - 1}, not {rank}")

    @property
    def told(self) -> bool:
        """Whether HCCL is told of the cluster; what Slurm and MPI say it does not read."""
        return self.source not in (Source.MPI, Source.SLURM, Source.SINGLE)

    @property
    def entry(self) -> Rank | None:
        """The rank table's entry of this rank, ``None`` without a table."""
        if self.table is None:
            return None
        return next(rank for server in self.table.servers for rank in server.ranks if rank.rank_id == self.rank)

    def for_rank(self, rank: int) -> Cluster:
        """Return the same cluster as another rank of its rank table sees it.

        Raises:
            ValueError: there is no rank table, or no such rank in it.
        """
        if self.table is None:
            raise ValueError("only a rank table tells of other ranks")
        return Cluster.from_table(self.table, self.table_file, rank)

    def to_environ(self) -> dict[str, str]:
        """Return the variables that the process of this rank needs, for HCCL and for its device.

        Variables of another source must not be there beside them; :meth:`check_environ` tells.

        Raises:
            ValueError: only Slurm or MPI knows of the cluster; HCCL needs a rank table or a chief.
        """
        values = {DEVICE_VARIABLES[0]: str(self.device)}
        entry = self.entry
        if self.chief:
            values["CM_CHIEF_IP"] = self.chief.ip
            values["CM_CHIEF_PORT"] = str(self.chief.port)
            values["CM_CHIEF_DEVICE"] = str(self.chief.device)
            values["CM_WORKER_SIZE"] = str(self.size)
            values["CM_WORKER_IP"] = self.chief.worker_ip
        elif entry:
            values["RANK_TABLE_FILE"] = self.table_file
            values["RANK_ID"] = entry.pod or str(entry.rank_id)
            values["RANK_SIZE"] = str(self.size)
        elif self.source is Source.HUB:
            raise ValueError("the ranks of an emulated job get their variables from the launcher")
        elif self.size > 1:
            raise ValueError(
                f"{self.source.value} knows of {self.size} ranks, and HCCL does not: make a rank table, and "
                "Cluster.from_table(table, path, rank), or replace(cluster, chief=Chief(...))"
            )
        return values

    def verify(self, ranks: Ranks) -> Report:
        """Compare this cluster with what HCCL answers after initialisation.

        Args:
            ranks: the queries, ``hccl.manage.api`` or a backend's.

        Raises:
            ValueError: HCCL is not initialised.
        """
        known = {
            "get_rank_id": self.rank,
            "get_rank_size": self.size,
            "get_local_rank_id": self.local_rank,
            "get_local_rank_size": self.local_size,
        }
        problems: list[Problem] = []
        for query, expected in known.items():
            answer = getattr(ranks, query)() if expected is not None else None
            if answer != expected:
                message = f"HCCL answers {answer}, and {self.source.value} says {expected}"
                fix = "start all ranks with the same table or chief, and none of them twice"
                problems.append(report(ANSWER, query, message, answer, allowed=str(expected), fix=fix))
        return Report(problems)


def _resolve(
    environ: typing.Mapping[str, str] | None, product: Product | str | None, *, host: bool = True
) -> tuple[Cluster | None, Report]:
    # It builds clusters, so it comes after them.
    from ._sources import resolve

    known = Product.of(product) if product is not None else detect() if environ is None else None
    cluster, problems = resolve(os.environ if environ is None else environ, known, host=host)
    return cluster, Report(problems)
