"""Debugging options."""

from __future__ import annotations

from .kinds import IntChoice, Value
from .model import Default, Group, Option, Scope

ENABLE_EXCEPTION_DUMP = Option(
    "enable_exception_dump",
    IntChoice(
        (
            Value(0, "no dump"),
            Value(1, "inputs, outputs, descriptions and workspace of the failing operator"),
            Value(2, "the light form, for AI Core errors"),
        )
    ),
    "Whether the data of an operator that fails are dumped. NPU_COLLECT_PATH in the environment forces 1.",
    "是否 dump 异常算子的数据；设置环境变量 NPU_COLLECT_PATH 时一律按 1 处理。",
    scope=Scope.INIT,
    defaults=(Default(2),),
)

GROUP = Group("debugging", "Function debugging", "功能调试", (ENABLE_EXCEPTION_DUMP,))
