"""The rank queries of the emulated ``hccl.manage.api``, for the group of all ranks."""

from __future__ import annotations

from .runtime import RUNTIME

WORLD = "hccl_world_group"


def get_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process; ValueError before initialisation."""
    return _answer("get rank id", RUNTIME.position.rank)


def get_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks; ValueError before initialisation."""
    return _answer("get rank size", RUNTIME.position.size)


def get_local_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process on its server; ValueError before initialisation."""
    position = RUNTIME.position
    return _answer("get local rank id", position.here.index(position.rank))


def get_local_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks on this server; ValueError before initialisation."""
    return _answer("get local rank size", len(RUNTIME.position.here))


def _answer(query: str, value: int) -> int:
    if not RUNTIME.hccl:
        raise ValueError(f"{query} error. ret[{5}]")
    return value
