"""Options of earlier releases only, which scripts still give."""

from __future__ import annotations

from .kinds import Flag, Text
from .model import TRAINING, Default, Group, Note, Option, Status
from .problems import Page

AUTO_TUNE_MODE = Option(
    "auto_tune_mode",
    Text("RL, GA, or both joined by a comma", separator=",", zh="RL、GA，或以英文逗号连接的两者"),
    "Tuning of TBE operators while they are compiled, the forerunner of AOE.",
    "编译时对 TBE 算子进行自动调优（Auto Tune），AOE 的前身。",
    page=Page.SESS_RUN,
    status=Status.LEGACY,
    instead='use aoe_mode: "2" for operators, "1" for subgraphs',
    notes=(Note("Left out, nothing is tuned.", "不配置则不开启自动调优。"),),
    run_config="",
)
FP_POINT = Option(
    "fp_point",
    Text("an operator's name", zh="算子名"),
    "First operator of the forward pass; now a key of profiling_options.",
    "迭代轨迹正向算子的开始位置，现为 profiling_options 的键。",
    page=Page.SESS_RUN,
    scenes=TRAINING,
    status=Status.LEGACY,
    instead="profiling=Profiling(fp_point=...)",
    removed=True,
    notes=(
        Note(
            "Was required with training_trace; the name can be found in a .pbtxt file that tf.io.write_graph saves.",
            "历史版本在选择 training_trace 时必须配置；名称可由 tf.io.write_graph 保存的 .pbtxt 文件获取。",
        ),
    ),
    run_config="",
)
BP_POINT = Option(
    "bp_point",
    Text("an operator's name", zh="算子名"),
    "Last operator of the backward pass; now a key of profiling_options.",
    "迭代轨迹反向算子的结束位置，现为 profiling_options 的键。",
    page=Page.SESS_RUN,
    scenes=TRAINING,
    status=Status.LEGACY,
    instead="profiling=Profiling(bp_point=...)",
    removed=True,
    notes=(
        Note(
            "Was required with training_trace; with fp_point it gives the times of the two passes.",
            "历史版本在选择 training_trace 时必须配置；与 fp_point 一起可计算正反向时间。",
        ),
    ),
    run_config="",
)
ENABLE_REDUCE_PRECISION = Option(
    "enable_reduce_precision",
    Flag(),
    "Never supported by the releases that describe it.",
    "历史版本即不支持该参数。",
    page=Page.SESS_RUN,
    status=Status.LEGACY,
    instead="leave it out; precision_mode_v2 sets the precision",
    removed=True,
    defaults=(Default(False),),
)
ENABLE_AUTO_MIX_PRECISION = Option(
    "enable_auto_mix_precision",
    Flag(),
    "Mixed precision in the first releases.",
    "最早版本的混合精度开关。",
    page=Page.RUNTIME,
    status=Status.LEGACY,
    instead='precision_mode_v2="mixed_float16"',
    removed=True,
    run_config="",
)
MIN_GROUP_SIZE = Option(
    "min_group_size",
    # Scripts give it as a flag; nothing ever read it.
    Flag(),
    "Given by many published scripts, and read by no release known.",
    "许多公开脚本中出现，但运行时从不读取。",
    page=Page.RUNTIME,
    status=Status.LEGACY,
    instead="leave it out",
    removed=True,
    run_config="",
)

GROUP = Group(
    "legacy",
    "Of earlier releases",
    "历史版本配置",
    (
        AUTO_TUNE_MODE, FP_POINT, BP_POINT, ENABLE_REDUCE_PRECISION, ENABLE_AUTO_MIX_PRECISION, MIN_GROUP_SIZE,
    ),
)  # fmt: skip
