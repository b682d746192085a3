import typing

from ...hccl import hccl_ops as hccl_ops
from . import util as util

def broadcast_global_variables(root_rank: int) -> typing.Any: ...

class BroadcastGlobalVariablesCallbackImpl:
    root_rank: typing.Any
    broadcast_done: bool

    def __init__(self, root_rank: int, *args: typing.Any) -> None: ...
    def on_batch_begin(self, batch: int, logs: typing.Any = None) -> None: ...

class NPUBroadcastGlobalVariablesCallback(BroadcastGlobalVariablesCallbackImpl, typing.Any):
    def __init__(self, root_rank: int) -> None: ...
