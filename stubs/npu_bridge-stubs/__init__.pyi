import atexit as atexit

from .estimator.npu import npu_estimator as npu_estimator
from .estimator.npu.npu_plugin import npu_close as npu_close
from .hccl import hccl_ops as hccl_ops
from .helper import helper as helper
from .helper.helper import npu_bridge_handle as npu_bridge_handle
from .helper.helper import version as __version__

__all__ = ["__version__", "atexit", "hccl_ops", "helper", "npu_bridge_handle", "npu_close", "npu_estimator"]
