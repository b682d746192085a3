"""The runtime's checks of gears, which are less strict than npusession's: it neither counts nor compares them."""

from __future__ import annotations

import re

from ...options.gears import COMPILE_HYBRID_MODE, DYNAMIC_DIMS, DYNAMIC_NODE_TYPE, GEARS, INPUT_SHAPE
from .verdict_reading import Aborted, Parameters, Rejected, given, pieces, read, shown, words

_NUMBERS = re.compile(r"[0-9]+(,[0-9]+)*")
_DIMENSIONS = re.compile(r"-?[0-9]+(,-?[0-9]+)*")


def gears(parameters: Parameters) -> None:
    """The options of gears come together or not at all; what they need of each other comes last."""
    there = [given(parameters, option) for option in GEARS]
    if any(there) and not all(there):
        raise Aborted("{} are not all set".format(", ".join(option.name for option in GEARS)))
    if all(there):
        _values(parameters)
    _hybrid(parameters, all(there))


def _values(parameters: Parameters) -> None:
    if not are_shapes(read(parameters, INPUT_SHAPE)):
        raise Aborted(shown(parameters, INPUT_SHAPE))
    if not are_gears(read(parameters, DYNAMIC_DIMS)):
        raise Aborted(shown(parameters, DYNAMIC_DIMS))
    if read(parameters, DYNAMIC_NODE_TYPE) not in words(DYNAMIC_NODE_TYPE):
        raise Aborted(shown(parameters, DYNAMIC_NODE_TYPE))


def _hybrid(parameters: Parameters, with_gears: bool) -> None:
    mode = read(parameters, COMPILE_HYBRID_MODE)
    # Without gears it is only asked whether the mode is on, so that other numbers pass.
    if with_gears and mode not in words(COMPILE_HYBRID_MODE):
        raise Rejected(shown(parameters, COMPILE_HYBRID_MODE))
    if mode == 1 and not (with_gears and read(parameters, DYNAMIC_NODE_TYPE) == 1):
        raise Rejected(f"{shown(parameters, COMPILE_HYBRID_MODE)} without gears of placeholders")


def are_shapes(text: str) -> bool:
    """Tell whether the runtime takes a text as shapes of inputs: any names, any whole numbers."""
    inputs = pieces(text, ";")
    return bool(inputs) and all(_is_shape(entry) for entry in inputs)


def _is_shape(entry: str) -> bool:
    # The last colon counts, since a name may have some too.
    name, _, dims = entry.rpartition(":")
    return bool(name) and _DIMENSIONS.fullmatch(dims) is not None


def are_gears(text: str) -> bool:
    """Tell whether the runtime takes a text as gears."""
    found = pieces(text, ";")
    return bool(found) and all(is_list(gear) for gear in found)


def is_list(text: str) -> bool:
    """Tell whether a text is whole numbers joined by commas."""
    return _NUMBERS.fullmatch(text) is not None
