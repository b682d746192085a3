import typing

from ...hccl import hccl_ops as hccl_ops
from .npu_common import NPUBasics as NPUBasics

def allreduce(tensor: typing.Any, average: bool = True) -> typing.Any: ...
def reduce(
    tensor: typing.Any, root_rank: int, average: bool = True, fusion: int = 0, fusion_id: int = -1
) -> typing.Any: ...

class _Wrapper(typing.Any):
    def __init__(self, optimizer: typing.Any, name: str) -> None: ...
    def get_slot(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any: ...
    def get_slot_names(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any: ...
    def variables(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any: ...

class NPUOptimizer(_Wrapper):
    def __init__(
        self,
        opt: typing.Any,
        loss_scale_manager: typing.Any = None,
        is_distributed: bool = False,
        is_loss_scale: bool = False,
        is_tailing_optimization: bool = False,
        name: str | None = None,
    ) -> None: ...
    def compute_gradients(
        self,
        loss: typing.Any,
        var_list: typing.Any = None,
        gate_gradients: int = ...,
        aggregation_method: typing.Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: typing.Any = None,
    ) -> list[tuple[typing.Any, typing.Any]]: ...
    def apply_gradients(
        self,
        grads_and_vars: typing.Iterable[tuple[typing.Any, typing.Any]],
        global_step: typing.Any = None,
        name: str | None = None,
    ) -> typing.Any: ...

class NPUDistributedOptimizer(_Wrapper):
    def __init__(
        self, optimizer: typing.Any, is_weight_update_sharding: bool = False, name: str | None = None
    ) -> None: ...
    def compute_gradients(self, *args: typing.Any, **kwargs: typing.Any) -> list[tuple[typing.Any, typing.Any]]: ...
    def apply_gradients(
        self,
        grads_and_vars: typing.Iterable[tuple[typing.Any, typing.Any]],
        global_step: typing.Any = None,
        name: str | None = None,
    ) -> typing.Any: ...

class KerasDistributeOptimizer(typing.Any):
    def __init__(self, optimizer: typing.Any, name: str = "NpuKerasOptimizer", **kwargs: typing.Any) -> None: ...
    def get_updates(self, loss: typing.Any, params: typing.Any) -> typing.Any: ...
    def apply_gradients(
        self, grads_and_vars: typing.Iterable[tuple[typing.Any, typing.Any]], name: str | None = None
    ) -> typing.Any: ...
    def get_config(self) -> dict[str, typing.Any]: ...

def npu_distributed_optimizer_wrapper(optimizer: typing.Any) -> typing.Any: ...
def npu_allreduce(
    values: typing.Any, reduction: str = "mean", fusion: int = 1, fusion_id: int = -1, group: str = "hccl_world_group"
) -> typing.Any: ...
