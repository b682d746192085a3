"""Collectives between ranks, with arguments that are checked before native code sees them.

Each one adds an op to the default graph, and all ranks of a group call the same ones in the same order. Ranks are those
of the group. Where nothing describes a cluster to HCCL, the process is alone, and gets back what it gives.
"""

from __future__ import annotations

import typing

from .._tensorflow import tf1
from ._place import Place, Where, check_fusion, known_rank, known_tag, other_rank, place_of, to_reduce
from ._tensors import check_dtype, checked, first_axis, given_back, moved_dtypes, need_graph, without_gradient
from .process_groups import WORLD

#: How many bytes a rank gives to an allreduce at most.
_MOST_BYTES = 8 * 2**30


def allreduce(
    tensor: typing.Any, reduction: str = "sum", *, group: Where = None, fusion: int | None = None, fusion_id: int = -1
) -> typing.Any:
    """Return the reduction of a tensor over all ranks of a group.

    The sum has a gradient, which is the sum of all ranks' gradients in the same group.

    Args:
        tensor: at most 8 GiB, of the same shape on all ranks; int8, int16, int32, int64, float16, float32 or bfloat16,
            of which some products take fewer.
        reduction: ``"sum"``, ``"max"``, ``"min"`` or ``"prod"``.
        group: the group; by default all ranks.
        fusion: 0 keeps it apart, 1 joins it to others as gradients are split, 2 to those of the same ``fusion_id``. By
            default 1 for sums and 0 for all else, which HCCL cannot join.
        fusion_id: -1, or 0 to 2147483647 with ``fusion=2``.

    Raises:
        NotInitializedError: HCCL is not initialised.
        GraphRequiredError: TensorFlow executes eagerly.
        TypeError: the tensor has another dtype, or a number is no whole one.
        ValueError: an argument is none of those that HCCL takes.
    """
    place = place_of("allreduce", group)
    tensor = to_reduce(place, tensor, reduction)
    by_sum = reduction == "sum"
    fusion = int(by_sum) if fusion is None else fusion
    check_fusion(place, fusion, fusion_id, (0, 1, 2) if by_sum else (0,))
    count = tensor.shape.num_elements()
    if count is not None and count * tensor.dtype.size > _MOST_BYTES:
        raise ValueError(f"hccl.allreduce: {count * tensor.dtype.size} bytes, and HCCL takes {_MOST_BYTES} at most")
    if place.alone:
        return tf1().identity(tensor) if by_sum else given_back(place.call, tensor)
    options = {"fusion": fusion, "fusion_id": fusion_id, "group": place.name}
    if by_sum and place.name == WORLD:
        return place.ops.allreduce(tensor, reduction, **options)
    if not by_sum:
        return without_gradient(place.call, tensor, lambda given: place.ops.allreduce(given, reduction, **options))
    return _with_gradient(place, tensor, options)


def allgather(tensor: typing.Any, *, group: Where = None, fusion: int = 0, fusion_id: int = -1) -> typing.Any:
    """Return the tensors of all ranks of a group, one after the other along the first axis; it has no gradient.

    Args:
        tensor: of the same shape on all ranks, and no scalar; all numbers but complex ones.
        group: the group; by default all ranks.
        fusion: 0 keeps it apart, 2 joins it to those of the same ``fusion_id``.
        fusion_id: as for :func:`allreduce`.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("allgather", group)
    tensor = checked(place.call, tensor, moved_dtypes(place.placement.product))
    first_axis(place.call, tensor)
    check_fusion(place, fusion, fusion_id, (0, 2))
    if place.alone:
        return given_back(place.call, tensor)
    return place.ops.allgather(tensor, place.size, group=place.name, fusion=fusion, fusion_id=fusion_id)


def broadcast(
    tensors: typing.Any, root: int = 0, *, group: Where = None, fusion: int = 2, fusion_id: int = 0
) -> typing.Any:
    """Return a tensor, or each of a list of tensors, as one rank of a group has it; it has no gradient.

    Args:
        tensors: a tensor or a list of them, of the same shapes on all ranks; all numbers but complex ones.
        root: the rank that has them.
        group: the group; by default all ranks.
        fusion: 0 keeps it apart, 2 joins it to those of the same ``fusion_id``.
        fusion_id: as for :func:`allreduce`.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("broadcast", group)
    root = known_rank(place, "root", root)
    several = isinstance(tensors, (list, tuple))
    allowed = moved_dtypes(place.placement.product)
    given = [checked(place.call, tensor, allowed) for tensor in (tensors if several else [tensors])]
    if not given:
        raise ValueError("hccl.broadcast: an empty list of tensors")
    check_fusion(place, fusion, fusion_id, (0, 2))
    if place.alone:
        received = [given_back(place.call, tensor) for tensor in given]
    else:
        received = list(place.ops.broadcast(given, root, fusion=fusion, fusion_id=fusion_id, group=place.name))
    return received if several else received[0]


def reduce(
    tensor: typing.Any,
    reduction: str = "sum",
    root: int = 0,
    *,
    group: Where = None,
    fusion: int = 0,
    fusion_id: int = -1,
) -> typing.Any:
    """Return the reduction of a tensor over all ranks of a group, on one of them; it has no gradient.

    Args:
        tensor: as for :func:`allreduce`.
        reduction: as there.
        root: the rank that gets it; what others get is not defined.
        group: the group; by default all ranks.
        fusion: 0 keeps it apart, 2 joins it to those of the same ``fusion_id``.
        fusion_id: as for :func:`allreduce`.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("reduce", group)
    tensor = to_reduce(place, tensor, reduction)
    root = known_rank(place, "root", root)
    check_fusion(place, fusion, fusion_id, (0, 2))
    if place.alone:
        return given_back(place.call, tensor)
    return place.ops.reduce(tensor, reduction, root, fusion=fusion, fusion_id=fusion_id, group=place.name)


def reduce_scatter(
    tensor: typing.Any, reduction: str = "sum", *, group: Where = None, fusion: int = 0, fusion_id: int = -1
) -> typing.Any:
    """Return this rank's part of the reduction of a tensor over all ranks of a group; it has no gradient.

    Args:
        tensor: as for :func:`allreduce`; the length of its first axis is a multiple of the number of ranks.
        reduction: as there.
        group: the group; by default all ranks.
        fusion: 0 keeps it apart, 2 joins it to those of the same ``fusion_id``.
        fusion_id: as for :func:`allreduce`.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("reduce_scatter", group)
    tensor = to_reduce(place, tensor, reduction)
    length = first_axis(place.call, tensor)
    if length is not None and length % place.size:
        raise ValueError(
            f"hccl.reduce_scatter: the first axis has {length}, which {place.size} ranks cannot share; pad it to "
            f"{-(-length // place.size) * place.size}"
        )
    check_fusion(place, fusion, fusion_id, (0, 2))
    if place.alone:
        return given_back(place.call, tensor)
    return place.ops.reduce_scatter(tensor, reduction, place.size, group=place.name, fusion=fusion, fusion_id=fusion_id)


def send(tensor: typing.Any, dest: int, *, tag: int = 0, group: Where = None) -> typing.Any:
    """Return the operation that sends a tensor to another rank, which receives it with the same tag.

    Args:
        tensor: all numbers but complex ones.
        dest: the rank that it goes to.
        tag: 0 to 2147483647, tells several tensors between the same two ranks apart.
        group: the group; by default all ranks.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("send", group)
    tensor = checked(place.call, tensor, moved_dtypes(place.placement.product))
    dest = other_rank(place, "dest", dest)
    return place.ops.send(tensor, known_tag(place, tag), dest, group=place.name)


def receive(shape: typing.Any, dtype: typing.Any, source: int, *, tag: int = 0, group: Where = None) -> typing.Any:
    """Return the tensor that another rank sends with the same tag.

    Args:
        shape: its shape, of which every length is known.
        dtype: its dtype, as a ``tf.DType`` or its name.
        source: the rank that it comes from.
        tag: 0 to 2147483647.
        group: the group; by default all ranks.

    Raises:
        NotInitializedError, GraphRequiredError, TypeError, ValueError: as for :func:`allreduce`.
    """
    place = place_of("receive", group)
    need_graph(place.call)
    dtype = tf1().as_dtype(dtype)
    check_dtype(place.call, dtype, moved_dtypes(place.placement.product))
    known = tf1().TensorShape(shape)
    if not known.is_fully_defined():
        raise ValueError(f"hccl.receive: shape={shape!r}; HCCL needs every length, to have room for the tensor")
    source = other_rank(place, "source", source)
    return place.ops.receive(known.as_list(), dtype, known_tag(place, tag), source, group=place.name)


def _with_gradient(place: Place, tensor: typing.Any, options: dict[str, typing.Any]) -> typing.Any:
    """Sum with the gradient of the group: that of the adapter's op always sums over all ranks of the world."""

    def summed(given: typing.Any) -> typing.Any:
        def gradient(upstream: typing.Any) -> typing.Any:
            return place.ops.allreduce(upstream, "sum", fusion=0, group=place.name)

        return place.ops.allreduce(given, "sum", **options), gradient

    return tf1().custom_gradient(summed)(tensor)
