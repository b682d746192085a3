"""Accuracy comparison: data dump and overflow detection, fusion switches, and where the graph is run."""

from __future__ import annotations

from ..products import Product
from .kinds import Choice, Flag, Path, PathIs, Refused, Text, Value
from .model import INFERENCE, TRAINING, Default, Note, Option, Scope

#: The runtime refuses a dump_step of more entries.
MAX_DUMP_STEPS = 100


def parse_dump_steps(text: str) -> tuple[tuple[int, int], ...]:
    """Read ``dump_step`` into inclusive ranges: ``"0|5-10"`` gives ``((0, 0), (5, 10))``.

    Raises:
        Refused: for anything but whole numbers and rising ranges joined by ``|``, or more than 100 of them.
    """
    ranges = []
    entries = text.split("|")
    for entry in entries:
        first, dash, last = entry.partition("-")
        numbers = (first, last) if dash else (first, first)
        if not all(number.isascii() and number.isdigit() and len(number) <= 18 for number in numbers):
            raise Refused(f"{entry[:40]!r} is neither a step nor a range of steps")
        low, high = int(numbers[0]), int(numbers[1])
        if dash and low >= high:
            raise Refused(f"the range {entry[:40]!r} does not rise")
        ranges.append((low, high))
    if len(entries) > MAX_DUMP_STEPS:
        raise Refused(f"{len(entries)} entries, at most {MAX_DUMP_STEPS} are allowed")
    return tuple(ranges)


def _read_dump_step(text: str) -> str:
    parse_dump_steps(text)
    return text


def _read_layers(text: str) -> str:
    if not text.split():
        raise Refused("names no operator")
    return text


_EITHER_DUMP = Note(
    "Not both of enable_dump and enable_dump_debug.",
    "enable_dump 与 enable_dump_debug 不能同时开启。",
)
_BESIDE_EXCEPTION_DUMP = Note(
    "Beside enable_exception_dump=1, networks of dynamic shape get the exception dump alone; networks of static shape "
    "get both.",
    "同时配置 enable_exception_dump 为 1 时，动态 shape 网络仅异常算子 dump 生效，静态 shape 网络两者都生效。",
)
_NEEDS_PATH = Note("Needs dump_path.", "须配置 dump_path，否则产生异常。")

ENABLE_DUMP = Option(
    "enable_dump",
    Flag(),
    "Data dump: write the inputs and outputs of operators to dump_path.",
    "是否开启 Data Dump 功能。",
    scope=Scope.INIT,
    defaults=(Default(False),),
    notes=(_NEEDS_PATH, _EITHER_DUMP, _BESIDE_EXCEPTION_DUMP),
    run_config="dump_config.enable_dump",
)
DUMP_MODE = Option(
    "dump_mode",
    Choice(
        (
            Value("input", "inputs only", "仅算子输入"),
            Value("output", "outputs only", "仅算子输出"),
            Value("all", "both, in files of their own", "输入和输出，分别落盘"),
        )
    ),
    "What data dump writes of an operator.",
    "Data Dump 的内容：算子输入、输出或全部。",
    scope=Scope.INIT,
    defaults=(Default("output"),),
    notes=(
        Note(
            "With all an operator has several files, as inputs are written before it runs and outputs after it: some "
            "operators, such as HcomAllGather and HcomAllReduce, change their inputs. What a file holds shows when it "
            "is parsed.",
            "取 all 时，因部分算子（如 HcomAllGather、HcomAllReduce）会修改输入，输入在执行前、输出在执行后分开落盘，"
            "同一算子有多个文件，解析后可区分。",
        ),
    ),
    run_config="dump_config.dump_mode",
)
ENABLE_DUMP_DEBUG = Option(
    "enable_dump_debug",
    Flag(),
    "Overflow detection: write data of operators that overflow to dump_path.",
    "是否开启溢出检测（采集溢出数据）功能。",
    scope=Scope.INIT,
    scenes=TRAINING,
    defaults=(Default(False),),
    notes=(_NEEDS_PATH, _EITHER_DUMP, _BESIDE_EXCEPTION_DUMP),
    run_config="dump_config.enable_dump_debug",
)
_BEFORE_A2 = frozenset({Product.ATLAS_TRAINING})
DUMP_DEBUG_MODE = Option(
    "dump_debug_mode",
    Choice(
        (
            Value(
                "aicore_overflow",
                "AI Core: normal input, output at the limit of the type",
                "AI Core 算子溢出：输入正常而输出为极大值",
                _BEFORE_A2,
            ),
            Value("atomic_overflow", "overflow of atomic additions", "Atomic Add 溢出", _BEFORE_A2),
            Value("all", "both", "以上两种"),
        )
    ),
    "Which overflows are detected.",
    "溢出检测模式。",
    scope=Scope.INIT,
    scenes=TRAINING,
    defaults=(Default("all"),),
    notes=(
        Note(
            "aicore_overflow looks for outputs such as 65500, 38400 or 51200 in float16; what to do about one depends "
            "on the network and the operator.",
            "aicore_overflow 检测如 float16 下 65500、38400、51200 等极大值，需结合网络和算子逻辑分析、修改实现。",
        ),
        Note(
            "atomic_overflow looks for additions that overflow on the way from UB to OUT after AI Core has computed.",
            "atomic_overflow 检测 AI Core 计算后由 UB 搬运到 OUT 时的 Atomic Add 溢出。",
        ),
        Note(
            "Atlas 350, A3 and A2 know all only.",
            "Atlas 350 加速卡、A3、A2 产品仅支持 all。",
        ),
    ),
    run_config="dump_config.dump_debug_mode",
)
DUMP_PATH = Option(
    "dump_path",
    Path(PathIs.DIRECTORY),
    "Directory that dump files are written to.",
    "Dump 文件保存路径。",
    scope=Scope.INIT,
    notes=(
        Note(
            "Required with enable_dump or enable_dump_debug.",
            "enable_dump 或 enable_dump_debug 为 True 时必须配置。",
        ),
        Note(
            "It has to exist, on the host or in the container that trains, readable and writable for the user that was "
            "set at installation.",
            "需在启动训练的环境（容器或 Host）上提前创建，且安装时配置的运行用户具有读写权限。",
        ),
        Note(
            "A relative path counts from the directory that the command runs in.",
            "支持绝对路径或相对路径（相对执行命令行时的当前路径）。",
        ),
    ),
    run_config="dump_config.dump_path",
)
DUMP_STEP = Option(
    "dump_step",
    Text(
        "steps and rising ranges of steps joined by |, such as 0|5-10, at most 100",
        _read_dump_step,
        zh="以 | 分隔的迭代或递增的迭代范围，如 0|5-10，最多 100 项",
    ),
    "Training steps that data dump writes; all when left out.",
    "采集哪些迭代的 Data Dump 数据，不配置表示所有迭代。",
    scope=Scope.INIT,
    scenes=TRAINING,
    run_config="dump_config.dump_step",
)
DUMP_DATA = Option(
    "dump_data",
    Choice(
        (
            Value("tensor", "the data themselves", "算子数据"),
            Value("stats", "statistics in a CSV file", "算子统计数据，结果为 csv 文件"),
        )
    ),
    "Whether data dump writes tensors or their statistics.",
    "Data Dump 内容类型：算子数据或统计数据。",
    defaults=(Default("tensor"),),
    notes=(
        Note(
            "In large trainings dumps are big and slow: dump statistics first, then the inputs or outputs of the "
            "operators that look wrong.",
            "大规模训练数据量大、耗时长，可先 dump 统计数据识别可能异常的算子，再 dump 其输入或输出。",
        ),
    ),
    run_config="dump_config.dump_data",
)
DUMP_LAYER = Option(
    "dump_layer",
    Text("operator names separated by blanks", _read_layers, separator=" ", zh="以空格分隔的算子名"),
    "The operators that data dump writes; all when left out.",
    "指定需要 dump 的算子名，以空格分隔；不配置则 dump 全部算子。",
    notes=(
        Note(
            "Data operators that feed one of them are dumped too.",
            "若指定算子的输入涉及 data 算子，会同时 dump 其信息。",
        ),
    ),
    run_config="dump_config.dump_layer",
)
QUANT_DUMPABLE = Option(
    "quant_dumpable",
    Choice(
        (
            Value("0", "may be optimised away, and cannot be dumped then", "可能被优化，此时无法获取"),
            Value("1", "kept, so that they can be dumped", "保留，确保能够采集"),
        )
    ),
    "For networks quantised by AMCT: whether the data before quantisation can be dumped.",
    "对 AMCT 量化后的网络，是否保证能够采集量化前的 dump 数据。",
    scenes=INFERENCE,
    defaults=(Default("0"),),
    notes=(Note("Of use while data dump is on.", "在开启 Data Dump 的场景下使用。"),),
)
FUSION_SWITCH_FILE = Option(
    "fusion_switch_file",
    Path(PathIs.FILE, plain=True),
    "File that turns fusion rules off or on.",
    "融合开关配置文件（路径及文件名）。",
    notes=(
        Note(
            "Graph and UB fusion rules are on by default; the vendor lists those that can be turned off.",
            "图融合和 UB 融合规则默认开启，可关闭的规则见《图融合和UB融合规则参考》。",
        ),
        Note(
            "JSON: Switch with GraphFusion and UBFusion, each with rules as on or off.",
            "JSON 格式：Switch 下有 GraphFusion 和 UBFusion，各规则取值 on 或 off。",
        ),
        Note(
            "ALL: off turns many rules off at once, not those that are needed to work; a single rule goes before ALL.",
            "ALL 为 off 时一键关闭部分（并非全部）规则；单个规则的配置优先级高于 ALL。",
        ),
        Note("Atlas 350 has no UB fusion.", "Atlas 350 加速卡不支持 UB 融合。"),
    ),
    file_format="fusion_switch",
)
BUFFER_OPTIMIZE = Option(
    "buffer_optimize",
    Choice((Value("l2_optimize", "on", "开启"), Value("off_optimize", "off", "关闭"))),
    "Whether buffers are optimised; an advanced switch.",
    "高级开关，是否开启 buffer 优化。",
    scenes=INFERENCE,
    defaults=(Default("l2_optimize"),),
)
USE_OFF_LINE = Option(
    "use_off_line",
    Flag(),
    "Whether the graph runs on the NPU; when off, everything runs on the host's CPU.",
    "是否在 AI 处理器上执行；False 表示在 Host 侧 CPU 执行。",
    defaults=(Default(True),),
    notes=(Note("Earlier releases had it off unless it was given.", "历史版本默认关闭。"),),
    run_config="",
)
