"""Parts of different lengths, exchanged between all ranks of a group."""

from __future__ import annotations

import typing

from .._tensorflow import tf1
from ._place import Place, Where, place_of
from ._tensors import check_dtype, checked, given_back, moved_dtypes

_INTEGERS = ("int32", "int64")


def alltoallv(
    data: typing.Any,
    send_counts: typing.Any,
    send_displacements: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    *,
    group: Where = None,
) -> typing.Any:
    """Send a part of the data to each rank of a group, and return the parts that they send here; it has no gradient.

    Args:
        data: the numbers for all ranks, taken as one after the other.
        send_counts: how many of them go to each rank; a list or tensor of integers, one for each rank.
        send_displacements: where in ``data`` those for each rank begin.
        recv_counts: how many come from each rank, which that rank says in its ``send_counts``.
        recv_displacements: where in the result those from each rank begin.
        group: the group; by default all ranks.

    Returns:
        A tensor of one axis, as long as the last part that is received reaches.

    Raises:
        NotInitializedError: HCCL is not initialised.
        GraphRequiredError: TensorFlow executes eagerly.
        TypeError: the data has a dtype that HCCL does not take, or counts are no integers.
        ValueError: counts or displacements are not one for each rank, negative, or lead beyond the data.
    """
    place = place_of("alltoallv", group)
    data = checked(place.call, data, moved_dtypes(place.placement.product))
    length = data.shape.num_elements()
    sent = _per_rank(place, "send_counts", send_counts), _per_rank(place, "send_displacements", send_displacements)
    received = _per_rank(place, "recv_counts", recv_counts), _per_rank(place, "recv_displacements", recv_displacements)
    _check_within(place, *sent, length)
    if place.alone:
        return _to_itself(data, sent, received)
    return place.ops.all_to_all_v(data, *sent, *received, group=place.name)


def _per_rank(place: Place, name: str, numbers: typing.Any) -> typing.Any:
    """Return one int64 for each rank; what is known of it now is checked now."""
    tensor = tf1().convert_to_tensor(numbers)
    check_dtype(f"{place.call}: {name}", tensor.dtype, _INTEGERS)
    if not tensor.shape.is_compatible_with([place.size]):
        raise ValueError(
            f"hccl.{place.call}: {name} has the shape {tensor.shape.as_list()}; it has one number for each of "
            f"{place.size} ranks"
        )
    known = tf1().get_static_value(tensor)
    if known is not None and (known < 0).any():
        raise ValueError(f"hccl.{place.call}: {name}={known.tolist()}; none of them is negative")
    return tf1().cast(tensor, tf1().int64)


def _check_within(place: Place, counts: typing.Any, displacements: typing.Any, length: int | None) -> None:
    known = tf1().get_static_value(counts), tf1().get_static_value(displacements)
    if length is None or known[0] is None or known[1] is None:
        return
    for rank, end in enumerate((known[0] + known[1]).tolist()):
        if end > length:
            raise ValueError(
                f"hccl.{place.call}: the part for rank {rank} ends at {end}, and the data has {length} numbers: "
                f"send_counts={known[0].tolist()}, send_displacements={known[1].tolist()}"
            )


def _to_itself(
    data: typing.Any, sent: typing.Sequence[typing.Any], received: typing.Sequence[typing.Any]
) -> typing.Any:
    """Return what a process that is alone sends to itself."""
    (send_count, send_start), (recv_count, recv_start) = ([tensor[0] for tensor in pair] for pair in (sent, received))
    message = "hccl.alltoallv: a rank receives what it sends itself"
    with tf1().control_dependencies([tf1().assert_equal(send_count, recv_count, message=message)]):
        part = tf1().reshape(given_back("alltoallv", data), [-1])[send_start : send_start + send_count]
    return tf1().pad(part, [[recv_start, 0]])
