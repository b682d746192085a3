"""Profiling: the two options, and their many keys as one typed group."""

from __future__ import annotations

import dataclasses
import json
import os
import typing

from .check_value import value_problems
from .kinds import Flag, Kind, Refused, Wire, text_of
from .model import Default, Group, Option, Scope, Settings, problem
from .problems import GIVEN_TWICE, UNKNOWN, Problem, Rule, Severity
from .profiling_keys import BY_NAME, EXCLUDED_BY_INSTR_PROFILING_FREQ, KEYS


@dataclasses.dataclass(frozen=True)
class JsonObject(Kind):
    """A JSON object as text; a mapping is written as JSON."""

    def parse(self, value: object) -> str:
        """Read a mapping, or the text of a JSON object."""
        if isinstance(value, typing.Mapping):
            try:
                return render(value)
            except (TypeError, ValueError) as error:
                raise Refused(f"cannot be written as JSON: {error}") from None
        text = text_of(value)
        load(text)
        return text

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "a JSON object with some of the keys {}".format(", ".join(BY_NAME))


def load(text: str) -> dict[str, object]:
    """Read the text of ``profiling_options``; raises :class:`Refused` when it is no JSON object."""
    repeated: list[str] = []

    def collect(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        repeated.extend(name for name in set(names) if names.count(name) > 1)
        return dict(pairs)

    try:
        loaded = json.loads(text, object_pairs_hook=collect)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}", fix='\'{"output": "/tmp/profiling", "task_trace": "on"}\'') from None
    if not isinstance(loaded, dict):
        raise Refused("JSON, but not an object")
    if repeated:
        raise Refused(f"the key {repeated[0]!r} stands in it twice")
    return loaded


def render(keys: typing.Mapping[str, object]) -> str:
    """Write keys as the JSON text that the runtime reads: all values are strings, bools become on and off."""
    return json.dumps({str(key): _as_text(value) for key, value in keys.items()}, ensure_ascii=False)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    if isinstance(value, bytes):
        return text_of(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


PROFILING_MODE = Option(
    "profiling_mode",
    Flag(),
    "Profiling: collect what profiling_options names. Goes before PROFILING_MODE in the environment.",
    "是否开启 Profiling 功能，优先级高于环境变量 PROFILING_MODE。",
    scope=Scope.INIT,
    defaults=(Default(False),),
)
PROFILING_OPTIONS = Option(
    "profiling_options",
    JsonObject(),
    "What profiling collects, as a JSON object.",
    "Profiling 采集选项（JSON 格式）。",
    scope=Scope.INIT,
)

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


def _keys(settings: Settings) -> dict[str, object]:
    text = settings.get(PROFILING_OPTIONS.name)
    return load(text) if isinstance(text, str) else {}


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
    if on is True and PROFILING_OPTIONS.name not in settings and "PROFILING_OPTIONS" not in settings.environ:
        yield problem(
            NO_PROFILING_OPTIONS,
            PROFILING_MODE,
            "on, but nothing says what to collect",
            value=True,
            fix="profiling=Profiling(output=..., task_time='l1')",
        )


def _each_key(settings: Settings) -> typing.Iterator[Problem]:
    for name, value in _keys(settings).items():
        shown = f"{PROFILING_OPTIONS.name}[{name!r}]"
        key = BY_NAME.get(name)
        if key is None:
            yield problem(
                UNKNOWN,
                shown,
                "the runtime ignores keys that it does not know",
                value=value,
                allowed=", ".join(BY_NAME),
                why=PROFILING_OPTIONS.page.value,
            )
            continue
        _, problems = value_problems(key, value, settings, shown)
        yield from problems


def _key_combinations(settings: Settings) -> typing.Iterator[Problem]:
    keys = _keys(settings)
    clash = [name for name in EXCLUDED_BY_INSTR_PROFILING_FREQ if name in keys and keys[name] not in ("off", "")]
    if "instr_profiling_freq" in keys and clash:
        yield problem(
            INSTR_FREQ_EXCLUDES,
            f"{PROFILING_OPTIONS.name}['instr_profiling_freq']",
            "given together with {}".format(", ".join(clash)),
            value=keys["instr_profiling_freq"],
            fix="leave out {}".format(", ".join(clash)),
            why=PROFILING_OPTIONS.page.value,
        )
    tasks = keys.get("task_time", keys.get("task_trace"))
    both = keys.get("task_trace"), keys.get("task_time")
    if None not in both and both[0] != both[1]:
        yield problem(
            GIVEN_TWICE,
            f"{PROFILING_OPTIONS.name}['task_trace']",
            f"is the same switch as task_time, which is {both[1]!r}",
            value=both[0],
            fix="leave out task_trace",
        )
    training = settings.scene.value == "training"
    if training and tasks in ("on", "l1", "l0") and keys.get("training_trace") not in ("on", True):
        yield problem(
            TASK_NEEDS_TRAINING,
            f"{PROFILING_OPTIONS.name}['task_trace']",
            "on without training_trace",
            value=tasks,
            fix="training_trace=True",
            why=PROFILING_OPTIONS.page.value,
        )


GROUP = Group(
    "profiling",
    "Profiling",
    "Profiling",
    (PROFILING_MODE, PROFILING_OPTIONS),
    (PROFILING_OFF, NO_PROFILING_OPTIONS, INSTR_FREQ_EXCLUDES, TASK_NEEDS_TRAINING),
    (_switches, _each_key, _key_combinations),
)

#: A switch of profiling: on or off, or one of the words of the key.
OnOff = typing.Union[bool, str, None]


@dataclasses.dataclass(frozen=True)
class Profiling:
    """What to profile; each argument is the key of that name in ``profiling_options``.

    Keys that are left out keep the runtime's defaults. Switches take a bool or the key's own words, frequencies
    are in Hz, and lists of words may be given as lists.

    Args:
        output: directory of the results; the runtime creates it.
        storage_limit: space that results may take, with its unit, ``"200MB"`` to ``"4294967295MB"``.
        training_trace: iteration trace; training only.
        task_trace: when operators are sent and run: on, off, ``"l0"`` or ``"l1"``; the same switch as ``task_time``.
        task_time: the same.
        ge_api: scheduling of dynamic shapes: off, ``"l0"`` or ``"l1"``.
        hccl: communication data; deprecated, ``task_time`` covers it.
        aicpu: details of AI CPU operators.
        fp_point: name of the first forward operator; empty to have it found.
        bp_point: name of the last backward operator; empty to have it found.
        aic_metrics: what is counted on AI Cores, or ``"Custom:"`` and up to 8 registers from 0x1 to 0x6E.
        l2: hits of the L2 cache.
        msproftx: data that the program itself reports.
        runtime_api: calls of the runtime's API.
        sys_hardware_mem_freq: memory bandwidth, 1 to 100 Hz (to 10000 on Atlas 350).
        llc_profiling: ``"read"`` or ``"write"``.
        sys_io_sampling_freq: network bandwidth, 1 to 100 Hz.
        sys_interconnection_freq: bandwidth between chips, 1 to 50 Hz.
        dvpp_freq: DVPP, 1 to 100 Hz.
        instr_profiling: bandwidth and latency of AI Cores; Atlas 350 only.
        instr_profiling_freq: the same on Atlas A2 and A3, 300 to 30000 Hz; excludes the operator traces.
        host_sys: some of ``cpu``, ``mem``, ``disk``, ``network``, ``osrt`` of this process.
        host_sys_usage: some of ``cpu``, ``mem`` of the whole host.
        host_sys_usage_freq: sampling of the host, 1 to 50 Hz.

    Values are checked when the plan is made, together with all other options.
    Source: session configuration reference, Profiling.
    """

    output: str | os.PathLike[str] | None = None
    storage_limit: str | None = None
    training_trace: OnOff = None
    task_trace: OnOff = None
    task_time: OnOff = None
    ge_api: OnOff = None
    hccl: OnOff = None
    aicpu: OnOff = None
    fp_point: str | None = None
    bp_point: str | None = None
    aic_metrics: str | None = None
    l2: OnOff = None
    msproftx: OnOff = None
    runtime_api: OnOff = None
    sys_hardware_mem_freq: int | None = None
    llc_profiling: str | None = None
    sys_io_sampling_freq: int | None = None
    sys_interconnection_freq: int | None = None
    dvpp_freq: int | None = None
    instr_profiling: OnOff = None
    instr_profiling_freq: int | None = None
    host_sys: str | typing.Sequence[str] | None = None
    host_sys_usage: str | typing.Sequence[str] | None = None
    host_sys_usage_freq: int | None = None

    #: The options that the group stands for.
    NAMES: typing.ClassVar[tuple[str, ...]] = (PROFILING_MODE.name, PROFILING_OPTIONS.name)

    def to_options(self) -> dict[str, object]:
        """Return the options that this group stands for."""
        keys = {key.name: getattr(self, key.name) for key in KEYS if getattr(self, key.name) is not None}
        values: dict[str, object] = {PROFILING_MODE.name: True}
        if keys:
            values[PROFILING_OPTIONS.name] = render(keys)
        return values

    @classmethod
    def from_options(cls, given: typing.Mapping[str, Wire]) -> Profiling | None:
        """Return the profiling that canonical options describe, ``None`` when it is off."""
        if given.get(PROFILING_MODE.name) is not True:
            return None
        keys = load(str(given.get(PROFILING_OPTIONS.name, "{}")))
        known: dict[str, typing.Any] = {name: value for name, value in keys.items() if name in BY_NAME}
        return cls(**known)
