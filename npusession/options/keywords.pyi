# The options as keyword arguments, for editors and type checkers.
# Made by tools/reference.py from the option table; change it there.

import os
from typing import Literal, TypedDict

class TrainingOptions(TypedDict, total=False):
    graph_run_mode: Literal[0, 1] | bool | None
    session_device_id: int | None
    deterministic: Literal[0, 1] | bool | None
    atomic_clean_policy: Literal[0, 1] | bool | None
    static_memory_policy: Literal[0, 1, 2, 3, 4] | None
    variable_use_1g_huge_page: Literal[0, 1, 2] | None
    external_weight: bool | None
    input_fusion_size: int | None
    input_batch_cpy: bool | None
    ac_parallel_enable: Literal['1', '0'] | bool | None
    compile_dynamic_mode: bool | None
    all_tensor_not_empty: bool | None
    mix_compile_mode: bool | None
    enable_exception_dump: Literal[0, 1, 2] | None
    op_debug_config: str | os.PathLike[str] | None
    debug_dir: str | os.PathLike[str] | None
    export_compile_stat: Literal[0, 1, 2] | None
    precision_mode_v2: Literal['fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16', 'mixed_hif8', 'cube_hif8'] | None
    precision_mode: Literal['allow_fp32_to_fp16', 'force_fp16', 'force_fp32', 'cube_fp16in_fp32out', 'must_keep_origin_dtype', 'allow_mix_precision', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16', 'allow_fp32_to_bf16'] | None
    modify_mixlist: str | os.PathLike[str] | None
    customize_dtypes: str | os.PathLike[str] | None
    enable_dump: bool | None
    dump_mode: Literal['input', 'output', 'all'] | None
    enable_dump_debug: bool | None
    dump_debug_mode: Literal['aicore_overflow', 'atomic_overflow', 'all'] | None
    dump_path: str | os.PathLike[str] | None
    dump_step: object
    dump_data: Literal['tensor', 'stats'] | None
    dump_layer: object
    fusion_switch_file: str | os.PathLike[str] | None
    use_off_line: bool | None
    iterations_per_loop: int | None
    hcom_parallel: bool | None
    enable_small_channel: Literal[0, 1] | bool | None
    op_precision_mode: str | os.PathLike[str] | None
    enable_scope_fusion_passes: object
    stream_max_parallel_num: object
    is_tailing_optimization: bool | None
    variable_placement: Literal['Device', 'Host'] | None
    profiling_mode: bool | None
    profiling_options: object
    aoe_mode: Literal['1', '2', '4'] | None
    work_path: str | os.PathLike[str] | None
    aoe_config_file: str | os.PathLike[str] | None
    op_compiler_cache_mode: Literal['enable', 'force', 'disable'] | None
    op_compiler_cache_dir: str | os.PathLike[str] | None
    aicore_num: object
    oo_constant_folding: bool | None
    local_rank_id: int | None
    local_device_list: object
    hccl_timeout: int | None
    op_wait_timeout: int | None
    op_execute_timeout: int | None
    stream_sync_timeout: int | None
    event_sync_timeout: int | None
    graph_compiler_cache_dir: str | os.PathLike[str] | None
    jit_compile: Literal['auto', 'true', 'false'] | bool | None
    shape_generalization_mode: Literal['STRICT', 'FULL', 'ADAPTIVE'] | None
    experimental_accelerate_train_mode: object
    auto_multistream_parallel_mode: Literal['cv'] | None
    op_debug_level: Literal[0, 1, 2, 3, 4] | None
    enable_data_pre_proc: bool | None
    variable_format_optimize: bool | None
    op_select_implmode: Literal['high_precision', 'high_performance'] | None
    optypelist_for_implmode: object
    dynamic_input: bool | None
    dynamic_graph_execute_mode: Literal['dynamic_execute', 'lazy_recompile'] | None
    dynamic_inputs_shape_range: object
    graph_memory_max_size: object
    variable_memory_max_size: object
    auto_tune_mode: object
    compress_weight_conf: object
    device_type: object
    distribute_config: object
    enable_compress_weight: bool | None
    enable_graph_parallel: bool | None
    experimental_logical_device_cluster_deploy_mode: object
    experimental_logical_device_id: object
    experimental_model_deploy_devicelist: object
    experimental_model_deploy_mode: object
    graph_exec_timeout: int | None
    graph_parallel_option_path: object
    graph_slice: Literal['auto', 'manual'] | None
    HCCL_algorithm: object
    hcom_multi_mode: bool | None
    insert_op_file: object
    job: object
    lower_functional_ops: bool | None
    memory_optimization_policy: object
    oo_level: object
    optimization_switch: object
    resource_config_path: object
    soc_config: object
    task_index: int | None
    topo_sorting_mode: int | None

class InferenceOptions(TypedDict, total=False):
    graph_run_mode: Literal[0, 1] | bool | None
    session_device_id: int | None
    deterministic: Literal[0, 1] | bool | None
    atomic_clean_policy: Literal[0, 1] | bool | None
    static_memory_policy: Literal[0, 1, 2, 3, 4] | None
    variable_use_1g_huge_page: Literal[0, 1, 2] | None
    external_weight: bool | None
    input_fusion_size: int | None
    input_batch_cpy: bool | None
    input_shape: object
    dynamic_dims: object
    dynamic_node_type: Literal[0, 1] | bool | None
    compile_hybrid_mode: Literal[0, 1] | bool | None
    ac_parallel_enable: Literal['1', '0'] | bool | None
    compile_dynamic_mode: bool | None
    all_tensor_not_empty: bool | None
    mix_compile_mode: bool | None
    in_out_pair_flag: bool | None
    in_out_pair: object
    enable_exception_dump: Literal[0, 1, 2] | None
    op_debug_config: str | os.PathLike[str] | None
    debug_dir: str | os.PathLike[str] | None
    export_compile_stat: Literal[0, 1, 2] | None
    precision_mode_v2: Literal['fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16', 'mixed_hif8', 'cube_hif8'] | None
    precision_mode: Literal['allow_fp32_to_fp16', 'force_fp16', 'force_fp32', 'cube_fp16in_fp32out', 'must_keep_origin_dtype', 'allow_mix_precision', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16', 'allow_fp32_to_bf16'] | None
    modify_mixlist: str | os.PathLike[str] | None
    customize_dtypes: str | os.PathLike[str] | None
    enable_dump: bool | None
    dump_mode: Literal['input', 'output', 'all'] | None
    dump_path: str | os.PathLike[str] | None
    dump_data: Literal['tensor', 'stats'] | None
    dump_layer: object
    quant_dumpable: Literal['0', '1'] | bool | None
    fusion_switch_file: str | os.PathLike[str] | None
    buffer_optimize: Literal['l2_optimize', 'off_optimize'] | None
    use_off_line: bool | None
    enable_small_channel: Literal[0, 1] | bool | None
    op_precision_mode: str | os.PathLike[str] | None
    enable_scope_fusion_passes: object
    stream_max_parallel_num: object
    variable_placement: Literal['Device', 'Host'] | None
    frozen_variable: bool | None
    graph_max_parallel_model_num: int | None
    profiling_mode: bool | None
    profiling_options: object
    op_compiler_cache_mode: Literal['enable', 'force', 'disable'] | None
    op_compiler_cache_dir: str | os.PathLike[str] | None
    aicore_num: object
    oo_constant_folding: bool | None
    local_rank_id: int | None
    local_device_list: object
    hccl_timeout: int | None
    op_wait_timeout: int | None
    op_execute_timeout: int | None
    stream_sync_timeout: int | None
    event_sync_timeout: int | None
    graph_compiler_cache_dir: str | os.PathLike[str] | None
    jit_compile: Literal['auto', 'true', 'false'] | bool | None
    shape_generalization_mode: Literal['STRICT', 'FULL', 'ADAPTIVE'] | None
    op_debug_level: Literal[0, 1, 2, 3, 4] | None
    op_select_implmode: Literal['high_precision', 'high_performance'] | None
    optypelist_for_implmode: object
    dynamic_input: bool | None
    dynamic_graph_execute_mode: Literal['dynamic_execute', 'lazy_recompile'] | None
    dynamic_inputs_shape_range: object
    graph_memory_max_size: object
    variable_memory_max_size: object
    auto_tune_mode: object
    compress_weight_conf: object
    device_type: object
    distribute_config: object
    enable_compress_weight: bool | None
    enable_graph_parallel: bool | None
    experimental_logical_device_cluster_deploy_mode: object
    experimental_logical_device_id: object
    experimental_model_deploy_devicelist: object
    experimental_model_deploy_mode: object
    graph_exec_timeout: int | None
    graph_parallel_option_path: object
    graph_slice: Literal['auto', 'manual'] | None
    HCCL_algorithm: object
    hcom_multi_mode: bool | None
    insert_op_file: object
    job: object
    lower_functional_ops: bool | None
    memory_optimization_policy: object
    oo_level: object
    optimization_switch: object
    resource_config_path: object
    soc_config: object
    task_index: int | None
    topo_sorting_mode: int | None
