"""The data types that single operators compute in, against the network's precision mode (a .cfg file)."""

from __future__ import annotations

import dataclasses
import re
import typing

from ..options.problems import Problem, Rule, Severity
from ..products import ALL_PRODUCTS, INFERENCE_SERIES, Product
from ._rules import BAD_NAME, BAD_WORD, TWICE, check_product, closest, report
from .base import ConfigFile
from .operator_dtypes import OperatorDtypes, operator_fault, read_line, write_line

if typing.TYPE_CHECKING:
    from ._source import Source

#: The data types that operators are described in. The reference lists none, so that another one is just a warning.
DTYPES = (
    "bfloat16", "bool", "complex128", "complex64", "double", "float", "float16", "float32", "hifloat8", "int16",
    "int32", "int4", "int64", "int8", "qint16", "qint32", "qint8", "quint16", "quint8", "string", "uint1", "uint16",
    "uint32", "uint64", "uint8",
)  # fmt: skip
_BF16_PRODUCTS = ALL_PRODUCTS - INFERENCE_SERIES - {Product.ATLAS_TRAINING}
#: The runtime stops reading at a line of more bytes.
MAX_LINE = 1023

NO_DTYPES = Rule("NPU520", "bad-value", "An operator is given without data types.")
BF16_PRODUCT = Rule("NPU521", "wrong-product", "The product does not compute in bfloat16.")
LONG_LINE = Rule("NPU522", "no-effect", "The runtime reads neither a very long line nor what comes after it.")
UNKNOWN_DTYPE = Rule(
    "NPU523", "bad-value", "A data type that no operator supports ends the compilation.", Severity.WARNING
)


@dataclasses.dataclass(frozen=True)
class CustomizeDtypes(ConfigFile):
    """Data types of single operators, by name or by type; where both are given, the name counts.

    Args:
        entries: an :class:`OperatorDtypes` per operator. None by default.

    ::

        relu = OperatorDtypes("block1/unit_3/Relu", ["float16"], ["float16"])
        cast = OperatorDtypes("OpType::Cast", outputs=["float32"])
        CustomizeDtypes([relu, cast]).write("/data/dtypes.cfg")

    One line per operator, ``name::InputDtype:...,OutputDtype:...`` or ``OpType::type:InputDtype:...,OutputDtype:...``.
    Comments (``#``) and blank lines are read, since the reference shows them, and reported, since the runtime's reader
    takes every line for an entry; they are never written. Names may change while the graph is compiled, and an entry
    whose name is gone has no effect. Nothing of the file counts while the network keeps its original precision.
    Source: session configuration reference, 精度调优.

    Raises:
        TypeError: an entry is no :class:`OperatorDtypes`.
    """

    entries: typing.Iterable[OperatorDtypes] = ()

    format: typing.ClassVar[str] = "custom_dtypes"
    suffix: typing.ClassVar[str] = ".cfg"
    rules: typing.ClassVar[tuple[Rule, ...]] = (NO_DTYPES, BF16_PRODUCT, LONG_LINE, UNKNOWN_DTYPE)

    def __post_init__(self) -> None:
        entries = tuple(self.entries)
        if not all(isinstance(entry, OperatorDtypes) for entry in entries):
            raise TypeError("entries are OperatorDtypes")
        object.__setattr__(self, "entries", entries)

    @classmethod
    def _parse(cls, source: Source) -> CustomizeDtypes:
        entries: list[OperatorDtypes] = []
        lines: dict[str, int] = {}
        end = 0
        for line in source.lines():
            entry = read_line(source, line)
            if line.number != end + 1:
                source.remark(line.offset, "a comment or a blank line before", _FIX)
            elif line.indent:
                source.remark(line.offset, "a blank at the start of the line", _FIX)
            if entry.operator in lines:
                problem = f"{entry.operator[:60]!r} again, after line {lines[entry.operator]}"
                raise source.error(line.offset, problem, "each operator once")
            lines[entry.operator] = end = line.number
            entries.append(entry)
        last = len(source.text) - source.text.endswith("\n")
        if source.text and source.position(last)[0] > end:
            source.remark(last, "a comment or a blank line at the end", _FIX)
        return cls(entries)

    def _render(self) -> str:
        # Without entries an empty file, since the runtime's reader takes a blank line for a broken entry.
        return "".join(write_line(entry) + "\n" for entry in self.entries)

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        seen: set[str] = set()
        for entry in self.entries:
            place = entry.operator
            fault = operator_fault(place)
            if fault:
                yield report(BAD_NAME, self.format, f"the operator {fault}", value=place)
            elif place in seen:
                yield report(TWICE, place, "given again", fix="give each operator once")
            seen.add(place)
            if not entry.inputs and not entry.outputs:
                yield report(NO_DTYPES, place, "neither inputs nor outputs", fix="leave the operator out")
            if len(write_line(entry).encode("utf-8", "replace")) > MAX_LINE:
                yield report(LONG_LINE, place, f"a line of more than {MAX_LINE} bytes", fix="shorten it")
            for dtype in dict.fromkeys((*entry.inputs, *entry.outputs)):
                yield from _dtype_problems(place, dtype, product)


_FIX = "write the file again: write(path, overwrite=True)"


def _dtype_problems(place: str, dtype: str, product: Product | None) -> typing.Iterator[Problem]:
    # Readers do not mind the case.
    word = dtype.lower()
    if word == "bfloat16":
        yield from check_product(BF16_PRODUCT, place, dtype, product, _BF16_PRODUCTS)
    elif dtype and not re.fullmatch("[a-z0-9_]+", word):
        yield report(BAD_WORD, place, "no data type", value=dtype, allowed="letters, digits and underscores")
    elif dtype and word not in DTYPES:
        yield report(
            UNKNOWN_DTYPE, place, "an unusual data type", value=dtype, allowed=", ".join(DTYPES),
            fix=closest(word, DTYPES),
        )  # fmt: skip
