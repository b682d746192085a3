import typing

from tensorflow.python.distribute import distribute_lib, one_device_strategy

from . import util as util

class NPUExtended(one_device_strategy.OneDeviceExtended):
    def __init__(self, container_strategy: typing.Any, device: str) -> None: ...

class NPUStrategy(distribute_lib.StrategyV1):
    def __init__(self, device: str = "/cpu:0") -> None: ...
