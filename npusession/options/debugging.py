"""Debugging options: dumps of failing operators, memory checks, and the files that compiling leaves behind."""

from __future__ import annotations

import typing

from .check_value import path_problems
from .deprecated import OP_DEBUG_LEVEL
from .kinds import IntChoice, Path, PathIs, Value
from .model import Default, Group, Note, Option, Scope, Settings, problem
from .problems import Problem, Rule, Severity
from .sidefiles import text_at
from .variables import COLLECT_PATH

WORK_PATH = "ASCEND_WORK_PATH"

ENABLE_EXCEPTION_DUMP = Option(
    "enable_exception_dump",
    IntChoice(
        (
            Value(0, "no dump", "关闭"),
            Value(
                1,
                "the full form: inputs, outputs, workspace, and shape, type and format of the tensors",
                "普通 ExceptionDump：输入输出、workspace 以及 tensor 的 shape、dtype、format 等",
            ),
            Value(
                2,
                "the light form for AI Core errors: inputs, outputs, workspace and tiling",
                "LiteExceptionDump：输入输出、workspace、Tiling 等，用于定位 AI Core Error",
            ),
        )
    ),
    "Whether the data of an operator that fails are dumped.",
    "是否 dump 异常算子的数据。",
    scope=Scope.INIT,
    defaults=(Default(2),),
    notes=(
        Note(
            "NPU_COLLECT_PATH in the environment forces 1, whatever the option says, and takes the files.",
            "设置环境变量 NPU_COLLECT_PATH 后，不论取值一律按 1 处理，数据存到该变量指定的目录。",
        ),
        Note(
            "Files of 1 go to NPU_COLLECT_PATH, else ASCEND_WORK_PATH, else extra-info in the working directory.",
            "取 1 时的落盘路径：NPU_COLLECT_PATH，其次 ASCEND_WORK_PATH，再次为执行目录下的 extra-info。",
        ),
        Note(
            "Files of 2 go to ASCEND_WORK_PATH, else extra-info/data-dump/<device_id> in the working directory.",
            "取 2 时的落盘路径：ASCEND_WORK_PATH，其次为执行目录下的 extra-info/data-dump/<device_id>。",
        ),
        Note(
            "With 1 beside enable_dump or enable_dump_debug, networks of dynamic shape get this dump alone; "
            "networks of static shape get both.",
            "取 1 且同时开启 enable_dump 或 enable_dump_debug 时，动态 shape 网络仅本项生效，"
            "静态 shape 网络两者都生效。",
        ),
        Note("Earlier releases had no 2, and 0 unless it was given.", "历史版本没有取值 2，默认为 0。"),
    ),
    yields_to={COLLECT_PATH: 1},
)
OP_DEBUG_CONFIG = Option(
    "op_debug_config",
    Path(PathIs.FILE),
    "Checks of global memory and debugging of operators, from a file of words joined by commas.",
    "Global Memory 检测与算子调试开关，取值为 .cfg 文件路径，文件内的选项以英文逗号分隔。",
    notes=(
        Note(
            "oom: find accesses outside of global memory when operators run; keeps .o and .json files in kernel_meta. "
            "A hit gives error EZ9999.",
            "oom：算子执行时检测 Global Memory 越界，kernel_meta 中保留 .o 和 .json；越界时报 EZ9999。",
        ),
        Note("dump_cce: keep .cce, .o and .json files.", "dump_cce：保留 .cce、.o、.json 文件。"),
        Note(
            "dump_loc: the same, and the mapping of Python to CCE, *_loc.json.",
            "dump_loc：在 dump_cce 基础上再保留 python-cce 映射文件 *_loc.json。",
        ),
        Note("ccec_O0: compile with -O0, nothing optimised.", "ccec_O0：以 -O0 编译，不做任何优化。"),
        Note(
            "ccec_g: compile with -g, debug information of optimised code.",
            "ccec_g：以 -g 编译，生成优化后的调试信息。",
        ),
        Note(
            "check_flag: find synchronisation signals in an operator's pipelines that do not match; keeps .o and .json "
            "files. The operator at fault runs into a timeout.",
            "check_flag：检测算子内流水线同步信号是否匹配，保留 .o 和 .json；不匹配时在相应算子处超时报错。",
        ),
        Note(
            "The code of oom and check_flag can be read in the .cce files that dump_cce keeps.",
            "oom 与 check_flag 插入的检测代码可配合 dump_cce 在 .cce 文件中查看。",
        ),
        Note(
            "op_debug_list in the same file limits all this to operators by name or as OpType::type, joined by commas; "
            "only these are compiled.",
            "同一文件中的 op_debug_list 可限定只编译哪些算子：算子名或 OpType::类型，英文逗号分隔，可混用。",
        ),
        Note(
            "ccec_O0 and ccec_g enlarge kernels; on dynamic shapes linking may fail for it (InputSection too large). "
            "Leave them out there.",
            "ccec_O0、ccec_g 会增大 Kernel 文件，动态 shape 场景可能因文件过大而无法编译，建议不要开启。",
        ),
        Note(
            "ccec_O0 and oom together end in an AI Core error (error code 0x4).",
            "ccec_O0 与 oom 不能同时开启，否则触发 AI Core Error（error code = 0x4）。",
        ),
        Note("oom cannot be used while NPU_COLLECT_PATH is set.", "设置了 NPU_COLLECT_PATH 时不支持 oom。"),
        Note(
            "debug_dir moves the files of dump_cce and dump_loc.",
            "dump_cce、dump_loc 的文件可由 debug_dir 指定存放路径。",
        ),
        Note(
            "With oom, dump_cce or dump_loc no files appear for MatMulAllReduce, MatMulAllReduceAddRmsNorm, "
            "AllGatherMatMul, MatMulReduceScatter, AlltoAllAllGatherBatchMatMul and BatchMatMulReduceScatterAlltoAll.",
            "配置 oom、dump_cce、dump_loc 时，通算融合算子 MatMulAllReduce、MatMulAllReduceAddRmsNorm、"
            "AllGatherMatMul、MatMulReduceScatter、AlltoAllAllGatherBatchMatMul、BatchMatMulReduceScatterAlltoAll "
            "不生成上述文件。",
        ),
    ),
    file_format="op_debug",
)
DEBUG_DIR = Option(
    "debug_dir",
    Path(PathIs.PLACE),
    "Directory for what compiling operators leaves behind: .o, .json and .cce files.",
    "算子编译产生的调试过程文件（.o、.json、.cce 等）的存放路径。",
    notes=(
        Note(
            "Left out, the files go to ASCEND_WORK_PATH, else to the working directory.",
            "未配置时依次取 ASCEND_WORK_PATH、当前脚本执行路径。",
        ),
    ),
    replaces=(WORK_PATH,),
)
EXPORT_COMPILE_STAT = Option(
    "export_compile_stat",
    IntChoice(
        (
            Value(0, "no file", "不生成"),
            Value(1, "written when the program ends normally", "程序正常退出时生成"),
            Value(
                2,
                "written once graphs are compiled, even if the program dies later",
                "图编译完成即生成，之后中断也保留",
            ),
        )
    ),
    "Whether the fusions of operators that took place are written to fusion_result.json.",
    "是否生成记录算子融合信息的 fusion_result.json。",
    defaults=(Default(1),),
    notes=(
        Note(
            "The file lies in the working directory, or with ASCEND_WORK_PATH set in $ASCEND_WORK_PATH/FE/<pid>.",
            "文件位于当前执行目录；设置 ASCEND_WORK_PATH 时位于 $ASCEND_WORK_PATH/FE/<进程号>。",
        ),
        Note(
            "Its keys: session_and_graph_id_*_* (thread and graph), graph_fusion, ub_fusion, match_times (rule "
            "matched), effect_times (rule applied), repository_hit_times (hits of the knowledge base).",
            "字段：session_and_graph_id_*_*（线程与图编号）、graph_fusion、ub_fusion、match_times（匹配次数）、"
            "effect_times（生效次数）、repository_hit_times（命中知识库次数）。",
        ),
        Note(
            "Atlas 350 has no UB fusion, so ub_fusion and repository_hit_times are missing there.",
            "Atlas 350 加速卡不支持 UB 融合，没有 ub_fusion 和 repository_hit_times。",
        ),
        Note("Rules that fusion_switch_file turns off do not appear.", "fusion_switch_file 关闭的规则不会出现。"),
    ),
)

OOM_AND_LEVEL = Rule("NPU250", "conflict", "oom in op_debug_config and op_debug_level 2 exclude each other.")
COLLECTING = Rule(
    "NPU425", "bad-environment", "NPU_COLLECT_PATH forces an exception dump of 1.", severity=Severity.WARNING
)
OOM_COLLECTING = Rule("NPU426", "bad-environment", "oom in op_debug_config fails while NPU_COLLECT_PATH is set.")


def op_debug_words(file: object) -> frozenset[str] | None:
    """Return the words in a side file, given by its path or as a value; ``None`` when it cannot be read here."""
    typed = getattr(file, "words", None)
    if isinstance(typed, tuple):
        return frozenset(typed)
    text = text_at(file)
    if text is None:
        return None
    words: set[str] = set()
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.strip() == OP_DEBUG_CONFIG.name:
            words.update(word.strip() for word in value.split(","))
    return frozenset(words - {""})


def _oom(settings: Settings) -> typing.Iterator[Problem]:
    # ccec_O0 beside oom is found when the file itself is checked.
    if "oom" not in (op_debug_words(settings.get(OP_DEBUG_CONFIG.name)) or ()):
        return
    if settings.get(OP_DEBUG_LEVEL.name) == 2:
        yield problem(
            OOM_AND_LEVEL,
            OP_DEBUG_LEVEL,
            f"2 together with oom in {OP_DEBUG_CONFIG.name}, which ends in an AI Core error",
            value=2,
            fix=f"leave out {OP_DEBUG_LEVEL.name}, or take oom out of the file",
        )
    if settings.environ.get(COLLECT_PATH):
        yield problem(
            OOM_COLLECTING,
            COLLECT_PATH,
            f"set, and the file of {OP_DEBUG_CONFIG.name} has oom",
            value=settings.environ[COLLECT_PATH],
            fix=f"unset {COLLECT_PATH}, or take oom out of the file",
        )


def _collecting(settings: Settings) -> typing.Iterator[Problem]:
    path = settings.environ.get(COLLECT_PATH)
    form = settings.get(ENABLE_EXCEPTION_DUMP.name, 1)
    if path and form != 1:
        yield problem(
            COLLECTING,
            COLLECT_PATH,
            f"set, so {ENABLE_EXCEPTION_DUMP.name}={form} counts as 1",
            value=path,
            fix=f"unset {COLLECT_PATH}, or {ENABLE_EXCEPTION_DUMP.name}=1",
        )


def _directory_is_no_file(settings: Settings) -> typing.Iterator[Problem]:
    yield from path_problems(DEBUG_DIR, settings)


GROUP = Group(
    "debugging",
    "Function debugging",
    "功能调试",
    (ENABLE_EXCEPTION_DUMP, OP_DEBUG_CONFIG, DEBUG_DIR, EXPORT_COMPILE_STAT),
    (OOM_AND_LEVEL, COLLECTING, OOM_COLLECTING),
    (_oom, _collecting, _directory_is_no_file),
)
