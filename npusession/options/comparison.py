"""Accuracy comparison: data dump and overflow detection, and where the graph is run."""

from __future__ import annotations

import dataclasses
import os
import typing

from ..products import Product
from .kinds import Choice, Flag, Path, PathIs, Refused, Text, Value, Wire, path_fault
from .model import INFERENCE, TRAINING, Default, Group, Option, Scope, Settings, problem
from .problems import BAD_PATH, Problem, Rule

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


ENABLE_DUMP = Option(
    "enable_dump",
    Flag(),
    "Data dump: write the inputs and outputs of operators to dump_path.",
    "是否开启 Data Dump 功能。",
    scope=Scope.INIT,
    defaults=(Default(False),),
)
DUMP_MODE = Option(
    "dump_mode",
    Choice(
        (Value("input", "inputs only"), Value("output", "outputs only"), Value("all", "both, in files of their own"))
    ),
    "What data dump writes of an operator.",
    "Data Dump 的内容：算子输入、输出或全部。",
    scope=Scope.INIT,
    defaults=(Default("output"),),
)
ENABLE_DUMP_DEBUG = Option(
    "enable_dump_debug",
    Flag(),
    "Overflow detection: write data of operators that overflow to dump_path.",
    "是否开启溢出检测（采集溢出数据）功能。",
    scope=Scope.INIT,
    scenes=TRAINING,
    defaults=(Default(False),),
)
DUMP_DEBUG_MODE = Option(
    "dump_debug_mode",
    Choice(
        (
            Value(
                "aicore_overflow",
                "normal input, output at the limit of the type",
                products=frozenset({Product.ATLAS_TRAINING}),
            ),
            Value("atomic_overflow", "overflow of atomic additions", products=frozenset({Product.ATLAS_TRAINING})),
            Value("all", "both"),
        )
    ),
    "Which overflows are detected.",
    "溢出检测模式。",
    scope=Scope.INIT,
    scenes=TRAINING,
    defaults=(Default("all"),),
)
DUMP_PATH = Option(
    "dump_path",
    Path(PathIs.DIRECTORY),
    "Directory that dump files are written to.",
    "Dump 文件保存路径，需提前创建且运行用户具有读写权限。",
    scope=Scope.INIT,
)
DUMP_STEP = Option(
    "dump_step",
    Text("steps and rising ranges of steps joined by |, such as 0|5-10, at most 100", _read_dump_step),
    "Training steps that data dump writes; all when left out.",
    "采集哪些迭代的 Data Dump 数据，不配置表示所有迭代。",
    scope=Scope.INIT,
    scenes=TRAINING,
)
DUMP_DATA = Option(
    "dump_data",
    Choice((Value("tensor", "the data themselves"), Value("stats", "statistics in a CSV file"))),
    "Whether data dump writes tensors or their statistics.",
    "Data Dump 内容类型：算子数据或统计数据。",
    defaults=(Default("tensor"),),
)
DUMP_LAYER = Option(
    "dump_layer",
    Text("operator names separated by blanks", _read_layers, separator=" "),
    "The operators that data dump writes; all when left out.",
    "指定需要 dump 的算子名，以空格分隔；不配置则 dump 全部算子。",
)
QUANT_DUMPABLE = Option(
    "quant_dumpable",
    Choice((Value("0", "may be optimised away"), Value("1", "kept, so that they can be dumped"))),
    "For networks quantised by AMCT: whether the data before quantisation can be dumped.",
    "对 AMCT 量化后的网络，是否保证能够采集量化前的 dump 数据。",
    scenes=INFERENCE,
    defaults=(Default("0"),),
)
USE_OFF_LINE = Option(
    "use_off_line",
    Flag(),
    "Whether the graph runs on the NPU; when off, everything runs on the host's CPU.",
    "是否在 AI 处理器上执行；False 表示在 Host 侧 CPU 执行。",
    defaults=(Default(True),),
)

DUMP_NEEDS_PATH = Rule("NPU203", "missing-companion", "enable_dump and enable_dump_debug need dump_path.")
TWO_DUMPS = Rule("NPU204", "conflict", "Data dump and overflow detection exclude each other.")


def _dump_needs_path(settings: Settings) -> typing.Iterator[Problem]:
    for switch in (ENABLE_DUMP, ENABLE_DUMP_DEBUG):
        if settings.get(switch.name) is True and DUMP_PATH.name not in settings:
            yield problem(
                DUMP_NEEDS_PATH,
                switch,
                f"on, but there is no {DUMP_PATH.name}",
                value=True,
                fix='dump=Dump("/a/directory/that/exists")',
            )


def _two_dumps(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(ENABLE_DUMP.name) is True and settings.get(ENABLE_DUMP_DEBUG.name) is True:
        yield problem(
            TWO_DUMPS,
            ENABLE_DUMP_DEBUG,
            f"on together with {ENABLE_DUMP.name}",
            value=True,
            fix="run twice, once with each of them",
        )


def _dump_path_is_there(settings: Settings) -> typing.Iterator[Problem]:
    path = settings.get(DUMP_PATH.name)
    if not settings.host or not isinstance(path, str) or Dump.from_options(settings) is None:
        return
    fault = path_fault(path, PathIs.DIRECTORY)
    if fault:
        fix = f"mkdir -p {path}" if "exist" in fault else ""
        yield problem(BAD_PATH, DUMP_PATH, fault, value=path, allowed=PathIs.DIRECTORY.value, fix=fix)


GROUP = Group(
    "comparison",
    "Accuracy comparison",
    "精度比对",
    (
        ENABLE_DUMP, DUMP_MODE, ENABLE_DUMP_DEBUG, DUMP_DEBUG_MODE, DUMP_PATH, DUMP_STEP, DUMP_DATA, DUMP_LAYER,
        QUANT_DUMPABLE, USE_OFF_LINE,
    ),
    (DUMP_NEEDS_PATH, TWO_DUMPS),
    (_dump_needs_path, _two_dumps, _dump_path_is_there),
)  # fmt: skip

#: A step, an inclusive range of steps, or the option's own text for several.
Steps = typing.Union[str, int, typing.Iterable[typing.Union[int, str, range]]]


@dataclasses.dataclass(frozen=True)
class Dump:
    """Data dump, or through :meth:`overflow` the detection of overflows.

    Args:
        path: directory that the files go to. It must exist when the session opens, be no symbolic link, and be
            readable and writable.
        steps: training steps to dump, as the option's text (``"0|5-10"``), a number, or numbers and ranges
            (``[0, range(5, 11)]``); every step when left out. At most 100 entries.
        mode: ``"input"``, ``"output"`` (the default) or ``"all"``.
        data: ``"tensor"`` (the default) or ``"stats"``.
        layers: names of the operators to dump; all when left out.
        overflow_mode: set by :meth:`overflow`; turns the dump into overflow detection.

    Values are checked when the plan is made, together with all other options.
    Source: session configuration reference, 精度比对.
    """

    path: str | os.PathLike[str]
    steps: Steps | None = None
    mode: str | None = None
    data: str | None = None
    layers: str | typing.Sequence[str] | None = None
    overflow_mode: str | None = None

    #: The options that the group stands for.
    NAMES: typing.ClassVar[tuple[str, ...]] = tuple(
        option.name
        for option in (
            ENABLE_DUMP, ENABLE_DUMP_DEBUG, DUMP_DEBUG_MODE, DUMP_PATH, DUMP_STEP, DUMP_MODE, DUMP_DATA, DUMP_LAYER
        )
    )  # fmt: skip

    @classmethod
    def overflow(cls, path: str | os.PathLike[str], mode: str = "all") -> Dump:
        """Detect overflows instead of dumping every step.

        Args:
            path: directory that the data of overflowing operators go to; the same rules as for a data dump.
            mode: ``"all"``, or on the Atlas training series ``"aicore_overflow"`` or ``"atomic_overflow"``.
        """
        return cls(path, overflow_mode=mode)

    def to_options(self) -> dict[str, object]:
        """Return the options that this group stands for, values as they were given."""
        if self.overflow_mode is None:
            values: dict[str, object] = {ENABLE_DUMP.name: True}
        else:
            values = {ENABLE_DUMP_DEBUG.name: True, DUMP_DEBUG_MODE.name: self.overflow_mode}
        values[DUMP_PATH.name] = self.path
        if self.steps is not None:
            values[DUMP_STEP.name] = _join_steps(self.steps)
        for option, value in ((DUMP_MODE, self.mode), (DUMP_DATA, self.data), (DUMP_LAYER, self.layers)):
            if value is not None:
                values[option.name] = value
        return values

    @classmethod
    def from_options(cls, given: typing.Mapping[str, Wire]) -> Dump | None:
        """Return the dump that canonical options describe, ``None`` when neither dump is on."""
        overflow = given.get(ENABLE_DUMP_DEBUG.name) is True
        if not overflow and given.get(ENABLE_DUMP.name) is not True:
            return None

        def text(option: Option) -> str | None:
            value = given.get(option.name)
            return None if value is None else str(value)

        return cls(
            text(DUMP_PATH) or "",
            text(DUMP_STEP),
            text(DUMP_MODE),
            text(DUMP_DATA),
            text(DUMP_LAYER),
            (text(DUMP_DEBUG_MODE) or "all") if overflow else None,
        )


def _join_steps(steps: Steps) -> object:
    if isinstance(steps, (str, int)) or not isinstance(steps, typing.Iterable):
        return steps
    entries = []
    for entry in steps:
        if isinstance(entry, range) and entry.step == 1 and len(entry) > 1:
            entries.append(f"{entry[0]}-{entry[-1]}")
        elif isinstance(entry, range):
            entries.extend(str(step) for step in entry)
        else:
            entries.append(str(entry))
    return "|".join(entries)
