"""Importing it replaces Session.__init__ and registers a handler at exit, as importing the adapter does."""

import atexit
import sys

import tensorflow as tf
from hccl.manage.api import get_rank_id, get_rank_size  # noqa: F401
from npu_bridge.estimator import npu_ops  # noqa: F401
from npu_bridge.estimator.npu import util  # noqa: F401


def _decorated(initialize):
    def wrapper(self, *args, **kwargs):
        config = kwargs.get("config") or tf.compat.v1.ConfigProto()
        config.allow_soft_placement = True
        config.log_device_placement = False
        kwargs["config"] = config
        initialize(self, *args, **kwargs)

    return wrapper


tf.compat.v1.Session.__init__ = _decorated(tf.compat.v1.Session.__init__)
atexit.register(lambda: print("adapter closes the device", file=sys.stderr))
