"""Precision options: in which data type operators compute."""

from __future__ import annotations

import typing

from ..products import BF16_PRODUCTS, Product
from .kinds import Choice, Value
from .model import INFERENCE, TRAINING, Default, Group, Option, Scope, Settings, problem
from .problems import Problem, Rule

_OLD_TRAINING = frozenset({Product.ATLAS_TRAINING})
_HIF8 = frozenset({Product.ATLAS_350})

PRECISION_MODE_V2 = Option(
    "precision_mode_v2",
    Choice(
        (
            Value("fp16", "float16 wherever the graph has float16, bfloat16 or float32"),
            Value("origin", "the precision of the graph"),
            Value("cube_fp16in_fp32out", "matrix operators take float16 and give float32, vector operators float32"),
            Value("mixed_float16", "float32 and bfloat16 lowered to float16 where little accuracy is lost"),
            Value(
                "mixed_bfloat16", "float32 lowered to bfloat16 where little accuracy is lost", products=BF16_PRODUCTS
            ),
            Value("mixed_hif8", "lowered to hifloat8 where little accuracy is lost", products=_HIF8),
            Value("cube_hif8", "matrix operators in hifloat8", products=_HIF8),
        )
    ),
    "Precision mode of the whole network; preferred over precision_mode.",
    "整个网络的算子精度模式，建议优先于 precision_mode 使用。",
    scope=Scope.INIT,
    defaults=(Default("origin", TRAINING, BF16_PRODUCTS), Default("fp16", INFERENCE)),
)
PRECISION_MODE = Option(
    "precision_mode",
    Choice(
        (
            Value("allow_fp32_to_fp16", "matrix operators prefer float16; vector operators keep the graph's type"),
            Value("force_fp16", "float16 wherever there is a choice; online inference only"),
            Value("force_fp32", "same as cube_fp16in_fp32out"),
            Value("cube_fp16in_fp32out", "matrix operators take float16 and give float32, vector operators float32"),
            Value("must_keep_origin_dtype", "the precision of the graph"),
            Value("allow_mix_precision", "same as allow_mix_precision_fp16"),
            Value("allow_mix_precision_fp16", "float32 and bfloat16 lowered to float16 where little accuracy is lost"),
            Value(
                "allow_mix_precision_bf16", "float32 lowered to bfloat16 where little is lost", products=BF16_PRODUCTS
            ),
            Value("allow_fp32_to_bf16", "float32 kept where supported, else bfloat16", products=BF16_PRODUCTS),
        )
    ),
    "Precision mode of the whole network, the older form of precision_mode_v2.",
    "整个网络的算子精度模式（旧参数），建议改用 precision_mode_v2。",
    scope=Scope.INIT,
    defaults=(
        Default("must_keep_origin_dtype", TRAINING, BF16_PRODUCTS),
        Default("allow_fp32_to_fp16", TRAINING, _OLD_TRAINING),
        Default("force_fp16", INFERENCE),
    ),
)

BOTH_MODES = Rule("NPU201", "conflict", "precision_mode and precision_mode_v2 exclude each other.")


def _both_modes(settings: Settings) -> typing.Iterator[Problem]:
    if PRECISION_MODE.name in settings and PRECISION_MODE_V2.name in settings:
        yield problem(
            BOTH_MODES,
            PRECISION_MODE,
            f"given together with {PRECISION_MODE_V2.name}",
            value=settings[PRECISION_MODE.name],
            fix=f"leave out {PRECISION_MODE.name}",
        )


GROUP = Group(
    "precision", "Precision tuning", "精度调优", (PRECISION_MODE_V2, PRECISION_MODE), (BOTH_MODES,), (_both_modes,)
)
