"""Which fusion passes of the graph compiler run (a JSON file)."""

from __future__ import annotations

import dataclasses
import typing

from ..options.problems import Problem, Rule
from ..products import ALL_PRODUCTS, Product
from ._json import document, dump, members, string
from ._rules import check_pairs, check_product
from ._values import Pairs, Settings, pairs_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._json import Node
    from ._source import Source

SWITCH, GRAPH, UB = "Switch", "GraphFusion", "UBFusion"
ON, OFF = "on", "off"
#: Stands for every pass that has no switch of its own.
ALL = "ALL"
_UB_PRODUCTS = ALL_PRODUCTS - {Product.ATLAS_350}

UB_PRODUCT = Rule("NPU525", "wrong-product", "The product has no UB fusion that could be on.")


@dataclasses.dataclass(frozen=True)
class FusionSwitch(ConfigFile):
    """Fusion passes, on or off; every pass is on that no switch turns off.

    Args:
        graph_fusion: the passes over the graph, a mapping or pairs of a pass and ``"on"``, ``"off"``, ``True`` or
            ``False``. ``"ALL"`` stands for every pass that is not named beside it, except for those that the compiler
            cannot do without. None by default.
        ub_fusion: the same for the passes over the unified buffer, which the Atlas 350 does not have.

    Both are kept as pairs of text; ``dict(value.graph_fusion)`` looks passes up.

    ::

        FusionSwitch({"ALL": "off", "SoftmaxFusionPass": "on"}, {"ALL": "off"}).write("/data/fusion_switch.cfg")

    Source: session configuration reference, 精度比对.

    Raises:
        TypeError: an argument is neither a mapping nor pairs of that kind.
    """

    graph_fusion: Settings = ()
    ub_fusion: Settings = ()

    format: typing.ClassVar[str] = "fusion_switch"
    suffix: typing.ClassVar[str] = ".cfg"
    rules: typing.ClassVar[tuple[Rule, ...]] = (UB_PRODUCT,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph_fusion", pairs_of(self.graph_fusion))
        object.__setattr__(self, "ub_fusion", pairs_of(self.ub_fusion))

    @classmethod
    def _parse(cls, source: Source) -> FusionSwitch:
        root = document(source)
        switch = members(source, root, (SWITCH,)).get(SWITCH)
        if switch is None:
            raise source.error(root.offset, f"no {SWITCH}", f"an object with {SWITCH}")
        kinds = members(source, switch, (GRAPH, UB))
        return cls(_passes(source, kinds.get(GRAPH)), _passes(source, kinds.get(UB)))

    def _render(self) -> str:
        kinds = ((GRAPH, self.graph_fusion), (UB, self.ub_fusion))
        return dump({SWITCH: {kind: dict(pairs_of(passes)) for kind, passes in kinds if passes}})

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        yield from check_pairs(GRAPH, pairs_of(self.graph_fusion), (ON, OFF))
        yield from check_pairs(UB, pairs_of(self.ub_fusion), (ON, OFF))
        if any(word == ON for _, word in pairs_of(self.ub_fusion)):
            yield from check_product(UB_PRODUCT, UB, ON, product, _UB_PRODUCTS)


def _passes(source: Source, node: Node | None) -> Pairs:
    if node is None:
        return ()
    return tuple((name, string(source, word)) for name, word in members(source, node).items())
