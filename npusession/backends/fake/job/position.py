"""Where a process is in its job; by itself, so that knowing it needs no NumPy."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from .member import Member


class Position(typing.NamedTuple):
    """Where a rank is in its job.

    Attributes:
        rank: its number, from 0.
        size: the number of ranks.
        here: the ranks of its server, this one among them.
        member: its connection to the others, ``None`` when it is alone.
    """

    rank: int = 0
    size: int = 1
    here: typing.Tuple[int, ...] = (0,)
    member: Member | None = None
