"""Collectives between ranks."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as gen_hccl_ops


def allreduce(
    tensor: typing.Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = "hccl_world_group"
) -> typing.Any:
    """Return the reduction of a tensor over all ranks.

    Args:
        tensor: of the same shape on all ranks.
        reduction: ``"max"``, ``"min"``, ``"prod"`` or ``"sum"``.
        fusion: 0 not fused, 1 as gradients are split, 2 with others of the same ``fusion_id``.
        fusion_id: which ones are fused.
        group: name of the group.

    Raises:
        TypeError: the dtype is not supported.
        ValueError: an argument is out of range.
    """
    return gen_hccl_ops.hcom_all_reduce(
        input=tensor, reduction=reduction, fusion=fusion, fusion_id=fusion_id, group=group
    )


def allgather(
    tensor: typing.Any, rank_size: int, group: str = "hccl_world_group", fusion: int = 0, fusion_id: int = -1
) -> typing.Any:
    """Return the tensors of all ranks along the first axis; ``fusion`` is 0 or 2. Errors as :func:`allreduce`."""
    return gen_hccl_ops.hcom_all_gather(
        input=tensor, group=group, fusion=fusion, fusion_id=fusion_id, rank_size=rank_size
    )


def broadcast(
    tensor: typing.Sequence[typing.Any],
    root_rank: int,
    fusion: int = 2,
    fusion_id: int = 0,
    group: str = "hccl_world_group",
) -> list[typing.Any]:
    """Return a list of tensors as the root rank has them; ``fusion`` is 0 or 2. Errors as :func:`allreduce`."""
    return gen_hccl_ops.hcom_broadcast(
        input=tensor, fusion=fusion, fusion_id=fusion_id, group=group, root_rank=root_rank
    )


def reduce(
    tensor: typing.Any,
    reduction: str,
    root_rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> typing.Any:
    """Return the reduction over all ranks, on the root rank; ``fusion`` is 0 or 2. Errors as :func:`allreduce`."""
    return gen_hccl_ops.hcom_reduce(
        input=tensor, reduction=reduction, fusion=fusion, fusion_id=fusion_id, group=group, root_rank=root_rank
    )


def reduce_scatter(
    tensor: typing.Any,
    reduction: str,
    rank_size: int,
    group: str = "hccl_world_group",
    fusion: int = 0,
    fusion_id: int = -1,
) -> typing.Any:
    """Return this rank's part of the reduction, along the first axis; ``fusion`` is 0 or 2.

    Errors as :func:`allreduce`.
    """
    return gen_hccl_ops.hcom_reduce_scatter(
        input=tensor, reduction=reduction, group=group, fusion=fusion, fusion_id=fusion_id, rank_size=rank_size
    )


def send(tensor: typing.Any, sr_tag: int, dest_rank: int, group: str = "hccl_world_group") -> typing.Any:
    """Return the operation that sends a tensor; ``sr_tag`` pairs it with a receive."""
    return gen_hccl_ops.hcom_send(input=tensor, group=group, sr_tag=sr_tag, dest_rank=dest_rank)


def receive(
    shape: typing.Any, data_type: typing.Any, sr_tag: int, src_rank: int, group: str = "hccl_world_group"
) -> typing.Any:
    """Return the tensor that another rank sends with the same ``sr_tag``."""
    return gen_hccl_ops.hcom_receive(shape=shape, T=data_type, group=group, sr_tag=sr_tag, src_rank=src_rank)


def remote_read(tensorRemote: typing.Any, data_type: typing.Any) -> typing.Any:
    """Read memory of another host; not emulated."""
    return gen_hccl_ops.hcom_remote_read(remote=tensorRemote, dtype=data_type)


def remote_ref_read(tensorRemote: typing.Any, cache: typing.Any, offset: typing.Any) -> typing.Any:
    """Read memory of another host into a variable; not emulated."""
    return gen_hccl_ops.hcom_remote_ref_read(remote=tensorRemote, cache_var=cache, local_offset=offset)


def remote_write(tensorRemote: typing.Any, tensorLocal: typing.Any, data_type: typing.Any) -> typing.Any:
    """Write memory of another host; not emulated."""
    return gen_hccl_ops.hcom_remote_write(remote=tensorRemote, local=tensorLocal)


def remote_scatter_write(tensorRemote: typing.Any, tensorLocal: typing.Any, offset: typing.Any) -> typing.Any:
    """Write memory of another host from a variable; not emulated."""
    return gen_hccl_ops.hcom_remote_scatter_write(remote=tensorRemote, local=tensorLocal, local_offset=offset)


def gather_all_to_all_v(
    addrinfo: typing.Any,
    addrinfo_count_per_rank: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    dtype: typing.Any,
    addr_length: int,
    group: str = "hccl_world_group",
) -> tuple[typing.Any, typing.Any]:
    """Gather from addresses and exchange between ranks; not emulated."""
    received, gathered = gen_hccl_ops.hcom_gather_all_to_all_v(
        addrinfo, addrinfo_count_per_rank, recv_counts, recv_displacements, dtype, addr_length, group
    )
    return received, gathered


def all_to_all_v(
    send_data: typing.Any,
    send_counts: typing.Any,
    send_displacements: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    group: str = "hccl_world_group",
) -> typing.Any:
    """Exchange parts of different lengths between all ranks; counts and displacements have one number for each rank."""
    return gen_hccl_ops.hcom_all_to_all_v(
        send_data, send_counts, send_displacements, recv_counts, recv_displacements, group
    )


def all_to_all_v_c(
    send_data: typing.Any,
    send_count_matrix: typing.Any,
    rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> typing.Any:
    """As :func:`all_to_all_v`, with one matrix of counts, from each rank (row) to each rank (column)."""
    return gen_hccl_ops.hcom_all_to_all_vc(
        send_data, send_count_matrix, rank=rank, fusion=fusion, fusion_id=fusion_id, group=group
    )
