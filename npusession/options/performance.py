"""Performance options: steps per run, and the rules of the advanced ones."""

from __future__ import annotations

import typing

from .deprecated import ENABLE_DATA_PRE_PROC, OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE
from .kinds import Integer
from .mixed_compute import MIX_COMPILE_MODE, is_mixed
from .model import TRAINING, Default, Group, Note, Option, Scene, Settings, problem
from .performance_advanced import (
    EARLIER_ENGINES,
    ENABLE_SMALL_CHANNEL,
    ENGINES,
    OP_PRECISION_MODE,
    OPTIONS,
    STREAM_MAX_PARALLEL_NUM,
    VARIABLE_PLACEMENT,
    parse_parallel,
)
from .problems import Problem, Rule, Severity

ITERATIONS_PER_LOOP = Option(
    "iterations_per_loop",
    Integer(1, unit="training steps per run", unit_zh="次训练迭代"),
    "Training steps that the device makes in one run; must equal what set_iteration_per_loop was given.",
    "每次 sess.run 在 Device 侧执行的训练迭代次数，须与 set_iteration_per_loop 的设置一致。",
    scenes=TRAINING,
    defaults=(Default(1, TRAINING),),
    notes=(
        Note(
            "set_iteration_per_loop sets the number; this option is there to check it.",
            "循环次数由 set_iteration_per_loop 设置，此处用于功能校验。",
        ),
        Note(
            "More than 1 needs GetNext on the device, which enable_data_pre_proc puts there.",
            "大于 1 时要求 GetNext 算子下沉（enable_data_pre_proc）。",
        ),
    ),
)

LOOP_NOT_MIXED = Rule("NPU220", "conflict", "Mixed computing makes one step per run; the runtime refuses more.")
LOOP_NEEDS_INPUT = Rule(
    "NPU221", "missing-companion", "Several steps per run need GetNext on the device, through enable_data_pre_proc."
)
HOST_NEEDS_MIXED = Rule("NPU222", "missing-companion", "Variables on the host need mixed computing.")
SMALL_CHANNEL_FIXED = Rule("NPU223", "no-effect", "Online inference always optimises small channels.")
EARLIER_ENGINE = Rule("NPU224", "no-effect", "Engines have other names now than in earlier releases.", Severity.WARNING)
FILE_OVERRIDES = Rule("NPU225", "conflict", "op_precision_mode overrides the older options for the same.")

LOOP_DIVIDES = Rule(
    "NPU235", "conflict", "Checkpoints, summaries and log lines come between runs, after a whole number of them."
)


def _loop(settings: Settings) -> typing.Iterator[Problem]:
    steps = settings.get(ITERATIONS_PER_LOOP.name, 1)
    if not isinstance(steps, int) or steps <= 1:
        return
    if settings.get(MIX_COMPILE_MODE.name) is True:
        yield problem(
            LOOP_NOT_MIXED,
            ITERATIONS_PER_LOOP,
            f"{steps} steps per run, and {MIX_COMPILE_MODE.name} is on",
            value=steps,
            allowed="1",
            fix=f"leave out {ITERATIONS_PER_LOOP.name} or {MIX_COMPILE_MODE.name}",
        )
    sunk = settings.get(ENABLE_DATA_PRE_PROC.name)
    if settings.scene is Scene.TRAINING and sunk is not True and ENABLE_DATA_PRE_PROC.name not in settings.refused:
        # Left out, it may be that the installed release needs it no longer: it is announced to go.
        yield problem(
            LOOP_NEEDS_INPUT,
            ITERATIONS_PER_LOOP,
            f"{steps} steps per run, and {ENABLE_DATA_PRE_PROC.name} is not on",
            value=steps,
            fix=f"{ENABLE_DATA_PRE_PROC.name}=True, with input from a tf.data.Dataset",
            severity=Severity.WARNING if sunk is None else None,
        )


def _host_needs_mixed(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(VARIABLE_PLACEMENT.name) == "Host" and not is_mixed(settings):
        yield problem(
            HOST_NEEDS_MIXED,
            VARIABLE_PLACEMENT,
            f"given without {MIX_COMPILE_MODE.name}",
            value="Host",
            fix=f"{MIX_COMPILE_MODE.name}=True",
        )


def _small_channel(settings: Settings) -> typing.Iterator[Problem]:
    if settings.scene is Scene.INFERENCE and settings.get(ENABLE_SMALL_CHANNEL.name) == 0:
        yield problem(
            SMALL_CHANNEL_FIXED,
            ENABLE_SMALL_CHANNEL,
            "on all the same",
            value=0,
            fix=f"leave out {ENABLE_SMALL_CHANNEL.name}",
        )


def _engines(settings: Settings) -> typing.Iterator[Problem]:
    text = settings.get(STREAM_MAX_PARALLEL_NUM.name)
    if not isinstance(text, str):
        return
    names = dict(zip(EARLIER_ENGINES, ENGINES))
    earlier = [engine for engine in parse_parallel(text) if engine in names]
    if earlier:
        yield problem(
            EARLIER_ENGINE,
            STREAM_MAX_PARALLEL_NUM,
            "names an engine as earlier releases do: {}".format(", ".join(earlier)),
            value=text,
            fix=", ".join(f"{names[engine]} for {engine}" for engine in earlier),
        )


def _file_overrides(settings: Settings) -> typing.Iterator[Problem]:
    if OP_PRECISION_MODE.name in settings:
        for option in (OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE):
            if option.name in settings:
                yield problem(
                    FILE_OVERRIDES,
                    option,
                    f"does not count beside {OP_PRECISION_MODE.name}",
                    value=settings[option.name],
                    fix=f"leave out {option.name}",
                )


GROUP = Group(
    "performance",
    "Performance tuning",
    "性能调优",
    (ITERATIONS_PER_LOOP, *OPTIONS),
    (
        LOOP_NOT_MIXED,
        LOOP_NEEDS_INPUT,
        HOST_NEEDS_MIXED,
        SMALL_CHANNEL_FIXED,
        EARLIER_ENGINE,
        FILE_OVERRIDES,
        LOOP_DIVIDES,
    ),
    (_loop, _host_needs_mixed, _small_channel, _engines, _file_overrides),
)
