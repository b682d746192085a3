"""From what the environment says of a cluster to a member of its job."""

from __future__ import annotations

import ipaddress
import socket
import typing

from ....hccl.cluster import Cluster, Source
from .address import address_in
from .member import Job, Member
from .position import Position

#: Seconds to wait for all ranks, where HCCL_CONNECT_TIMEOUT says nothing.
CONNECT_SECONDS = 120


def join(environ: typing.Mapping[str, str]) -> Position:
    """Join the job that the environment describes, and wait for all its ranks.

    Raises:
        ClusterError: the environment contradicts itself.
        CollectiveError: not all ranks came in time, or they contradict each other.
    """
    cluster = Cluster.from_environ(environ)
    if cluster.size == 1:
        return Position()
    member = Member(_job(cluster, environ), _seconds(environ))
    return Position(member.rank, member.size, _ranks_here(cluster, member), member)


def _ranks_here(cluster: Cluster, member: Member) -> tuple[int, ...]:
    if cluster.source is Source.CHIEF:
        own = member.identities[member.rank][:-1]
        return tuple(rank for rank, place in enumerate(member.identities) if place[:-1] == own)
    if cluster.table is not None:
        servers = [[rank.rank_id for rank in server.ranks] for server in cluster.table.servers]
        return tuple(sorted(next(ranks for ranks in servers if member.rank in ranks)))
    if cluster.local_rank is None or cluster.local_size is None:
        # A job that is started by hand has one server.
        return tuple(range(member.size))
    if cluster.local_size == member.size:
        return tuple(range(member.size))
    first = member.rank - cluster.local_rank
    return tuple(range(first, first + cluster.local_size))


def _job(cluster: Cluster, environ: typing.Mapping[str, str]) -> Job:
    # Whoever is told the job's name belongs to it.
    secret = f"npusession {environ.get('JOB_ID', '')}".encode("utf-8", "surrogateescape")
    address = address_in(environ)
    if cluster.chief is None:
        assert cluster.rank is not None
        return Job((cluster.rank,), cluster.size, address, secret, cluster.rank == 0)
    chief = cluster.chief
    server, own = _numbers(chief.ip), _numbers(chief.worker_ip or chief.ip)
    serves = own == server and cluster.device == chief.device
    return Job((*own, cluster.device), cluster.size, address, secret, serves)


def _numbers(host: str) -> tuple[int, ...]:
    """Return the numbers of an address, by which servers are ordered."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        found = ipaddress.ip_address(socket.gethostbyname(host))
    return tuple(found.packed)


def _seconds(environ: typing.Mapping[str, str]) -> float:
    text = environ.get("HCCL_CONNECT_TIMEOUT", "")
    return int(text) if text.isascii() and text.isdigit() else CONNECT_SECONDS
