"""Version 2.0: ranks with their network layers. What is called a server here is an instance of layer 0."""

from __future__ import annotations

import typing

from ._content import Content, Host, Placed
from ._fields import LAST_PORT, Item
from ._notes import Notes
from ._writer import block, inline, optional, quoted, rows
from .model import Address, Extra, Level, Rank, Server

MOST_RANKS = 65536
_LAST_DEVICE = 64
_LAST_LAYER = 7
_TABLE = frozenset({"status", "version", "rank_count", "rank_list"})
_RANK = frozenset({"rank_id", "local_id", "device_id", "device_port", "host_port", "level_list"})
_LEVEL = frozenset({"net_layer", "net_instance_id", "net_type", "net_attr", "rank_addr_list"})
_ADDRESS = frozenset({"addr_type", "addr", "ports", "plane_id"})


def read(notes: Notes, data: object) -> Content:
    """Read a table of version 2.0."""
    table = Item(notes, data, (), _TABLE)
    content = Content("2.0")
    ranks = table.list("rank_list")
    if ranks:
        table.count("rank_count", len(ranks), "entries in rank_list")
    content.devices = len(ranks)
    hosts: set[str] = set()
    for number, value in enumerate(ranks):
        item = Item(notes, value, ("rank_list", number), _RANK)
        if item.lost:
            continue
        placed = _rank(notes, item)
        content.placed.append(placed)
        if placed.server_id not in hosts:
            hosts.add(placed.server_id)
            content.hosts.append(Host(placed.server_id, placed.path))
    content.extra = table.rest()
    return content


def _rank(notes: Notes, item: Item) -> Placed:
    rank_id = item.number("rank_id", required=True)
    device_id = item.number("device_id", high=_LAST_DEVICE, required=True)
    local_id = item.number("local_id", high=_LAST_DEVICE, required=True)
    levels = tuple(
        _level(notes, Item(notes, value, (*item.path, "level_list", number), _LEVEL))
        for number, value in enumerate(item.list("level_list"))
    )
    rank = Rank(
        -1 if rank_id is None else rank_id,
        -1 if device_id is None else device_id,
        device_port=item.number("device_port", 1, LAST_PORT),
        host_port=item.number("host_port", 1, LAST_PORT),
        local_id=local_id,
        levels=levels,
        extra=item.rest(),
    )
    server_id = next((level.net_instance_id for level in levels if level.net_layer == 0), "")
    return Placed(rank, server_id, item.path, item.path)


def _level(notes: Notes, item: Item) -> Level:
    layer = item.number("net_layer", high=_LAST_LAYER, required=True)
    return Level(
        -1 if layer is None else layer,
        item.name("net_instance_id", longest=1024),
        item.text("net_type", required=True),
        tuple(
            _address(Item(notes, value, (*item.path, "rank_addr_list", number), _ADDRESS))
            for number, value in enumerate(item.list("rank_addr_list"))
        ),
        item.text("net_attr"),
        item.rest(),
    )


def _address(item: Item) -> Address:
    return Address(
        item.text("addr_type", required=True),
        item.text("addr", required=True),
        item.texts("ports"),
        item.text("plane_id"),
        item.rest(),
    )


def render(status: str, servers: typing.Sequence[Server], extra: Extra) -> str:
    """Return the text of a table."""
    ranks = [rank for server in servers for rank in server.ranks]
    return block(
        [
            ("status", quoted(status)),
            ("version", '"2.0"'),
            ("rank_count", str(len(ranks))),
            ("rank_list", rows(map(_render_rank, ranks))),
        ],
        extra,
    )


def _render_rank(rank: Rank) -> str:
    return block(
        [
            ("rank_id", str(rank.rank_id)),
            ("local_id", _number(rank.local_id)),
            ("device_id", str(rank.device_id)),
            ("device_port", _number(rank.device_port)),
            ("host_port", _number(rank.host_port)),
            ("level_list", rows(map(_render_level, rank.levels))),
        ],
        rank.extra,
    )


def _render_level(level: Level) -> str:
    return block(
        [
            ("net_layer", str(level.net_layer)),
            ("net_instance_id", quoted(level.net_instance_id)),
            ("net_type", quoted(level.net_type)),
            ("net_attr", quoted(level.net_attr)),
            ("rank_addr_list", rows(map(_render_address, level.addresses))),
        ],
        level.extra,
    )


def _render_address(address: Address) -> str:
    return inline(
        [
            ("addr_type", quoted(address.addr_type)),
            ("addr", quoted(address.addr)),
            ("ports", "[" + ", ".join(map(quoted, address.ports)) + "]"),
            ("plane_id", optional(address.plane_id)),
        ],
        address.extra,
    )


def _number(number: int | None) -> str:
    return "" if number is None else str(number)
