"""What a rank table says, whatever the version it is written in."""

from __future__ import annotations

import typing

#: Members of an object that this package does not know: each a name and its value as JSON.
Extra = typing.Tuple[typing.Tuple[str, str], ...]


class Address(typing.NamedTuple):
    """An address of a rank in one network layer (version 2.0).

    Attributes:
        addr_type: ``"EID"``, ``"IPV4"`` or ``"IPV6"``.
        addr: the address, in the form that ``addr_type`` says.
        ports: the ports that it is bound to, each as ``"die/port"``.
        plane_id: the network plane, empty for the default.
        extra: members that are not known.
    """

    addr_type: str
    addr: str
    ports: typing.Tuple[str, ...]
    plane_id: str = ""
    extra: Extra = ()


class Level(typing.NamedTuple):
    """What a rank has in one network layer (version 2.0).

    Attributes:
        net_layer: the layer, 0 to 7; 0 is within the server.
        net_instance_id: the instance of that layer that the rank belongs to.
        net_type: ``"TOPO_FILE_DESC"`` or ``"CLOS"``.
        addresses: the rank's addresses there.
        net_attr: reserved.
        extra: members that are not known.
    """

    net_layer: int
    net_instance_id: str
    net_type: str
    addresses: typing.Tuple[Address, ...] = ()
    net_attr: str = ""
    extra: Extra = ()


class Rank(typing.NamedTuple):
    """One rank: a device of a server, with its number in the job.

    Attributes:
        rank_id: number in the job, from 0. Container tables have none: HCCL counts their devices by the text of
            ``server_id``, then by ``device_id``, and so does npusession.
        device_id: physical id of the device on its server.
        device_ip: address of the device's network port, several with commas between; empty when not given.
        device_port: port of that network port, or ``None``.
        backup_device_ip: address that stands in when the port fails, or empty.
        backup_device_port: its port, or ``None``.
        host_port: port on the host, or ``None``.
        super_device_id: id of the device within its super pod, or ``None``.
        local_id: id of the device within its server (version 2.0), or ``None``.
        levels: its network layers (version 2.0).
        pod: name of the container that it runs in (container tables), which is what RANK_ID holds then.
        group: name of the group that it is listed in (group and container tables); HCCL merges them into one.
        extra: members that are not known.
    """

    rank_id: int
    device_id: int
    device_ip: str = ""
    device_port: typing.Optional[int] = None
    backup_device_ip: str = ""
    backup_device_port: typing.Optional[int] = None
    host_port: typing.Optional[int] = None
    super_device_id: typing.Optional[int] = None
    local_id: typing.Optional[int] = None
    levels: typing.Tuple[Level, ...] = ()
    pod: str = ""
    group: str = ""
    extra: Extra = ()


class Server(typing.NamedTuple):
    """One server with its ranks.

    Attributes:
        server_id: the server's name or address. In version 2.0 it is the instance of network layer 0.
        ranks: the ranks on it, in the order of the table.
        host_ip: address of the host, or empty.
        super_pod: id of the super pod that it belongs to, or empty.
        extra: members that are not known.
    """

    server_id: str
    ranks: typing.Tuple[Rank, ...]
    host_ip: str = ""
    super_pod: str = ""
    extra: Extra = ()
