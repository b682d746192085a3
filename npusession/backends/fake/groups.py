"""The emulated groups of HCCL, and how gradients are split for communication.

Limits are those of the vendor's HCCL reference. A group lives until it is destroyed or the runtime finalised.
"""

from __future__ import annotations

from . import ranks
from .ranks import WORLD
from .runtime import RUNTIME

#: Longest name of a group, without the null character that ends it.
LONGEST_NAME = 127
#: Most ranks of a group.
MOST_RANKS = 32768
#: Largest index of a gradient.
LAST_INDEX = 2**32 - 1
WHOLE = 100

_splits: dict[str, tuple[str, tuple[float, ...]]] = {}


def create_group(group: str, rank_num: int, rank_ids: list[int]) -> None:
    """Create a group of some ranks.

    Args:
        group: its name, 1 to 127 characters.
        rank_num: how many ranks it has, at most 32768.
        rank_ids: their ranks in the world, this process's among them.

    Raises:
        TypeError: an argument has another type.
        ValueError: HCCL is not initialised, the name is taken, or what is given does not fit together.
    """
    _check_name(group)
    if group == WORLD:
        raise ValueError(f"create_group: {WORLD!r} is the group of all ranks, which HCCL makes itself")
    _check_integer("rank_num", rank_num)
    if not isinstance(rank_ids, list):
        raise TypeError(f"create_group: rank_ids is a list of ranks, not a {type(rank_ids).__name__}")
    for rank in rank_ids:
        _check_integer("a rank of rank_ids", rank)
    size, own = ranks.get_rank_size(), ranks.get_rank_id()
    if not 1 <= rank_num <= MOST_RANKS:
        raise ValueError(f"create_group: rank_num={rank_num}; a group has 1 to {MOST_RANKS} ranks")
    if len(rank_ids) != rank_num or len(set(rank_ids)) != rank_num:
        raise ValueError(f"create_group: rank_ids={rank_ids} are not {rank_num} different ranks, as rank_num says")
    beyond = [rank for rank in rank_ids if not 0 <= rank < size]
    if beyond:
        raise ValueError(f"create_group: the world has ranks 0 to {size - 1}, so not {beyond}")
    if own not in rank_ids:
        raise ValueError(f"create_group: this process is rank {own}, which is not in rank_ids={rank_ids}")
    if group in RUNTIME.groups:
        raise ValueError(f"create_group: the group {group!r} exists; destroy_group({group!r}) comes first")
    RUNTIME.groups[group] = tuple(rank_ids)


def destroy_group(group: str) -> None:
    """Destroy a group that was created; ValueError when there is none of that name."""
    members(group)
    if group == WORLD:
        raise ValueError(f"destroy_group: {WORLD!r} ends with the runtime, not before")
    del RUNTIME.groups[group]
    _splits.pop(group, None)


def members(group: str) -> tuple[int, ...]:
    """Return the ranks of a group in the world, in its own order.

    Raises:
        ValueError: HCCL is not initialised, or there is no such group.
    """
    _check_name(group)
    size = ranks.get_rank_size()
    if group == WORLD:
        return tuple(range(size))
    if group not in RUNTIME.groups:
        raise ValueError(f"there is no group {group!r}; create_group makes one, after initialisation")
    return RUNTIME.groups[group]


def get_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks of a group."""
    _check_name(group)
    return ranks.get_rank_size() if group == WORLD else len(members(group))


def get_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process in a group."""
    _check_name(group)
    return ranks.get_rank_id() if group == WORLD else members(group).index(ranks.get_rank_id())


def get_local_rank_size(group: str = WORLD) -> int:
    """Return the number of ranks of a group on this server."""
    _check_name(group)
    return ranks.get_local_rank_size() if group == WORLD else len(_here(group))


def get_local_rank_id(group: str = WORLD) -> int:
    """Return the rank of this process among those of a group on this server."""
    _check_name(group)
    return ranks.get_local_rank_id() if group == WORLD else _here(group).index(ranks.get_rank_id())


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Return the rank in the world of a rank in a group; ValueError when the group has no such rank."""
    _check_integer("group_rank_id", group_rank_id)
    found = members(group)
    if not 0 <= group_rank_id < len(found):
        raise ValueError(f"the group {group!r} has ranks 0 to {len(found) - 1}, so not {group_rank_id}")
    return found[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Return the rank in a group of a rank in the world; ValueError when the group does not have it."""
    _check_integer("world_rank_id", world_rank_id)
    found = members(group)
    if world_rank_id not in found:
        raise ValueError(f"rank {world_rank_id} is not in the group {group!r}, which has {list(found)}")
    return found.index(world_rank_id)


def set_split_strategy_by_idx(idxList: list[int], group: str = WORLD) -> None:
    """Split the gradients of a group after certain indices.

    Args:
        idxList: the last index of each part, rising, 0 to 4294967295.
        group: name of the group.

    Raises:
        TypeError: an argument has another type.
        ValueError: the list is empty, does not rise or leaves the range.
    """
    _check_name(group)
    _check_list("idxList", idxList)
    for index in idxList:
        _check_integer("an index of idxList", index)
        if not 0 <= index <= LAST_INDEX:
            raise ValueError(f"idxList={idxList}: an index is 0 to {LAST_INDEX}")
    if any(after <= before for before, after in zip(idxList, idxList[1:])):
        raise ValueError(f"idxList={idxList}: each index is larger than the one before")
    _splits[group] = "index", tuple(idxList)


def set_split_strategy_by_size(dataSizeList: list[int] | list[float], group: str = WORLD) -> None:
    """Split the gradients of a group by the share of data.

    Args:
        dataSizeList: percentages, which sum to 100.
        group: name of the group.

    Raises:
        TypeError: an argument has another type.
        ValueError: the list is empty, a percentage is negative, or they do not sum to 100.
    """
    _check_name(group)
    _check_list("dataSizeList", dataSizeList)
    for share in dataSizeList:
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise TypeError(f"a share of dataSizeList is a number, not a {type(share).__name__}")
        if share < 0:
            raise ValueError(f"dataSizeList={dataSizeList}: a percentage is not negative")
    if abs(sum(dataSizeList) - WHOLE) > 1e-6:
        raise ValueError(f"dataSizeList={dataSizeList} sums to {sum(dataSizeList):g}, not to {WHOLE}")
    _splits[group] = "size", tuple(dataSizeList)


def splits() -> dict[str, tuple[str, tuple[float, ...]]]:
    """Return how the gradients of each group are split: by ``"index"`` or ``"size"``, and the numbers."""
    return dict(_splits)


def _here(group: str) -> list[int]:
    return [rank for rank in members(group) if rank in RUNTIME.position.here]


def _check_name(group: object) -> None:
    if not isinstance(group, str):
        raise TypeError(f"the name of a group is a str, not a {type(group).__name__}")
    if not 1 <= len(group.encode("utf-8", "surrogateescape")) <= LONGEST_NAME:
        raise ValueError(f"the name of a group has 1 to {LONGEST_NAME} characters: {group!r}")


def _check_integer(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not a {type(value).__name__}")


def _check_list(name: str, values: object) -> None:
    if not isinstance(values, list):
        raise TypeError(f"{name} is a list, not a {type(values).__name__}")
    if not values:
        raise ValueError(f"{name} is empty")
