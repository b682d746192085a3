"""Remarks of the reference on experimental options."""

from __future__ import annotations

from .model import Note

#: Holds for every experimental option.
MAY_CHANGE = Note(
    "Experimental: it may change in later releases, and is not for commercial products.",
    "试验参数：后续版本可能变更，不支持应用于商用产品。",
)
#: What the reference says of accelerated training.
ACCELERATE_NOTES = (
    Note(
        "For trainings of more than an hour; short ones need not get faster as a whole.",
        "适用于超过 1 小时的训练；耗时较短的训练端到端不一定有收益。",
    ),
    Note("The script must converge without it.", "需确保网络脚本本身能够正常收敛。"),
    Note(
        "fast computes in float16, fast1 in bfloat16; step and loss say what divides the training in two.",
        "fast 表示以 float16、fast1 表示以 bf16 降精度编译执行；step、loss 表示按 step 值或 loss 值分割训练流程。",
    ),
    Note(
        "The ratio is 0.2 to 0.9 (0.9 when left out) of all steps, or 1.01 to 1.5 (1.05) times the target loss.",
        "第三字段为低精度流程占比：step 时 0.2 到 0.9，默认 0.9；loss 时 1.01 到 1.5，默认 1.05。",
    ),
    Note(
        "Only with precision_mode left out, allow_fp32_to_fp16 or must_keep_origin_dtype, or precision_mode_v2 left "
        "out or origin.",
        "仅支持 precision_mode 为 allow_fp32_to_fp16、must_keep_origin_dtype 或空，"
        "或 precision_mode_v2 为 origin 或空。",
    ),
    Note(
        "With several steps per run the training may not be divided exactly, which can affect loss and accuracy.",
        "开启小循环时可能不能准确分割训练流程，对 loss 和精度有影响。",
    ),
    Note(
        "The script exports STEP_NOW and TOTAL_STEP (step), or LOSS_NOW and TARGET_LOSS (loss), before the first "
        "run, and STEP_NOW or LOSS_NOW again after each.",
        "脚本须在首次执行前设置环境变量 STEP_NOW、TOTAL_STEP（step）或 LOSS_NOW、TARGET_LOSS（loss），"
        "并在每次执行后更新 STEP_NOW 或 LOSS_NOW。",
    ),
    MAY_CHANGE,
)
