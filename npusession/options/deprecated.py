"""Options that the reference announces to drop."""

from __future__ import annotations

import typing

from .kinds import Choice, IntChoice, Text, Value
from .model import Group, Option, Scope, Settings, Status, problem
from .problems import Problem, Rule

OP_DEBUG_LEVEL = Option(
    "op_debug_level",
    IntChoice(
        (
            Value(0, "off"),
            Value(1, "keep the operators' CCE files and their mapping to Python"),
            Value(2, "as 1, compiled with -O0 -g; not together with oom in op_debug_config"),
            Value(3, "off, but keep object and JSON files"),
            Value(4, "off, but keep object, JSON, CCE and UB fusion files"),
        )
    ),
    "Operator debugging; 0 or 3 is advised for training, 1 and 2 slow it down.",
    "算子 debug 开关；训练时建议配置为 0 或 3，1 和 2 会降低性能。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="leave it out, and use op_debug_config for debugging",
)
OP_SELECT_IMPLMODE = Option(
    "op_select_implmode",
    Choice(
        (
            Value("high_precision", "more exact for float16 input, through series or iteration"),
            Value("high_performance", "fastest without loss of the network's accuracy"),
        )
    ),
    "Whether built-in operators are taken in their exact or in their fast form.",
    "选择内置算子的高精度实现或高性能实现。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="use op_precision_mode",
)
OPTYPELIST_FOR_IMPLMODE = Option(
    "optypelist_for_implmode",
    Text("operator types joined by commas; supported are Pooling, SoftmaxV2, LRN, ROIAlign", separator=","),
    "The operator types that op_select_implmode applies to.",
    "op_select_implmode 生效的算子类型列表，以英文逗号分隔。",
    scope=Scope.INIT,
    status=Status.DEPRECATED,
    instead="use op_precision_mode",
)

LIST_ALONE = Rule(
    "NPU202", "missing-companion", "optypelist_for_implmode needs op_select_implmode; the runtime aborts."
)


def _list_alone(settings: Settings) -> typing.Iterator[Problem]:
    if OPTYPELIST_FOR_IMPLMODE.name in settings and OP_SELECT_IMPLMODE.name not in settings:
        yield problem(
            LIST_ALONE,
            OPTYPELIST_FOR_IMPLMODE,
            f"given without {OP_SELECT_IMPLMODE.name}",
            value=settings[OPTYPELIST_FOR_IMPLMODE.name],
            fix=f'{OP_SELECT_IMPLMODE.name}="high_precision", or leave both out',
        )


GROUP = Group(
    "deprecated",
    "To be dropped in later releases",
    "后续版本废弃配置",
    (OP_DEBUG_LEVEL, OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE),
    (LIST_ALONE,),
    (_list_alone,),
)
