"""Performance options beyond the basic one, as data."""

from __future__ import annotations

import re

from .kinds import INT32_MAX, Choice, Flag, IntChoice, Integer, Path, PathIs, Refused, Text, Value
from .model import INFERENCE, TRAINING, Default, Note, Option

#: Engines whose parallelism can be set, by their names of today and of earlier releases.
ENGINES = ("DNN_VM_AICPU", "AIcoreEngine")
EARLIER_ENGINES = ("DNN_VM_TF", "DNN_V100")
#: A name that C++ code registers: no blanks, and none of what separates or quotes names.
_PASS = re.compile(r"[A-Za-z0-9_.:-]+")


def _read_passes(text: str) -> str:
    for name in text.split(","):
        if not _PASS.fullmatch(name):
            raise Refused(f"{name[:40]!r} is not the name of a fusion rule")
    return text


def parse_parallel(text: str) -> dict[str, int]:
    """Read ``ENGINE:n,ENGINE:n``.

    Raises:
        Refused: for other engines, an engine given twice, or anything but whole numbers from 1.
    """
    parallel: dict[str, int] = {}
    for entry in text.split(","):
        engine, _, number = entry.partition(":")
        if engine not in (*ENGINES, *EARLIER_ENGINES):
            raise Refused(f"{engine[:40]!r} is not an engine")
        if engine in parallel:
            raise Refused(f"the engine {engine} stands in it twice")
        digits = number.isascii() and number.isdigit() and len(number) <= 10
        if not digits or not 1 <= int(number) <= INT32_MAX:
            raise Refused(f"{number[:20]!r} is no number of operators at a time: a whole number from 1")
        parallel[engine] = int(number)
    return parallel


def _read_parallel(text: str) -> str:
    parse_parallel(text)
    return text


HCOM_PARALLEL = Option(
    "hcom_parallel",
    Flag(),
    "Distributed training: whether gradients are all-reduced while the forward and backward passes run.",
    "分布式训练时，Allreduce 梯度更新是否与前后向计算并行执行。",
    scenes=TRAINING,
    defaults=(Default(True, TRAINING),),
    notes=(
        Note("Off is advised for small networks such as ResNet18.", "小网络（如 ResNet18）建议配置为 False。"),
        Note("Earlier releases had it off unless it was given.", "历史版本默认关闭。"),
    ),
)
ENABLE_SMALL_CHANNEL = Option(
    "enable_small_channel",
    IntChoice((Value(0, "off", "关闭"), Value(1, "on", "使能"))),
    "Optimisation of convolutions with at most 4 channels.",
    "channel<=4 的卷积层优化。",
    defaults=(Default(0, TRAINING), Default(1, INFERENCE)),
    notes=(
        Note(
            "Online inference has it on, and it cannot be set there; for training it is not advised.",
            "在线推理时固定使能，不支持配置；训练场景不建议开启。",
        ),
        Note(
            "Only ResNet50, ResNet101 and ResNet152 are known to gain; other networks may get slower.",
            "目前仅 ResNet50、ResNet101、ResNet152 有收益，其他网络性能可能下降。",
        ),
    ),
)
OP_PRECISION_MODE = Option(
    "op_precision_mode",
    Path(PathIs.FILE),
    "File (op_precision.ini) that sets single operators to exact or to fast forms.",
    "按算子设置高精度或高性能模式的配置文件（op_precision.ini）路径。",
    notes=(
        Note(
            "Lines operator=mode below [ByOpType] for types and [ByNodeName] for nodes; nodes go before types.",
            "[ByOpType] 下按算子类型、[ByNodeName] 下按节点名逐行配置“名称=模式”，节点名优先。",
        ),
        Note("high_precision: exact.", "high_precision：高精度。"),
        Note("high_performance: fast.", "high_performance：高性能。"),
        Note(
            "enable_float_32_execution: FP32 inside the operator, not HF32, where HF32 loses too much; Atlas 350, A3 "
            "and A2 only.",
            "enable_float_32_execution：算子内部保持 FP32、不转 HF32，用于 HF32 精度损失过大时；"
            "仅 Atlas 350、A3、A2 支持。",
        ),
        Note(
            "enable_hi_float_32_execution: HF32 inside the operator, smaller and faster; not supported at present.",
            "enable_hi_float_32_execution：算子内部将 FP32 转为 HF32，节省空间、提升性能；当前版本暂不支持。",
        ),
        Note(
            "support_out_of_bound_index: gather, scatter and segment operators check their indices, which is slower.",
            "support_out_of_bound_index：对 gather、scatter、segment 类算子的 indices 做越界校验，性能会降低。",
        ),
        Note(
            "keep_fp16: FP16 inside the operator, not FP32; faster, less exact, and not advised.",
            "keep_fp16：算子内部保持 FP16、不转 FP32，以精度换性能，不建议使用。",
        ),
        Note(
            "super_performance: faster than high_performance, by other formulas.",
            "super_performance：在高性能基础上进一步优化计算公式。",
        ),
        Note(
            "Which modes an operator has stands in opp/built-in/op_impl/ai_core/tbe/impl_mode/all_ops_impl_mode.ini "
            "of the CANN installation.",
            "各算子支持的模式见 CANN 安装目录下 opp/built-in/op_impl/ai_core/tbe/impl_mode/all_ops_impl_mode.ini。",
        ),
        Note(
            "Not together with op_select_implmode and optypelist_for_implmode, which it overrides.",
            "不能与 op_select_implmode、optypelist_for_implmode 同时使用；同时配置时仅本参数生效。",
        ),
        Note(
            "Not needed as a rule; for when neither form makes the network fast or exact enough.",
            "一般无需配置，用于高性能或高精度模式均不理想时调整个别算子。",
        ),
    ),
    file_format="op_precision",
)
ENABLE_SCOPE_FUSION_PASSES = Option(
    "enable_scope_fusion_passes",
    Text(
        "registered names of scope fusion rules joined by commas",
        _read_passes,
        separator=",",
        zh="以英文逗号分隔的 Scope 融合规则注册名",
    ),
    "Scope fusion rules to apply besides the general ones.",
    "编译时额外生效的 Scope 融合规则名，多个以英文逗号分隔。",
    notes=(
        Note(
            "General rules hold for every network; they always apply and cannot be turned off.",
            "通用（General）规则默认生效，不支持关闭。",
        ),
        Note(
            "Other rules, built in or of your own, are for certain networks and apply only when named here.",
            "定制化（Non-General）规则针对特定网络，默认不生效，须在此指定；内置与自定义规则均分这两类。",
        ),
    ),
)
STREAM_MAX_PARALLEL_NUM = Option(
    "stream_max_parallel_num",
    Text(
        "ENGINE:n joined by commas, n from 1; the engines are DNN_VM_AICPU (AI CPU) and AIcoreEngine (AI Core), in "
        "earlier releases DNN_VM_TF and DNN_V100",
        _read_parallel,
        zh="以英文逗号分隔的“引擎名:并行度”，并行度从 1 起；引擎为 DNN_VM_AICPU（AI CPU）和 AIcoreEngine（AI Core），"
        "历史版本为 DNN_VM_TF 和 DNN_V100",
        separator=",",
    ),
    "How many operators the AI CPU and the AI Core engine run at a time.",
    "AI CPU/AI Core 引擎的并行度。",
    defaults=(Default("DNN_VM_AICPU:1,AIcoreEngine:1"),),
    notes=(
        Note("For NMT networks only.", "仅适用于 NMT 网络。"),
        Note(
            "At most the number of AI Cores; 13 in earlier releases.",
            "不能超过 AI Core 的最大核数；历史版本上限为 13。",
        ),
    ),
)
IS_TAILING_OPTIMIZATION = Option(
    "is_tailing_optimization",
    Flag(),
    "Distributed training: whether what does not depend on the last gradient slice is computed while it is reduced.",
    "分布式训练时是否开启通信拖尾优化：不依赖最后一个梯度聚合分片的计算与其并行。",
    scenes=TRAINING,
    defaults=(Default(False, TRAINING),),
    notes=(
        Note("For BERT networks only.", "仅适用于 BERT 网络。"),
        Note(
            "Needs NPUOptimizer, with the same value for its argument of this name.",
            "须与 NPUOptimizer 配合，且与其 is_tailing_optimization 取值一致。",
        ),
    ),
)
VARIABLE_PLACEMENT = Option(
    "variable_placement",
    Choice(
        (
            Value("Device", "on the device", "部署在 Device"),
            Value("Host", "on the host, when the device has too little memory", "部署在 Host，用于 Device 内存不足时"),
        )
    ),
    "Where variables are kept.",
    "Variable 的部署位置。",
    defaults=(Default("Device"),),
    notes=(
        Note("Host needs mix_compile_mode.", "取值为 Host 时须开启 mix_compile_mode。"),
        Note(
            "With Host a network with control flow of V1 (tf.case, tf.cond, tf.while_loop) may fail; call "
            "tf.enable_control_flow_v2() and tf.enable_resource_variables() in the script.",
            "取值为 Host 时，含 tf.case/tf.cond/tf.while_loop 等 V1 控制流的网络可能失败，"
            "需在脚本中调用 tf.enable_control_flow_v2() 和 tf.enable_resource_variables()。",
        ),
    ),
)
FROZEN_VARIABLE = Option(
    "frozen_variable",
    Flag(),
    "Online inference with weights from a checkpoint: whether variables become constants, for fewer copies.",
    "权重保存为 checkpoint 的在线推理中，是否将 variable 转为 const，减少 Host 到 Device 的拷贝。",
    scenes=INFERENCE,
    defaults=(Default(False, INFERENCE),),
)
GRAPH_MAX_PARALLEL_MODEL_NUM = Option(
    "graph_max_parallel_model_num",
    Integer(1, unit="executions at a time", unit_zh="个并行执行"),
    "Online inference: how often a graph may run at the same time, in a thread each.",
    "在线推理中图执行的最大并行次数；大于 1 时启动相应数量的线程并行执行。",
    scenes=INFERENCE,
    defaults=(Default(1, INFERENCE),),
)

OPTIONS = (
    HCOM_PARALLEL, ENABLE_SMALL_CHANNEL, OP_PRECISION_MODE, ENABLE_SCOPE_FUSION_PASSES, STREAM_MAX_PARALLEL_NUM,
    IS_TAILING_OPTIMIZATION, VARIABLE_PLACEMENT, FROZEN_VARIABLE, GRAPH_MAX_PARALLEL_MODEL_NUM,
)  # fmt: skip
