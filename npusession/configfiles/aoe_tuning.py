"""Which operators the AOE tuner works on, and how hard (a JSON file)."""

from __future__ import annotations

import dataclasses
import typing

from ..options.problems import Problem, Rule
from ..products import Product
from ._json import document, dump, members, string, strings
from ._rules import check_names, check_words, report
from ._values import Words, text_of, words_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._source import Source

#: Every level, with what it does.
LEVELS = {"O1": "tunes for the highest performance", "O2": "tunes as usual"}
#: Every feature, with the tuning mode that it belongs to.
FEATURES = {"deeper_opat": "2", "nonhomo_split": "1"}

TWO_FEATURES = Rule("NPU535", "conflict", "The two features belong to different tuning modes, and a run has one.")


@dataclasses.dataclass(frozen=True)
class AoeTuning(ConfigFile):
    """What AOE tunes: the operators of both lists together, or all when both are left out.

    Args:
        tune_ops_name: names of nodes in the compiled graph, as a list or as one text with commas; the whole name must
            match. None by default.
        tune_ops_type: types of operators; fused operators that contain one are tuned, too. None by default.
        tune_optimization_level: ``"O1"`` for the highest performance, or ``"O2"``, which holds when left out.
        feature: ``["deeper_opat"]`` for deep tuning of operators, which needs tuning mode 2, or ``["nonhomo_split"]``
            for uneven splitting of subgraphs, which needs tuning mode 1. None by default.

    ::

        AoeTuning(["loss/MatMul"], ["Add", "Mul"], "O1", ["deeper_opat"]).write("/data/tuning_config.cfg")

    Source: session configuration reference, AOE.

    Raises:
        TypeError: an item is not text.
    """

    tune_ops_name: Words = ()
    tune_ops_type: Words = ()
    tune_optimization_level: str | None = None
    feature: Words = ()

    format: typing.ClassVar[str] = "aoe_tuning"
    suffix: typing.ClassVar[str] = ".cfg"
    rules: typing.ClassVar[tuple[Rule, ...]] = (TWO_FEATURES,)

    def __post_init__(self) -> None:
        for field in _LISTS:
            object.__setattr__(self, field, words_of(getattr(self, field)))
        if self.tune_optimization_level is not None:
            object.__setattr__(self, "tune_optimization_level", text_of(self.tune_optimization_level))

    @classmethod
    def _parse(cls, source: Source) -> AoeTuning:
        # The keys are the arguments' names.
        keys = tuple(field.name for field in dataclasses.fields(cls) if field.init)
        found = members(source, document(source), keys)
        lists = {key: strings(source, node) for key, node in found.items() if key in _LISTS}
        level = found.get("tune_optimization_level")
        return cls(tune_optimization_level=None if level is None else string(source, level), **lists)

    def _render(self) -> str:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}
        return dump({key: value for key, value in values.items() if value is not None and value != ()})

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        yield from check_names("tune_ops_name", self.tune_ops_name)
        yield from check_names("tune_ops_type", self.tune_ops_type)
        if self.tune_optimization_level is not None:
            yield from check_words("tune_optimization_level", [self.tune_optimization_level], tuple(LEVELS))
        yield from check_words("feature", self.feature, tuple(FEATURES))
        if set(FEATURES) <= set(self.feature):
            yield report(TWO_FEATURES, "feature", "both features", value=self.feature, fix="tune twice, once with each")


_LISTS = ("tune_ops_name", "tune_ops_type", "feature")
