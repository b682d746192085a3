"""A distribution strategy: this process is one replica of as many as there are ranks."""

from __future__ import annotations

import typing

from hccl.manage.api import get_rank_id, get_rank_size
from tensorflow.python.distribute import distribute_lib, one_device_strategy

from . import util


class NPUExtended(one_device_strategy.OneDeviceExtended):
    """What the strategy does: shards the data."""

    def __init__(self, container_strategy: typing.Any, device: str) -> None:
        super().__init__(container_strategy, device)

    @property
    def _num_replicas_in_sync(self) -> int:
        return int(util.get_ranksize())

    def _experimental_distribute_dataset(self, dataset: typing.Any, *options: typing.Any) -> typing.Any:
        return dataset.shard(get_rank_size(), get_rank_id())


class NPUStrategy(distribute_lib.StrategyV1):
    """One replica per rank; ``device`` can only be ``"/cpu:0"``."""

    def __init__(self, device: str = "/cpu:0") -> None:
        if device != "/cpu:0":
            raise ValueError(f"device={device!r}: it can only be '/cpu:0'")
        super().__init__(NPUExtended(self, device))
