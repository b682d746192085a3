"""The rules of addresses, ports and network layers."""

from __future__ import annotations

import re
import socket

from ..options.problems import Severity
from ..products import Product
from ._content import Content, Host, Placed
from ._notes import Notes, is_placeholder
from ._rules import (
    ADDRESS_TWICE,
    BAD_ADDRESS,
    BAD_WORD,
    DEVICE_TWICE,
    FAMILY,
    LAYERS,
    NO_ADDRESS,
    PLACEHOLDER,
    PORTS,
    RESERVED_PORT,
    Path,
    json_path,
)
from .model import Level, Rank

_FIRST_FREE_PORT = 1024
_MOST_LEVELS, _MOST_ADDRESSES, _MOST_PORTS, _LONGEST_PORT = 8, 24, 16, 32
_PORT = re.compile(r"\d+/\d+|d2h")
_EID = re.compile(r"[0-9A-Fa-f]{32}")
#: Products that want the address of every device, even of a single server.
_ALWAYS = frozenset({Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO})
_IP = "an IPv4 or IPv6 address"


def packed(text: str) -> bytes | None:
    """Return an address as bytes, 4 or 16 of them; ``None`` when it is none."""
    try:
        return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
    except (OSError, ValueError):
        return None


def impossible(address: bytes) -> str:
    """Return why no network port can have an address, or an empty string."""
    if len(address) == 4:
        first = address[0]
        if first == 0:
            return "stands for no address"
        if first == 127:
            return "is the loopback's"
        if first >= 240:
            return "is broadcast or reserved"
        return "is multicast" if first >= 224 else ""
    if address in (bytes(16), bytes(15) + b"\x01"):
        return "stands for no address" if address == bytes(16) else "is the loopback's"
    return "is multicast" if address[0] == 0xFF else ""


def check_addresses(notes: Notes, content: Content, product: Product | None) -> None:
    """Check the addresses of devices and hosts."""
    seen: dict[bytes, tuple[Path, Rank]] = {}
    families: dict[int, list[Path]] = {}
    lacking: list[Path] = []
    repeated = content.repeated()
    for placed in content.placed:
        rank, path = placed.rank, (*placed.path, "device_ip")
        if path in notes.lost:
            continue
        if not rank.device_ip:
            lacking.append(path)
        if rank.backup_device_ip:
            _check_address(notes, rank.backup_device_ip, (*placed.path, "backup_device_ip"))
        # HCCL splits at commas.
        for text in rank.device_ip.split(",") if rank.device_ip else ():
            address = packed(text)
            if address is None or impossible(address):
                _check_address(notes, text, path)
                continue
            families.setdefault(len(address), []).append(path)
            if address in seen and path[:2] not in repeated:
                first, other = seen[address]
                message = f"the address of {json_path(first)} (rank {other.rank_id}) too"
                notes.add(ADDRESS_TWICE, path, message, text, fix="the device's own: address_N in /etc/hccn.conf")
            seen.setdefault(address, (path, rank))
    if len(families) > 1 and len(content.hosts) > 1:
        # The fewer ones are rather wrong.
        odd = min(families.values(), key=len)
        notes.add(FAMILY, odd[0], "IPv4 and IPv6 side by side", fix="one of them for all")
    for host in content.hosts:
        if host.host_ip:
            _check_address(notes, host.host_ip, (*host.path, "host_ip"))
        if re.fullmatch(r"\d+(?:\.\d+){3}", host.server_id) and packed(host.server_id) is None:
            path = (*host.path, "server_id")
            notes.add(BAD_ADDRESS, path, "not an IP address", host.server_id, severity=Severity.WARNING)
        elif len(content.hosts) > 1:
            _check_name(notes, host)
    if content.version != "2.0":
        _check_lacking(notes, content, lacking, product)


def _check_name(notes: Notes, host: Host) -> None:
    """Doubt a server that is called by an address which others have as well, or nobody."""
    address = packed(host.server_id)
    why = impossible(address) if address else ""
    if why:
        path = (*host.path, "server_id")
        notes.add(BAD_ADDRESS, path, why, host.server_id, "a name or an address of its own", severity=Severity.WARNING)


def _check_address(notes: Notes, text: str, path: Path) -> None:
    address = packed(text)
    if address is not None:
        why = impossible(address)
        if why:
            notes.add(BAD_ADDRESS, path, why, text, "an address of a network port")
    elif is_placeholder(text):
        notes.add(PLACEHOLDER, path, "never filled in", text, _IP, "address_N in /etc/hccn.conf")
    else:
        notes.add(BAD_ADDRESS, path, "not an IP address", text, _IP, "address_N in /etc/hccn.conf")


def _check_lacking(notes: Notes, content: Content, lacking: list[Path], product: Product | None) -> None:
    """Report devices that have no address and need one."""
    pods = len(content.pods)
    within_pod = content.version == "1.2" and pods == 1
    several = len(content.hosts) > 1 and not within_pod
    if not lacking or not (several or product in _ALWAYS):
        return
    # Where super pods are possible the reference asks for addresses between them only.
    severity = Severity.ERROR if several and (content.version != "1.2" or pods > 1) else Severity.WARNING
    why = f"there are {pods} super pods" if pods > 1 else f"there are {len(content.hosts)} servers"
    if not several:
        assert product
        why = f"the reference has it for every device of {product.title}"
    if len(lacking) == len(content.placed) > 1:
        notes.add(
            NO_ADDRESS, lacking[0], f"no device has a device_ip, and {why}", fix="address_N in each /etc/hccn.conf",
            severity=severity,
        )  # fmt: skip
        return
    for path in lacking:
        notes.add(NO_ADDRESS, path, f"no device_ip, and {why}", fix="address_N in /etc/hccn.conf", severity=severity)


def check_ports(notes: Notes, content: Content) -> None:
    """Check that ports are the user's, and differ where they are used side by side."""
    hosts: dict[tuple[str, int], Path] = {}
    repeated = content.repeated()
    for placed in content.placed:
        if placed.path[:2] in repeated:
            continue
        rank = placed.rank
        for name in ("device_port", "backup_device_port", "host_port"):
            port: int | None = getattr(rank, name)
            if port is not None and port < _FIRST_FREE_PORT:
                notes.add(RESERVED_PORT, (*placed.path, name), "a port of the system", port, "1024 to 65535")
        if rank.host_port is not None:
            path, key = (*placed.path, "host_port"), (placed.server_id, rank.host_port)
            if key in hosts:
                message = f"{json_path(hosts[key])}, on the same server, has it too"
                notes.add(PORTS, path, message, rank.host_port, fix="a port of its own for each device of a server")
            hosts.setdefault(key, path)
    _check_backups(notes, content)


def _check_backups(notes: Notes, content: Content) -> None:
    """Check that no network port listens on one port both for its own device and as another's backup."""
    own = {(placed.rank.device_ip, placed.rank.device_port): placed for placed in content.placed}
    for placed in content.placed:
        rank = placed.rank
        other = own.get((rank.backup_device_ip, rank.backup_device_port))
        if other and rank.backup_device_ip and rank.backup_device_port is not None:
            message = f"{json_path((*other.path, 'device_port'))} listens there itself"
            notes.add(PORTS, (*placed.path, "backup_device_port"), message, rank.backup_device_port, fix="another port")


def check_layers(notes: Notes, content: Content) -> None:
    """Check the network layers of version 2.0."""
    local: dict[tuple[str, int], Path] = {}
    for placed in content.placed:
        _check_levels(notes, placed)
        number = placed.rank.local_id
        if number is None:
            continue
        path, key = (*placed.path, "local_id"), (placed.server_id, number)
        if key in local:
            message = f"{json_path(local[key])}, on server {placed.server_id!r}, has it too"
            notes.add(DEVICE_TWICE, path, message, number, fix="a local_id of its own for each rank of a server")
        local.setdefault(key, path)


def _check_levels(notes: Notes, placed: Placed) -> None:
    levels, path = placed.rank.levels, (*placed.path, "level_list")
    if not levels:
        return
    if len(levels) > _MOST_LEVELS:
        notes.add(LAYERS, path, f"{len(levels)} layers", allowed=f"at most {_MOST_LEVELS}")
    if levels[0].net_layer > 0:
        notes.add(LAYERS, (*path, 0, "net_layer"), "the first layer is 0", levels[0].net_layer, "0")
    for number, level in enumerate(levels):
        where: Path = (*path, number)
        if number and 0 <= level.net_layer <= levels[number - 1].net_layer:
            message = f"comes after layer {levels[number - 1].net_layer}"
            notes.add(LAYERS, (*where, "net_layer"), message, level.net_layer, "layers that rise")
        _check_level(notes, level, where)


def _check_level(notes: Notes, level: Level, path: Path) -> None:
    kinds = ("TOPO_FILE_DESC",) if level.net_layer == 0 else ("TOPO_FILE_DESC", "CLOS")
    if level.net_type and level.net_type not in ("TOPO_FILE_DESC", "CLOS"):
        notes.add(BAD_WORD, (*path, "net_type"), "no such type", level.net_type, " or ".join(kinds))
    elif level.net_type and level.net_type not in kinds:
        # HCCL itself takes it.
        message = "layer 0 is described by the topology file"
        notes.add(BAD_WORD, (*path, "net_type"), message, level.net_type, kinds[0], severity=Severity.WARNING)
    if len(level.addresses) > _MOST_ADDRESSES:
        allowed = f"at most {_MOST_ADDRESSES}"
        notes.add(LAYERS, (*path, "rank_addr_list"), f"{len(level.addresses)} addresses", allowed=allowed)
    bound: dict[str, Path] = {}
    for number, address in enumerate(level.addresses):
        where = (*path, "rank_addr_list", number)
        _check_typed(notes, address.addr_type, address.addr, where)
        if len(address.ports) > _MOST_PORTS:
            notes.add(LAYERS, (*where, "ports"), f"{len(address.ports)} ports", allowed=f"at most {_MOST_PORTS}")
        for index, port in enumerate(address.ports):
            place = (*where, "ports", index)
            if not _PORT.fullmatch(port) or len(port) > _LONGEST_PORT:
                notes.add(LAYERS, place, "no port", port, 'die/port, such as "0/4", or "d2h" for the host')
            elif port in bound and port != "d2h":
                notes.add(
                    LAYERS,
                    place,
                    f"{json_path(bound[port])} has it in this layer too",
                    port,
                    fix="one address for each port",
                )
            bound.setdefault(port, place)


def _check_typed(notes: Notes, kind: str, text: str, path: Path) -> None:
    """Check an address by its type."""
    if kind.upper() == "EID":
        if text and not _EID.fullmatch(text):
            notes.add(
                PLACEHOLDER if is_placeholder(text) else BAD_ADDRESS, (*path, "addr"), "no EID", text,
                "32 hexadecimal digits", "ask hccn_tool for the EID",
            )  # fmt: skip
    elif kind.upper() in ("IPV4", "IPV6"):
        address = packed(text)
        if address is not None and len(address) != (4 if kind.upper() == "IPV4" else 16):
            notes.add(BAD_ADDRESS, (*path, "addr"), f"no {kind} address", text, fix="another addr_type")
        elif text:
            _check_address(notes, text, (*path, "addr"))
    elif kind:
        notes.add(BAD_WORD, (*path, "addr_type"), "no such type", kind, "EID, IPV4 or IPV6")
