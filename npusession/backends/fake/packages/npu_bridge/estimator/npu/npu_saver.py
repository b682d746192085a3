"""Savers that bring variables together before they save, where ranks update different ones."""

from __future__ import annotations

import typing

from tensorflow.core.protobuf import saver_pb2
from tensorflow.python.training.saver import BulkSaverBuilder, Saver

from npusession._tensorflow import tf1

from ...hccl import hccl_ops
from . import util


class NPUBulkSaverBuilder(BulkSaverBuilder):
    """Builds the ops of a saver, behind broadcasts of the variables that one rank alone updates."""

    def _build_internal(self, names_to_saveables: typing.Any, *args: typing.Any, **keywords: typing.Any) -> typing.Any:
        self._names_to_saveables = names_to_saveables
        return super()._build_internal(names_to_saveables, *args, **keywords)

    def _AddSaveOps(self, *args: typing.Any) -> typing.Any:
        with tf1().control_dependencies(self._broadcasts()):
            return super()._AddSaveOps(*args)

    def _AddShardedSaveOps(self, *args: typing.Any) -> typing.Any:
        with tf1().control_dependencies(self._broadcasts()):
            return super()._AddShardedSaveOps(*args)

    def _broadcasts(self) -> list[typing.Any]:
        saved = {id(variable) for variable in self._variables()}
        done: list[typing.Any] = []
        for item in util.get_all_grad_item():
            if id(item.var) in saved and item.root_rank_id >= 0:
                # One after the other, in the same order on every rank.
                with tf1().control_dependencies(done):
                    done.append(hccl_ops.broadcast([item.var], item.root_rank_id, 2, item.root_rank_id)[0].op)
        return done

    def _variables(self) -> typing.Iterable[typing.Any]:
        given = self._names_to_saveables
        return given.values() if isinstance(given, dict) else given


class NPUSaver(Saver):
    """``tf.compat.v1.train.Saver`` over :class:`NPUBulkSaverBuilder`."""

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
        write_version: int = saver_pb2.SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        super().__init__(
            var_list=var_list,
            reshape=reshape,
            sharded=sharded,
            max_to_keep=max_to_keep,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            name=name,
            restore_sequentially=restore_sequentially,
            saver_def=saver_def,
            builder=NPUBulkSaverBuilder(write_version) if builder is None else builder,
            defer_build=defer_build,
            allow_empty=allow_empty,
            write_version=write_version,
            pad_step_number=pad_step_number,
            save_relative_paths=save_relative_paths,
            filename=filename,
        )
