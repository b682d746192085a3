"""The option table: every group, and look-up by name."""

from __future__ import annotations

import typing

from . import (
    aoe,
    basic,
    comparison_rules,
    compilation,
    data_augmentation,
    debugging,
    deprecated_rules,
    dynamic_shape,
    experimental,
    legacy,
    memory,
    mixed_compute,
    performance,
    precision_rules,
    profiling_rules,
    recovery,
    reserved,
)
from .model import Group, Option
from .problems import BASE_RULES, Rule
from .profiling_keys import BY_NAME as PROFILING_KEYS

#: All groups, in the order of the reference.
GROUPS: tuple[Group, ...] = (
    basic.GROUP,
    memory.GROUP,
    dynamic_shape.GROUP,
    mixed_compute.GROUP,
    debugging.GROUP,
    precision_rules.GROUP,
    comparison_rules.GROUP,
    performance.GROUP,
    profiling_rules.GROUP,
    aoe.GROUP,
    compilation.GROUP,
    data_augmentation.GROUP,
    recovery.GROUP,
    experimental.GROUP,
    deprecated_rules.GROUP,
    legacy.GROUP,
    reserved.GROUP,
)
#: All options by name.
TABLE: typing.Mapping[str, Option] = {option.name: option for group in GROUPS for option in group.options}
#: All rules that a check of options may report, by code.
RULES: typing.Mapping[str, Rule] = {
    rule.code: rule for rules in (BASE_RULES, *(group.rules for group in GROUPS)) for rule in rules
}
#: The name of the custom optimizer that carries the options in a ConfigProto.
OPTIMIZER_NAME = "NpuOptimizer"


def suggest(name: str) -> str | None:
    """Return the known option that ``name`` most likely means, ``None`` when none is near."""
    from difflib import get_close_matches

    folded = name.strip().lower().replace("-", "_")
    # Not all names are lower case.
    known = {option.lower(): option for option in TABLE}
    if folded in known:
        return known[folded]
    close = get_close_matches(folded, known, 1, 0.75)
    return known[close[0]] if close else None


def is_profiling_key(name: str) -> bool:
    """Tell whether ``name`` is a key of ``profiling_options`` and no option itself."""
    return name in PROFILING_KEYS and name not in TABLE
