"""Ranks, as HCCL and the environment tell them."""

from __future__ import annotations

import ctypes
import os

from npusession.backends.fake import collectives, ranks


def c_str(string: str) -> ctypes.c_char_p:
    """Return text as C takes it."""
    return ctypes.c_char_p(string.encode("utf-8"))


def get_actual_rank_size(group: str = "hccl_world_group") -> int:
    """Return the number of ranks of a group; ValueError before initialisation."""
    return ranks.get_rank_size(group)


def get_user_rank_size() -> int:
    """Return the number of ranks that the environment names."""
    return collectives.world_size()


def get_user_rank_id() -> int:
    """Return RANK_ID.

    Raises:
        TypeError: it is not set.
        ValueError: it is no number.
    """
    value = os.environ.get("RANK_ID")
    if value is None:
        raise TypeError("RANK_ID is not set; get_user_rank_id() reads it")
    return int(value)
