import enum
import typing

from . import util as util

class NPURunConfig(typing.Any):
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
    ) -> None: ...

class ProfilingConfig:
    def __init__(self, enable_profiling: bool = False, profiling_options: str | None = None) -> None: ...

class MemoryConfig:
    def __init__(
        self,
        atomic_clean_policy: int = 0,
        static_memory_policy: int | None = 0,
        memory_optimization_policy: str | None = None,
        variable_use_1g_huge_page: int | None = 0,
    ) -> None: ...

class DumpConfig:
    dump_data: typing.Any
    dump_layer: typing.Any

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
    ) -> None: ...

class GraphMemoryOptimizeConfig:
    def __init__(self, recompute: str | None = None, graph_slice: str | None = None) -> None: ...

class ExperimentalConfig:
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
    ) -> None: ...

class NpuExecutePlacement(enum.Enum):
    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"

class DynamicInputConfig:
    def __init__(
        self,
        input_shape: str | None,
        dynamic_dims: str | None,
        dynamic_node_type: int | None,
        compile_hybrid_mode: int | None,
    ) -> None: ...

def set_npu_default_config(
    func: typing.Callable[..., typing.Any], args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]
) -> tuple[tuple[typing.Any, ...], dict[str, typing.Any]]: ...
def decorator_tf_session(func: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]: ...
