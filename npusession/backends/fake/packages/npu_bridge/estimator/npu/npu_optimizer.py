"""Placeholder: optimizers."""

import typing

KerasDistributeOptimizer: typing.Any = None
NPUDistributedOptimizer: typing.Any = None
NPUOptimizer: typing.Any = None
npu_allreduce: typing.Any = None
npu_distributed_optimizer_wrapper: typing.Any = None
