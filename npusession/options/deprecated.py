"""Options that the reference announces to drop."""

from __future__ import annotations

from .deprecated_values import read_memory, read_shape_ranges
from .kinds import Choice, Flag, IntChoice, Text, Value
from .model import TRAINING, Default, Note, Option, Scope, Status

#: The operator types that op_select_implmode can be narrowed to.
IMPLMODE_TYPES = ("Pooling", "SoftmaxV2", "LRN", "ROIAlign")

_DYNAMIC = "leave it out; give inputs of dynamic shape through set_graph_exec_config"
_MEMORY = "leave it out; memory is taken as it is needed"

OP_DEBUG_LEVEL = Option(
    "op_debug_level",
    IntChoice(
        (
            Value(0, "off", "关闭"),
            Value(
                1,
                "keep .cce, .o, .json files and the mapping of CCE to Python in kernel_meta",
                "在 kernel_meta 中保留 .cce、python-cce 映射、.o 和 .json 文件",
            ),
            Value(
                2,
                "as 1, compiled with -O0 -g; not together with oom in op_debug_config",
                "同 1，并以 -O0 -g 编译；不能与 op_debug_config 的 oom 同时使用",
            ),
            Value(3, "off, but keep .o and .json files", "不调试，仅保留 .o 和 .json 文件"),
            Value(
                4,
                "off, but keep .o, .json and .cce files and the description of UB fusion, <kernel>_compute.json",
                "不调试，保留 .o、.json、.cce 以及 UB 融合计算描述文件 <kernel>_compute.json",
            ),
        )
    ),
    "Debugging of operators, to find the cause of AI Core errors.",
    "算子 debug 开关，用于定位 AI Core Error。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="leave it out, and use op_debug_config for debugging",
    notes=(
        Note(
            "0 or 3 is advised for training; 1 and 2 slow it down.",
            "训练时建议 0 或 3；1、2 会降低性能，仅在定位问题时使用。",
        ),
        Note(
            "Left out, none of this is done. Earlier releases had no 4.",
            "默认为空，即不使能。历史版本没有取值 4，默认为 0。",
        ),
        Note(
            "Atlas 350 writes no mapping files for 1, 2 and 4, and no description of UB fusion for 4.",
            "Atlas 350 加速卡在取 1、2、4 时不生成 TBE 映射文件，取 4 时也不生成 UB 融合描述文件。",
        ),
        Note(
            "With 0 and op_debug_config given, kernel_meta is written all the same, as op_debug_config says.",
            "取 0 但配置了 op_debug_config 时，仍生成 kernel_meta，内容以 op_debug_config 为准。",
        ),
        Note(
            "With 0 and NPU_COLLECT_PATH set, kernel_meta is written too: to ASCEND_WORK_PATH, else where the command "
            "runs.",
            "取 0 但设置了 NPU_COLLECT_PATH 时也会生成 kernel_meta，位于 ASCEND_WORK_PATH，"
            "否则位于执行命令的当前路径。",
        ),
        Note(
            "2 enlarges kernels; on dynamic shapes linking may fail for it (InputSection too large). Leave it out "
            "there.",
            "取 2 会增大 Kernel 文件，动态 shape 场景可能因文件过大而无法编译，建议不要使用。",
        ),
        Note(
            "2 with oom ends in an AI Core error (error code 0x4).",
            "取 2 且开启 oom 会触发 AI Core Error（error code = 0x4）。",
        ),
        Note(
            "With any value but 0, debug_dir says where the files go.",
            "取值不为 0 时，文件存放路径可由 debug_dir 指定。",
        ),
        Note(
            "No files appear for MatMulAllReduce, MatMulAllReduceAddRmsNorm, AllGatherMatMul, MatMulReduceScatter, "
            "AlltoAllAllGatherBatchMatMul and BatchMatMulReduceScatterAlltoAll.",
            "通算融合算子 MatMulAllReduce、MatMulAllReduceAddRmsNorm、AllGatherMatMul、MatMulReduceScatter、"
            "AlltoAllAllGatherBatchMatMul、BatchMatMulReduceScatterAlltoAll 不生成上述文件。",
        ),
    ),
)
ENABLE_DATA_PRE_PROC = Option(
    "enable_data_pre_proc",
    Flag(),
    "Performance: whether the GetNext operator runs on the device.",
    "性能调优：GetNext 算子是否下沉到 AI 处理器执行。",
    scenes=TRAINING,
    defaults=(Default(False),),
    status=Status.DEPRECATED,
    instead="leave it out",
    notes=(
        Note("The data must come from a TensorFlow Dataset.", "前提是使用 TensorFlow Dataset 方式读数据。"),
        Note(
            "Loops of several training steps on the device need GetNext there.",
            "GetNext 下沉是训练迭代循环下沉的必要条件。",
        ),
    ),
)
VARIABLE_FORMAT_OPTIMIZE = Option(
    "variable_format_optimize",
    Flag(),
    "Performance: whether variables are turned into a format that suits the NPU when they are initialised.",
    "性能调优：变量初始化时是否转换为更适合 NPU 的数据格式。",
    scenes=TRAINING,
    status=Status.DEPRECATED,
    instead="leave it out",
    notes=(
        Note(
            "For instance NCHW to NC1HWC0; switch it off where the format has to stay as it is.",
            "例如由 NCHW 转为 NC1HWC0；有特殊要求时可关闭。",
        ),
        Note("Left out, this is not enabled.", "默认为空，即不使能。"),
    ),
)
OP_SELECT_IMPLMODE = Option(
    "op_select_implmode",
    Choice(
        (
            Value(
                "high_precision",
                "more exact for float16 input, through series or iteration",
                "高精度实现：float16 输入时以泰勒展开、牛顿迭代等提升精度",
            ),
            Value(
                "high_performance",
                "fastest for float16 input without loss of the network's accuracy",
                "高性能实现：float16 输入时在不影响网络精度的前提下性能最优",
            ),
        )
    ),
    "Performance: whether built-in operators are taken in their exact or in their fast form.",
    "性能调优：选择内置算子的高精度实现或高性能实现。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="use op_precision_mode",
    notes=(
        Note(
            "Left out, neither is chosen; the page of initialize_system and earlier releases name high_performance as "
            "the default.",
            "默认为空，即不使能；initialize_system 页面和历史版本给出的默认值为 high_performance。",
        ),
    ),
)
OPTYPELIST_FOR_IMPLMODE = Option(
    "optypelist_for_implmode",
    Text(
        "operator types joined by commas; supported are {}".format(", ".join(IMPLMODE_TYPES)),
        separator=",",
        zh="以英文逗号分隔的算子类型，支持 {}".format("、".join(IMPLMODE_TYPES)),
    ),
    "Performance: the operator types that op_select_implmode applies to.",
    "性能调优：op_select_implmode 生效的算子类型列表，以英文逗号分隔。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="use op_precision_mode",
    notes=(
        Note("Goes together with op_select_implmode.", "须与 op_select_implmode 配合使用。"),
        Note("Left out, this is not enabled.", "默认为空，即不使能。"),
    ),
)
DYNAMIC_INPUT = Option(
    "dynamic_input",
    Flag(),
    "Whether the network's inputs change their shape.",
    "网络输入是否为动态输入。",
    defaults=(Default(False),),
    status=Status.DEPRECATED,
    instead=_DYNAMIC,
)
DYNAMIC_GRAPH_EXECUTE_MODE = Option(
    "dynamic_graph_execute_mode",
    Choice(
        (
            Value(
                "dynamic_execute",
                "compiled once, for the ranges of dynamic_inputs_shape_range",
                "按 dynamic_inputs_shape_range 的 shape 范围编译",
            ),
            # Of earlier releases; the runtime still takes it, and published scripts give it.
            Value(
                "lazy_recompile",
                "compiled again for each new shape (earlier releases)",
                "遇到新的 shape 时重新编译（历史版本）",
            ),
        )
    ),
    "How graphs with dynamic inputs are compiled.",
    "动态输入场景下的执行模式。",
    defaults=(Default("dynamic_execute"),),
    status=Status.DEPRECATED,
    instead=_DYNAMIC,
    notes=(Note("Takes effect with dynamic_input on.", "dynamic_input 为 True 时生效。"),),
)
DYNAMIC_INPUTS_SHAPE_RANGE = Option(
    "dynamic_inputs_shape_range",
    Text(
        "shapes of dataset inputs after getnext:, of placeholders after data:, parts joined by ;, "
        "such as getnext:[128,3~5,-1],[64];data:[]",
        read_shape_ranges,
        zh="dataset 输入的 shape 写在 getnext: 之后，placeholder 输入写在 data: 之后，以英文分号分隔，"
        "如 getnext:[128,3~5,-1],[64];data:[]",
    ),
    "The ranges in which the shapes of inputs change.",
    "动态输入的 shape 范围。",
    status=Status.DEPRECATED,
    instead=_DYNAMIC,
    notes=(
        Note(
            "An axis is a number, a range such as 3~5, or -1 for no limit; a scalar is [] with no blank before it.",
            "固定维度写数字，范围用波浪号（如 3~5），不限范围写 -1；标量写 []，其前不允许有空格。",
        ),
        Note(
            "Dataset inputs are named getnext, placeholders data, nothing else.",
            "dataset 输入固定标识为 getnext，placeholder 输入固定标识为 data。",
        ),
        Note("Inputs of fixed shape have to be listed as well.", "固定 shape 的输入也要填写。"),
        Note("Constants cannot be inputs.", "不支持将常量设置为用户输入。"),
        Note(
            "Dataset inputs stand in the order of the dataset. Placeholders stand in the order of the script, or by "
            "the alphabet where they are named.",
            "多个 dataset 输入保持原有顺序；多个 placeholder 未指定 name 时按脚本定义顺序，"
            "指定了 name 时按 name 的字母序。",
        ),
        Note(
            "Placeholders without names are called xxx_0, xxx_1 and so on, and xxx_10 sorts before xxx_2: name them "
            "when there are more than ten.",
            "未命名的 placeholder 按 xxx_0、xxx_1…… 命名并按字母序排列（xxx_10 在 xxx_2 之前），"
            "超过 10 个时建议指定 name。",
        ),
        Note(
            "Holds for a single graph; subgraphs with other inputs may fail, for these use set_graph_exec_config.",
            "该参数针对单张图，存在不同输入 shape 的子图时可能执行异常，建议使用 set_graph_exec_config。",
        ),
        Note("Has no effect beside dynamic_dims.", "不允许与 dynamic_dims 同时使用，同时配置时本参数不生效。"),
    ),
)
GRAPH_MEMORY_MAX_SIZE = Option(
    "graph_memory_max_size",
    Text(
        "0 to 274877906944 bytes, also as a product such as 16 * 1024 * 1024 * 1024",
        read_memory,
        zh="0 到 274877906944 字节，也可写作乘积，如 16 * 1024 * 1024 * 1024",
    ),
    "Without effect: once the memory for static parts and the most for dynamic ones.",
    "不再生效：历史版本用于指定网络静态内存和最大动态内存。",
    status=Status.DEPRECATED,
    instead=_MEMORY,
    notes=(
        Note(
            "Earlier releases took 26 GB by default, and at most 31 GB together with variable_memory_max_size.",
            "历史版本默认 26 GB，与 variable_memory_max_size 之和不超过 31 GB。",
        ),
    ),
)
VARIABLE_MEMORY_MAX_SIZE = Option(
    "variable_memory_max_size",
    Text(
        "0 to 274877906944 bytes, also as a product such as 5 * 1024 * 1024 * 1024",
        read_memory,
        zh="0 到 274877906944 字节，也可写作乘积，如 5 * 1024 * 1024 * 1024",
    ),
    "Without effect: once the memory for variables.",
    "不再生效：历史版本用于指定变量内存。",
    status=Status.DEPRECATED,
    instead=_MEMORY,
    notes=(
        Note(
            "Earlier releases took 5 GB by default, and at most 31 GB together with graph_memory_max_size.",
            "历史版本默认 5 GB，与 graph_memory_max_size 之和不超过 31 GB。",
        ),
    ),
)
