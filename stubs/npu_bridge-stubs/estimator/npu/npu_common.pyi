import typing

from . import util as util

class JobInfo:
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
    ) -> None: ...

class JobConfig:
    def __init__(self, learning_rate: typing.Any = None, batch_size: int | None = None) -> None: ...

class DeviceInfo:
    def __init__(self, index: str = "0", server_id: str = "123456", dev_index: int = 1) -> None: ...
    def is_master_node(self) -> bool: ...

class NPUBasics:
    def __new__(cls, file_name: str) -> NPUBasics: ...
    def __init__(self, file_name: str) -> None: ...
    @property
    def jobinfo(self) -> JobInfo | None: ...
    def size(self) -> int: ...
