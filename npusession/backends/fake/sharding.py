"""Dividing gradients among ranks by size, for the sharded update of weights."""

from __future__ import annotations

import typing


def size_of(gradient: typing.Any) -> int:
    """Return the bytes of a gradient whose shape is known, 0 for a scalar."""
    shape = gradient.shape
    if not len(shape):
        return 0
    size = int(gradient.dtype.size)
    for dimension in shape:
        size *= int(dimension)
    return size


def divide(items: typing.Sequence[typing.Any], ranks: int) -> None:
    """Set ``root_rank_id`` of each item, from its ``size``: neighbours stay together, ranks get about the same.

    Raises:
        ValueError: there are fewer items than ranks.
    """
    if not 0 <= ranks <= len(items):
        raise ValueError(f"{len(items)} gradients cannot be divided among {ranks} ranks: each needs at least one")
    first = 0
    for rank in range(ranks):
        left = ranks - rank
        share = _share(items[first:], left)
        total, end = 0, first
        # At least one, and one for each rank that follows.
        while end < len(items) - left + 1:
            size = items[end].size
            if total + size > share and end > first and total + size - share > share - total:
                break
            items[end].root_rank_id = rank
            total += size
            end += 1
            if total > share:
                break
        first = end


def _share(items: typing.Sequence[typing.Any], ranks: int) -> int:
    """Return what each rank should have, without the items that are more than all others together."""
    rest = sorted(int(item.size) for item in items)
    while ranks > 1 and rest and rest[-1] > sum(rest[:-1]):
        rest.pop()
        ranks -= 1
    return sum(rest) if ranks == 1 else sum(rest) // ranks
