# The options as keyword arguments, for editors and type checkers.
# Made by tools/reference.py from the option table; change it there.

import os
from typing import Literal, TypedDict

class TrainingOptions(TypedDict, total=False):
    graph_run_mode: Literal[0, 1] | bool | None
    session_device_id: int | None
    deterministic: Literal[0, 1] | bool | None
    enable_exception_dump: Literal[0, 1, 2] | None
    precision_mode_v2: Literal['fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16', 'mixed_hif8', 'cube_hif8'] | None
    precision_mode: Literal['allow_fp32_to_fp16', 'force_fp16', 'force_fp32', 'cube_fp16in_fp32out', 'must_keep_origin_dtype', 'allow_mix_precision', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16', 'allow_fp32_to_bf16'] | None
    enable_dump: bool | None
    dump_mode: Literal['input', 'output', 'all'] | None
    enable_dump_debug: bool | None
    dump_debug_mode: Literal['aicore_overflow', 'atomic_overflow', 'all'] | None
    dump_path: str | os.PathLike[str] | None
    dump_step: object
    dump_data: Literal['tensor', 'stats'] | None
    dump_layer: object
    use_off_line: bool | None
    iterations_per_loop: int | None
    profiling_mode: bool | None
    profiling_options: object
    experimental_accelerate_train_mode: object
    op_debug_level: Literal[0, 1, 2, 3, 4] | None
    op_select_implmode: Literal['high_precision', 'high_performance'] | None
    optypelist_for_implmode: object

class InferenceOptions(TypedDict, total=False):
    graph_run_mode: Literal[0, 1] | bool | None
    session_device_id: int | None
    deterministic: Literal[0, 1] | bool | None
    enable_exception_dump: Literal[0, 1, 2] | None
    precision_mode_v2: Literal['fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16', 'mixed_hif8', 'cube_hif8'] | None
    precision_mode: Literal['allow_fp32_to_fp16', 'force_fp16', 'force_fp32', 'cube_fp16in_fp32out', 'must_keep_origin_dtype', 'allow_mix_precision', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16', 'allow_fp32_to_bf16'] | None
    enable_dump: bool | None
    dump_mode: Literal['input', 'output', 'all'] | None
    dump_path: str | os.PathLike[str] | None
    dump_data: Literal['tensor', 'stats'] | None
    dump_layer: object
    quant_dumpable: Literal['0', '1'] | bool | None
    use_off_line: bool | None
    profiling_mode: bool | None
    profiling_options: object
    op_debug_level: Literal[0, 1, 2, 3, 4] | None
    op_select_implmode: Literal['high_precision', 'high_performance'] | None
    optypelist_for_implmode: object
