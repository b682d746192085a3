"""Scopes that mark the ops within them for the device, which reads the marks as attributes of nodes.

On the CPU the marks are set, and nothing comes of them.
"""

from __future__ import annotations

import contextlib
import typing

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework.ops import name_scope_v2

from npusession._tensorflow import tf1

from .npu_config import NpuExecutePlacement


@contextlib.contextmanager
def _marked(**attributes: bool | int | str) -> typing.Iterator[None]:
    """Set attributes, by their names without the leading underscore, on all ops of a ``with`` statement."""
    with tf1().get_default_graph()._attr_scope({f"_{name}": _attribute(value) for name, value in attributes.items()}):
        yield


def _attribute(value: bool | int | str) -> typing.Any:
    if isinstance(value, bool):
        return attr_value_pb2.AttrValue(b=value)
    if isinstance(value, int):
        return attr_value_pb2.AttrValue(i=value)
    return attr_value_pb2.AttrValue(s=value.encode() if isinstance(value, str) else value)


def without_npu_compile_scope() -> typing.ContextManager[None]:
    """Keep ops on the host where graphs are mixed."""
    return _marked(without_npu_compile=True)


def npu_variable_scope(placement: NpuExecutePlacement = NpuExecutePlacement.ALL) -> typing.ContextManager[None]:
    """Place variables; ValueError when the placement is no NpuExecutePlacement."""
    if not isinstance(placement, NpuExecutePlacement):
        raise ValueError(f"placement={placement!r} is no NpuExecutePlacement")
    return _marked(variable_placement=placement.value)


def keep_dtype_scope() -> typing.ContextManager[None]:
    """Keep the precision of ops, whatever precision_mode says."""
    return _marked(keep_dtype=1)


def npu_stage_scope(stage: int) -> typing.ContextManager[None]:
    """Make ops a stage, by its number, that may run beside the other stages of a loop."""
    return _marked(stage_level=stage)


def npu_mem_type_scope() -> typing.ContextManager[None]:
    """Put outputs into memory that other hosts reach."""
    return _marked(output_memory_type=1)


def npu_weight_prefetch_scope(
    buffer_pool_id: int = 0, buffer_pool_size: int = 536870912
) -> typing.ContextManager[None]:
    """Prefetch weights into a pool of memory of so many bytes."""
    return _marked(buffer_pool_id=buffer_pool_id, buffer_pool_size=buffer_pool_size)


def op_specified_engine_scope(engine_name: str, kernel_lib_name: str) -> typing.ContextManager[None]:
    """Choose the engine and the library of kernels of ops."""
    return _marked(specified_engine_name=engine_name, specified_kernel_lib_name=kernel_lib_name)


def npu_qos_label_scope(label: int) -> typing.ContextManager[None]:
    """Give ops a label of quality of service."""
    return _marked(qos_service_label=label)


def subgraph_multi_dims_scope(index: int) -> typing.ContextManager[None]:
    """Make ops a part of the graph with gears of its own, by its number."""
    return _marked(subgraph_multi_dims_index=index)


def npu_optimizer_scope() -> typing.ContextManager[None]:
    """Mark the ops of an optimizer."""
    return _marked(optimizer=True)


def npu_recompute_scope() -> typing.ContextManager[typing.Any]:
    """Compute results again in the backward pass in place of keeping them; marked in the ops' names."""
    return typing.cast("typing.ContextManager[typing.Any]", name_scope_v2("NpuRecompute"))


def npu_graph_slice_scope(slice_num: int | None = None) -> typing.ContextManager[typing.Any]:
    """Slice the batch; marked in the ops' names.

    Raises:
        TypeError: ``slice_num`` is no int.
        ValueError: it is not positive.
    """
    if slice_num is not None:
        if not isinstance(slice_num, int):
            raise TypeError(f"slice_num must be int, got {type(slice_num)}")
        if slice_num <= 0:
            raise ValueError(f"slice_num must be positive, got {slice_num}")
    name = f"SliceNum-{slice_num}-NpuGraphSlicing{slice_num}"
    return typing.cast("typing.ContextManager[typing.Any]", name_scope_v2(name))


def disable_autofuse() -> typing.ContextManager[None]:
    """Keep ops from being fused automatically."""
    return _marked(disable_autofuse_scope=True)


def limit_core_num_scope(op_aicore_num: str = "0", op_vectorore_num: str = "0") -> typing.ContextManager[None]:
    """Limit the vector cores of fused ops; the number of AI cores is not used.

    Raises:
        ValueError: ``op_vectorore_num`` is no text of a positive number.
    """
    if not isinstance(op_vectorore_num, str):
        raise ValueError(f"op_vectorore_num={op_vectorore_num!r} must be text")
    if not op_vectorore_num.strip().isdigit() or not int(op_vectorore_num):
        raise ValueError(f"op_vectorore_num={op_vectorore_num!r} must be a number greater than zero")
    return _marked(op_vectorcore_num=op_vectorore_num)
