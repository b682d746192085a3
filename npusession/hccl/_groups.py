"""The two forms without version: groups of instances, with rank ids (2019), or with pod names (containers)."""

from __future__ import annotations

import typing

from ..options.problems import Severity
from ._content import Content, Host, Placed
from ._fields import Item
from ._notes import Notes
from ._rules import BAD_WORD, COUNT, NAME_TWICE
from ._writer import block, inline, quoted, rows
from .model import Extra, Rank, Server

#: What only the form of 2019 has; HCCL tells it by deploy_mode.
MARK = "deploy_mode"
#: Values of that form that are not about ranks. The last two are not read while the network ports are the devices'.
_DEFAULTS: typing.Dict[str, str] = {
    "board_id": '"0x0000"',
    "chip_info": '"910"',
    MARK: '"lab"',
    "para_plane_nic_location": '"device"',
    "para_plane_nic_num": '"1"',
    "para_plane_nic_name": '["eth0"]',
}
_TABLE = frozenset({"status", "group_count", "group_list"})
_GROUP = frozenset({"group_name", "instance_count", "instance_list"})
_NUMS = frozenset({"device_num", "server_num"})
_INSTANCE = frozenset({"server_id", "devices"})
_DEVICE = frozenset({"device_id", "device_ip"})


def read(notes: Notes, data: object, version: str) -> Content:
    """Read a table of groups, ``"group"`` or ``"container"``."""
    labelled = version == "group"
    table = Item(notes, data, (), _TABLE)
    content = Content(version)
    groups = table.list("group_list")
    if groups:
        table.count("group_count", len(groups), "entries in group_list")
    names: set[str] = set()
    for number, value in enumerate(groups):
        known = _GROUP | (_NUMS if labelled else frozenset({"device_count"}))
        group = Item(notes, value, ("group_list", number), known)
        name = group.text("group_name")
        if name in names:
            notes.add(
                NAME_TWICE, (*group.path, "group_name"), "another group has this name", name, fix="give each its own"
            )
        names.add(name)
        _instances(notes, content, group, name)
        group.rest()
    content.extra = _read_marks(notes, table) if labelled else table.rest()
    if not labelled:
        _number(content)
    return content


def _read_marks(notes: Notes, table: Item) -> Extra:
    """Check what only the form of 2019 has; return it as it will be written again, with numbers in quotes."""
    table.text(MARK, required=True)
    location = table.text("para_plane_nic_location", required=True)
    if location and location != "device":
        path = ("para_plane_nic_location",)
        notes.add(BAD_WORD, path, "network ports of the host are not supported", location, "device", '"device"')
    table.text("chip_info")
    number = table.number("para_plane_nic_num")
    names = table.list("para_plane_nic_name", required=False)
    if number is not None and names and number != len(names):
        # HCCL reads neither while the network ports are the devices'.
        message = f"there are {len(names)} names in para_plane_nic_name"
        notes.add(COUNT, ("para_plane_nic_num",), message, number, str(len(names)), severity=Severity.WARNING)
    extra = table.rest()
    return tuple((name, f'"{value}"' if name in _DEFAULTS and value.isdigit() else value) for name, value in extra)


def _instances(notes: Notes, content: Content, group: Item, group_name: str) -> None:
    labelled = content.version == "group"
    instances = group.list("instance_list")
    before, servers, counted = content.devices, set(), True
    hosts = {host.server_id for host in content.hosts}
    pods = {placed.rank.pod for placed in content.placed}
    for number, value in enumerate(instances):
        known = _INSTANCE | {"rank_id" if labelled else "pod_name"}
        instance = Item(notes, value, (*group.path, "instance_list", number), known)
        if instance.lost:
            counted = False
            continue
        server_id = instance.name("server_id")
        rank_id = instance.number("rank_id", required=True) if labelled else None
        pod = "" if labelled else instance.name("pod_name")
        if pod and pod in pods:
            notes.add(
                NAME_TWICE, (*instance.path, "pod_name"), "another instance has this name", pod, fix="give each its own"
            )
        pods.add(pod)
        servers.add(server_id)
        if server_id not in hosts:
            hosts.add(server_id)
            content.hosts.append(Host(server_id, instance.path))
        devices = instance.list("devices")
        if labelled and len(devices) > 1:
            notes.add(
                COUNT, (*instance.path, "devices"), f"{len(devices)} devices, and one rank_id for them",
                allowed="one device in each instance", fix="an instance, with a rank_id, for each device",
            )  # fmt: skip
        content.devices += len(devices)
        counted = counted and bool(devices)
        for index, entry in enumerate(devices):
            device = Item(notes, entry, (*instance.path, "devices", index), _DEVICE)
            if device.lost:
                content.doubtful.add(server_id)
                continue
            device_id = device.number("device_id", required=True)
            rank = Rank(
                -1 if rank_id is None else rank_id,
                -1 if device_id is None else device_id,
                device.text("device_ip", required=True),
                pod=pod,
                group=group_name,
                extra=device.rest(),
            )
            content.placed.append(Placed(rank, server_id, device.path, instance.path))
        instance.rest()
    content.counted = content.counted and counted and bool(instances)
    if not instances:
        return
    group.count("instance_count", len(instances), "entries in instance_list")
    held = content.devices - before if counted else None
    group.count("device_num" if labelled else "device_count", held, "devices in the group")
    if labelled:
        group.count("server_num", len(servers) if counted else None, "servers in the group")


def _number(content: Content) -> None:
    """Give the devices of a container table their ranks, as HCCL does."""
    order = sorted(content.placed, key=lambda placed: (placed.server_id, placed.rank.device_id))
    ranks = {placed.path: number for number, placed in enumerate(order)}
    content.placed = [
        placed._replace(rank=placed.rank._replace(rank_id=ranks[placed.path])) for placed in content.placed
    ]


def render(version: str, status: str, servers: typing.Sequence[Server], extra: Extra) -> str:
    """Return the text of a table."""
    labelled = version == "group"
    groups: dict[str, list[tuple[str, list[Rank]]]] = {}
    for server in servers:
        for rank in server.ranks:
            instances = groups.setdefault(rank.group, [])
            together = not labelled and instances and instances[-1][0] == server.server_id
            if together and instances[-1][1][0].pod == rank.pod:
                instances[-1][1].append(rank)
            else:
                instances.append((server.server_id, [rank]))
    given = {name for name, _ in extra}
    marks = [(name, value) for name, value in _DEFAULTS.items() if labelled and name not in given]
    return block(
        [
            ("status", quoted(status)),
            *marks,
            ("group_count", f'"{len(groups)}"'),
            ("group_list", rows(_render_group(name, found, labelled) for name, found in groups.items())),
        ],
        extra,
    )


def _render_group(name: str, instances: list[tuple[str, list[Rank]]], labelled: bool) -> str:
    devices = sum(len(ranks) for _, ranks in instances)
    servers = len({server_id for server_id, _ in instances})
    return block(
        [
            ("group_name", quoted(name)),
            ("device_num" if labelled else "device_count", f'"{devices}"'),
            ("server_num", f'"{servers}"' if labelled else ""),
            ("instance_count", f'"{len(instances)}"'),
            ("instance_list", rows(_render_instance(server_id, ranks, labelled) for server_id, ranks in instances)),
        ]
    )


def _render_instance(server_id: str, ranks: list[Rank], labelled: bool) -> str:
    devices = [
        inline([("device_id", f'"{rank.device_id}"'), ("device_ip", quoted(rank.device_ip))], rank.extra)
        for rank in ranks
    ]
    first = ("rank_id", f'"{ranks[0].rank_id}"') if labelled else ("pod_name", quoted(ranks[0].pod))
    found = "[" + ", ".join(devices) + "]" if labelled else rows(devices)
    return (inline if labelled else block)([first, ("server_id", quoted(server_id)), ("devices", found)])
