"""Rank tables as the launcher needs them: which ranks and devices a host has, and a new table for one host."""

from __future__ import annotations

import sys
import typing

from ..products import Product
from . import network
from .job import LaunchError

if typing.TYPE_CHECKING:
    from ..hccl import RankTable

#: Families whose devices need no addresses on a single server.
_WITHOUT_ADDRESSES = (Product.ATLAS_A2, Product.ATLAS_A3)


class Entry(typing.NamedTuple):
    """A rank of a host: its number, its RANK_ID (which is a name in the tables of containers), and its device."""

    number: int
    rank_id: str
    device: int


class Host(typing.NamedTuple):
    """A host of a rank table: the names it may be known by, and its ranks in rising order."""

    names: typing.Tuple[str, ...]
    entries: typing.Tuple[Entry, ...]


def read(path: str, product: Product | None) -> list[Host]:
    """Return the hosts of a rank table, ordered by their first rank.

    A table that a platform has not completed yet is waited for.

    Args:
        path: the table.
        product: the product family that it has to suit, if that is known.

    Raises:
        LaunchError: it cannot be read, or has errors.
    """
    # Most jobs on a laptop have no rank table, and need not wait for this import.
    from ..hccl import RankTable, RankTableError

    try:
        table = RankTable.read(path)
        if not table.ready:
            sys.stderr.write(f"npusession launch: the rank table {path} is {table.status}; waiting for it\n")
            table = RankTable.wait_until_ready(path)
    except OSError as error:
        raise LaunchError(f"the rank table {path} cannot be read: {error.strerror}") from error
    except RankTableError as error:
        raise LaunchError(str(error)) from error
    _refuse(table, path, product)
    hosts = []
    for server in table.servers:
        entries = [Entry(rank.rank_id, rank.pod or str(rank.rank_id), rank.device_id) for rank in server.ranks]
        names = [server.server_id, server.host_ip, *(rank.pod for rank in server.ranks)]
        hosts.append(Host(tuple(dict.fromkeys(filter(None, names))), tuple(sorted(entries))))
    return sorted(hosts, key=lambda host: host.entries)


def make(devices: typing.Sequence[int], product: Product | None) -> str:
    """Return the text of a rank table for devices of this host.

    Args:
        devices: their numbers, in the order of their ranks.
        product: the family of the devices, if that is known.

    Raises:
        LaunchError: the addresses of the devices are not known, or the product does not allow the devices together.
    """
    from ..hccl import DeviceAddressError, RankTable

    try:
        table = RankTable.single_server(devices)
    except DeviceAddressError as error:
        if product not in _WITHOUT_ADDRESSES:
            raise LaunchError(
                f"no rank table can be made for this host: {error}\n"
                "Or give a table (--rank-table FILE) or an address to count ranks at (--master-addr, --master-port), "
                "or run without devices (--fake)."
            ) from error
        table = RankTable.single_server(devices, device_ips={})
    _refuse(table, "for the devices of this host", product)
    return table.text()


def this_host(hosts: typing.Sequence[Host]) -> int | None:
    """Return which of several hosts this is, by its addresses and its name; ``None`` when that cannot be told."""
    found = [number for number, host in enumerate(hosts) if any(network.is_own(name) for name in host.names)]
    return found[0] if len(found) == 1 else None


def _refuse(table: RankTable, source: str, product: Product | None) -> None:
    from ..hccl import RankTableError

    report = table.check(product)
    if report:
        raise LaunchError(str(RankTableError(report.errors, source)))
