"""The variables that tell each process of a job its place: what HCCL reads, and what scripts read.

HCCL takes a cluster from a rank table (RANK_TABLE_FILE, RANK_ID, RANK_SIZE), or from the CM_* variables and never
from both; with CM_* it counts the ranks itself, and RANK_ID and RANK_SIZE must not be there.
"""

from __future__ import annotations

import dataclasses
import typing

from ..backends import VARIABLE as BACKEND
from ..environment import FAKE_HUB as HUB
from .job import LaunchError

#: What describes a cluster or a device; whatever of it is not set for a rank, it does not inherit.
OWNED = (
    "RANK_ID",
    "RANK_SIZE",
    "RANK_TABLE_FILE",
    "CM_CHIEF_IP",
    "CM_CHIEF_PORT",
    "CM_CHIEF_DEVICE",
    "CM_WORKER_SIZE",
    "CM_WORKER_IP",
    "ASCEND_DEVICE_ID",
    "DEVICE_ID",
)
#: What scripts written for other launchers read besides; a stale one would contradict.
_LOCAL = ("LOCAL_RANK", "LOCAL_WORLD_SIZE")
#: The most devices that CM_WORKER_SIZE may say, and the highest CM_CHIEF_PORT.
MOST_DEVICES, HIGHEST_PORT = 32768, 65520


@dataclasses.dataclass(frozen=True)
class Chief:
    """The host that counts the ranks of a job without rank table.

    Attributes:
        address: its address.
        port: where it listens.
        device: its first device.
        own_address: the address of this host that it is reached from.
    """

    address: str
    port: int
    device: int
    own_address: str


@dataclasses.dataclass(frozen=True)
class Cluster:
    """What all processes of a job have in common.

    Attributes:
        job_id: name of the job.
        size: number of ranks.
        table: path of the rank table, if there is one.
        chief: the host that counts ranks, if there is no rank table.
        fake: whether the job is emulated.
        hub: where the ranks of an emulated job meet, ``host:port``.
    """

    job_id: str
    size: int
    table: str | None = None
    chief: Chief | None = None
    fake: bool = False
    hub: str | None = None

    def shared(self) -> dict[str, str]:
        """Return the variables that all ranks share."""
        values = {"JOB_ID": self.job_id}
        if self.chief is not None:
            values["CM_CHIEF_IP"] = self.chief.address
            values["CM_CHIEF_PORT"] = str(self.chief.port)
            values["CM_CHIEF_DEVICE"] = str(self.chief.device)
            values["CM_WORKER_SIZE"] = str(self.size)
            values["CM_WORKER_IP"] = self.chief.own_address
        else:
            values["RANK_SIZE"] = str(self.size)
        if self.table is not None:
            values["RANK_TABLE_FILE"] = self.table
        if self.fake:
            values[BACKEND] = "fake"
            if self.hub is not None:
                values[HUB] = self.hub
        return values

    def own(self, rank_id: str, device: int, local_rank: int, local_size: int | None) -> dict[str, str]:
        """Return the variables of one rank."""
        values = {} if self.chief is not None else {"RANK_ID": rank_id}
        # Scripts read either name; the runtime takes the first.
        values["ASCEND_DEVICE_ID"] = values["DEVICE_ID"] = str(device)
        values["LOCAL_RANK"] = str(local_rank)
        if local_size is not None:
            values["LOCAL_WORLD_SIZE"] = str(local_size)
        return values


def removed() -> tuple[str, ...]:
    """Return the variables that ranks do not inherit."""
    return (*OWNED, *_LOCAL, HUB)


def check_inherited(environ: typing.Mapping[str, str], ranks: typing.Iterable[typing.Mapping[str, str]]) -> None:
    """Refuse an environment that describes another job than the one to be started.

    Args:
        environ: the launcher's.
        ranks: the variables that each rank will get.

    Raises:
        LaunchError: a variable is set, and not to what every rank will get.
    """
    ranks = list(ranks)
    clashes = [name for name in OWNED if environ.get(name) and any(rank.get(name) != environ[name] for rank in ranks)]
    if clashes:
        raise LaunchError(
            "the environment describes a rank or a cluster already, and another one: {}. The launcher sets these for "
            "each rank by itself; begin with\n  unset {}".format(
                ", ".join(f"{name}={environ[name]}" for name in clashes), " ".join(clashes)
            )
        )
