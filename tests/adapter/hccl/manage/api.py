"""Rank queries with the adapter's precondition; all ranks are on one server."""

import os


def _place(query):
    """Return rank and size: HCCL counts ranks by their devices where no table has them."""
    from npu_bridge.estimator import npu_ops

    environ = os.environ
    if npu_ops.initialized and "CM_WORKER_SIZE" in environ:
        return int(environ["ASCEND_DEVICE_ID"]) - int(environ["CM_CHIEF_DEVICE"]), int(environ["CM_WORKER_SIZE"])
    if npu_ops.initialized and "RANK_SIZE" in environ:
        return int(environ.get("RANK_ID", 0)), int(environ["RANK_SIZE"])
    raise ValueError(query + " error. ret[5]")


def get_rank_id(group="hccl_world_group"):
    return _place("get rank id")[0]


def get_rank_size(group="hccl_world_group"):
    return _place("get rank size")[1]


def get_local_rank_id(group="hccl_world_group"):
    return _place("get local rank id")[0]


def get_local_rank_size(group="hccl_world_group"):
    return _place("get local rank size")[1]
