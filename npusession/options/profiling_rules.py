"""The rules of profiling, and the group that its options form."""

from __future__ import annotations

import typing

from ..products import Product
from .check_value import value_problems
from .kinds import PathIs, path_fault
from .model import Group, Option, Scene, Settings, problem
from .problems import BAD_PATH, GIVEN_TWICE, UNKNOWN, WRONG_PRODUCT, Problem, Rule, Severity
from .profiling import PROFILING_MODE, PROFILING_OPTIONS, load
from .profiling_keys import BY_NAME, EXCLUDED_BY_INSTR_PROFILING_FREQ, MEM_FREQ_MAX, MEM_FREQ_USUAL

PROFILING_OFF = Rule("NPU205", "profiling-off", "profiling_options have no effect unless profiling_mode is on.")
NO_PROFILING_OPTIONS = Rule(
    "NPU206", "missing-companion", "profiling_mode takes what it collects from profiling_options.", Severity.WARNING
)
INSTR_FREQ_EXCLUDES = Rule("NPU207", "conflict", "instr_profiling_freq excludes the other traces.")
TASK_NEEDS_TRAINING = Rule(
    "NPU208",
    "missing-companion",
    "A profiled training with task_trace on needs training_trace on too (manuals of different releases differ).",
    Severity.WARNING,
)
POINTS_NEED_TRACE = Rule(
    "NPU257", "missing-companion", "fp_point and bp_point are collected with training_trace on.", Severity.WARNING
)
POINTS_NEEDED = Rule(
    "NPU258",
    "missing-companion",
    "On dynamic shapes fp_point and bp_point are not found by the system.",
    Severity.WARNING,
)
_POINTS = ("fp_point", "bp_point")
#: The keys of profiling_options that were given.
Keys = typing.Mapping[str, object]


def _shown(name: str) -> str:
    return f"{PROFILING_OPTIONS.name}[{name!r}]"


def _switches(settings: Settings) -> typing.Iterator[Problem]:
    on = settings.get(PROFILING_MODE.name)
    if on is not True and PROFILING_OPTIONS.name in settings:
        yield problem(
            PROFILING_OFF,
            PROFILING_OPTIONS,
            f"given, but {PROFILING_MODE.name} is not on",
            value=settings[PROFILING_OPTIONS.name],
            fix=f"{PROFILING_MODE.name}=True",
        )
    if on is True and PROFILING_OPTIONS.name not in settings and PROFILING_OPTIONS.replaces[0] not in settings.environ:
        yield problem(
            NO_PROFILING_OPTIONS,
            PROFILING_MODE,
            "on, but nothing says what to collect",
            value=True,
            fix="profiling=Profiling(output=..., task_time='l1')",
        )


def _keys(settings: Settings) -> typing.Iterator[Problem]:
    text = settings.get(PROFILING_OPTIONS.name)
    if isinstance(text, str):
        keys = load(text)
        for check in (_each_key, _key_combinations, _points, _output_is_no_file):
            yield from check(keys, settings)


def _each_key(keys: Keys, settings: Settings) -> typing.Iterator[Problem]:
    for name, value in keys.items():
        key = BY_NAME.get(name)
        if key is None:
            yield problem(
                UNKNOWN,
                _shown(name),
                "the runtime ignores keys that it does not know",
                value=value,
                allowed=", ".join(BY_NAME),
                why=PROFILING_OPTIONS.source,
            )
            continue
        read, problems = value_problems(key, value, settings, _shown(name))
        yield from problems
        if name == "sys_hardware_mem_freq" and isinstance(read, int) and read > MEM_FREQ_USUAL:
            yield from _fast_sampling(read, settings)


def _fast_sampling(hertz: int, settings: Settings) -> typing.Iterator[Problem]:
    if settings.product is Product.ATLAS_350:
        return
    known = settings.product is not None
    yield problem(
        WRONG_PRODUCT,
        _shown("sys_hardware_mem_freq"),
        f"not supported on {settings.product.title}" if settings.product else "not supported on every product",
        value=hertz,
        allowed=f"1 to {MEM_FREQ_USUAL}; to {MEM_FREQ_MAX} on {Product.ATLAS_350.title}",
        fix=f"at most {MEM_FREQ_USUAL}" if known else "name the product: product=...",
        why=PROFILING_OPTIONS.source,
        severity=Severity.ERROR if known else Severity.WARNING,
    )


def _key_combinations(keys: Keys, settings: Settings) -> typing.Iterator[Problem]:
    clash = [name for name in EXCLUDED_BY_INSTR_PROFILING_FREQ if name in keys and keys[name] not in ("off", "")]
    if "instr_profiling_freq" in keys and clash:
        yield problem(
            INSTR_FREQ_EXCLUDES,
            _shown("instr_profiling_freq"),
            "given together with {}".format(", ".join(clash)),
            value=keys["instr_profiling_freq"],
            fix="leave out {}".format(", ".join(clash)),
        )
    tasks = keys.get("task_time", keys.get("task_trace"))
    both = keys.get("task_trace"), keys.get("task_time")
    if None not in both and both[0] != both[1]:
        yield problem(
            GIVEN_TWICE,
            _shown("task_trace"),
            f"is the same switch as task_time, which is {both[1]!r}",
            value=both[0],
            fix="leave out task_trace",
            why=PROFILING_OPTIONS.source,
        )
    if settings.scene is Scene.TRAINING and tasks in ("on", "l1", "l0") and keys.get("training_trace") != "on":
        yield problem(
            TASK_NEEDS_TRAINING,
            _shown("task_trace"),
            "on without training_trace",
            value=tasks,
            fix="training_trace=True",
        )


def _points(keys: Keys, settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(PROFILING_MODE.name) is not True:
        return
    traced = keys.get("training_trace") == "on"
    dynamic = _dynamic(settings)
    for name in _POINTS:
        point = keys.get(name)
        if point and not traced:
            yield problem(
                POINTS_NEED_TRACE,
                _shown(name),
                "has no effect without training_trace",
                value=point,
                fix="training_trace=True" if settings.scene is Scene.TRAINING else f"leave out {name}",
            )
        elif traced and dynamic and not point:
            yield problem(
                POINTS_NEEDED,
                _shown(name),
                f"has to be named, since {dynamic.name} is on",
                value=point,
                fix=f"{name}='the name of an operator'",
            )


def _dynamic(settings: Settings) -> Option | None:
    from .deprecated import DYNAMIC_INPUT
    from .dynamic_shape import COMPILE_DYNAMIC_MODE

    return next((option for option in (DYNAMIC_INPUT, COMPILE_DYNAMIC_MODE) if settings.get(option.name) is True), None)


def _output_is_no_file(keys: Keys, settings: Settings) -> typing.Iterator[Problem]:
    path = keys.get("output")
    if settings.host and isinstance(path, str):
        fault = path_fault(path, PathIs.CREATED)
        if fault:
            yield problem(
                BAD_PATH,
                _shown("output"),
                fault,
                value=path,
                allowed=PathIs.CREATED.value,
                why=PROFILING_OPTIONS.source,
            )


GROUP = Group(
    "profiling",
    "Profiling",
    "Profiling",
    (PROFILING_MODE, PROFILING_OPTIONS),
    (PROFILING_OFF, NO_PROFILING_OPTIONS, INSTR_FREQ_EXCLUDES, TASK_NEEDS_TRAINING, POINTS_NEED_TRACE, POINTS_NEEDED),
    (_switches, _keys),
)
