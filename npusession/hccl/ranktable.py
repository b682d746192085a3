"""Rank tables: which devices of which servers take part in a job, as typed values."""

from __future__ import annotations

import dataclasses
import os
import re
import time
import typing

from .._compat import Literal
from ..configfiles._write import write_whole
from ..errors import ProblemsError
from ..options.problems import Problem, Report
from ..products import Product
from . import _groups, _ranks, _servers
from ._convert import obstacles, with_pods, without_extra
from ._examine import COMPLETED, INITIALIZING, VERSIONS, Reading, read
from ._rules import NOT_JSON
from .addresses import device_addresses
from .model import Extra, Rank, Server

Version = Literal["1.0", "1.2", "2.0", "group", "container"]
#: Devices: how many from 0, text such as ``"0-3,6"``, or their ids.
Devices = typing.Union[int, str, typing.Iterable[int]]
#: How long to leave a table alone that is not ready, in seconds.
_PAUSE = 0.5
#: What errors call a table that was not read.
_MADE = "<table>"
_RANGE = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")


class RankTableError(ProblemsError):
    """A rank table that cannot be read, waited for, or written in the version that was asked for.

    Attributes:
        problems: every problem found, errors first.
        source: the file, or what stands for it.
    """

    def __init__(self, problems: typing.Sequence[Problem], source: str) -> None:
        super().__init__(problems, source)
        self.source = source
        self.where = f"in the rank table {source}"


@dataclasses.dataclass(frozen=True, repr=False)
class RankTable:
    """A rank table as a value: frozen, hashable, picklable, and equal to another that says the same.

    Args:
        servers: the servers with their ranks.
        version: how it is written: ``"1.0"``, ``"1.2"`` (super pods), ``"2.0"`` (network layers), or the forms that
            declare no version, ``"group"`` (2019, with rank ids) and ``"container"`` (with pod names).
        status: ``"completed"``, or ``"initializing"`` while a platform is still filling it in.
        extra: members of the table that npusession does not know, as JSON; they are written again in the same layout.

    ::

        table = RankTable.read("/user/serverid/devindex/config/hccl.json")
        report = table.check("atlas-a2")
        RankTable.single_server("0-3", device_ips={}).write("rank_table.json")

    Source: HCCL user guide, cluster configuration by rank table, for each product series.

    Raises:
        ValueError: no such version.
    """

    servers: typing.Tuple[Server, ...]
    version: Version = "1.0"
    status: str = COMPLETED
    extra: Extra = ()
    #: What it was read from.
    _reading: typing.Optional[Reading] = dataclasses.field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            raise ValueError("{!r} is no version; there are {}".format(self.version, ", ".join(VERSIONS)))
        object.__setattr__(self, "servers", tuple(self.servers))

    def __repr__(self) -> str:
        servers = "1 server" if len(self.servers) == 1 else f"{len(self.servers)} servers"
        return f"<RankTable {self.version}, {servers}, {self.size} ranks, {self.status}>"

    @property
    def size(self) -> int:
        """The number of ranks."""
        return sum(len(server.ranks) for server in self.servers)

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """All ranks, by their rank ids."""
        return tuple(sorted((rank for server in self.servers for rank in server.ranks), key=lambda rank: rank.rank_id))

    @property
    def ready(self) -> bool:
        """Whether the platform has finished it."""
        return self.status == COMPLETED

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> RankTable:
        """Read a file.

        What is wrong without keeping it from being read, such as a rank that is there twice, is left to :meth:`check`.

        Raises:
            RankTableError: it is no JSON, or lacks something; it lists every problem, those for :meth:`check` too.
            OSError: the file cannot be read.
        """
        return cls._of(_read(path))

    @classmethod
    def parse(cls, text: str, source: str = "<text>") -> RankTable:
        """Read text; ``source`` is what errors call it. Raises like :meth:`read`."""
        return cls._of(read(text, source))

    @classmethod
    def check_file(cls, path: str | os.PathLike[str], product: Product | str | None = None) -> Report:
        """Check a file, be it a rank table or not. For the rest see :meth:`check`.

        Raises:
            OSError: the file cannot be read.
            ValueError: nothing is known by that product name.
        """
        return Report(_read(path).problems(None if product is None else Product.of(product)))

    def check(self, product: Product | str | None = None) -> Report:
        """Return everything that is wrong, each with its code, JSON path, line, column and fix.

        A table that was read is checked in the text it was read from, any other in the text that it would be written
        as.

        Args:
            product: the product family that it is for, by any of its names; when it is not known, what only some
                products forbid is a warning.

        Raises:
            ValueError: nothing is known by that product name.
            RankTableError: the version cannot express the table.
        """
        known = None if product is None else Product.of(product)
        reading = self._reading or read(self.text(), _MADE)
        return Report(reading.problems(known))

    @classmethod
    def wait_until_ready(cls, path: str | os.PathLike[str], timeout: float = 600.0) -> RankTable:
        """Read a file that a platform is going to complete, and return the table when it is.

        A file that is not there yet, is half written, or says ``initializing`` is waited for; HCCL itself waits for
        the last only.

        Args:
            path: the file.
            timeout: seconds to wait at most.

        Raises:
            RankTableError: it is completed, and broken; or after the time it is not ready, for what reasons.
            FileNotFoundError: after the time there is no file.
            OSError: the file cannot be read.
        """
        end = time.monotonic() + timeout
        while True:
            late = time.monotonic() >= end
            try:
                found = _read(path)
            except FileNotFoundError:
                if late:
                    raise
            else:
                if found.complete and found.content.status != INITIALIZING:
                    return cls._of(found)
                half = any(problem.rule is NOT_JSON for problem in found.document.slips)
                if late or not (half or found.content.status == INITIALIZING):
                    raise RankTableError(Report(found.problems()), f"{os.fspath(path)}, after waiting")
            time.sleep(max(0.0, min(_PAUSE, end - time.monotonic())))

    @classmethod
    def single_server(
        cls,
        devices: Devices,
        server_id: str = "127.0.0.1",
        device_ips: typing.Mapping[int, str] | None = None,
        version: Version = "1.0",
    ) -> RankTable:
        """Make the table of one server.

        Args:
            devices: the physical ids of its devices, in the order of their ranks: ``8`` for 0 to 7, text such as
                ``"0-3,6"``, or the ids.
            server_id: name or address of the server.
            device_ips: the address of each device. By default this host is asked, by its ``/etc/hccn.conf``, else
                its ``hccn_tool``; ``{}`` leaves addresses out, which the A2 and A3 series allow on a single server.
            version: as which it will be written.

        Raises:
            DeviceAddressError: this host does not tell an address.
            ValueError: ``devices`` cannot be read, or is empty.
        """
        ids = device_ids(devices)
        addresses = device_addresses(ids) if device_ips is None else device_ips
        return cls.from_hosts({server_id: {device: addresses.get(device, "") for device in ids}}, version)

    @classmethod
    def from_hosts(
        cls, hosts: typing.Mapping[str, Devices | typing.Mapping[int, str]], version: Version = "1.0"
    ) -> RankTable:
        """Make the table of several servers; ranks are counted server by server, in the order given.

        Args:
            hosts: for each server, by name or address, its devices: a mapping of physical id to address, such as
                :func:`read_hccn_conf` makes of the server's file, or devices without addresses as in
                :meth:`single_server`.
            version: as which it will be written.

        Raises:
            ValueError: there is no server, or one has no devices, or devices cannot be read.
        """
        servers = []
        rank_id = 0
        for name, devices in hosts.items():
            known = devices if isinstance(devices, typing.Mapping) else dict.fromkeys(device_ids(devices), "")
            if not known:
                raise ValueError(f"server {name!r} has no devices")
            pod = name if version == "container" else ""
            ranks = tuple(
                Rank(number, device, address, pod=pod)
                for number, (device, address) in enumerate(known.items(), rank_id)
            )
            servers.append(Server(name, ranks))
            rank_id += len(ranks)
        if not servers:
            raise ValueError("a rank table has at least one server")
        return cls(tuple(servers), version)

    def text(self, version: Version | None = None) -> str:
        """Return the file's text.

        Args:
            version: as which to write it, by default its own. Names of groups and pods are dropped where the version
                has none. A container table gets a pod for each server.

        Raises:
            RankTableError: the version has no place for something; it says for what.
            ValueError: no such version.
        """
        wanted = version or self.version
        if wanted not in VERSIONS:
            raise ValueError("{!r} is no version; there are {}".format(wanted, ", ".join(VERSIONS)))
        servers: typing.Sequence[Server] = self.servers
        problems = obstacles(servers, wanted)
        if problems:
            raise RankTableError(problems, self._reading.document.source if self._reading else _MADE)
        extra = self.extra
        if _layout(wanted) != _layout(self.version):
            servers, extra = without_extra(servers), ()
        if wanted in ("group", "container"):
            servers = with_pods(servers) if wanted == "container" else servers
            return _groups.render(wanted, self.status, servers, extra) + "\n"
        if wanted == "2.0":
            return _ranks.render(self.status, servers, extra) + "\n"
        return _servers.render(wanted, self.status, servers, extra) + "\n"

    def convert(self, version: Version) -> RankTable:
        """Return the table in another version; raises like :meth:`text`."""
        return self.parse(self.text(version), _MADE)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> str:
        """Write the file and return its path; it appears complete or not at all. It is not checked.

        Args:
            path: where to write; the directory must exist.
            overwrite: replace a file that is there.

        Raises:
            FileExistsError: something is there and ``overwrite`` is not set.
            RankTableError: the version has no place for something.
            OSError: the file cannot be written.
        """
        return write_whole(os.fsdecode(path), self.text().encode("utf-8"), overwrite)

    @classmethod
    def _of(cls, reading: Reading) -> RankTable:
        content = reading.content
        if not reading.complete:
            raise RankTableError(Report(reading.problems()), reading.document.source)
        table = cls(content.servers(), typing.cast(Version, content.version), content.status, content.extra)
        object.__setattr__(table, "_reading", reading)
        return table


def device_ids(devices: Devices) -> list[int]:
    """Return devices as a list of ids.

    Args:
        devices: ``8`` for 0 to 7, text such as ``"0-3,6"``, or the ids.

    Raises:
        ValueError: it says no device, a negative one, or one of them twice.
    """
    found: list[int] = []
    if isinstance(devices, str):
        for part in devices.split(","):
            match = _RANGE.fullmatch(part.strip())
            if not match or int(match.group(2) or match.group(1)) < int(match.group(1)):
                raise ValueError(f'{devices!r} names no devices; write them as "0-3,6"')
            found += range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1)
    elif isinstance(devices, int):
        found += range(devices)
    else:
        found += (int(device) for device in devices)
    if not found or min(found) < 0 or len(set(found)) != len(found):
        raise ValueError(f"{devices!r} names no devices; their ids are numbers from 0, each once")
    return found


def _layout(version: str) -> str:
    return "servers" if version in ("1.0", "1.2") else version


def _read(path: str | os.PathLike[str]) -> Reading:
    with open(path, "rb") as file:
        return read(file.read(), os.fsdecode(path))
