"""Precision options: in which data type operators compute."""

from __future__ import annotations

from ..products import BF16_PRODUCTS, Product
from .kinds import Choice, Path, PathIs, Value
from .model import INFERENCE, TRAINING, Default, Note, Option, Scope

_OLD_TRAINING = frozenset({Product.ATLAS_TRAINING})
_HIF8 = frozenset({Product.ATLAS_350})

_FP16_IN_FP32_OUT = Note(
    "cube_fp16in_fp32out: matrix operators take float16 in and float32 out, else float32 for both, else float16 for "
    "both, else they fail; vector operators of float16 or bfloat16 compute in float32.",
    "cube_fp16in_fp32out：矩阵类算子依次选择 float16 入 float32 出、float32 入出、float16 入出，均不支持则报错；"
    "矢量类算子由 float16、bfloat16 强制为 float32。",
)
_WITHOUT_FLOAT32 = Note(
    "There an operator without float32 on AI Core stays with float16; when the list of operators keeps it from being "
    "lowered (precision_reduce = false), AI CPU computes it in float32, or it fails.",
    "此时若 AI Core 实现不支持 float32，仍用 float16；若又在黑名单（precision_reduce = false）中，则改用 float32 的 "
    "AI CPU 算子，仍不支持则报错。",
)
_ORIGIN = Note(
    "Where the graph's type is kept: float16 that AI Core lacks becomes float32 if there is one, else AI CPU computes "
    "it in float16; float32 that AI Core lacks is computed by AI CPU. What AI CPU lacks fails.",
    "保持原图精度时：AI Core 不支持 float16 的算子改用 float32，若仅支持 bfloat16 则用 float16 的 AI CPU 算子；"
    "AI Core 不支持 float32 的算子用 float32 的 AI CPU 算子；AI CPU 也不支持则报错。",
)
_BF16_MIX = Note(
    "Mixed bfloat16 leaves operators without bfloat16 and float32 to AI CPU; what AI CPU lacks fails.",
    "混合 bfloat16 时，不支持 bfloat16 和 float32 的算子用 AI CPU 计算；AI CPU 也不支持则报错。",
)
_NO_BF16 = Note(
    "The Atlas training series and the Atlas inference series have no bfloat16.",
    "Atlas 训练系列产品、Atlas 推理系列产品不支持 bfloat16。",
)
_MIX_STRATEGY = Note(
    "Which operators mixed precision lowers is built in; modify_mixlist changes it.",
    "混合精度场景下算子的内置优化策略见 modify_mixlist。",
)
_NOT_BOTH = Note(
    "Not both of precision_mode and precision_mode_v2; take precision_mode_v2.",
    "precision_mode 与 precision_mode_v2 不能同时使用，建议使用 precision_mode_v2。",
)

PRECISION_MODE_V2 = Option(
    "precision_mode_v2",
    Choice(
        (
            Value(
                "fp16",
                "float16 wherever the graph has float16, bfloat16 or float32",
                "原图为 float16、bfloat16 或 float32 时强制选择 float16",
            ),
            Value("origin", "the precision of the graph", "保持原图精度"),
            Value(
                "cube_fp16in_fp32out",
                "matrix operators take float16 and give float32, vector operators float32",
                "矩阵类算子优先 float16 入 float32 出，矢量类算子选择 float32",
            ),
            Value(
                "mixed_float16",
                "float32 and bfloat16 lowered to float16 where little accuracy is lost",
                "混合精度：按内置策略将部分 float32、bfloat16 算子降为 float16",
            ),
            Value(
                "mixed_bfloat16",
                "float32 lowered to bfloat16 where little accuracy is lost",
                "混合精度：按内置策略将部分 float32 算子降为 bfloat16",
                BF16_PRODUCTS,
            ),
            Value(
                "mixed_hif8",
                "lowered to hifloat8 where little accuracy is lost; not in the current release",
                "混合精度：部分算子降为 hifloat8（当前版本不支持）",
                _HIF8,
            ),
            Value(
                "cube_hif8",
                "matrix operators in hifloat8; not in the current release",
                "cube 算子支持时强制选择 hifloat8（当前版本不支持）",
                _HIF8,
            ),
        )
    ),
    "Precision mode of the whole network; preferred over precision_mode.",
    "整个网络的算子精度模式，建议优先于 precision_mode 使用。",
    scope=Scope.INIT,
    defaults=(Default("origin", TRAINING, BF16_PRODUCTS), Default("fp16", INFERENCE)),
    notes=(
        _NOT_BOTH,
        Note(
            "Trainings on the Atlas training series have no default here: that of precision_mode counts.",
            "训练场景下 Atlas 训练系列产品无默认值，以 precision_mode 的默认值为准。",
        ),
        Note(
            "Where single operators lose accuracy, keep_dtype_scope keeps the graph's type for them.",
            "个别算子存在精度问题时，建议用 keep_dtype_scope 保持其原图精度。",
        ),
        Note(
            "mixed_float16 goes well with loss scaling, which makes up for the precision that is lost.",
            "mixed_float16 可同时使能 Loss Scaling，补偿降低精度带来的损失。",
        ),
        _ORIGIN,
        _FP16_IN_FP32_OUT,
        _WITHOUT_FLOAT32,
        _BF16_MIX,
        _MIX_STRATEGY,
        _NO_BF16,
    ),
)
PRECISION_MODE = Option(
    "precision_mode",
    Choice(
        (
            Value(
                "allow_fp32_to_fp16",
                "matrix operators prefer float16; vector operators keep the graph's type",
                "矩阵类算子优先降为 float16，矢量类算子优先保持原图精度",
            ),
            Value(
                "force_fp16",
                "float16 wherever there is a choice; online inference only",
                "支持多种类型时强制选择 float16，仅适用于在线推理",
            ),
            Value("force_fp32", "same as cube_fp16in_fp32out", "与 cube_fp16in_fp32out 等效"),
            Value(
                "cube_fp16in_fp32out",
                "matrix operators take float16 and give float32, vector operators float32",
                "矩阵类算子优先 float16 入 float32 出，矢量类算子选择 float32",
            ),
            Value("must_keep_origin_dtype", "the precision of the graph", "保持原图精度"),
            Value("allow_mix_precision", "same as allow_mix_precision_fp16", "与 allow_mix_precision_fp16 等效"),
            Value(
                "allow_mix_precision_fp16",
                "float32 and bfloat16 lowered to float16 where little accuracy is lost",
                "混合精度：按内置策略将部分 float32、bfloat16 算子降为 float16",
            ),
            Value(
                "allow_mix_precision_bf16",
                "float32 lowered to bfloat16 where little accuracy is lost",
                "混合精度：按内置策略将部分 float32 算子降为 bfloat16",
                BF16_PRODUCTS,
            ),
            Value(
                "allow_fp32_to_bf16",
                "the graph's type kept where supported, else float32 lowered to bfloat16",
                "优先保持原图精度，不支持时 float32 降为 bfloat16",
                BF16_PRODUCTS,
            ),
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
    notes=(
        _NOT_BOTH,
        Note(
            "Where single operators lose accuracy, keep_dtype_scope (training) or keep_tensors_dtypes (inference) "
            "keeps the graph's type for them.",
            "个别算子存在精度问题时，训练场景用 keep_dtype_scope、推理场景用 keep_tensors_dtypes 保持其原图精度。",
        ),
        Note(
            "allow_fp32_to_fp16, matrix operators: float32 becomes float16, else stays, else AI CPU; bfloat16 stays, "
            "else float32, else float16, else AI CPU.",
            "allow_fp32_to_fp16 的矩阵类算子：float32 优先降为 float16，其次 float32，再次 AI CPU；bfloat16 优先保持，"
            "其次 float32、float16，再次 AI CPU。",
        ),
        Note(
            "allow_fp32_to_fp16, vector operators: float32 stays, else float16, else AI CPU; bfloat16 stays, else "
            "float32, else float16, else AI CPU.",
            "allow_fp32_to_fp16 的矢量类算子：float32 优先保持，其次 float16，再次 AI CPU；bfloat16 优先保持，"
            "其次 float32、float16，再次 AI CPU。",
        ),
        Note(
            "allow_fp32_to_bf16: float32 stays, else bfloat16, else AI CPU; bfloat16 stays, else float32, else AI CPU.",
            "allow_fp32_to_bf16：float32 优先保持，其次 bfloat16，再次 AI CPU；"
            "bfloat16 优先保持，其次 float32，再次 AI CPU。",
        ),
        Note("What AI CPU lacks in these modes fails.", "以上各模式中 AI CPU 也不支持时执行报错。"),
        Note(
            "Earlier releases had allow_fp32_to_fp16 on every product unless it was given.",
            "历史版本在所有产品上默认为 allow_fp32_to_fp16。",
        ),
        Note(
            "cube_fp16in_fp32out and allow_mix_precision_fp16 are the newer, clearer names.",
            "cube_fp16in_fp32out、allow_mix_precision_fp16 为新版本新增，语义更清晰。",
        ),
        _ORIGIN,
        _FP16_IN_FP32_OUT,
        _WITHOUT_FLOAT32,
        _BF16_MIX,
        _MIX_STRATEGY,
        _NO_BF16,
    ),
)
MODIFY_MIXLIST = Option(
    "modify_mixlist",
    Path(PathIs.FILE),
    "File that says which operators mixed precision may lower.",
    "混合精度黑白灰名单文件（路径及文件名），自行指定哪些算子允许降精度。",
    notes=(
        Note(
            "Goes with mixed precision, set through precision_mode_v2 (better) or precision_mode.",
            "须通过 precision_mode_v2（推荐）或 precision_mode 开启混合精度。",
        ),
        Note(
            "JSON with black-list and white-list, each with to-remove (becomes grey) and to-add (comes from the other "
            "lists); entries are operator types.",
            "JSON 格式：black-list、white-list 下各有 to-remove（转为灰名单）和 "
            "to-add（由其他名单转入），取值为算子类型。",
        ),
        Note(
            "The white list may be lowered, the black list may not, grey operators do as the one before them.",
            "白名单允许降精度，黑名单不允许，灰名单与前一个算子保持一致。",
        ),
        Note(
            "The built-in lists are the precision_reduce flags (true, false, none) in opp/built-in/op_impl/ai_core/tbe/"
            "config/<soc_version>/aic-<soc_version>-ops-info-<opType>.json of the CANN installation.",
            "内置名单见 CANN 安装目录 opp/built-in/op_impl/ai_core/tbe/config/<soc_version>/"
            "aic-<soc_version>-ops-info-<opType>.json 中的 precision_reduce（true、false 或不配置）。",
        ),
    ),
    file_format="mixlist",
)
CUSTOMIZE_DTYPES = Option(
    "customize_dtypes",
    Path(PathIs.FILE),
    "File that gives single operators data types of their own.",
    "自定义个别算子计算精度的配置文件（路径及文件名）。",
    notes=(
        Note(
            "Has no effect with precision_mode_v2=origin or precision_mode=must_keep_origin_dtype.",
            "precision_mode_v2 为 origin 或 precision_mode 为 must_keep_origin_dtype 时不生效。",
        ),
        Note(
            "The other operators follow the precision mode; these go before it, so that accuracy or speed may suffer.",
            "其余算子仍按精度模式编译；本参数优先级高，可能导致精度或性能下降。",
        ),
        Note(
            "One operator a line: name::InputDtype:type,...,OutputDtype:type,... or OpType::type:InputDtype:...; types "
            "are those of Ascend IR, and a name goes before a type.",
            "每个算子一行：算子名::InputDtype:…,OutputDtype:… 或 OpType::类型:InputDtype:…；算子类型须基于 Ascend IR，"
            "同一算子以名称为准。",
        ),
        Note(
            "Supported data types are listed in opp/built-in/op_impl/ai_core/tbe/config/<soc_version>/"
            "aic-<soc_version>-ops-info-<opType>.json; others fail to compile.",
            "支持的类型见 opp/built-in/op_impl/ai_core/tbe/config/<soc_version>/"
            "aic-<soc_version>-ops-info-<opType>.json，指定不支持的 dtype 会编译失败。",
        ),
        Note(
            "Fusing and splitting may rename operators, and an entry by name then has no effect; the log tells.",
            "编译中的融合、拆分可能改变算子名称，使按名称的配置不生效，可通过日志定位。",
        ),
    ),
    file_format="custom_dtypes",
)
