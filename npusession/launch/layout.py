"""Which ranks of a job this launcher starts, and on which devices."""

from __future__ import annotations

import dataclasses
import typing

from .._schedulers import Place, PlaceError, place_in
from .._visible import Visible
from . import devices, tables
from .job import LaunchError, Request


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which ranks this process starts.

    Attributes:
        entries: the ranks, with their devices.
        size: number of ranks in the job.
        first_local: local rank of the first entry.
        local_size: number of ranks on this host, ``None`` if that is not known.
        node: number of this host among those of the job.
        nodes: their number, ``None`` if that is not known.
        devices: the devices of all ranks on this host, in the order of the ranks.
    """

    entries: tuple[tables.Entry, ...]
    size: int
    first_local: int
    local_size: int | None
    node: int
    nodes: int | None
    devices: tuple[int, ...]


def find_place(request: Request, environ: typing.Mapping[str, str]) -> Place | None:
    """Return the engine's place, unless this is the launcher of a whole host.

    Raises:
        LaunchError: the engine's variables contradict themselves.
    """
    if request.nnodes is not None or request.node_rank is not None:
        return None
    try:
        place = place_in(environ)
    except PlaceError as error:
        raise LaunchError(
            f"{error}. Start this through the engine that sets it, or unset what is left of it."
        ) from None
    # One process for all is a launcher like any other.
    return None if place is None or place.size == 1 else place


def of_host(request: Request, hosts: list[tables.Host] | None, visible: Visible | None) -> Layout:
    """Return the ranks of this host.

    Raises:
        LaunchError: flags are missing, contradict each other or the rank table.
    """
    chosen = devices.asked_for(request, visible)
    nodes, node = request.nnodes, request.node_rank
    if hosts is not None:
        if nodes is not None and nodes != len(hosts):
            raise LaunchError(f"--nnodes {nodes}, but {request.rank_table} lists {len(hosts)} servers")
        nodes = len(hosts)
        if node is None:
            node = 0 if nodes == 1 else tables.this_host(hosts)
        if node is None:
            names = ", ".join(f"{number}: {host.names[0]}" for number, host in enumerate(hosts))
            raise LaunchError(
                f"{request.rank_table} lists {nodes} servers, and none or several of them by a name or address of this "
                f"host; say with --node-rank which it is ({names})"
            )
    nodes = 1 if nodes is None else nodes
    if node is None and nodes > 1:
        raise LaunchError(f"--nnodes {nodes} needs --node-rank: 0 on the first host, up to {nodes - 1} on the last")
    node = 0 if node is None else node
    if node >= nodes:
        raise LaunchError(f"--node-rank {node}, but there are {nodes} nodes (--nnodes): 0 to {nodes - 1}")
    if hosts is not None:
        entries = hosts[node].entries
        found = tuple(entry.device for entry in entries)
        if chosen is not None and sorted(chosen) != sorted(found):
            raise LaunchError(
                f"devices {_listed(chosen)} were asked for, but {request.rank_table} gives server "
                f"{hosts[node].names[0]} the devices {_listed(found)}; leave out --devices and --nproc, "
                "or make another table"
            )
        return Layout(entries, sum(len(host.entries) for host in hosts), 0, len(entries), node, nodes, found)
    if chosen is None:
        chosen = tuple(found for found in devices.of_this_host() if visible is None or found in visible.devices)
        if not chosen:
            raise LaunchError("this host shows no devices (/dev/davinci*): say how many processes with --nproc")
    first = node * len(chosen)
    entries = tuple(tables.Entry(first + i, str(first + i), device) for i, device in enumerate(chosen))
    return Layout(entries, nodes * len(chosen), 0, len(chosen), node, nodes, chosen)


def of_place(request: Request, place: Place, hosts: list[tables.Host] | None, visible: Visible | None) -> Layout:
    """Return the one rank that is this process's own.

    Raises:
        LaunchError: the engine started another number of processes than there are devices or ranks.
    """
    chosen = devices.asked_for(request, visible)
    local = place.local_rank
    if local is None:
        if chosen is not None and len(chosen) != place.size:
            raise LaunchError(
                f"{place.command} does not tell which rank of its host this is (rank {place.rank} of {place.size}); "
                "start one launcher on each host, with --nnodes and --node-rank"
            )
        local = place.rank
    if chosen is not None and place.local_size is not None and place.local_size != len(chosen):
        raise LaunchError(
            f"{place.command} has started {place.local_size} processes on this host for the {len(chosen)} devices "
            f"{_listed(chosen)}. Each starts its own rank only: let it start one for each device, or one for each "
            "host with --nnodes and --node-rank."
        )
    if chosen is None and hosts is None:
        chosen = tuple(range(place.local_size or place.size)) if visible is None else visible.devices
    if chosen is not None and local >= len(chosen):
        raise LaunchError(f"{place.command} has started process {local} on this host, of {len(chosen)} devices")
    if hosts is not None:
        everyone = {entry.number: entry for host in hosts for entry in host.entries}
        if len(everyone) != place.size:
            raise LaunchError(
                f"{place.command} runs {place.size} ranks, but {request.rank_table} lists {len(everyone)}"
            )
        entry = everyone[place.rank]
        if chosen is not None and chosen[local] != entry.device:
            raise LaunchError(
                f"rank {place.rank} is process {local} of this host, for which --devices gives device {chosen[local]}; "
                f"{request.rank_table} gives it device {entry.device}"
            )
        chosen = chosen or (entry.device,)
    else:
        assert chosen is not None
        entry = tables.Entry(place.rank, str(place.rank), chosen[local])
    nodes = 1 if place.local_size == place.size else None
    # Only whether it is node 0 matters: that of rank 0.
    node = 0 if place.rank == local else 1
    return Layout((entry,), place.size, local, place.local_size, node, nodes, chosen[: place.local_size or place.size])


def _listed(chosen: typing.Iterable[int]) -> str:
    return ",".join(map(str, chosen))
