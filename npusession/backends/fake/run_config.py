"""From the keywords of NPURunConfig to the parameters of a session, as NPUEstimator does it.

The field of each parameter is the option table's. What the estimator makes of a keyword besides is here: what it
writes without being asked, what it leaves out, and what only counts together.
"""

from __future__ import annotations

import json
import os
import typing

from ...options import OPTIMIZER_NAME, TABLE

#: Keywords that are options of the same name and are written when they are not None.
_PLAIN = (
    "HCCL_algorithm", "ac_parallel_enable", "aicore_num", "all_tensor_not_empty", "aoe_config_file",
    "auto_multistream_parallel_mode", "buffer_optimize", "compile_dynamic_mode", "compress_weight_conf",
    "customize_dtypes", "debug_dir", "deterministic", "device_type", "dynamic_graph_execute_mode", "dynamic_input",
    "dynamic_inputs_shape_range", "enable_compress_weight", "enable_data_pre_proc", "enable_exception_dump",
    "enable_reduce_precision", "enable_scope_fusion_passes", "enable_small_channel", "event_sync_timeout",
    "export_compile_stat", "external_weight", "frozen_variable", "fusion_switch_file", "graph_max_parallel_model_num",
    "graph_memory_max_size", "graph_run_mode", "hccl_timeout", "hcom_multi_mode", "hcom_parallel", "input_batch_cpy",
    "input_fusion_size", "insert_op_file", "is_tailing_optimization", "iterations_per_loop", "jit_compile",
    "local_device_list", "local_rank_id", "mix_compile_mode", "modify_mixlist", "oo_constant_folding", "oo_level",
    "op_compiler_cache_dir", "op_compiler_cache_mode", "op_debug_config", "op_debug_level", "op_execute_timeout",
    "op_precision_mode", "op_select_implmode", "op_wait_timeout", "optimization_switch", "optypelist_for_implmode",
    "precision_mode", "precision_mode_v2", "quant_dumpable", "session_device_id", "shape_generalization_mode",
    "soc_config", "stream_max_parallel_num", "stream_sync_timeout", "topo_sorting_mode", "variable_format_optimize",
    "variable_memory_max_size", "variable_placement",
)  # fmt: skip
#: Written even when None, which is then an error of TensorFlow's, as from the real estimator.
_ALWAYS = frozenset({
    "deterministic", "device_type", "enable_compress_weight", "enable_data_pre_proc", "enable_exception_dump",
    "enable_reduce_precision", "enable_small_channel", "event_sync_timeout", "external_weight", "frozen_variable",
    "graph_run_mode", "hcom_multi_mode", "hcom_parallel", "input_fusion_size", "is_tailing_optimization",
    "iterations_per_loop", "jit_compile", "mix_compile_mode", "stream_sync_timeout", "variable_placement",
})  # fmt: skip
#: Numbers that the estimator writes as text.
_AS_TEXT = frozenset({"graph_memory_max_size", "variable_memory_max_size"})
#: Text that the estimator hands on as it is, so that only bytes are taken.
_AS_BYTES = frozenset({"insert_op_file"})
#: Passes of TensorFlow's optimizer that the estimator names.
_PASSES = (
    "pruning", "function", "constfold", "shape", "arithmetic", "loop", "dependency", "layout", "GradFusionOptimizer",
)  # fmt: skip

#: Keywords that are attributes of the same name; the others have an underscore before it.
_PUBLIC = frozenset({
    "aoe_config_file", "enable_data_pre_proc", "enable_exception_dump", "enable_scope_fusion_passes",
    "event_sync_timeout", "graph_run_mode", "horovod_mode", "insert_op_file", "is_tailing_optimization",
    "iterations_per_loop", "mix_compile_mode", "op_debug_level", "stream_sync_timeout", "topo_sorting_mode",
    "variable_format_optimize",
})  # fmt: skip
#: Keywords that are TensorFlow's own, or only looked at.
OF_TENSORFLOW = frozenset({
    "distribute", "eval_distribute", "keep_checkpoint_every_n_hours", "keep_checkpoint_max", "log_step_count_steps",
    "model_dir", "save_checkpoints_secs", "save_checkpoints_steps", "save_summary_steps", "session_config",
    "tf_random_seed", "train_distribute",
})  # fmt: skip

Parameters = typing.Dict[str, typing.Any]
#: What every configuration of the estimator holds of which no default is known, unless it was asked for otherwise.
UNASKED: Parameters = {
    "enable_reduce_precision": False, "frozen_variable": False, "graph_max_parallel_model_num": 1,
    "min_group_size": True,
}  # fmt: skip


def store(config: typing.Any, keywords: typing.Mapping[str, typing.Any]) -> None:
    """Store the keywords of NPURunConfig as attributes, under the names that they have in the real class."""
    for name, value in keywords.items():
        if name not in OF_TENSORFLOW:
            setattr(config, _attribute(name), value)


def add_entry(proto: typing.Any, config: typing.Any) -> None:
    """Add an NpuOptimizer entry to a ConfigProto, beside one that may be there, as the real estimator does.

    Args:
        proto: the ConfigProto, changed in place.
        config: an NPURunConfig.

    Raises:
        TypeError: a keyword's value does not go into its field.
    """
    rewrite = proto.graph_options.rewrite_options
    rewrite.optimizers.extend(_PASSES)
    entry = rewrite.custom_optimizers.add()
    entry.name = OPTIMIZER_NAME
    for name, value in parameters(config).items():
        if isinstance(value, str) and name not in _AS_BYTES:
            value = value.encode("utf-8", "surrogateescape")
        setattr(entry.parameter_map[name], TABLE[name].field, value)


def parameters(config: typing.Any) -> Parameters:
    """Return the parameters that the estimator makes of an NPURunConfig."""

    def keyword(name: str) -> typing.Any:
        return getattr(config, _attribute(name))

    found: Parameters = {"use_off_line": True, "min_group_size": True}
    for name in _PLAIN:
        value = keyword(name)
        if value is not None or name in _ALWAYS:
            found[name] = str(value) if name in _AS_TEXT else value
    found.update(_profiling(keyword("profiling_config")))
    found.update(_dump(keyword("dump_config")))
    found.update(_memory(keyword("memory_config")))
    found.update(_experimental(keyword("experimental_config")))
    found.update(_gears(keyword("dynamic_input_config")))
    found.update(_task())
    if keyword("aoe_mode") is not None:
        found.update(_given(aoe_mode=keyword("aoe_mode"), distribute_config=keyword("distribute_config")))
        found["work_path"] = "./" if keyword("work_path") is None else keyword("work_path")
    return found


def _attribute(name: str) -> str:
    return name if name in _PUBLIC else "_" + name


def _given(**parameters: typing.Any) -> Parameters:
    return {name: value for name, value in parameters.items() if value is not None}


def _profiling(config: typing.Any) -> Parameters:
    if config is None:
        return {}
    if not config._enable_profiling:
        return {"profiling_mode": config._enable_profiling}
    return {"profiling_mode": config._enable_profiling, "profiling_options": config._profiling_options or ""}


def _dump(config: typing.Any) -> Parameters:
    if config is None:
        return {"enable_dump": False, "enable_dump_debug": False}
    return {
        "enable_dump": config._enable_dump,
        "enable_dump_debug": config._enable_dump_debug,
        **_given(
            dump_path=config._dump_path,
            dump_step=config._dump_step,
            dump_mode=config._dump_mode,
            # The estimator asks for the other mode here.
            dump_debug_mode=None if config._dump_mode is None else config._dump_debug_mode,
            dump_data=config.dump_data,
            dump_layer=config.dump_layer,
        ),
    }


def _memory(config: typing.Any) -> Parameters:
    if config is None:
        return {}
    return {
        "atomic_clean_policy": config._atomic_clean_policy,
        **_given(
            static_memory_policy=config._static_memory_policy,
            memory_optimization_policy=config._memory_optimization_policy,
            variable_use_1g_huge_page=config._variable_use_1g_huge_page,
        ),
    }


def _experimental(config: typing.Any) -> Parameters:
    if config is None:
        return {"experimental_logical_device_cluster_deploy_mode": "LB"}
    graph = config._graph_memory_optimize_config
    return _given(
        experimental_logical_device_cluster_deploy_mode=config._logical_device_cluster_deploy_mode,
        experimental_logical_device_id=config._logical_device_id,
        experimental_model_deploy_mode=config._model_deploy_mode,
        experimental_model_deploy_devicelist=config._model_deploy_devicelist,
        resource_config_path=config._resource_config_path,
        graph_compiler_cache_dir=config._graph_compiler_cache_dir,
        graph_parallel_option_path=config._graph_parallel_option_path,
        enable_graph_parallel=config._enable_graph_parallel,
        experimental_accelerate_train_mode=config._accelerate_train_mode,
        graph_slice=None if graph is None else graph._graph_slice,
    )


def _gears(config: typing.Any) -> Parameters:
    if config is None:
        return {}
    found = _given(
        input_shape=config._input_shape,
        dynamic_dims=config._dynamic_dims,
        dynamic_node_type=config._dynamic_node_type,
        compile_hybrid_mode=config._compile_hybrid_mode,
    )
    return found if len(found) == 4 else {}


def _task() -> Parameters:
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
    if not task.get("type"):
        return {"job": "localhost", "task_index": 0}
    return {"job": task["type"], "task_index": int(task.get("index", 0))}
