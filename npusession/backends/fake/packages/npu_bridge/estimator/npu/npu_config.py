"""Configuration of NPU estimators, and of every session."""

from __future__ import annotations

import enum
import inspect
import json
import os
import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import estimators, run_config, sessions

from . import util

#: Where the configuration is among the arguments of a method, the object itself not counted.
_CONFIG = "config"


_RunConfig: typing.Any = estimators.base("RunConfig")


class NPURunConfig(_RunConfig):
    """RunConfig of an estimator on an NPU: keywords of tf.estimator, and the options of sessions.

    NPUEstimator makes a session configuration of it.
    """

    def __init__(
        self,
        iterations_per_loop: int = 1,
        profiling_config: typing.Any = None,
        model_dir: typing.Any = None,
        tf_random_seed: typing.Any = None,
        save_summary_steps: int = 0,
        save_checkpoints_steps: typing.Any = None,
        save_checkpoints_secs: typing.Any = None,
        session_config: typing.Any = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: int = 10000,
        log_step_count_steps: int = 100,
        distribute: typing.Any = None,
        enable_data_pre_proc: bool = True,
        precision_mode: typing.Any = None,
        enable_reduce_precision: bool = False,
        variable_format_optimize: typing.Any = None,
        mix_compile_mode: bool = False,
        hcom_parallel: bool = True,
        graph_memory_max_size: typing.Any = None,
        variable_memory_max_size: typing.Any = None,
        dump_config: typing.Any = None,
        stream_max_parallel_num: typing.Any = None,
        is_tailing_optimization: bool = False,
        horovod_mode: bool = False,
        graph_run_mode: int = 1,
        op_debug_level: typing.Any = None,
        enable_scope_fusion_passes: typing.Any = None,
        enable_exception_dump: int = 2,
        op_select_implmode: typing.Any = None,
        optypelist_for_implmode: typing.Any = None,
        dynamic_input_config: typing.Any = None,
        aoe_mode: typing.Any = None,
        work_path: typing.Any = None,
        buffer_optimize: str = "l2_optimize",
        enable_small_channel: int = 0,
        fusion_switch_file: typing.Any = None,
        enable_compress_weight: bool = False,
        compress_weight_conf: typing.Any = None,
        op_compiler_cache_mode: typing.Any = None,
        op_compiler_cache_dir: typing.Any = None,
        debug_dir: typing.Any = None,
        hcom_multi_mode: bool = False,
        dynamic_input: typing.Any = None,
        dynamic_graph_execute_mode: str = "dynamic_execute",
        dynamic_inputs_shape_range: typing.Any = None,
        train_distribute: typing.Any = None,
        eval_distribute: typing.Any = None,
        local_rank_id: typing.Any = None,
        local_device_list: typing.Any = None,
        session_device_id: typing.Any = None,
        distribute_config: typing.Any = None,
        modify_mixlist: typing.Any = None,
        op_precision_mode: typing.Any = None,
        device_type: str = "default_device_type",
        soc_config: typing.Any = None,
        hccl_timeout: typing.Any = None,
        op_wait_timeout: typing.Any = None,
        op_execute_timeout: typing.Any = None,
        HCCL_algorithm: typing.Any = None,
        customize_dtypes: typing.Any = None,
        op_debug_config: typing.Any = None,
        memory_config: typing.Any = None,
        experimental_config: typing.Any = None,
        topo_sorting_mode: typing.Any = None,
        aoe_config_file: typing.Any = None,
        insert_op_file: typing.Any = None,
        stream_sync_timeout: int = -1,
        event_sync_timeout: int = -1,
        external_weight: bool = False,
        deterministic: int = 0,
        frozen_variable: bool = False,
        variable_placement: str = "Device",
        jit_compile: str = "auto",
        precision_mode_v2: typing.Any = None,
        ac_parallel_enable: typing.Any = None,
        quant_dumpable: typing.Any = None,
        input_fusion_size: int = 131072,
        compile_dynamic_mode: typing.Any = None,
        graph_max_parallel_model_num: int = 1,
        export_compile_stat: int = 1,
        aicore_num: typing.Any = None,
        oo_constant_folding: bool = True,
        input_batch_cpy: bool = False,
        shape_generalization_mode: str = "STRICT",
        all_tensor_not_empty: bool = False,
        auto_multistream_parallel_mode: typing.Any = None,
        oo_level: str = "O3",
        optimization_switch: typing.Any = None,
    ) -> None:
        keywords = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        util.check_positive_integer(iterations_per_loop, "iterations_per_loop")
        if not isinstance(mix_compile_mode, bool):
            raise TypeError(f"mix_compile_mode is True or False, not {mix_compile_mode!r}")
        if mix_compile_mode and iterations_per_loop != 1:
            raise ValueError(f"iterations_per_loop={iterations_per_loop}: with mix_compile_mode it can only be 1")
        if not isinstance(jit_compile, str):
            raise TypeError(f"jit_compile is a str, not a {type(jit_compile).__name__}")
        _check_type("dump_config", dump_config, DumpConfig)
        _check_type("experimental_config", experimental_config, ExperimentalConfig)
        _check_type("dynamic_input_config", dynamic_input_config, DynamicInputConfig)
        if not isinstance(horovod_mode, bool):
            raise ValueError(f"horovod_mode is True or False, not {horovod_mode!r}")
        util.check_nonnegative_integer(graph_run_mode, "graph_run_mode")
        if graph_run_mode > 1:
            raise ValueError(f"graph_run_mode={graph_run_mode}: 0 is inference, 1 training")
        util.check_nonnegative_integer(enable_exception_dump, "enable_exception_dump")
        if save_checkpoints_secs is None and save_checkpoints_steps is None:
            save_checkpoints_steps = 100
        run_config.store(self, keywords)
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            experimental_distribute=_cluster(distribute, mix_compile_mode),
            train_distribute=train_distribute,
            eval_distribute=eval_distribute,
        )


def _cluster(distribute: typing.Any, mix_compile_mode: bool) -> typing.Any:
    """Return the distribution of a cluster with parameter servers, ``None`` where there is none."""
    cluster = json.loads(os.environ.get("TF_CONFIG", "{}")).get("cluster")
    servers = isinstance(distribute, tf1().distribute.experimental.ParameterServerStrategy)
    if bool(cluster) != servers:
        raise ValueError("the cluster of TF_CONFIG and distribute=ParameterServerStrategy() go together")
    if cluster and not mix_compile_mode:
        raise ValueError("with a cluster in TF_CONFIG, mix_compile_mode must be True")
    if not cluster:
        return None
    from tensorflow.python.distribute.distribute_config import DistributeConfig

    return DistributeConfig(distribute, distribute, None)


def _check_type(name: str, value: object, cls: type) -> None:
    if value is not None and not isinstance(value, cls):
        raise ValueError(f"{name} is a {cls.__name__}, not a {type(value).__name__}")


class ProfilingConfig:
    """Profiling: whether, and its options as JSON text."""

    def __init__(self, enable_profiling: bool = False, profiling_options: str | None = None) -> None:
        self._enable_profiling = enable_profiling
        self._profiling_options = profiling_options


class MemoryConfig:
    """Options of memory."""

    def __init__(
        self,
        atomic_clean_policy: int = 0,
        static_memory_policy: int | None = 0,
        memory_optimization_policy: str | None = None,
        variable_use_1g_huge_page: int | None = 0,
    ) -> None:
        self._atomic_clean_policy = atomic_clean_policy
        self._static_memory_policy = static_memory_policy
        self._memory_optimization_policy = memory_optimization_policy
        self._variable_use_1g_huge_page = variable_use_1g_huge_page


class DumpConfig:
    """Data dump and overflow detection."""

    def __init__(
        self,
        enable_dump: bool = False,
        dump_path: str | None = None,
        dump_step: str | None = None,
        dump_mode: str | None = "output",
        enable_dump_debug: bool = False,
        dump_debug_mode: str | None = "all",
        dump_data: str | None = "tensor",
        dump_layer: str | None = None,
    ) -> None:
        self._enable_dump = enable_dump
        self._dump_path = dump_path
        self._dump_step = dump_step
        self._dump_mode = dump_mode
        self._enable_dump_debug = enable_dump_debug
        self._dump_debug_mode = dump_debug_mode
        self.dump_data = dump_data
        self.dump_layer = dump_layer


class GraphMemoryOptimizeConfig:
    """Recomputation and slicing of a graph, each ``"auto"`` or ``"manual"``."""

    def __init__(self, recompute: str | None = None, graph_slice: str | None = None) -> None:
        for name, value in (("recompute", recompute), ("graph_slice", graph_slice)):
            if value not in (None, "auto", "manual"):
                raise ValueError(f"{name}={value!r}: it is 'auto' or 'manual'")
        self._recompute = recompute
        self._graph_slice = graph_slice


class ExperimentalConfig:
    """Experimental options: deployment over several devices, caches, accelerated training."""

    def __init__(
        self,
        logical_device_cluster_deploy_mode: str | None = "LB",
        logical_device_id: str | None = None,
        model_deploy_mode: str | None = None,
        model_deploy_devicelist: str | None = None,
        graph_memory_optimize_config: GraphMemoryOptimizeConfig | None = None,
        enable_graph_parallel: bool | None = None,
        graph_parallel_option_path: str | None = None,
        graph_compiler_cache_dir: str | None = None,
        resource_config_path: str | None = None,
        accelerate_train_mode: str | None = None,
    ) -> None:
        _check_type("graph_memory_optimize_config", graph_memory_optimize_config, GraphMemoryOptimizeConfig)
        self._logical_device_cluster_deploy_mode = logical_device_cluster_deploy_mode
        self._logical_device_id = logical_device_id
        self._model_deploy_mode = model_deploy_mode
        self._model_deploy_devicelist = model_deploy_devicelist
        self._graph_memory_optimize_config = graph_memory_optimize_config
        self._enable_graph_parallel = enable_graph_parallel
        self._graph_parallel_option_path = graph_parallel_option_path
        self._graph_compiler_cache_dir = graph_compiler_cache_dir
        self._resource_config_path = resource_config_path
        self._accelerate_train_mode = accelerate_train_mode


class NpuExecutePlacement(enum.Enum):
    """The part of the device, or the host, that runs an op."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


class DynamicInputConfig:
    """Gears of the shapes of inputs; all four count together or not at all."""

    def __init__(
        self,
        input_shape: str | None,
        dynamic_dims: str | None,
        dynamic_node_type: int | None,
        compile_hybrid_mode: int | None,
    ) -> None:
        self._input_shape = input_shape
        self._dynamic_dims = dynamic_dims
        self._dynamic_node_type = dynamic_node_type
        self._compile_hybrid_mode = compile_hybrid_mode


def set_npu_default_config(
    func: typing.Callable[..., typing.Any], args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]
) -> tuple[tuple[typing.Any, ...], dict[str, typing.Any]]:
    """Bring the configuration among a method's arguments into the form that the adapter gives every session.

    Raises:
        TypeError: the method has no argument ``config``, which is so when npu_init was reloaded.
    """
    names = list(inspect.signature(func, follow_wrapped=False).parameters)
    if _CONFIG not in names:
        raise TypeError(
            "the session class was decorated twice, so that its argument config is not found any more: "
            "npu_init can be imported once in a process, and not reloaded"
        )
    index = names.index(_CONFIG) - 1
    if kwargs.get(_CONFIG) is not None:
        config = kwargs[_CONFIG]
    elif len(args) > index:
        config = args[index]
    else:
        config = tf1().ConfigProto()
    kwargs[_CONFIG] = sessions.prepare_config(config)
    return args[:index] + args[index + 1 :], kwargs


def decorator_tf_session(func: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    """Decorate ``__init__`` of a session class, so that every session has the adapter's configuration."""

    def class_func_wrapper(self: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        args, kwargs = set_npu_default_config(func, args, kwargs)
        return func(self, *args, **kwargs)

    return class_func_wrapper
