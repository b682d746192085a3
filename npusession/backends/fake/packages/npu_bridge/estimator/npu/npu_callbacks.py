"""Keras callbacks."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import keras_sessions

from ...hccl import hccl_ops
from . import util


def broadcast_global_variables(root_rank: int) -> typing.Any:
    """Return an op that gives every variable that Keras initialised the value that it has on one rank."""
    backend = keras_sessions.sessions()
    variables = [
        variable
        for variable in backend._get_variables(backend.get_graph())
        if getattr(variable, "_keras_initialized", False)
    ]
    return tf1().group([tf1().assign(variable, hccl_ops.broadcast([variable], root_rank)[0]) for variable in variables])


_Callback: typing.Any = tf1().keras.callbacks.Callback


class BroadcastGlobalVariablesCallbackImpl:
    """Broadcasts once, before the first batch."""

    def __init__(self, root_rank: int, *args: typing.Any) -> None:
        super().__init__(*args)
        self.root_rank = root_rank
        self.broadcast_done = False

    def on_batch_begin(self, batch: int, logs: typing.Any = None) -> None:
        """Broadcast, where there are several ranks."""
        if self.broadcast_done:
            return
        if int(util.get_ranksize()) > 1:
            keras_sessions.sessions().get_session().run(broadcast_global_variables(self.root_rank))
        self.broadcast_done = True


class NPUBroadcastGlobalVariablesCallback(BroadcastGlobalVariablesCallbackImpl, _Callback):
    """Keras callback that gives every rank the variables of one rank, before the first batch."""

    def __init__(self, root_rank: int) -> None:
        super().__init__(root_rank)
