"""Memory options: how memory is taken on the device, and how inputs get there."""

from __future__ import annotations

import typing

from ..products import Product
from .kinds import Flag, IntChoice, Integer, Value
from .model import Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity

_NEWER = frozenset({Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2})

ATOMIC_CLEAN_POLICY = Option(
    "atomic_clean_policy",
    IntChoice(
        (
            Value(0, "all of it at once", "集中清理"),
            Value(1, "operator by operator, for memset memory that is too large", "逐个清理，用于 memset 内存过大时"),
        )
    ),
    "How the memory of the network's memset operators, which are those with that attribute, is cleared.",
    "网络中 memset 算子（含有 memset 属性的算子）所占内存的清理方式。",
    defaults=(Default(0),),
    notes=(Note("1 may cost some performance.", "取 1 时可能损失一定性能。"),),
    run_config="memory_config.atomic_clean_policy",
)
STATIC_MEMORY_POLICY = Option(
    "static_memory_policy",
    IntChoice(
        (
            Value(0, "taken as needed, in the size that is needed", "动态分配，按实际大小申请"),
            Value(1, "of earlier releases, taken as 2", "历史取值，按 2 处理"),
            Value(2, "grows for static shapes; the session's graphs share it", "静态 shape 可扩展，session 内各图复用"),
            Value(3, "grows for dynamic shapes, against fragmentation", "动态 shape 内存可扩展，减少碎片和占用"),
            Value(4, "grows for both", "静态和动态 shape 内存均可扩展"),
        )
    ),
    "How memory is taken while the network runs.",
    "网络运行时的内存分配方式。",
    defaults=(Default(0),),
    notes=(
        Note(
            "With 2 the largest graph decides: when a graph needs more, what the last one had is freed and taken anew.",
            "取 2 时以最大图为准：当前图需要更多内存时，释放前一张图的内存后重新申请。",
        ),
        Note("2 and 4 are not supported where graphs run concurrently.", "多张图并发执行时不支持 2 和 4。"),
        Note("3 and 4 save memory and may cost performance.", "3 和 4 节省内存，但可能损失性能。"),
    ),
    run_config="memory_config.static_memory_policy",
)
VARIABLE_USE_1G_HUGE_PAGE = Option(
    "variable_use_1g_huge_page",
    IntChoice(
        (
            Value(0, "pages of 4 KB or 2 MB, as the system has them", "使用系统默认的 4K 或 2M 页"),
            Value(1, "pages of 1 GB; the run ends when there are none", "使用 1G 大页，申请失败则终止业务"),
            Value(
                2,
                "pages of 1 GB, else of 2 MB; the run ends without either",
                "1G 大页，失败改用 2M 页，再失败则终止",
            ),
        )
    ),
    "Page size of the memory of variables and constants.",
    "变量和常量申请内存所用的页大小。",
    products=_NEWER,
    defaults=(Default(0),),
    notes=(
        Note(
            "For recommendation models whose large embedding variables are read or written by Gather, ScatterNd and "
            "the like: scattered accesses get faster, as fewer pages need fewer entries of the TLB.",
            "适用于推荐模型：Gather、ScatterNd 等索引类算子离散访问大块 Embedding 变量时，"
            "大页减少页表项、扩大 TLB 覆盖范围，提升访存性能。",
        ),
        Note("A failure to get pages of 1 GB is logged as ERROR.", "1G 大页申请失败时打印 ERROR 日志。"),
    ),
    run_config="memory_config.variable_use_1g_huge_page",
)
EXTERNAL_WEIGHT = Option(
    "external_weight",
    Flag(),
    "Whether the weights in Const and Constant nodes are kept in files that several models of a session share.",
    "是否将 Const/Constant 节点的权重外置为文件，供同一 session 内的多个模型复用。",
    defaults=(Default(False),),
    notes=(
        Note(
            "When on, weights are written to files named weight_<hash> and their nodes become FileConstant.",
            "开启后权重落盘为“weight_<hash值>”文件，节点转换为 FileConstant。",
        ),
        Note(
            "Files go to tmp_weight_<pid>_<sessionid> below ASCEND_WORK_PATH when that is set, else below the working "
            "directory; the folder goes when the model is unloaded.",
            "文件位于 tmp_weight_<pid>_<sessionid> 目录，在 ASCEND_WORK_PATH 下，未设置时在当前执行目录下；"
            "模型卸载时自动删除。",
        ),
        Note(
            "Of use where memory for loading models is short; not needed as a rule.",
            "一般无需配置，用于加载模型时内存受限的环境。",
        ),
    ),
)
INPUT_FUSION_SIZE = Option(
    "input_fusion_size",
    Integer(0, 33554432, "bytes", "字节"),
    "Inputs up to this size are copied to the device together, larger ones by themselves; 0 copies each by itself.",
    "Host 到 Device 输入合并拷贝的阈值：不大于阈值的输入合并拷贝，其余单独拷贝；0 表示关闭。",
    defaults=(Default(131072),),
    notes=(
        Note("For graphs of static shape only.", "仅对静态 shape 图生效。"),
        Note(
            "Each input is compared with the size by itself: with 102400 two inputs of 100 KB and two of 50 KB make "
            "one copy of 300 KB, and larger ones a copy each.",
            "逐个输入与阈值比较：阈值 100KB 时，两个 100KB 和两个 50KB 的输入合并为 300KB 一次拷贝，更大的各自拷贝。",
        ),
    ),
)
INPUT_BATCH_CPY = Option(
    "input_batch_cpy",
    Flag(),
    "Whether several inputs are copied to the device in a batch.",
    "Host 到 Device 搬运多个输入时是否批量拷贝。",
    products=_NEWER,
    defaults=(Default(False),),
    notes=(
        Note(
            "For data that are moved often while PCIe has bandwidth left.",
            "适用于频繁搬运数据且 PCIe 带宽利用率较低的场景。",
        ),
        Note("Of no effect on a network with a single input.", "网络初始输入仅 1 个时不生效。"),
        Note(
            "Inputs that input_fusion_size merges are not in the batch; one that alone is left over is no batch.",
            "被 input_fusion_size 合并的输入不参与批量拷贝；若只剩一个输入，则不做批量拷贝。",
        ),
    ),
)

POLICY_OF_EARLIER_RELEASES = Rule(
    "NPU210", "rounded", "static_memory_policy 1 is taken as 2, for the sake of earlier releases.", Severity.WARNING
)


def _policy_of_earlier_releases(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(STATIC_MEMORY_POLICY.name) == 1:
        yield problem(
            POLICY_OF_EARLIER_RELEASES,
            STATIC_MEMORY_POLICY,
            "taken as 2",
            value=1,
            fix=f"{STATIC_MEMORY_POLICY.name}=2",
        )


GROUP = Group(
    "memory",
    "Memory management",
    "内存管理",
    (
        ATOMIC_CLEAN_POLICY, STATIC_MEMORY_POLICY, VARIABLE_USE_1G_HUGE_PAGE, EXTERNAL_WEIGHT, INPUT_FUSION_SIZE,
        INPUT_BATCH_CPY,
    ),
    (POLICY_OF_EARLIER_RELEASES,),
    (_policy_of_earlier_releases,),
)  # fmt: skip
