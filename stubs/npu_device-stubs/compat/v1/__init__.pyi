import typing

from .estimator.npu import npu_estimator as npu_estimator
from .estimator.npu.npu_plugin import npu_close as npu_close
from .hccl import hccl_ops as hccl_ops
from .helper import helper as helper

__all__ = ["SessionConfigBuilder", "hccl_ops", "helper", "npu_close", "npu_estimator"]

class SessionConfigBuilder:
    def __init__(self, config: typing.Any = None) -> None: ...
    @property
    def parameter_map(self) -> typing.Any: ...
    @property
    def session_config(self) -> typing.Any: ...
