"""The rules between the entries of a table: versions, ranks, servers and devices."""

from __future__ import annotations

import typing

from ..options.problems import Severity
from ..products import Product
from ._content import Content, Placed
from ._notes import Notes
from ._rules import (
    DEVICE_RANGE,
    DEVICE_SET,
    DEVICE_TWICE,
    INTERLEAVED,
    NAME_TWICE,
    PRODUCT_VERSION,
    RANK_IDS,
    RANK_TWICE,
    UNEVEN,
    Path,
    json_path,
)

#: The versions that the reference describes for each product.
_VERSIONS = {
    Product.ATLAS_350: ("2.0",),
    Product.ATLAS_A3: ("1.0", "1.2"),
    Product.ATLAS_A2: ("1.0",),
    Product.ATLAS_TRAINING: ("1.0", "group", "container"),
    Product.ATLAS_300I_DUO: ("1.0",),
}
#: How many devices a server has at most.
_DEVICES = {
    Product.ATLAS_TRAINING: 8,
    Product.ATLAS_A2: 16,
    Product.ATLAS_A3: 16,
    Product.ATLAS_INFERENCE: 16,
    Product.ATLAS_300I_DUO: 16,
}
_HALF = 4


def check_version(notes: Notes, content: Content, product: Product | None) -> None:
    """Check that the product reads tables of this version."""
    known = _VERSIONS.get(product) if product else None
    if product and known and content.version not in known:
        written = content.version[:1].isdigit()
        # HCCL reads forms without version on more products than they are described for.
        severity = Severity.ERROR if written else Severity.WARNING
        what = f"version {content.version}" if written else f"the {content.version} form"
        notes.add(
            PRODUCT_VERSION, ("version",) if written else (), f"{what} is not described for {product.title}",
            allowed=", ".join(known), fix=f"npusession ranktable convert --version {known[0]}", severity=severity,
        )  # fmt: skip


def check_ranks(notes: Notes, content: Content) -> None:
    """Check that ranks are 0 to n-1, each once, and each server's together."""
    if content.version == "container":
        # It has none.
        return
    size, repeated = content.devices, content.repeated()
    seen: dict[int, Placed] = {}
    free = iter(sorted(set(range(size)).difference(placed.rank.rank_id for placed in content.placed)))
    for placed in content.placed:
        rank_id, path = placed.rank.rank_id, (*placed.rank_path, "rank_id")
        if placed.path[:2] in repeated:
            continue
        if rank_id in seen:
            first = json_path((*seen[rank_id].rank_path, "rank_id"))
            notes.add(RANK_TWICE, path, f"the rank of {first} too", rank_id, fix=_free(notes, free))
        elif rank_id >= size and content.counted:
            message = "no rank of a job of {}".format(f"{size} devices" if size > 1 else "one device")
            notes.add(RANK_IDS, path, message, rank_id, f"0 to {size - 1}", _free(notes, free))
        if rank_id >= 0:
            seen.setdefault(rank_id, placed)
    in_order = len(seen) == size and max(seen, default=0) < size and all(host.server_id for host in content.hosts)
    if in_order and content.version != "2.0":
        _check_interleaved(notes, seen)


def _free(notes: Notes, free: typing.Iterator[int]) -> str:
    """Suggest the next rank that no device has."""
    rank_id = next(free, None)
    return "" if rank_id is None else f"{notes.written(rank_id)}, which no device has"


def _check_interleaved(notes: Notes, by_rank: dict[int, Placed]) -> None:
    done: set[str] = set()
    current = ""
    for rank_id in range(len(by_rank)):
        placed = by_rank[rank_id]
        if placed.server_id == current:
            continue
        if placed.server_id in done:
            notes.add(
                INTERLEAVED, (*placed.rank_path, "rank_id"),
                f"ranks of server {current!r} lie between those of server {placed.server_id!r}", rank_id,
                fix="number the devices server by server",
            )  # fmt: skip
            # The others follow from it.
            return
        done.add(current)
        current = placed.server_id


def check_devices(notes: Notes, content: Content, product: Product | None) -> None:
    """Check the devices of each server."""
    servers: dict[str, dict[int, Placed]] = {}
    doubtful, repeated = set(content.doubtful), content.repeated()
    most = _DEVICES.get(product, 0) if product else 0
    for placed in content.placed:
        device_id, path = placed.rank.device_id, (*placed.path, "device_id")
        if device_id < 0 or not placed.server_id or placed.path[:2] in repeated:
            doubtful.add(placed.server_id)
            continue
        devices = servers.setdefault(placed.server_id, {})
        if device_id in devices:
            first = json_path((*devices[device_id].path, "device_id"))
            message = f"device {device_id} of server {placed.server_id!r} is at {first} too"
            notes.add(DEVICE_TWICE, path, message, device_id, fix="list each device once")
            doubtful.add(placed.server_id)
            continue
        devices[device_id] = placed
        if most and device_id >= most:
            assert product
            notes.add(DEVICE_RANGE, path, f"not on {product.title}", device_id, f"0 to {most - 1}")
    # How many devices a server has is not known while some are listed twice or cannot be read.
    sure = {name: devices for name, devices in servers.items() if name not in doubtful}
    _check_sets(notes, content, sure, product)


def _check_sets(notes: Notes, content: Content, servers: dict[str, dict[int, Placed]], product: Product | None) -> None:
    """Check what the Atlas training series asks of the devices of a server."""
    beyond = any(max(devices) > 2 * _HALF - 1 for devices in servers.values())
    unlike = content.version in ("1.2", "2.0") or beyond
    if product not in (None, Product.ATLAS_TRAINING) or (product is None and unlike):
        return
    severity = Severity.ERROR if product else Severity.WARNING
    sizes = {name: len(devices) for name, devices in servers.items()}
    usual = max(sorted(set(sizes.values())), key=list(sizes.values()).count, default=0)
    for name, devices in servers.items():
        ids = sorted(devices)
        place = next(iter(devices.values())).path
        listed = ", ".join(map(str, ids))
        where = _list_of(place)
        if len(ids) not in (1, 2, 4, 8):
            message = f"server {name!r} has {len(ids)} devices"
        elif len(ids) in (2, 4) and ids[0] < _HALF <= ids[-1]:
            message = f"the devices of server {name!r} lie in both halves"
        else:
            message = ""
        if message:
            notes.add(
                DEVICE_SET, where, message, listed, "1, 2, 4 or 8; 2 or 4 of them within 0-3 or within 4-7",
                "choose other devices" if product else "name the product, if it is another: product=...", severity,
            )  # fmt: skip
        if len(ids) != usual:
            notes.add(
                UNEVEN, where, f"server {name!r} has {len(ids)} devices, others {usual}", len(ids), str(usual),
                severity=severity,
            )  # fmt: skip


def _list_of(path: Path) -> Path:
    """Return the list of devices that an entry stands in; for a group table the instance."""
    return path[:-1] if path[0] == "server_list" else path[:-2]


def check_names(notes: Notes, content: Content) -> None:
    """Check that servers that are listed have ids of their own."""
    if content.version not in ("1.0", "1.2"):
        return
    first: dict[str, Path] = {}
    for host in content.hosts:
        if host.server_id and host.server_id in first:
            message = f"{json_path(first[host.server_id])} has this server_id too"
            notes.add(NAME_TWICE, (*host.path, "server_id"), message, host.server_id, fix="give each server its own")
        first.setdefault(host.server_id, host.path)
