"""Rank queries with the adapter's precondition."""

import os


def _answer(query, variable, default):
    from npu_bridge.estimator import npu_ops

    if not npu_ops.initialized or "RANK_SIZE" not in os.environ:
        raise ValueError(query + " error. ret[5]")
    return int(os.environ.get(variable, default))


def get_rank_id(group="hccl_world_group"):
    return _answer("get rank id", "RANK_ID", 0)


def get_rank_size(group="hccl_world_group"):
    return _answer("get rank size", "RANK_SIZE", 1)


def get_local_rank_id(group="hccl_world_group"):
    return _answer("get local rank id", "RANK_ID", 0)


def get_local_rank_size(group="hccl_world_group"):
    return _answer("get local rank size", "RANK_SIZE", 1)
