"""Which implementation of single operators is taken, the precise or the fast one (an .ini file)."""

from __future__ import annotations

import dataclasses
import typing

from ..options.problems import Problem, Rule, Severity
from ..products import BF16_PRODUCTS, Product
from ._rules import check_pairs, check_product, report
from ._values import Settings, pairs_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._source import Source

BY_TYPE, BY_NAME = "ByOpType", "ByNodeName"
FLOAT_32, HI_FLOAT_32 = "enable_float_32_execution", "enable_hi_float_32_execution"

#: Every mode, with what it does.
MODES = {
    "high_precision": "the more precise implementation",
    "high_performance": "the faster implementation",
    FLOAT_32: "computes in float32, and never in HF32 instead",
    HI_FLOAT_32: "computes float32 as HF32",
    "support_out_of_bound_index": "checks the indices of gather, scatter and segment operators, and is slower for it",
    "keep_fp16": "computes float16 as it is and not in float32: faster and less precise, seldom a good choice",
    "super_performance": "a simplified computation, faster still than high_performance",
}
#: The products with HF32, which the mode for float32 is about.
_HF32_PRODUCTS = BF16_PRODUCTS

FLOAT_32_PRODUCT = Rule("NPU530", "wrong-product", "The product has no HF32 that could be turned off.")
NO_HI_FLOAT_32 = Rule("NPU531", "no-effect", "Current releases do not support this mode yet.", Severity.WARNING)


@dataclasses.dataclass(frozen=True)
class OpPrecision(ConfigFile):
    """Implementation modes of operators.

    Args:
        by_op_type: a mapping, or pairs, of an operator's type and its mode. None by default.
        by_node_name: the same by the node's name, which goes before the type.

    The modes are ``high_precision``, ``high_performance``, ``enable_float_32_execution`` (Atlas A2, A3 and 350 only),
    ``enable_hi_float_32_execution`` (not supported yet), ``support_out_of_bound_index``, ``keep_fp16`` and
    ``super_performance``; which of them an operator has stands in ``all_ops_impl_mode.ini`` of the installation.

    ::

        OpPrecision({"Softmax": "high_precision"}, {"loss/MatMul": "high_performance"}).write("/data/op_precision.ini")

    Source: session configuration reference, 性能调优.

    Raises:
        TypeError: an argument is neither a mapping nor pairs of text.
    """

    by_op_type: Settings = ()
    by_node_name: Settings = ()

    format: typing.ClassVar[str] = "op_precision"
    suffix: typing.ClassVar[str] = ".ini"
    rules: typing.ClassVar[tuple[Rule, ...]] = (FLOAT_32_PRODUCT, NO_HI_FLOAT_32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_op_type", pairs_of(self.by_op_type))
        object.__setattr__(self, "by_node_name", pairs_of(self.by_node_name))

    @classmethod
    def _parse(cls, source: Source) -> OpPrecision:
        found = {
            name: {key: entry.value for key, entry in entries.items()}
            for name, entries in source.sections((BY_TYPE, BY_NAME)).items()
        }
        return cls(found.get(BY_TYPE, ()), found.get(BY_NAME, ()))

    def _render(self) -> str:
        lines = []
        for section, modes in ((BY_TYPE, pairs_of(self.by_op_type)), (BY_NAME, pairs_of(self.by_node_name))):
            if modes:
                lines += [f"[{section}]\n", *(f"{name}={mode}\n" for name, mode in modes)]
        return "".join(lines) or "\n"

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        for section, modes in ((BY_TYPE, pairs_of(self.by_op_type)), (BY_NAME, pairs_of(self.by_node_name))):
            yield from check_pairs(f"[{section}]", modes, tuple(MODES), "=", "#[")
            for name, mode in modes:
                if mode == FLOAT_32:
                    yield from check_product(FLOAT_32_PRODUCT, f"[{section}] {name}", mode, product, _HF32_PRODUCTS)
                elif mode == HI_FLOAT_32:
                    place = f"[{section}] {name}"
                    yield report(NO_HI_FLOAT_32, place, "not supported yet", value=mode, fix="leave it out")
