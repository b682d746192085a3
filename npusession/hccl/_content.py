"""What was read of a table, each part with its place."""

from __future__ import annotations

import dataclasses
import typing

from ._rules import Path
from .model import Extra, Rank, Server


class Placed(typing.NamedTuple):
    """A rank, its server, and where the device is listed."""

    rank: Rank
    server_id: str
    path: Path
    #: Where its rank id is said; in group tables that is one level above the device.
    rank_path: Path


class Host(typing.NamedTuple):
    """A server as it is listed, without its ranks."""

    server_id: str
    path: Path
    host_ip: str = ""
    extra: Extra = ()


class Pod(typing.NamedTuple):
    """A super pod, with the servers that it lists."""

    super_pod: str
    path: Path
    #: Server ids, each with its place.
    servers: typing.List[typing.Tuple[str, Path]]


@dataclasses.dataclass
class Content:
    """A table as it was read.

    Attributes:
        version: the version whose layout it has.
        status: what it says of itself.
        hosts: the servers, in the order of the table.
        placed: the devices that could be read.
        devices: how many there are, readable or not.
        counted: whether these are all: a list of devices that cannot be read may have any number.
        doubtful: servers of which not all devices could be read.
        pods: the super pods.
        extra: members of the table that are not known.
    """

    version: str
    status: str = ""
    hosts: list[Host] = dataclasses.field(default_factory=list)
    placed: list[Placed] = dataclasses.field(default_factory=list)
    devices: int = 0
    counted: bool = True
    doubtful: set[str] = dataclasses.field(default_factory=set)
    pods: list[Pod] = dataclasses.field(default_factory=list)
    extra: Extra = ()

    def repeated(self) -> set[Path]:
        """Return the servers that have the server_id of an earlier one: all else of them may be there twice, too."""
        first: dict[str, Path] = {}
        return {host.path for host in self.hosts if first.setdefault(host.server_id, host.path) != host.path}

    def servers(self) -> tuple[Server, ...]:
        """Return the servers with their ranks."""
        ranks: dict[str, list[Rank]] = {host.server_id: [] for host in self.hosts}
        for placed in self.placed:
            ranks[placed.server_id].append(placed.rank)
        pods = {server_id: pod.super_pod for pod in self.pods for server_id, _ in pod.servers}
        hosts = {host.server_id: host for host in reversed(self.hosts)}
        return tuple(
            Server(name, tuple(found), hosts[name].host_ip, pods.get(name, ""), hosts[name].extra)
            for name, found in ranks.items()
        )
