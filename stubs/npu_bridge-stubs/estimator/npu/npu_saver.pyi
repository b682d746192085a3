import typing

from tensorflow.python.training.saver import BulkSaverBuilder, Saver

from ...hccl import hccl_ops as hccl_ops
from . import util as util

class NPUBulkSaverBuilder(BulkSaverBuilder): ...

class NPUSaver(Saver):
    def __init__(
        self,
        var_list: typing.Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: typing.Any = None,
        builder: typing.Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = ...,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None: ...
