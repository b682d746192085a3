"""Groups of some ranks, which live as long as a ``with`` statement."""

from __future__ import annotations

import contextlib
import dataclasses
import typing

from .._cleanup import Cleanup
from .._placement import Placement
from ..products import Product
from ..system import runtime
from ._values import listed, whole_number
from .lifecycle import opened

if typing.TYPE_CHECKING:
    from ..backends import Backend

#: The group of all ranks, which HCCL makes itself.
WORLD = "hccl_world_group"
LONGEST_NAME = 127
#: What the Atlas training series asks of the devices of a group on one server.
_COUNTS = (1, 2, 4, 8)
_HALF = 4


@dataclasses.dataclass(frozen=True)
class Group:
    """A group of ranks, made by :func:`group`.

    Attributes:
        name: its name.
        ranks: the ranks of the world that it was made of.
        rank: rank of this process in the group, as HCCL counts, from 0.
        local_rank: rank of this process among those of the group on this server, from 0.
        local_size: how many those are.
    """

    name: str
    ranks: typing.Tuple[int, ...]
    rank: int
    local_rank: int
    local_size: int

    @property
    def size(self) -> int:
        """How many ranks it has."""
        return len(self.ranks)


#: The groups that are there, by name.
_groups: dict[str, Group] = {}


@contextlib.contextmanager
def group(name: str, ranks: typing.Iterable[int]) -> typing.Iterator[Group]:
    """Make a group of some ranks for the body of a ``with`` statement.

    All ranks of the group make it, with the same arguments, and no others do::

        if hccl.rank() in (0, 2):
            with hccl.group("even", ranks=[0, 2]) as even:
                total = hccl.allreduce(tensor, group=even)

    While HCCL stays initialised it is made anew whenever the runtime finalised by itself, as it does with the last
    session that closes.

    Args:
        name: 1 to 127 bytes; not ``hccl_world_group``, and not that of another group that is there.
        ranks: different ranks of the world, that of this process among them. On the Atlas training series each
            server takes part with as many, 1, 2, 4 or 8, and 2 or 4 lie within devices 0-3 or within 4-7.

    Raises:
        NotInitializedError: HCCL is not initialised.
        TypeError: the name is no text, or a rank no whole number.
        ValueError: name or ranks are not what HCCL takes (create_group in the HCCL API reference).
    """
    placement, backend = opened("group(...)")
    _check_name(name)
    members = _members(ranks, placement)
    if placement.product is Product.ATLAS_TRAINING:
        _check_training_series(members, placement)

    def create() -> None:
        backend.ranks.create_group(name, len(members), list(members))

    made = Group(name, members, 0, 0, 1)
    cleanup = Cleanup()
    if placement.hccl:
        runtime.refresh()
        create()
        runtime.renewals.append(create)
        cleanup.add(f"destroy the group {name}", lambda: _destroy(name, create, backend))
    try:
        if placement.hccl:
            made = _numbered(made, backend)
        _groups[name] = made
        yield made
    except BaseException as error:
        _groups.pop(name, None)
        cleanup.run(error)
        raise
    _groups.pop(name, None)
    cleanup.run()


def find(given: Group | str | None) -> Group | None:
    """Return the group that an argument means, ``None`` for the world.

    Raises:
        TypeError: it is no group and no name of one.
        ValueError: there is no such group, or not any more.
    """
    if given is None or (isinstance(given, str) and given == WORLD):
        return None
    if not isinstance(given, (Group, str)):
        raise TypeError(f"group={given!r} is no group; give what `with hccl.group(...) as g` gave, or its name")
    name = given if isinstance(given, str) else given.name
    found = _groups.get(name)
    if found is None or (isinstance(given, Group) and found is not given):
        raise ValueError(
            f"there is no group {name!r} (any more); it lives within `with hccl.group({name!r}, ranks=[...]) as g:`"
        )
    return found


def _numbered(made: Group, backend: Backend) -> Group:
    ranks = backend.ranks
    return dataclasses.replace(
        made,
        rank=int(ranks.get_rank_id(made.name)),
        local_rank=int(ranks.get_local_rank_id(made.name)),
        local_size=int(ranks.get_local_rank_size(made.name)),
    )


def _destroy(name: str, create: typing.Callable[[], None], backend: Backend) -> None:
    if create not in runtime.renewals or not runtime.is_open:
        # It went when HCCL was shut down.
        return
    runtime.renewals.remove(create)
    try:
        backend.ranks.get_rank_size(name)
    except ValueError:
        # It went when the runtime finalised by itself.
        return
    backend.ranks.destroy_group(name)


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a group is text, not {name!r}")
    length = len(name.encode("utf-8", "surrogateescape"))
    if not 1 <= length <= LONGEST_NAME or "\0" in name:
        raise ValueError(f"the name of a group has 1 to {LONGEST_NAME} bytes, none of them null; {name!r} has {length}")
    if name == WORLD:
        raise ValueError(f"{WORLD!r} is the group of all ranks, which HCCL makes itself: leave group=... out to use it")
    if name in _groups:
        raise ValueError(f"there is a group {name!r} already, of ranks {list(_groups[name].ranks)}; take another name")


def _members(ranks: typing.Iterable[int], placement: Placement) -> typing.Tuple[int, ...]:
    members = tuple(whole_number("a rank", rank) for rank in listed("ranks", ranks))
    for rank in members:
        if not 0 <= rank < placement.size:
            raise ValueError(f"ranks={list(members)}: there is no rank {rank}, only 0 to {placement.size - 1}")
    if len(set(members)) != len(members):
        twice = sorted({rank for rank in members if members.count(rank) > 1})
        raise ValueError(f"ranks={list(members)}: {twice} are there more than once")
    if placement.rank not in members:
        raise ValueError(
            f"ranks={list(members)}: this process is rank {placement.rank}, and only ranks of a group make it: "
            f"if hccl.rank() in {members}: ..."
        )
    return members


def _check_training_series(members: typing.Sequence[int], placement: Placement) -> None:
    chosen: dict[str, list[int]] = {}
    wanted = set(members)
    if placement.cluster.table is not None:
        for server in placement.cluster.table.servers:
            devices = [rank.device_id for rank in server.ranks if rank.rank_id in wanted]
            if devices:
                chosen[server.server_id] = devices
    else:
        # Without a table, the reference counts eight ranks for each server.
        for rank in members:
            chosen.setdefault(str(rank // 8), []).append(rank % 8)
    for server_id, devices in chosen.items():
        halves = {device // _HALF for device in devices}
        if len(devices) not in _COUNTS or (len(devices) in (2, 4) and len(halves) > 1):
            raise ValueError(
                f"ranks={list(members)}: devices {sorted(devices)} of server {server_id!r}; on the Atlas training "
                "series a group has 1, 2, 4 or 8 devices of a server, and 2 or 4 lie within 0-3 or within 4-7"
            )
    counts = {server_id: len(devices) for server_id, devices in chosen.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"ranks={list(members)}: the servers take part with {counts} ranks; on the Atlas training series each has "
            "as many as the others"
        )
