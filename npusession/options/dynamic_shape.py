"""Options of dynamic shapes: gears, and graphs of any shape."""

from __future__ import annotations

import typing

from . import gears
from .gears import GEARS
from .kinds import Choice, Flag, Value
from .model import Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule

AC_PARALLEL_ENABLE = Option(
    "ac_parallel_enable",
    Choice(
        (
            Value("1", "side by side, in streams of their own", "允许并行，分到不同的流"),
            Value("0", "AI CPU operators have no stream of their own", "AI CPU 算子不单独分流"),
        )
    ),
    "Whether AI CPU and AI Core operators of a graph of dynamic shape run at the same time.",
    "动态 shape 图中是否允许 AI CPU 算子与 AI Core 算子并行运行。",
    defaults=(Default("0"),),
    notes=(
        Note(
            "The system finds the AI CPU operators that can run beside AI Core ones; engines are used better, and "
            "graphs of dynamic shape get faster.",
            "系统自动识别可与 AI Core 并发的 AI CPU 算子，提升资源利用率和动态 shape 执行性能。",
        ),
    ),
)
COMPILE_DYNAMIC_MODE = Option(
    "compile_dynamic_mode",
    Flag(),
    "Whether every input shape is generalised to -1; a graph of static shape becomes one of dynamic shape.",
    "是否将所有输入 shape 泛化为 -1；静态 shape 图会变为动态 shape 图。",
    defaults=(Default(False),),
    notes=(
        Note(
            "Not together with input_shape, dynamic_dims and dynamic_node_type.",
            "不能与 input_shape、dynamic_dims、dynamic_node_type 同时使用。",
        ),
    ),
)
ALL_TENSOR_NOT_EMPTY = Option(
    "all_tensor_not_empty",
    Flag(),
    "Whether the checks for empty tensors are left out of a graph of dynamic shape, which makes it faster.",
    "是否移除动态 shape 图中判断空 tensor 的控制节点，以提升执行性能。",
    defaults=(Default(False),),
    notes=(
        Note(
            "Only for graphs that surely have no empty tensors; in others operators may fail.",
            "仅在确认图中没有空 tensor 时开启，否则部分算子可能执行出错。",
        ),
    ),
)

EVERYTHING_DYNAMIC = Rule("NPU217", "conflict", "compile_dynamic_mode and gears exclude each other.")


def _everything_dynamic(settings: Settings) -> typing.Iterator[Problem]:
    given = [option.name for option in GEARS if option.name in settings]
    if settings.get(COMPILE_DYNAMIC_MODE.name) is True and given:
        yield problem(
            EVERYTHING_DYNAMIC,
            COMPILE_DYNAMIC_MODE,
            "on together with {}".format(", ".join(given)),
            value=True,
            fix="leave out {}".format(", ".join(given)),
        )


GROUP = Group(
    "dynamic_shape",
    "Dynamic shapes",
    "动态shape",
    (*gears.OPTIONS, AC_PARALLEL_ENABLE, COMPILE_DYNAMIC_MODE, ALL_TENSOR_NOT_EMPTY),
    (*gears.RULES, EVERYTHING_DYNAMIC),
    (*gears.CHECKS, _everything_dynamic),
)
