"""Where a collective happens, and the checks of its numbers."""

from __future__ import annotations

import typing

from .._placement import Placement
from ._tensors import REDUCTIONS, checked, reduced_dtypes
from ._values import whole_number
from .lifecycle import opened
from .process_groups import WORLD, Group, find

#: What a collective takes as its group: by default all ranks.
Where = typing.Union[Group, str, None]

_LAST_TAG = _LAST_FUSION_ID = 2**31 - 1


class Place(typing.NamedTuple):
    """Where a collective happens.

    Attributes:
        call: name of the function, for messages.
        placement: where this process is in the world.
        ops: the adapter's collectives, ``None`` without HCCL.
        name: name of the group.
        rank: rank of this process in it.
        size: how many ranks it has.
    """

    call: str
    placement: Placement
    ops: typing.Any
    name: str
    rank: int
    size: int

    @property
    def alone(self) -> bool:
        """Whether HCCL was not set up, as there is no other rank."""
        return not self.placement.hccl


def place_of(call: str, where: Where) -> Place:
    """Return where a collective happens; NotInitializedError before HCCL is there."""
    placement, backend = opened(f"{call}(...)")
    found = find(where)
    ops = backend.hccl_ops if placement.hccl else None
    if found is None:
        return Place(call, placement, ops, WORLD, placement.rank, placement.size)
    return Place(call, placement, ops, found.name, found.rank, found.size)


def to_reduce(place: Place, tensor: typing.Any, reduction: str) -> typing.Any:
    """Return an argument as a tensor that can be reduced so; errors as for ``allreduce``."""
    if reduction not in REDUCTIONS:
        hint = "; hccl.mean() averages" if reduction in ("mean", "average", "avg") else ""
        raise ValueError(f"hccl.{place.call}: reduction={reduction!r} is none of {', '.join(REDUCTIONS)}{hint}")
    return checked(place.call, tensor, reduced_dtypes(place.placement.product, reduction))


def known_rank(place: Place, name: str, rank: int) -> int:
    """Return a rank of the group as an int; TypeError or ValueError when it is none."""
    number = whole_number(f"hccl.{place.call}: {name}", rank)
    if not 0 <= number < place.size:
        raise ValueError(f"hccl.{place.call}: {name}={rank}; {_ranks_of(place)}")
    return number


def other_rank(place: Place, name: str, rank: int) -> int:
    """Return a rank of the group that is not this one; errors as for :func:`known_rank`."""
    number = known_rank(place, name, rank)
    if number == place.rank:
        raise ValueError(f"hccl.{place.call}: {name}={rank} is this very rank; {_ranks_of(place)}")
    return number


def _ranks_of(place: Place) -> str:
    which = "there" if place.name == WORLD else f"in the group {place.name!r}"
    return f"{which} is only rank 0" if place.size == 1 else f"{which} are ranks 0 to {place.size - 1}"


def known_tag(place: Place, tag: int) -> int:
    """Return a tag as an int; TypeError or ValueError when it is none."""
    number = whole_number(f"hccl.{place.call}: tag", tag)
    if not 0 <= number <= _LAST_TAG:
        raise ValueError(f"hccl.{place.call}: tag={tag}; it is 0 to {_LAST_TAG}")
    return number


def check_fusion(place: Place, fusion: int, fusion_id: int, allowed: typing.Sequence[int]) -> None:
    """Refuse what is no way to fuse; TypeError or ValueError."""
    if whole_number(f"hccl.{place.call}: fusion", fusion) not in allowed:
        raise ValueError(f"hccl.{place.call}: fusion={fusion}; it is one of {', '.join(map(str, allowed))}")
    least = 0 if fusion == 2 else -1
    if not least <= whole_number(f"hccl.{place.call}: fusion_id", fusion_id) <= _LAST_FUSION_ID:
        raise ValueError(
            f"hccl.{place.call}: fusion_id={fusion_id} with fusion={fusion}; it is {least} to {_LAST_FUSION_ID}"
        )
