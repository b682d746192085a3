"""Profiling: the two options, and their many keys as one typed group."""

from __future__ import annotations

import dataclasses
import json
import os
import typing

from .._compat import shallow
from .kinds import Flag, Kind, Refused, Wire, text_of
from .model import Default, Note, Option, Scope
from .profiling_keys import BY_NAME, KEYS

#: The words of earlier releases, which joined them by colons, and the keys that do the same today.
_OLD_WORDS = {"training_trace": "training_trace", "task_trace": "task_trace", "op_trace": "task_time"}


class JsonObject(Kind):
    """A JSON object as text; a mapping is written as JSON."""

    def parse(self, value: object) -> str:
        """Read a mapping, or the text of a JSON object; the keys' values end up in the runtime's own spelling."""
        if isinstance(value, typing.Mapping):
            return render(value)
        text = text_of(value)
        keys = load(text)
        return text if _canonical(keys) == keys else render(keys)

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "a JSON object with some of the keys {}".format(", ".join(BY_NAME))

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return "JSON 对象，可含的键：{}".format("、".join(BY_NAME))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys: dict[str, object] = {}
    for name, value in pairs:
        if name in keys:
            raise Refused(f"the key {name!r} stands in it twice")
        keys[name] = value
    return keys


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def load(text: str) -> dict[str, object]:
    """Read the text of ``profiling_options``; raises :class:`Refused` when it is no JSON object."""
    try:
        loaded = _DECODER.decode(shallow(text))
    except Refused:
        raise
    except ValueError as error:
        words = [word.strip() for word in text.split(":")]
        if all(word in _OLD_WORDS for word in words):
            keys = {_OLD_WORDS[word]: "on" for word in words}
            raise Refused("the form of earlier releases, now JSON", fix=repr(json.dumps(keys))) from None
        raise Refused(f"not JSON: {error}", fix='\'{"output": "/tmp/profiling", "task_trace": "on"}\'') from None
    if not isinstance(loaded, dict):
        raise Refused("JSON, but not an object")
    return loaded


def render(keys: typing.Mapping[str, object]) -> str:
    """Write keys as the JSON text that the runtime reads, in which all values are strings.

    Values that a key does not take are kept as they are, so that the check of the keys can name them.

    Raises:
        Refused: for values that cannot be written as JSON at all.
    """
    try:
        text = json.dumps(_canonical(dict(keys.items())), ensure_ascii=False)
    except Refused:
        raise
    except Exception as error:
        # Objects of any class may be in there, and their methods may raise anything.
        raise Refused(f"cannot be written as JSON: {type(error).__name__}", wrong_type=True) from None
    return text_of(text)


def _canonical(keys: dict[str, object]) -> dict[str, object]:
    canonical: dict[str, object] = {}
    for given, value in keys.items():
        name = text_of(given)
        key = BY_NAME.get(name)
        try:
            canonical[name] = value if key is None else str(key.kind.parse(value))
        except Refused:
            canonical[name] = value
    return canonical


PROFILING_MODE = Option(
    "profiling_mode",
    Flag(),
    "Profiling: collect what profiling_options names.",
    "是否开启 Profiling 功能。",
    scope=Scope.INIT,
    defaults=(Default(False),),
    replaces=("PROFILING_MODE",),
    notes=(Note("Goes before PROFILING_MODE in the environment.", "优先级高于环境变量 PROFILING_MODE。"),),
    run_config="profiling_config.enable_profiling",
)
PROFILING_OPTIONS = Option(
    "profiling_options",
    JsonObject(),
    "What profiling collects, as a JSON object.",
    "Profiling 采集选项（JSON 格式）。",
    scope=Scope.INIT,
    replaces=("PROFILING_OPTIONS",),
    notes=(
        Note("Takes effect with profiling_mode on.", "profiling_mode 为 True 时生效。"),
        Note(
            "Online inference can trace tasks and AI CPU operators, but no iterations.",
            "在线推理支持 task_trace 和 aicpu，不支持 training_trace。",
        ),
        Note(
            "Earlier releases joined training_trace and task_trace by a colon; op_trace stood alone, for a network of "
            "a single operator.",
            "历史版本以英文冒号连接 training_trace、task_trace；op_trace 用于单算子网络，与前两者互斥。",
        ),
    ),
    run_config="profiling_config.profiling_options",
    keys=KEYS,
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
            values[PROFILING_OPTIONS.name] = _text_or(keys)
        return values

    @classmethod
    def from_options(cls, given: typing.Mapping[str, Wire]) -> Profiling | None:
        """Return the profiling that canonical options describe, ``None`` when it is off."""
        if given.get(PROFILING_MODE.name) is not True:
            return None
        keys = load(str(given.get(PROFILING_OPTIONS.name, "{}")))
        known: dict[str, typing.Any] = {name: value for name, value in keys.items() if name in BY_NAME}
        return cls(**known)


def _text_or(keys: dict[str, typing.Any]) -> object:
    try:
        return render(keys)
    except Refused:
        return keys
