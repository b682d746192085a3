"""The ops of HCCL, with the checks that the vendor documents."""

from __future__ import annotations

import functools
import operator
import typing

from ...._tensorflow import tf1
from ..collectives import LONGEST_NAME, build
from ..exchange import Collective
from ..ranks import WORLD
from ._node import Node

_REDUCED = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
_MOVED = (*_REDUCED, "uint64", "uint8", "uint16", "uint32", "float64")
_REDUCTIONS = ("min", "max", "prod", "sum")
_LAST_FUSION_ID = 2**31 - 1
_ALLREDUCE_GRADIENT = "NpusessionHcomAllReduce"


def hcom_all_reduce(
    input: typing.Any, reduction: str, group: str, fusion: int, fusion_id: int, name: str | None = None
) -> typing.Any:
    """Return the reduction over all ranks; its gradient is the sum of the gradients of all ranks.

    Raises:
        TypeError: the dtype of the tensor is not supported.
        ValueError: ``reduction``, ``group``, ``fusion`` or ``fusion_id`` is out of range.
    """
    _check(group, reduction=reduction, fusion=fusion, fusions=(0, 1, 2), fusion_id=fusion_id)
    with Node("HcomAllReduce", name) as node:
        tensor = node.tensor(input, "input", _REDUCED)
        call = Collective(
            "HcomAllReduce", "allreduce", group, [tensor], [(tensor.dtype, tensor.shape)], {"reduction": reduction}
        )
        (result,) = build(call)
        if tf1().executing_eagerly():
            return node.output(result)
        _register_gradient()
        return node.output_with(_ALLREDUCE_GRADIENT, result)


def hcom_all_gather(
    input: typing.Any, group: str, fusion: int, fusion_id: int, rank_size: int, name: str | None = None
) -> typing.Any:
    """Return the tensors of all ranks, one after the other along the first axis; errors as :func:`hcom_all_reduce`."""
    _check(group, fusion=fusion, fusions=(0, 2), fusion_id=fusion_id, rank_size=rank_size)
    with Node("HcomAllGather", name, differentiable=False) as node:
        tensor = node.tensor(input, "input", _MOVED)
        shape = _first_axis(tensor, lambda length: length * rank_size)
        options = {"rank_size": rank_size}
        return node.output(build(_moved("HcomAllGather", "allgather", group, tensor, shape, options))[0])


def hcom_broadcast(
    input: typing.Sequence[typing.Any],
    fusion: int,
    fusion_id: int,
    group: str,
    root_rank: int,
    name: str | None = None,
) -> list[typing.Any]:
    """Return a list of tensors as the root rank has them; errors as :func:`hcom_all_reduce`."""
    _check(group, fusion=fusion, fusions=(0, 2), fusion_id=fusion_id, root_rank=root_rank)
    if not isinstance(input, (list, tuple)):
        raise TypeError(f"HcomBroadcast: input is a list of tensors, not {input!r}")
    with Node("HcomBroadcast", name, differentiable=False) as node:
        tensors = [tf1().convert_to_tensor(tensor) for tensor in input]
        outputs = [(tensor.dtype.base_dtype, tensor.shape) for tensor in tensors]
        call = Collective("HcomBroadcast", "broadcast", group, tensors, outputs, {"root_rank": root_rank})
        return node.outputs(build(call))


def hcom_reduce(
    input: typing.Any,
    reduction: str,
    group: str,
    root_rank: int,
    fusion: int,
    fusion_id: int,
    name: str | None = None,
) -> typing.Any:
    """Return the reduction over all ranks, which only the root rank gets; errors as :func:`hcom_all_reduce`."""
    _check(group, reduction=reduction, fusion=fusion, fusions=(0, 2), fusion_id=fusion_id, root_rank=root_rank)
    with Node("HcomReduce", name, differentiable=False) as node:
        tensor = node.tensor(input, "input", _REDUCED)
        options = {"reduction": reduction, "root_rank": root_rank}
        return node.output(build(_moved("HcomReduce", "reduce", group, tensor, tensor.shape, options))[0])


def hcom_reduce_scatter(
    input: typing.Any,
    reduction: str,
    group: str,
    fusion: int,
    fusion_id: int,
    rank_size: int,
    name: str | None = None,
) -> typing.Any:
    """Return this rank's part of the reduction over all ranks, along the first axis.

    Raises:
        TypeError, ValueError: as :func:`hcom_all_reduce`, and ValueError when the axis is no multiple of ``rank_size``.
    """
    _check(group, reduction=reduction, fusion=fusion, fusions=(0, 2), fusion_id=fusion_id, rank_size=rank_size)
    with Node("HcomReduceScatter", name, differentiable=False) as node:
        tensor = node.tensor(input, "input", _REDUCED)
        shape = _first_axis(tensor, lambda length: _part(length, rank_size))
        options = {"reduction": reduction, "rank_size": rank_size}
        return node.output(build(_moved("HcomReduceScatter", "reduce_scatter", group, tensor, shape, options))[0])


def hcom_send(input: typing.Any, group: str, sr_tag: int, dest_rank: int, name: str | None = None) -> typing.Any:
    """Return the operation that sends a tensor to another rank; errors as :func:`hcom_all_reduce`."""
    _check(group, sr_tag=sr_tag, dest_rank=dest_rank)
    with Node("HcomSend", name) as node:
        tensor = node.tensor(input, "input", _MOVED)
        options = {"sr_tag": sr_tag, "dest_rank": dest_rank}
        return node.operation(*build(Collective("HcomSend", "send", group, [tensor], [], options)))


def hcom_receive(
    T: typing.Any, shape: typing.Any, group: str, sr_tag: int, src_rank: int, name: str | None = None
) -> typing.Any:
    """Return the tensor that another rank sends; errors as :func:`hcom_all_reduce`."""
    _check(group, sr_tag=sr_tag, src_rank=src_rank)
    dtype = tf1().as_dtype(T)
    if dtype.name not in _MOVED:
        raise TypeError(f"HcomReceive: T is {dtype.name}; the op takes {', '.join(_MOVED)}")
    with Node("HcomReceive", name, differentiable=False) as node:
        options = {"sr_tag": sr_tag, "src_rank": src_rank}
        call = Collective("HcomReceive", "receive", group, [], [(dtype, tf1().TensorShape(shape))], options)
        return node.output(build(call)[0])


def hcom_all_to_all_v(
    send_data: typing.Any,
    send_counts: typing.Any,
    send_displacements: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    group: str,
    name: str | None = None,
) -> typing.Any:
    """Exchange parts of different lengths between all ranks.

    Args:
        send_data: numbers for all ranks.
        send_counts: how many go to each rank, int64 ``[ranks]``.
        send_displacements: where each rank's begin in ``send_data``.
        recv_counts: how many come from each rank.
        recv_displacements: where each rank's begin in the result.
        group: name of the group.
        name: name of the op.
    """
    _check(group)
    with Node("HcomAllToAllV", name, differentiable=False) as node:
        data = node.tensor(send_data, "send_data", _MOVED)
        own = {
            argument: tf1().cast(tf1().convert_to_tensor(value), tf1().int64)
            for argument, value in (
                ("send_counts", send_counts),
                ("send_displacements", send_displacements),
                ("recv_counts", recv_counts),
                ("recv_displacements", recv_displacements),
            )
        }
        return node.output(build(Collective("HcomAllToAllV", "alltoallv", group, [data], _unknown(data), {}, own))[0])


def hcom_all_to_all_vc(
    send_data: typing.Any,
    send_count_matrix: typing.Any,
    rank: int,
    group: str,
    fusion: int,
    fusion_id: int,
    name: str | None = None,
) -> typing.Any:
    """As :func:`hcom_all_to_all_v`, with one matrix of counts: how many go from each rank (row) to each (column)."""
    _check(group, fusion=fusion, fusions=(0, 2), fusion_id=fusion_id, rank=rank)
    with Node("HcomAllToAllVC", name, differentiable=False) as node:
        data = node.tensor(send_data, "send_data", _MOVED)
        own = {"send_count_matrix": tf1().cast(tf1().convert_to_tensor(send_count_matrix), tf1().int64)}
        call = Collective("HcomAllToAllVC", "alltoallvc", group, [data], _unknown(data), {"rank": rank}, own)
        return node.output(build(call)[0])


def _moved(
    op_type: str, kind: str, group: str, tensor: typing.Any, shape: typing.Any, options: dict[str, typing.Any]
) -> Collective:
    return Collective(op_type, kind, group, [tensor], [(tensor.dtype.base_dtype, shape)], options)


def _unknown(data: typing.Any) -> list[tuple[typing.Any, typing.Any]]:
    return [(data.dtype.base_dtype, tf1().TensorShape([None]))]


def _first_axis(tensor: typing.Any, change: typing.Callable[[int], int]) -> typing.Any:
    """Return a tensor's shape with another length of the first axis, unknown where that is."""
    if tensor.shape.ndims is None:
        return tensor.shape
    if not tensor.shape.ndims:
        raise ValueError("a scalar has no first axis along which ranks could share it")
    length, *rest = tensor.shape.as_list()
    return tf1().TensorShape([None if length is None else change(length), *rest])


def _part(length: int, rank_size: int) -> int:
    if length % rank_size:
        raise ValueError(f"HcomReduceScatter: the first axis has {length}, no multiple of rank_size={rank_size}")
    return length // rank_size


def _check(
    group: str,
    *,
    reduction: str | None = None,
    fusion: int | None = None,
    fusions: typing.Sequence[int] = (),
    fusion_id: int | None = None,
    **numbers: int,
) -> None:
    if not isinstance(group, str) or not 1 <= len(group) <= LONGEST_NAME:
        raise ValueError(f"group={group!r}; the name of a group has 1 to {LONGEST_NAME} characters, as in {WORLD!r}")
    if reduction is not None and reduction not in _REDUCTIONS:
        raise ValueError(f"reduction={reduction!r}; it is one of {', '.join(_REDUCTIONS)}")
    if fusion is not None and fusion not in fusions:
        raise ValueError(f"fusion={fusion!r}; it is one of {', '.join(map(str, fusions))}")
    if fusion_id is not None and not -1 <= _integer("fusion_id", fusion_id) <= _LAST_FUSION_ID:
        raise ValueError(f"fusion_id={fusion_id}; it is -1 to {_LAST_FUSION_ID}")
    for name, value in numbers.items():
        least = 1 if name == "rank_size" else 0
        if _integer(name, value) < least:
            raise ValueError(f"{name}={value}; it is {least} or more")


def _integer(name: str, value: object) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(typing.cast(int, value))
    except TypeError:
        pass
    raise TypeError(f"{name} is an int, not {value!r}")


@functools.lru_cache(maxsize=None)
def _register_gradient() -> None:
    def gradient(op: typing.Any, grad: typing.Any) -> typing.Any:
        # As the adapter does: over all ranks, whatever the group of the op.
        return hcom_all_reduce(grad, "sum", WORLD, 0, -1)

    tf1().RegisterGradient(_ALLREDUCE_GRADIENT)(gradient)
