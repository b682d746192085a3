import typing

def allreduce(
    tensor: typing.Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = "hccl_world_group"
) -> typing.Any: ...
def allgather(
    tensor: typing.Any, rank_size: int, group: str = "hccl_world_group", fusion: int = 0, fusion_id: int = -1
) -> typing.Any: ...
def broadcast(
    tensor: typing.Sequence[typing.Any],
    root_rank: int,
    fusion: int = 2,
    fusion_id: int = 0,
    group: str = "hccl_world_group",
) -> list[typing.Any]: ...
def reduce(
    tensor: typing.Any,
    reduction: str,
    root_rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> typing.Any: ...
def reduce_scatter(
    tensor: typing.Any,
    reduction: str,
    rank_size: int,
    group: str = "hccl_world_group",
    fusion: int = 0,
    fusion_id: int = -1,
) -> typing.Any: ...
def send(tensor: typing.Any, sr_tag: int, dest_rank: int, group: str = "hccl_world_group") -> typing.Any: ...
def receive(
    shape: typing.Any, data_type: typing.Any, sr_tag: int, src_rank: int, group: str = "hccl_world_group"
) -> typing.Any: ...
def remote_read(tensorRemote: typing.Any, data_type: typing.Any) -> typing.Any: ...
def remote_ref_read(tensorRemote: typing.Any, cache: typing.Any, offset: typing.Any) -> typing.Any: ...
def remote_write(tensorRemote: typing.Any, tensorLocal: typing.Any, data_type: typing.Any) -> typing.Any: ...
def remote_scatter_write(tensorRemote: typing.Any, tensorLocal: typing.Any, offset: typing.Any) -> typing.Any: ...
def gather_all_to_all_v(
    addrinfo: typing.Any,
    addrinfo_count_per_rank: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    dtype: typing.Any,
    addr_length: int,
    group: str = "hccl_world_group",
) -> tuple[typing.Any, typing.Any]: ...
def all_to_all_v(
    send_data: typing.Any,
    send_counts: typing.Any,
    send_displacements: typing.Any,
    recv_counts: typing.Any,
    recv_displacements: typing.Any,
    group: str = "hccl_world_group",
) -> typing.Any: ...
def all_to_all_v_c(
    send_data: typing.Any,
    send_count_matrix: typing.Any,
    rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> typing.Any: ...
