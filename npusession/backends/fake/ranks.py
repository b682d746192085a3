"""The emulated ``hccl.manage.api``, for a single process: rank 0 of 1, once the runtime is initialised."""

from __future__ import annotations

from .runtime import RUNTIME

WORLD = "hccl_world_group"


def get_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process; ValueError before initialisation."""
    return _answer("get rank id", 0)


def get_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks; ValueError before initialisation."""
    return _answer("get rank size", 1)


def get_local_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process on its server; ValueError before initialisation."""
    return _answer("get local rank id", 0)


def get_local_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks on this server; ValueError before initialisation."""
    return _answer("get local rank size", 1)


def _answer(query: str, value: int) -> int:
    if not RUNTIME.hccl:
        raise ValueError(f"{query} error. ret[{5}]")
    return value
