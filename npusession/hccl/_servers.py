"""Versions 1.0 and 1.2: servers with their devices, and super pods."""

from __future__ import annotations

import typing

from ._content import Content, Host, Placed, Pod
from ._fields import LAST_PORT, Item
from ._notes import Notes
from ._writer import block, inline, optional, quoted, rows
from .model import Rank, Server

_TABLE = frozenset({"status", "version", "server_count", "server_list", "super_pod_list"})
_SERVER = frozenset({"server_id", "host_ip", "device"})
_DEVICE = frozenset(
    {
        "device_id", "rank_id", "device_ip", "device_port", "backup_device_ip", "backup_device_port", "host_port",
        "super_device_id",
    }
)  # fmt: skip
_POD = frozenset({"super_pod_id", "server_list"})
_POD_SERVER = frozenset({"server_id"})


def read(notes: Notes, data: object, version: str) -> Content:
    """Read a table of version 1.0 or 1.2."""
    table = Item(notes, data, (), _TABLE)
    content = Content(version)
    servers = table.list("server_list")
    if servers:
        # The reference has it optional where super pods are.
        table.count("server_count", len(servers), "entries in server_list", required=version == "1.0")
    for number, value in enumerate(servers):
        _server(notes, content, Item(notes, value, ("server_list", number), _SERVER))
    for number, value in enumerate(table.list("super_pod_list", required=False)):
        _pod(notes, content, Item(notes, value, ("super_pod_list", number), _POD))
    content.extra = table.rest()
    return content


def _server(notes: Notes, content: Content, server: Item) -> None:
    if server.lost:
        content.counted = False
        return
    server_id = server.name("server_id")
    devices = server.list("device")
    content.hosts.append(Host(server_id, server.path, server.text("host_ip"), server.rest()))
    content.devices += len(devices)
    content.counted = content.counted and bool(devices)
    for number, value in enumerate(devices):
        device = Item(notes, value, (*server.path, "device", number), _DEVICE)
        if device.lost:
            content.doubtful.add(server_id)
            continue
        device_id = device.number("device_id", required=True)
        rank_id = device.number("rank_id", required=True)
        rank = Rank(
            -1 if rank_id is None else rank_id,
            -1 if device_id is None else device_id,
            device.text("device_ip"),
            device.number("device_port", 1, LAST_PORT),
            device.text("backup_device_ip"),
            device.number("backup_device_port", 1, LAST_PORT),
            device.number("host_port", 1, LAST_PORT),
            device.number("super_device_id"),
            extra=device.rest(),
        )
        content.placed.append(Placed(rank, server_id, device.path, device.path))


def _pod(notes: Notes, content: Content, pod: Item) -> None:
    super_pod = pod.name("super_pod_id")
    servers = []
    for number, value in enumerate(pod.list("server_list")):
        server = Item(notes, value, (*pod.path, "server_list", number), _POD_SERVER)
        servers.append((server.text("server_id", required=True), server.path))
        server.rest()
    pod.rest()
    content.pods.append(Pod(super_pod, pod.path, servers))


def render(version: str, status: str, servers: typing.Sequence[Server], extra: typing.Any) -> str:
    """Return the text of a table."""
    pods: dict[str, list[str]] = {}
    for server in servers:
        if server.super_pod:
            pods.setdefault(server.super_pod, []).append(inline([("server_id", quoted(server.server_id))]))
    members = [
        ("status", quoted(status)),
        ("version", quoted(version)),
        ("server_count", f'"{len(servers)}"'),
        ("server_list", rows(_render_server(server) for server in servers)),
    ]
    if pods:
        entries = (block([("super_pod_id", quoted(pod)), ("server_list", rows(found))]) for pod, found in pods.items())
        members.append(("super_pod_list", rows(entries)))
    return block(members, extra)


def _render_server(server: Server) -> str:
    return block(
        [
            ("server_id", quoted(server.server_id)),
            ("host_ip", optional(server.host_ip)),
            ("device", rows(map(_render_device, server.ranks))),
        ],
        server.extra,
    )


def _render_device(rank: Rank) -> str:
    return inline(
        [
            ("device_id", f'"{rank.device_id}"'),
            ("super_device_id", _number(rank.super_device_id)),
            ("device_ip", optional(rank.device_ip)),
            ("device_port", _number(rank.device_port)),
            ("backup_device_ip", optional(rank.backup_device_ip)),
            ("backup_device_port", _number(rank.backup_device_port)),
            ("host_port", _number(rank.host_port)),
            ("rank_id", f'"{rank.rank_id}"'),
        ],
        rank.extra,
    )


def _number(number: int | None) -> str:
    return "" if number is None else f'"{number}"'
