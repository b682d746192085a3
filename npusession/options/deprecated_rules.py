"""The rules between deprecated options, and the group that they form."""

from __future__ import annotations

import typing

from .deprecated import (
    DYNAMIC_GRAPH_EXECUTE_MODE,
    DYNAMIC_INPUT,
    DYNAMIC_INPUTS_SHAPE_RANGE,
    ENABLE_DATA_PRE_PROC,
    GRAPH_MEMORY_MAX_SIZE,
    IMPLMODE_TYPES,
    OP_DEBUG_LEVEL,
    OP_SELECT_IMPLMODE,
    OPTYPELIST_FOR_IMPLMODE,
    VARIABLE_FORMAT_OPTIMIZE,
    VARIABLE_MEMORY_MAX_SIZE,
)
from .deprecated_values import parse_memory
from .model import Group, Settings, problem
from .problems import Problem, Rule, Severity

#: What graph and variable memory together could be while they were read.
_OLD_SUM = 31 * 1024**3

LIST_ALONE = Rule(
    "NPU202", "missing-companion", "optypelist_for_implmode needs op_select_implmode; the runtime aborts."
)
OTHER_TYPES = Rule(
    "NPU270",
    "bad-value",
    "optypelist_for_implmode supports Pooling, SoftmaxV2, LRN and ROIAlign.",
    Severity.WARNING,
)
NOT_DYNAMIC = Rule("NPU272", "missing-companion", "Options of dynamic inputs have no effect without dynamic_input.")
DIMS_WIN = Rule("NPU273", "conflict", "dynamic_dims silences dynamic_inputs_shape_range.")
OLD_MEMORY = Rule(
    "NPU274",
    "bad-value",
    "Releases that read the memory sizes allowed 31 GB for both together.",
    Severity.WARNING,
)


def _list_alone(settings: Settings) -> typing.Iterator[Problem]:
    if OPTYPELIST_FOR_IMPLMODE.name in settings and not settings.names(OP_SELECT_IMPLMODE):
        yield problem(
            LIST_ALONE,
            OPTYPELIST_FOR_IMPLMODE,
            f"given without {OP_SELECT_IMPLMODE.name}",
            value=settings[OPTYPELIST_FOR_IMPLMODE.name],
            fix=f'{OP_SELECT_IMPLMODE.name}="high_precision", or leave both out',
        )


def _other_types(settings: Settings) -> typing.Iterator[Problem]:
    types = settings.get(OPTYPELIST_FOR_IMPLMODE.name)
    # The empty text is the default: nothing is narrowed.
    other = [word for word in str(types or "").split(",") if word and word not in IMPLMODE_TYPES]
    if other:
        yield problem(
            OTHER_TYPES,
            OPTYPELIST_FOR_IMPLMODE,
            "not among the supported types: {}".format(", ".join(repr(word[:40]) for word in other[:5])),
            value=types,
            allowed=", ".join(IMPLMODE_TYPES),
        )


def _not_dynamic(settings: Settings) -> typing.Iterator[Problem]:
    dynamic = settings.get(DYNAMIC_INPUT.name)
    if dynamic is True or DYNAMIC_INPUT.name in settings.refused:
        return
    for option in (DYNAMIC_GRAPH_EXECUTE_MODE, DYNAMIC_INPUTS_SHAPE_RANGE):
        value = settings.get(option.name)
        if value is None or value == option.default(settings.scene):
            continue
        # Scripts keep the other options where they switch dynamic inputs off on purpose.
        yield problem(
            NOT_DYNAMIC,
            option,
            f"has no effect, {DYNAMIC_INPUT.name} is {'off' if dynamic is False else 'not given'}",
            value=value,
            fix=f"{DYNAMIC_INPUT.name}=True, or leave out {option.name}",
            severity=Severity.WARNING if dynamic is False else Severity.ERROR,
        )


def _dims_win(settings: Settings) -> typing.Iterator[Problem]:
    if DYNAMIC_INPUTS_SHAPE_RANGE.name not in settings:
        return
    from .gears import DYNAMIC_DIMS

    if DYNAMIC_DIMS.name in settings:
        yield problem(
            DIMS_WIN,
            DYNAMIC_INPUTS_SHAPE_RANGE,
            f"has no effect beside {DYNAMIC_DIMS.name}",
            value=settings[DYNAMIC_INPUTS_SHAPE_RANGE.name],
            fix=f"leave out {DYNAMIC_INPUTS_SHAPE_RANGE.name}",
        )


def _old_memory(settings: Settings) -> typing.Iterator[Problem]:
    sizes = [settings.get(option.name) for option in (GRAPH_MEMORY_MAX_SIZE, VARIABLE_MEMORY_MAX_SIZE)]
    if None not in sizes and sum(parse_memory(str(size)) for size in sizes) > _OLD_SUM:
        yield problem(
            OLD_MEMORY,
            GRAPH_MEMORY_MAX_SIZE,
            f"more than 31 GB together with {VARIABLE_MEMORY_MAX_SIZE.name}",
            value=sizes[0],
            fix=GRAPH_MEMORY_MAX_SIZE.instead,
        )


GROUP = Group(
    "deprecated",
    "To be dropped in later releases",
    "后续版本废弃配置",
    (
        OP_DEBUG_LEVEL, ENABLE_DATA_PRE_PROC, VARIABLE_FORMAT_OPTIMIZE, OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE,
        DYNAMIC_INPUT, DYNAMIC_GRAPH_EXECUTE_MODE, DYNAMIC_INPUTS_SHAPE_RANGE, GRAPH_MEMORY_MAX_SIZE,
        VARIABLE_MEMORY_MAX_SIZE,
    ),
    (LIST_ALONE, OTHER_TYPES, NOT_DYNAMIC, DIMS_WIN, OLD_MEMORY),
    (_list_alone, _other_types, _not_dynamic, _dims_win, _old_memory),
)  # fmt: skip
