"""The side files that options of a session point at, as values that are read, checked and written.

::

    from npusession.configfiles import MixList

    lists = MixList.read("/data/ops_info.json")
    problems = lists.check()
    MixList(black_add=["Cast"]).write("/data/mine.json")
"""

import typing

from ._rules import SHARED_RULES
from .aoe_tuning import AoeTuning
from .base import ConfigFile, ConfigFileError
from .custom_dtypes import CustomizeDtypes
from .fusion_switch import FusionSwitch
from .mixlist import MixList
from .op_cache import OpCache
from .op_debug import OpDebugConfig
from .op_precision import OpPrecision
from .operator_dtypes import OperatorDtypes

if typing.TYPE_CHECKING:
    from ..options.problems import Rule

__all__ = [
    "FORMATS",
    "RULES",
    "AoeTuning",
    "ConfigFile",
    "ConfigFileError",
    "CustomizeDtypes",
    "FusionSwitch",
    "MixList",
    "OpCache",
    "OpDebugConfig",
    "OpPrecision",
    "OperatorDtypes",
]

_ALL: typing.Tuple[typing.Type[ConfigFile], ...] = (
    OpDebugConfig, MixList, CustomizeDtypes, FusionSwitch, OpPrecision, AoeTuning, OpCache
)  # fmt: skip
#: Every format by its name, as the option table writes it.
FORMATS: typing.Mapping[str, typing.Type[ConfigFile]] = {kind.format: kind for kind in _ALL}
#: All rules that checks of side files may report, by code.
RULES: "typing.Mapping[str, Rule]" = {
    rule.code: rule for rules in (SHARED_RULES, *(kind.rules for kind in _ALL)) for rule in rules
}
