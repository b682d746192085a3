"""Data augmentation options: one process prepares the data of all devices of a host."""

from __future__ import annotations

import typing

from .kinds import Integer
from .model import Group, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity
from .shapes import Numbers

LOCAL_RANK_ID = Option(
    "local_rank_id",
    # The reference gives no range; the runtime ends the process for all other numbers.
    Integer(0, 7, "(rank within the host)", "（Server 内的 rank 编号）"),
    "Data-parallel recommendation networks: rank of this process among those of its host, one of which prepares "
    "the data of all.",
    "推荐网络数据并行场景：本进程在所在 Server 内的 rank 编号，由主进程统一做数据预处理。",
    notes=(
        Note(
            "The main process removes duplicates from the data and sends them to the devices of the other processes, "
            "which compute the forward and backward passes.",
            "主进程对数据去重后分发给其他进程的 Device 做前后向计算。",
        ),
        Note(
            "There still is a process per device; the others take no data from a dataset of their own.",
            "实际仍为多进程：其他进程不再使用自己的 Dataset，而是接收主进程处理后的数据。",
        ),
        Note(
            "The value usually is what get_local_rank_id() of HCCL returns; it tells which process is the main one.",
            "一般取集合通信接口 get_local_rank_id() 的返回值，用来判断哪个是主进程。",
        ),
        Note("0 to 7; any other number ends the process.", "取值 0 到 7，其他取值会使进程终止。"),
    ),
)
LOCAL_DEVICE_LIST = Option(
    "local_device_list",
    Numbers("device ids joined by commas, such as 0,1", zh="以英文逗号分隔的 Device ID，如 0,1"),
    "Devices of the other processes, to which the main process sends the data.",
    "主进程要向哪些其他进程的 Device 发送数据，以英文逗号分隔。",
    notes=(
        Note("Goes with local_rank_id.", "配合 local_rank_id 使用。"),
        Note("An empty or malformed list ends the process.", "列表为空或格式有误会使进程终止。"),
    ),
)

LIST_NEEDS_RANK = Rule("NPU228", "missing-companion", "local_device_list goes with local_rank_id.")
RANK_NEEDS_LIST = Rule(
    "NPU229",
    "missing-companion",
    "The main process takes the devices that it sends data to from local_device_list.",
    Severity.WARNING,
)


def _together(settings: Settings) -> typing.Iterator[Problem]:
    devices = settings.get(LOCAL_DEVICE_LIST.name)
    if devices is not None and not settings.names(LOCAL_RANK_ID):
        yield problem(
            LIST_NEEDS_RANK,
            LOCAL_DEVICE_LIST,
            f"given without {LOCAL_RANK_ID.name}",
            value=devices,
            fix=f"{LOCAL_RANK_ID.name}=...",
        )
    if settings.get(LOCAL_RANK_ID.name) == 0 and not settings.names(LOCAL_DEVICE_LIST):
        yield problem(
            RANK_NEEDS_LIST,
            LOCAL_RANK_ID,
            f"the main process, but there is no {LOCAL_DEVICE_LIST.name}",
            value=0,
            fix=f'{LOCAL_DEVICE_LIST.name}="0,1"',
        )


GROUP = Group(
    "data_augmentation",
    "Data augmentation",
    "数据增强",
    (LOCAL_RANK_ID, LOCAL_DEVICE_LIST),
    (LIST_NEEDS_RANK, RANK_NEEDS_LIST),
    (_together,),
)
