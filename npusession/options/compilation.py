"""Options of compiling operators and graphs: the cache of operators, cores, constant folding."""

from __future__ import annotations

import typing

from ..products import Product
from .check_value import path_problems
from .debugging import OP_DEBUG_CONFIG
from .deprecated import OP_DEBUG_LEVEL
from .experimental_compiling import JIT_COMPILE
from .kinds import Choice, Flag, Path, PathIs, Value
from .model import Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity
from .shapes import Numbers
from .sidefiles import text_at

#: Space for the cache in MB, and the share of it in percent that stays when the oldest files are deleted.
CACHE_SIZE = "ASCEND_MAX_OP_CACHE_SIZE"
CACHE_RATIO = "ASCEND_REMAIN_CACHE_SIZE_RATIO"

OP_COMPILER_CACHE_MODE = Option(
    "op_compiler_cache_mode",
    Choice(
        (
            Value(
                "enable",
                "operators compiled before, with the same settings, come from the disk",
                "启用，相同编译参数的算子复用缓存",
            ),
            Value("force", "the cache is deleted, and filled anew", "启用，先删除已有缓存再重新编译并缓存"),
            Value("disable", "every operator is compiled", "禁用"),
        )
    ),
    "Whether compiled operators are cached on the disk.",
    "算子编译磁盘缓存模式。",
    defaults=(Default("enable"),),
    notes=(
        Note("op_compiler_cache_dir says where the cache is.", "缓存目录由 op_compiler_cache_dir 指定。"),
        Note(
            "Use force once after Python, libraries or the tuning knowledge base changed, then enable again.",
            "Python、依赖库或调优知识库变更后先用 force 清理一次，再改回 enable。",
        ),
        Note(
            "Not force while programs compile at the same time: others may lose what they use and fail.",
            "程序并行编译时不建议用 force，可能使其他模型因缓存被清除而编译失败。",
        ),
        Note("disable or force is advised when a model is released.", "模型最终发布时建议设为 disable 或 force。"),
        Note(
            "Ignored, and every operator compiled, when op_debug_level is not 0, or op_debug_config names a file "
            "without op_debug_list.",
            "op_debug_level 非 0，或 op_debug_config 的文件中没有 op_debug_list 时，本配置被忽略，算子全部重编。",
        ),
        Note(
            "With op_debug_list in that file, enable and force compile the listed operators and take the others from "
            "the cache.",
            "配置文件中有 op_debug_list 时，enable 和 force 下仅列表内的算子重新编译，其余使用缓存。",
        ),
        Note(
            "The cache has 500 MB; when they do not suffice, files are deleted until 50 % are left.",
            "缓存默认占用 500MB 磁盘空间，不足时删除文件，保留 50%。",
        ),
        Note(
            "op_cache.ini, which appears in op_compiler_cache_dir and may be made by hand, sets both: below "
            "[op_compiler_cache] max_op_cache_size in MB and remain_cache_size_ratio, 1 to 100 percent. Both must be "
            "valid, or the file does not count.",
            "op_compiler_cache_dir 下自动生成（也可手动创建）的 op_cache.ini 可修改二者：[op_compiler_cache] 下的 "
            "max_op_cache_size（MB）与 remain_cache_size_ratio（1 到 100，百分比），两项均有效时文件才生效。",
        ),
        Note(
            "ASCEND_MAX_OP_CACHE_SIZE and ASCEND_REMAIN_CACHE_SIZE_RATIO set the same; the file goes before them.",
            "环境变量 ASCEND_MAX_OP_CACHE_SIZE、ASCEND_REMAIN_CACHE_SIZE_RATIO 作用相同，op_cache.ini 优先。",
        ),
        Note(
            "Above that size, files that nobody used for half an hour are deleted; compiling goes on, so that a small "
            "size may be exceeded. -1 keeps all files, with the size as by default; times of access are not kept then.",
            "超过该大小且半小时未访问的缓存文件会老化；编译不会因超限中断，设置过小时实际可能超出。"
            "设为 -1 则关闭老化，不再更新访问时间，磁盘空间按默认大小。",
        ),
        Note(
            "Everybody who uses the directory shares its op_cache.ini.",
            "多个使用者共用缓存路径时，op_cache.ini 影响所有人。",
        ),
    ),
)
OP_COMPILER_CACHE_DIR = Option(
    "op_compiler_cache_dir",
    Path(PathIs.CREATED, plain=True),
    "Directory of the cache of compiled operators.",
    "算子编译磁盘缓存的目录。",
    notes=(
        Note(
            "The directory is made when it is not there, and kernel_cache in it.",
            "目录不存在时自动创建，并在其下创建子目录 kernel_cache。",
        ),
        Note(
            "Left out, the cache is in kernel_cache below ASCEND_CACHE_PATH, else in $HOME/atc_data.",
            "未配置时依次取 ${ASCEND_CACHE_PATH}/kernel_cache、$HOME/atc_data。",
        ),
    ),
    replaces=("ASCEND_CACHE_PATH",),
)
AICORE_NUM = Option(
    "aicore_num",
    Numbers(
        "two numbers from 1 joined by |: Cube Cores and Vector Cores, such as 2|4",
        "|",
        minimum=1,
        count=2,
        zh="以 | 分隔的两个正整数：Cube Core 数和 Vector Core 数，如 2|4",
    ),
    "The most Cube Cores and Vector Cores that operators are compiled for.",
    "算子编译时使用的最大 Cube Core 数和最大 Vector Core 数，以“|”分隔。",
    products=frozenset({Product.ATLAS_A3, Product.ATLAS_A2}),
    notes=(
        Note("No more than the processor has of each.", "均不能超过 AI 处理器所含的相应核数。"),
        Note(
            "How many it has stands in <arch>-linux/data/platform_config/<soc_version>.ini of the CANN installation: "
            "cube_core_cnt and vector_core_cnt below [SoCInfo].",
            "核数见 CANN 安装目录下 <arch>-linux/data/platform_config/<soc_version>.ini 的 [SoCInfo]："
            "cube_core_cnt、vector_core_cnt。",
        ),
        Note(
            'Without effect on static shapes when jit_compile is "false", as operators are not compiled then.',
            "静态 shape 且 jit_compile 为 false（复用已有算子二进制）时不生效。",
        ),
    ),
)
OO_CONSTANT_FOLDING = Option(
    "oo_constant_folding",
    Flag(),
    "Whether constant expressions are computed when the graph is compiled.",
    "是否启用常量折叠：图编译时直接计算常量表达式并替换。",
    defaults=(Default(True),),
    notes=(
        Note("On is advised; it saves memory as a rule.", "一般建议保持启用，可降低内存占用。"),
        Note(
            "Off is for networks short of memory that folding makes larger: constants live as long as the graph.",
            "常量内存存在于图的整个生命周期；若折叠反而增加总内存，可考虑关闭。",
        ),
        Note(
            "On, a node with Grappler's attribute _grappler_do_not_remove is not folded, and the others are.",
            "启用时，带 Grappler 属性 _grappler_do_not_remove 的节点不折叠，其余照常折叠。",
        ),
        Note(
            "Off fails for networks with operators that have to be folded: a log line that a node should be deleted by "
            "ge (ExpandDims), or error EZ3003, no kernel found (ConvBnFilterHost). Leave it on there, and keep single "
            "nodes with that attribute.",
            "网络中有必须折叠的算子时不能关闭：日志提示节点 should be deleted by ge（如 ExpandDims），或报 EZ3003（如 "
            "ConvBnFilterHost）。此时应保持启用，并用该属性单独关闭某些节点。",
        ),
    ),
)

CACHE_IGNORED = Rule("NPU226", "no-effect", "Operators that are debugged are compiled anew, whatever the cache has.")
CORES_IGNORED = Rule(
    "NPU227", "no-effect", "On static shapes aicore_num counts only for operators that are compiled.", Severity.WARNING
)
CACHE_VARIABLE = Rule(
    "NPU405", "bad-environment", "The size and the share of the cache are whole numbers.", Severity.WARNING
)


def _cache_ignored(settings: Settings) -> typing.Iterator[Problem]:
    mode = settings.get(OP_COMPILER_CACHE_MODE.name)
    if mode not in ("enable", "force"):
        return
    because = []
    level = settings.get(OP_DEBUG_LEVEL.name, 0)
    if level != 0:
        because.append(f"{OP_DEBUG_LEVEL.name}={level}")
    if _lists_operators(settings) is False:
        because.append(f"{OP_DEBUG_CONFIG.name}, whose file has no op_debug_list")
    if because:
        yield problem(
            CACHE_IGNORED,
            OP_COMPILER_CACHE_MODE,
            "ignored because of {}".format(" and ".join(because)),
            value=mode,
            fix=f"leave out {OP_COMPILER_CACHE_MODE.name}, or what debugs operators",
        )


def _lists_operators(settings: Settings) -> bool | None:
    """Tell whether the file of op_debug_config has an op_debug_list, ``None`` when there is none to be read."""
    file: object = settings.get(OP_DEBUG_CONFIG.name)
    operators = getattr(file, "operators", None)
    if isinstance(operators, tuple):
        return bool(operators)
    # A plan may be made for another host, where another file is in that place.
    text = text_at(file) if settings.host else None
    if text is None:
        return None
    entries = (line.partition("=") for line in text.splitlines())
    return any(name.strip() == "op_debug_list" and value.strip() for name, _, value in entries)


def _cores_ignored(settings: Settings) -> typing.Iterator[Problem]:
    if AICORE_NUM.name in settings and settings.get(JIT_COMPILE.name) == "false":
        yield problem(
            CORES_IGNORED,
            AICORE_NUM,
            f'without effect on static shapes, as {JIT_COMPILE.name} is "false"',
            value=settings[AICORE_NUM.name],
            fix=f'{JIT_COMPILE.name}="true"',
        )


def _cache_variables(settings: Settings) -> typing.Iterator[Problem]:
    for name, low, high, also in ((CACHE_SIZE, 1, 2**31 - 1, "-1"), (CACHE_RATIO, 1, 100, "")):
        value = settings.environ.get(name, "")
        if value in ("", also):
            continue
        if not (value.isascii() and value.isdigit() and len(value) <= 10 and low <= int(value) <= high):
            yield problem(
                CACHE_VARIABLE,
                name,
                "not a size" if also else "not a share",
                value=value,
                allowed="MB from 1, or -1 to keep every file" if also else "1 to 100 percent",
                fix=f"unset {name}",
            )


def _directory(settings: Settings) -> typing.Iterator[Problem]:
    return path_problems(OP_COMPILER_CACHE_DIR, settings)


GROUP = Group(
    "compilation",
    "Compiling operators and graphs",
    "算子编译与图编译",
    (OP_COMPILER_CACHE_MODE, OP_COMPILER_CACHE_DIR, AICORE_NUM, OO_CONSTANT_FOLDING),
    (CACHE_IGNORED, CORES_IGNORED, CACHE_VARIABLE),
    (_cache_ignored, _cores_ignored, _cache_variables, _directory),
)
