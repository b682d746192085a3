import os as os
import typing

from hccl.manage.api import create_group as create_group
from hccl.manage.api import destroy_group as destroy_group
from hccl.manage.api import get_group_rank_from_world_rank as get_group_rank_from_world_rank
from hccl.manage.api import get_local_rank_id as get_local_rank_id
from hccl.manage.api import get_local_rank_size as get_local_rank_size
from hccl.manage.api import get_rank_id as get_rank_id
from hccl.manage.api import get_rank_size as get_rank_size
from hccl.manage.api import get_world_rank_from_group_rank as get_world_rank_from_group_rank
from hccl.split.api import set_split_strategy_by_idx as set_split_strategy_by_idx
from hccl.split.api import set_split_strategy_by_size as set_split_strategy_by_size
from tensorflow.core.protobuf import config_pb2 as config_pb2
from tensorflow.core.protobuf import rewriter_config_pb2 as rewriter_config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig as RewriterConfig
from tensorflow.python.client import session as session
from tensorflow.python.training import session_run_hook as session_run_hook

from .estimator import npu_ops as npu_ops
from .estimator.npu import keras_to_npu as keras_to_npu
from .estimator.npu import npu_plugin as npu_plugin
from .estimator.npu import npu_rnn as npu_rnn
from .estimator.npu import npu_scope as npu_scope
from .estimator.npu import npu_strategy as npu_strategy
from .estimator.npu import util as util
from .estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback as NPUBroadcastGlobalVariablesCallback
from .estimator.npu.npu_config import DumpConfig as DumpConfig
from .estimator.npu.npu_config import DynamicInputConfig as DynamicInputConfig
from .estimator.npu.npu_config import MemoryConfig as MemoryConfig
from .estimator.npu.npu_config import NPURunConfig as NPURunConfig
from .estimator.npu.npu_config import ProfilingConfig as ProfilingConfig
from .estimator.npu.npu_config import decorator_tf_session as decorator_tf_session
from .estimator.npu.npu_estimator import NPUEstimator as NPUEstimator
from .estimator.npu.npu_estimator import NPUEstimatorSpec as NPUEstimatorSpec
from .estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook as NPUBroadcastGlobalVariablesHook
from .estimator.npu.npu_hook import NPUCheckpointSaverHook as NPUCheckpointSaverHook
from .estimator.npu.npu_hook import NPUOutputTensorHook as NPUOutputTensorHook
from .estimator.npu.npu_hook import SetIterationsVarHook as SetIterationsVarHook
from .estimator.npu.npu_hook import TellMeStepOrLossHook as TellMeStepOrLossHook
from .estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from .estimator.npu.npu_loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from .estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer as NPULossScaleOptimizer
from .estimator.npu.npu_optimizer import KerasDistributeOptimizer as KerasDistributeOptimizer
from .estimator.npu.npu_optimizer import NPUDistributedOptimizer as NPUDistributedOptimizer
from .estimator.npu.npu_optimizer import NPUOptimizer as NPUOptimizer
from .estimator.npu.npu_optimizer import npu_allreduce as npu_allreduce
from .estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper as npu_distributed_optimizer_wrapper
from .estimator.npu_unary_ops import npu_unary_ops as npu_unary_ops
from .hccl import hccl_ops as hccl_ops
from .npu_cpu import npu_cpu_ops as npu_cpu_ops
from .profiler import profiler as profiler
from .scoped_graph_manager import scoped_graph_manager as scoped_graph_manager

__all__ = [
    "DumpConfig",
    "DynamicInputConfig",
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "KerasDistributeOptimizer",
    "MemoryConfig",
    "NPUBroadcastGlobalVariablesCallback",
    "NPUBroadcastGlobalVariablesHook",
    "NPUCheckpointSaverHook",
    "NPUDistributedOptimizer",
    "NPUEstimator",
    "NPUEstimatorSpec",
    "NPULossScaleOptimizer",
    "NPUOptimizer",
    "NPUOutputTensorHook",
    "NPURunConfig",
    "NpuEmptyHook",
    "ProfilingConfig",
    "RewriterConfig",
    "SetIterationsVarHook",
    "TellMeStepOrLossHook",
    "backend",
    "close_session",
    "config_pb2",
    "create_group",
    "decorator_tf_session",
    "destroy_group",
    "experimental_options",
    "get_group_rank_from_world_rank",
    "get_local_rank_id",
    "get_local_rank_size",
    "get_npu_local_rank_id",
    "get_npu_local_rank_size",
    "get_npu_rank_id",
    "get_npu_rank_size",
    "get_rank_id",
    "get_rank_size",
    "get_world_rank_from_group_rank",
    "hccl_ops",
    "init_resource",
    "keras_to_npu",
    "npu_allreduce",
    "npu_callbacks_append",
    "npu_clear_session",
    "npu_config_proto",
    "npu_cpu_ops",
    "npu_distributed_optimizer_wrapper",
    "npu_graph_options",
    "npu_hooks_append",
    "npu_keras_optimizer",
    "npu_ops",
    "npu_optimizer_options",
    "npu_plugin",
    "npu_rnn",
    "npu_run_config_init",
    "npu_scope",
    "npu_strategy",
    "npu_tf_optimizer",
    "npu_unary_ops",
    "os",
    "profiler",
    "rewriter_config_pb2",
    "scoped_graph_manager",
    "session",
    "session_run_hook",
    "set_keras_session_npu_config",
    "set_split_strategy_by_idx",
    "set_split_strategy_by_size",
    "shutdown_resource",
    "tf",
    "util",
]
tf: typing.Any
backend: typing.Any
experimental_options: typing.Any

def npu_hooks_append(hooks_list: typing.Any = ()) -> list[typing.Any]: ...
def npu_callbacks_append(callbacks_list: typing.Any = ()) -> list[typing.Any]: ...
def npu_config_proto(config_proto: typing.Any = None) -> typing.Any: ...
def npu_graph_options(graph_options: typing.Any = None) -> typing.Any: ...
def npu_optimizer_options(optimizer_options: typing.Any = None) -> typing.Any: ...
def npu_run_config_init(run_config: typing.Any = None) -> typing.Any: ...
def set_keras_session_npu_config(config: typing.Any = None) -> typing.Any: ...
def init_resource(config: typing.Any = None) -> tuple[typing.Any, typing.Any]: ...
def shutdown_resource(sess: typing.Any, npu_shutdown: typing.Any) -> None: ...
def close_session(sess: typing.Any) -> None: ...
def get_npu_rank_id() -> int: ...
def get_npu_local_rank_id() -> int: ...
def get_npu_rank_size() -> int: ...
def get_npu_local_rank_size() -> int: ...

class NpuEmptyHook(session_run_hook.SessionRunHook): ...

def npu_keras_optimizer(opt: typing.Any) -> typing.Any: ...
def npu_tf_optimizer(opt: typing.Any) -> typing.Any: ...
def npu_clear_session(config: typing.Any = None) -> None: ...
