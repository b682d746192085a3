"""The emulated adapter: what scripts import, over the emulation of its native half."""

import atexit

from npusession.backends.fake import sessions

from .estimator.npu import npu_estimator
from .estimator.npu.npu_plugin import npu_close
from .hccl import hccl_ops
from .helper import helper
from .helper.helper import npu_bridge_handle
from .helper.helper import version as __version__

# What loading the adapter's library does: from here on, sessions whose configuration says so run on the device.
sessions.install(defaults=False)
atexit.register(npu_close)

__all__ = ["__version__", "atexit", "hccl_ops", "helper", "npu_bridge_handle", "npu_close", "npu_estimator"]
