"""Whether a version has a place for all that a table says."""

from __future__ import annotations

import typing

from ..options.problems import Problem
from ._rules import UNWRITABLE
from .model import Rank, Server

_SERVER_LISTS = ("1.0", "1.2")
#: Fields that are left to these versions.
_ONLY = {
    "device_ip": ("1.0", "1.2", "group", "container"),
    "device_port": ("1.0", "1.2", "2.0"),
    "host_port": ("1.0", "1.2", "2.0"),
    "backup_device_ip": _SERVER_LISTS,
    "backup_device_port": _SERVER_LISTS,
    "super_device_id": _SERVER_LISTS,
    "local_id": ("2.0",),
    "levels": ("2.0",),
}


def obstacles(servers: typing.Sequence[Server], version: str) -> list[Problem]:
    """Return what a version cannot express, each kind of thing once, where it comes first."""
    found: dict[str, Problem] = {}
    homeless = [name for name, versions in _ONLY.items() if version not in versions]

    def add(what: str, place: str, message: str, value: object = None, fix: str = "") -> None:
        found.setdefault(what, Problem(UNWRITABLE, place, message, value, why=UNWRITABLE.title, fix=fix))

    name = f"version {version}" if version[0].isdigit() else f"the {version} form"
    for server in servers:
        place = f"server {server.server_id!r}"
        if server.host_ip and version not in _SERVER_LISTS:
            add("host_ip", place, f"{name} has no host_ip", server.host_ip, _in(_SERVER_LISTS))
        if server.super_pod and version != "1.2":
            add("super_pod", place, f"{name} has no super pods", server.super_pod, _in(("1.2",)))
        for rank in server.ranks:
            place = f"rank {rank.rank_id}"
            for field in homeless:
                value = getattr(rank, field)
                if value is not None and value not in ("", ()):
                    shown = value if field != "levels" else None
                    add(field, place, f"{name} has no {field}", shown, _in(_ONLY[field]))
            if version == "2.0" and (not rank.levels or rank.local_id is None):
                add("layers", place, "version 2.0 needs a local_id and network layers", fix=_in(_ONLY["device_ip"]))
    if version == "container":
        numbered = [rank for _, rank in sorted(_devices(servers), key=lambda entry: (entry[0], entry[1].device_id))]
        for number, rank in enumerate(numbered):
            if rank.rank_id != number:
                message = f"HCCL counts a container table by server_id and device_id, which makes it rank {number}"
                add("rank", f"rank {rank.rank_id}", message, fix="number the ranks in that order")
    return list(found.values())


def _in(versions: typing.Sequence[str]) -> str:
    return "write it as {}".format(" or ".join(versions))


def _devices(servers: typing.Sequence[Server]) -> typing.Iterator[tuple[str, Rank]]:
    return ((server.server_id, rank) for server in servers for rank in server.ranks)


def with_pods(servers: typing.Sequence[Server]) -> list[Server]:
    """Return servers whose ranks have pods: where there are none, one for each server, of the server's name."""
    return [
        server._replace(
            ranks=tuple(rank if rank.pod else rank._replace(pod=server.server_id) for rank in server.ranks)
        )
        for server in servers
    ]  # fmt: skip


def without_extra(servers: typing.Sequence[Server]) -> list[Server]:
    """Return servers without the members that are not known, which other layouts have no place for."""
    return [
        server._replace(ranks=tuple(rank._replace(extra=()) for rank in server.ranks), extra=()) for server in servers
    ]
