"""Rank tables as the launcher needs them: which ranks and devices a host has, and a new table for one host."""

from __future__ import annotations

import json
import re
import socket
import typing

from . import network
from .job import LaunchError

_DEVICE_ADDRESSES = "/etc/hccn.conf"


class Entry(typing.NamedTuple):
    """A rank of a host: its number, its RANK_ID, and its device."""

    number: int
    rank_id: str
    device: int


class Host(typing.NamedTuple):
    """A host of a rank table: the names it may be known by, and its ranks in rising order."""

    names: typing.Tuple[str, ...]
    entries: typing.Tuple[Entry, ...]


def read(path: str) -> list[Host]:
    """Return the hosts of a rank table, ordered by their first rank.

    Raises:
        LaunchError: it cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        hosts = []
        for server in table["server_list"]:
            entries = [
                Entry(int(device["rank_id"]), device["rank_id"], int(device["device_id"]))
                for device in server["device"]
            ]
            hosts.append(Host((server["server_id"], server.get("host_ip", "")), tuple(sorted(entries))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LaunchError(f"rank table {path}: {error!r}") from error
    return sorted(hosts, key=lambda host: host.entries)


def make(devices: typing.Sequence[int]) -> str:
    """Return the text of a rank table for devices of this host.

    Raises:
        LaunchError: the addresses of the devices are not known.
    """
    try:
        with open(_DEVICE_ADDRESSES, encoding="utf-8") as file:
            addresses = dict(re.findall(r"^\s*address_(\d+)\s*=\s*(\S+)", file.read(), re.M))
        ranks = [
            {"device_id": str(device), "device_ip": addresses[str(device)], "rank_id": str(number)}
            for number, device in enumerate(devices)
        ]
    except (OSError, KeyError) as error:
        raise LaunchError(f"{_DEVICE_ADDRESSES}: {error}") from error
    server = {"server_id": socket.gethostname(), "device": ranks}
    table = {"status": "completed", "version": "1.0", "server_count": "1", "server_list": [server]}
    return json.dumps(table, indent=1)


def this_host(hosts: typing.Sequence[Host]) -> int | None:
    """Return which of several hosts this is, by its addresses and its name; ``None`` when that cannot be told."""
    found = [number for number, host in enumerate(hosts) if any(name and network.is_own(name) for name in host.names)]
    return found[0] if len(found) == 1 else None
