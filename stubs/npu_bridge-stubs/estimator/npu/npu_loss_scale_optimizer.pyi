import typing

from ...hccl import hccl_ops as hccl_ops
from .npu_loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager

class NPULossScaleOptimizer(typing.Any):
    def __init__(self, opt: typing.Any, loss_scale_manager: typing.Any, is_distributed: bool = False) -> None: ...
    def apply_gradients(
        self,
        grads_and_vars: typing.Iterable[tuple[typing.Any, typing.Any]],
        global_step: typing.Any = None,
        name: str | None = None,
    ) -> typing.Any: ...
