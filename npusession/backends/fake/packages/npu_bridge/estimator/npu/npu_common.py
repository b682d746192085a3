"""What a job knows of itself: from a file, or from the environment that its launcher made."""

from __future__ import annotations

import json
import logging
import os
import typing

from npusession.backends.fake.runtime import RUNTIME

from . import util

_LOG = logging.getLogger(__name__)


class JobInfo:
    """A job as its launcher describes it."""

    def __init__(
        self,
        job_id: typing.Any = 0,
        job_config: typing.Any = None,
        heartbeat_time: typing.Any = -1,
        region_id: typing.Any = None,
        ak: typing.Any = None,
        sk: typing.Any = None,
        endpoint_url: typing.Any = None,
        device_info: DeviceInfo | None = None,
        rank_table_file: typing.Any = None,
        restart_flag: int = 0,
        local_app_dir: typing.Any = None,
        local_data_dir: typing.Any = None,
        local_checkpoint_dir: typing.Any = None,
        local_log_dir: typing.Any = None,
        local_result_dir: typing.Any = None,
        local_boot_file: typing.Any = None,
        rank_size: int = 1,
    ) -> None:
        self._job_id = job_id
        self._job_config = job_config
        self._heartbeat_time = heartbeat_time
        self._region_id = region_id
        self._ak = ak
        self._sk = sk
        self._endpoint_url = endpoint_url
        self._device_info = device_info
        self._rank_table_file = rank_table_file
        self._restart_flag = restart_flag
        self._local_app_dir = local_app_dir
        self._local_data_dir = local_data_dir
        self._local_checkpoint_dir = local_checkpoint_dir
        self._local_log_dir = local_log_dir
        self._local_result_dir = local_result_dir
        self._local_boot_file = local_boot_file
        self._rank_size = rank_size


class JobConfig:
    """Parameters of a training."""

    def __init__(self, learning_rate: typing.Any = None, batch_size: int | None = None) -> None:
        self._learning_rate = learning_rate
        self._batch_size = batch_size


class DeviceInfo:
    """The device of a job."""

    def __init__(self, index: str = "0", server_id: str = "123456", dev_index: int = 1) -> None:
        self._index = index
        self._server_id = server_id
        self._dev_index = dev_index
        self._root_rank = 0

    def is_master_node(self) -> bool:
        """Return whether the index is the number 0; the text ``"0"``, which jobs have, is not."""
        # Typed as any, since comparing a text with a number is what the adapter does.
        index: typing.Any = self._index
        return bool(index == self._root_rank)


class NPUBasics:
    """The job of this process; what was read first stays."""

    _instance: typing.ClassVar[NPUBasics | None] = None
    _job_info: JobInfo | None

    def __new__(cls, file_name: str) -> NPUBasics:
        """Return the one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __init__(self, file_name: str) -> None:
        if not hasattr(self, "_job_info"):
            self._job_info = _read(file_name)

    @property
    def jobinfo(self) -> JobInfo | None:
        """The job, ``None`` where neither a file nor the environment has it."""
        return self._job_info

    def size(self) -> int:
        """Return the number of ranks."""
        if self._job_info is None:
            raise AttributeError("there is no job: the environment has no JOB_ID")
        return self._job_info._rank_size


def _read(file_name: str) -> JobInfo | None:
    try:
        with open(file_name, encoding="utf-8") as file:
            data = json.load(file)
    except OSError:
        return _of_environment()
    device = data.get("device_info")
    util.check_not_none(device, "device_info")
    util.check_nonnegative_integer(device.get("Index"), "Index")
    util.check_not_none(data.get("rank_table_file"), "rank_table_file")
    util.check_positive_integer(data.get("rank_size"), "rank_size")
    return JobInfo(
        device_info=DeviceInfo(index=str(device["Index"])),
        rank_table_file=data["rank_table_file"],
        local_checkpoint_dir=data.get("local_checkpoint_dir"),
        rank_size=data["rank_size"],
    )


def _of_environment() -> JobInfo | None:
    given = os.environ.get("JOB_ID")
    job = given or RUNTIME.settings.job
    if not job:
        _LOG.error("there is no job: no file describes it, and JOB_ID is not in the environment")
        return None
    if not given:
        RUNTIME.record("note", 0, "JOB_ID is not in the environment; on a host NPUEstimator refuses to start then")
    size = util.get_ranksize()
    return JobInfo(
        job_id=job,
        heartbeat_time=os.environ.get("HEARTBEAT", ""),
        device_info=DeviceInfo(index=os.environ.get("POD_NAME") or os.environ.get("RANK_ID", "")),
        rank_table_file=os.environ.get("RANK_TABLE_FILE", ""),
        local_checkpoint_dir=os.environ.get("LOCAL_CHECKPOINT_DIR", ""),
        rank_size=int(size) if size.isdigit() else 1,
    )
