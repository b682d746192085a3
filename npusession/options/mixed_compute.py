"""Mixed computing: operators that cannot be compiled for the device stay in TensorFlow."""

from __future__ import annotations

import re
import typing

from .kinds import Flag, Kind, Refused, text_of
from .model import INFERENCE, Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule

# The runtime drops blanks and tabs; a double quote would become part of a name.
_BLANK = r"[ \t]*"
_NAME = r"'[^'\"\[\],\s]+'"
_NAMES = rf"\[{_BLANK}{_NAME}{_BLANK}(?:,{_BLANK}{_NAME}{_BLANK})*\]"
_PAIR = rf"\[{_BLANK}{_NAMES}{_BLANK},{_BLANK}{_NAMES}{_BLANK}\]"
_WHOLE = rf"{_BLANK}\[{_BLANK}{_PAIR}{_BLANK}\]{_BLANK}"
_SEVERAL = rf"{_BLANK}\[{_BLANK}{_PAIR}{_BLANK}(?:,{_BLANK}{_PAIR}{_BLANK})+\]{_BLANK}"


class Span(Kind):
    """The first and last operators of one part of the graph, ``[[[first, ...], [last, ...]]]``."""

    def parse(self, value: object) -> str:
        """Read the option's text, as ``str()`` makes it of the list, or the list, or its one pair."""
        text = _written(value) if isinstance(value, (list, tuple)) else text_of(value)
        if re.fullmatch(_WHOLE, text):
            return text
        if re.fullmatch(_SEVERAL, text):
            raise Refused("more than one pair of first and last operators")
        likely = text.replace('"', "'")
        for fix in (likely, f"[{likely}]"):
            if re.fullmatch(_WHOLE, fix):
                fault = "the brackets around the pair are missing" if likely == text else "names stand in single quotes"
                raise Refused(fault, fix=repr(fix))
        raise Refused("not a list of one pair of lists of names")

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "[[[first, ...], [last, ...]]] with names of operators, one pair; or that list itself"

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return "[[[首算子名, ...], [尾算子名, ...]]]，仅一对；也可直接给出该列表"


def _written(value: object) -> str:
    """Write the list as text; a pair by itself gets the list around it."""
    pairs = _items(value)
    if pairs and any(_is_names(item) for item in pairs):
        pairs = [pairs]
    try:
        return str([[[text_of(name) for name in _items(names)] for names in _items(pair)] for pair in pairs])
    except Refused as refused:
        raise Refused(f"not a list of one pair of lists of names: {refused}", wrong_type=True) from None


def _is_names(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(name, (str, bytes)) for name in _items(value))


def _items(value: object) -> list[typing.Any]:
    if not isinstance(value, (list, tuple)):
        raise Refused(f"a {type(value).__name__} where a list belongs", wrong_type=True)
    try:
        return list(value)
    except Exception:
        raise Refused("cannot be read", wrong_type=True) from None


MIX_COMPILE_MODE = Option(
    "mix_compile_mode",
    Flag(),
    "Mixed computing: operators that cannot be compiled offline and offloaded stay in TensorFlow.",
    "是否开启混合计算模式：不可离线编译下沉的算子留在前端框架中在线执行。",
    defaults=(Default(False),),
    notes=(
        Note(
            "Otherwise every computing operator is offloaded and runs on the device.",
            "不开启时为计算全下沉模式，所有计算类算子都在 Device 侧执行。",
        ),
    ),
)
IN_OUT_PAIR_FLAG = Option(
    "in_out_pair_flag",
    Flag(),
    "Whether the operators of in_out_pair are the ones that are offloaded, or the ones that are not.",
    "混合计算场景下，in_out_pair 指定的算子是否下沉到 NPU 执行。",
    scenes=INFERENCE,
    defaults=(Default(True, INFERENCE),),
    notes=(
        Note(
            "True: they run on the NPU and all others in TensorFlow; False: the other way round.",
            "True：范围内的算子下沉，其余留在前端框架；False：范围内的留在前端框架，其余下沉。",
        ),
    ),
    run_config="",
)
IN_OUT_PAIR = Option(
    "in_out_pair",
    Span(),
    "First and last operators of the part of the graph that is offloaded, or is not.",
    "混合计算场景下，下沉或不下沉部分的首尾算子名。",
    scenes=INFERENCE,
    notes=(Note("One pair of first and last operators only.", "仅支持一个 [in_nodes, out_nodes] 范围。"),),
    run_config="",
)

PAIR_NEEDS_MIXED = Rule("NPU218", "missing-companion", "in_out_pair counts in mixed computing only.")
FLAG_NEEDS_PAIR = Rule("NPU219", "no-effect", "in_out_pair_flag says what becomes of in_out_pair.")


def is_mixed(settings: Settings) -> bool:
    """Tell whether mixed computing is on, or was to be told by a value that is refused anyway."""
    return settings.get(MIX_COMPILE_MODE.name) is True or MIX_COMPILE_MODE.name in settings.refused


def _pair_needs_mixed(settings: Settings) -> typing.Iterator[Problem]:
    if IN_OUT_PAIR.name in settings and not is_mixed(settings):
        yield problem(
            PAIR_NEEDS_MIXED,
            IN_OUT_PAIR,
            f"given, but {MIX_COMPILE_MODE.name} is not on",
            value=settings[IN_OUT_PAIR.name],
            fix=f"{MIX_COMPILE_MODE.name}=True",
        )


def _flag_needs_pair(settings: Settings) -> typing.Iterator[Problem]:
    # On is what holds anyway.
    if settings.get(IN_OUT_PAIR_FLAG.name) is False and not settings.names(IN_OUT_PAIR):
        yield problem(
            FLAG_NEEDS_PAIR,
            IN_OUT_PAIR_FLAG,
            f"off, but there is no {IN_OUT_PAIR.name}",
            value=False,
            fix=f"give {IN_OUT_PAIR.name} too, or leave out {IN_OUT_PAIR_FLAG.name}",
        )


GROUP = Group(
    "mixed_compute",
    "Mixed computing",
    "混合计算",
    (MIX_COMPILE_MODE, IN_OUT_PAIR_FLAG, IN_OUT_PAIR),
    (PAIR_NEEDS_MIXED, FLAG_NEEDS_PAIR),
    (_pair_needs_mixed, _flag_needs_pair),
)
