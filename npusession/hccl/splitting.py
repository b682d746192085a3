"""How gradients are split for communication."""

from __future__ import annotations

import math
import typing

from ._values import listed, whole_number
from .lifecycle import opened
from .process_groups import WORLD, Group, find

LAST_INDEX = 2**32 - 1
_WHOLE = 100


def split_by_index(indices: typing.Iterable[int], group: Group | str | None = None) -> None:
    """Split the gradients for allreduce after certain ones, so that they are sent while others are computed.

    Args:
        indices: the last gradient of each part, rising, 0 to 4294967295; the last one is that of the last gradient.
        group: the group that they are reduced in; by default all ranks.

    Raises:
        NotInitializedError: HCCL is not initialised.
        TypeError: an index is no whole number.
        ValueError: there is none, or they do not rise, or leave the range (set_split_strategy_by_idx).
    """
    given = [whole_number("an index", index) for index in listed("indices", indices)]
    for before, index in zip([-1, *given], given):
        if not 0 <= index <= LAST_INDEX:
            raise ValueError(f"indices={given}: {index} is not within 0 to {LAST_INDEX}")
        if index <= before:
            raise ValueError(f"indices={given}: {index} does not come after {before}; each one is larger")
    placement, backend = opened("split_by_index(...)")
    where = find(group)
    if placement.hccl:
        backend.splits.set_split_strategy_by_idx(given, where.name if where else WORLD)


def split_by_size(percentages: typing.Iterable[float], group: Group | str | None = None) -> None:
    """Split the gradients for allreduce by the share of data that each part has.

    Args:
        percentages: of the data of all gradients; none is negative, and they sum to 100.
        group: the group that they are reduced in; by default all ranks.

    Raises:
        NotInitializedError: HCCL is not initialised.
        TypeError: one is no number.
        ValueError: there is none, one is negative, or they do not sum to 100 (set_split_strategy_by_size).
    """
    given = listed("percentages", percentages)
    for share in given:
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise TypeError(f"percentages={given}: {share!r} is no number")
        if not share >= 0 or math.isinf(share):
            raise ValueError(f"percentages={given}: {share} is no percentage, 0 or more")
    if abs(math.fsum(given) - _WHOLE) > 1e-6:
        raise ValueError(f"percentages={given} sum to {math.fsum(given):g}, and not to {_WHOLE}")
    placement, backend = opened("split_by_size(...)")
    where = find(group)
    if placement.hccl:
        backend.splits.set_split_strategy_by_size(given, where.name if where else WORLD)
