"""What scripts import with ``*``: configurations, sessions, Keras, and the adapter's other modules.

Importing it has every session configured for the device, for the rest of the process.
"""

from __future__ import annotations

import os
import typing

import tensorflow.compat.v1
from hccl.manage.api import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
)
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.client import session
from tensorflow.python.training import session_run_hook

from npusession.backends.fake import estimators, keras_sessions, sessions

from .estimator import npu_ops
from .estimator.npu import keras_to_npu, npu_plugin, npu_rnn, npu_scope, npu_strategy, util
from .estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback
from .estimator.npu.npu_config import (
    DumpConfig,
    DynamicInputConfig,
    MemoryConfig,
    NPURunConfig,
    ProfilingConfig,
    decorator_tf_session,
)
from .estimator.npu.npu_estimator import NPUEstimator, NPUEstimatorSpec
from .estimator.npu.npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUOutputTensorHook,
    SetIterationsVarHook,
    TellMeStepOrLossHook,
)
from .estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from .estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from .estimator.npu.npu_optimizer import (
    KerasDistributeOptimizer,
    NPUDistributedOptimizer,
    NPUOptimizer,
    npu_allreduce,
    npu_distributed_optimizer_wrapper,
)
from .estimator.npu_unary_ops import npu_unary_ops
from .hccl import hccl_ops
from .npu_cpu import npu_cpu_ops
from .profiler import profiler
from .scoped_graph_manager import scoped_graph_manager

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

_reloaded = "experimental_options" in globals()

# The very module that scripts know as tf; the adapter for TensorFlow 2 has its version 1 API there.
tf = tensorflow if tensorflow.__version__.startswith("1.") else tensorflow.compat.v1
backend = keras_sessions.backend()

#: What the adapter recommends for RewriterConfig.
experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": RewriterConfig.ON,
    "constant_folding": RewriterConfig.ON,
    "shape_optimization": RewriterConfig.ON,
    "arithmetic_optimization": RewriterConfig.ON,
    "loop_optimization": RewriterConfig.ON,
    "dependency_optimization": RewriterConfig.ON,
    "layout_optimizer": RewriterConfig.ON,
}


def npu_hooks_append(hooks_list: typing.Any = ()) -> list[typing.Any]:
    """Append the broadcast hook to a list of hooks, or to a new one for everything that is no list."""
    hooks = hooks_list if isinstance(hooks_list, list) else []
    hooks.append(NPUBroadcastGlobalVariablesHook(0, int(os.getenv("RANK_ID", "0"))))
    return hooks


def npu_callbacks_append(callbacks_list: typing.Any = ()) -> list[typing.Any]:
    """Append the broadcast callback to a list of Keras callbacks, or to a new one for everything that is no list."""
    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(NPUBroadcastGlobalVariablesCallback(0))
    return callbacks


def npu_config_proto(config_proto: typing.Any = None) -> typing.Any:
    """Configure a ConfigProto for the device, in place; everything that is none is replaced by a new one."""
    if not isinstance(config_proto, config_pb2.ConfigProto):
        config_proto = config_pb2.ConfigProto()
    return sessions.prepare_config(config_proto)


def npu_graph_options(graph_options: typing.Any = None) -> typing.Any:
    """Switch XLA off in GraphOptions, in place; everything that is none is replaced by new ones."""
    if not isinstance(graph_options, config_pb2.GraphOptions):
        graph_options = config_pb2.GraphOptions()
    npu_optimizer_options(graph_options.optimizer_options)
    return graph_options


def npu_optimizer_options(optimizer_options: typing.Any = None) -> typing.Any:
    """Switch XLA off in OptimizerOptions, in place; everything that is none is replaced by new ones."""
    if not isinstance(optimizer_options, config_pb2.OptimizerOptions):
        optimizer_options = config_pb2.OptimizerOptions()
    optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return optimizer_options


def npu_run_config_init(run_config: typing.Any = None) -> typing.Any:
    """Configure a RunConfig for the device, in place; everything that is none is replaced by a new one."""
    run_config_class = estimators.require("npu_run_config_init").RunConfig
    if not isinstance(run_config, run_config_class):
        run_config = run_config_class()
    run_config.__dict__["_session_config"] = npu_config_proto(run_config.session_config)
    return run_config


def set_keras_session_npu_config(config: typing.Any = None) -> typing.Any:
    """Open a session that is configured for the device, have Keras use it, and return it."""
    keras = keras_sessions.sessions()
    opened = session.Session(config=npu_config_proto(config))
    keras.set_session(opened)
    return opened


def init_resource(config: typing.Any = None) -> tuple[typing.Any, typing.Any]:
    """Initialise the device and HCCL.

    Returns:
        The session that did it and the shutdown op, for :func:`shutdown_resource` and :func:`close_session`.
    """
    util.global_dict_init()
    initialize, shutdown = npu_ops.initialize_system(), npu_ops.shutdown_system()
    opened = session.Session(config=npu_config_proto(config))
    opened.run(initialize)
    for name, query in (
        ("npu_rank_id", get_rank_id),
        ("npu_local_rank_id", get_local_rank_id),
        ("npu_rank_size", get_rank_size),
        ("npu_local_rank_size", get_local_rank_size),
    ):
        util.set_value(name, query())
    return opened, shutdown


def shutdown_resource(sess: typing.Any, npu_shutdown: typing.Any) -> None:
    """Run the shutdown op."""
    sess.run(npu_shutdown)


def close_session(sess: typing.Any) -> None:
    """Close a session."""
    sess.close()


def get_npu_rank_id() -> int:
    """Return the rank that init_resource found, 0 without it."""
    return int(util.get_value("npu_rank_id", 0))


def get_npu_local_rank_id() -> int:
    """Return the rank on this server that init_resource found, 0 without it."""
    return int(util.get_value("npu_local_rank_id", 0))


def get_npu_rank_size() -> int:
    """Return the number of ranks that init_resource found, 1 without it."""
    return int(util.get_value("npu_rank_size", 1))


def get_npu_local_rank_size() -> int:
    """Return the number of ranks on this server that init_resource found, 1 without it."""
    return int(util.get_value("npu_local_rank_size", 1))


class NpuEmptyHook(session_run_hook.SessionRunHook):
    """A hook that does nothing."""


def npu_keras_optimizer(opt: typing.Any) -> typing.Any:
    """Return a Keras optimizer that reduces gradients over all ranks."""
    return KerasDistributeOptimizer(opt)


def npu_tf_optimizer(opt: typing.Any) -> typing.Any:
    """Return an optimizer that reduces gradients over all ranks."""
    return NPUDistributedOptimizer(opt)


def npu_clear_session(config: typing.Any = None) -> None:
    """Have Keras forget its graph, and open a new session that is configured for the device."""
    keras = keras_sessions.sessions()
    keras.clear_session()
    keras.set_session(session.Session(config=npu_config_proto(config)))


if _reloaded:
    # As with the adapter: a second decoration finds no argument config, and no session can be made any more.
    for _class in (session.Session, session.InteractiveSession):
        _class.__init__ = decorator_tf_session(_class.__init__)
else:
    sessions.install()
