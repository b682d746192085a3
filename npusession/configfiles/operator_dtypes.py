"""One line of a file of data types: an operator, and the data types of its inputs and outputs."""

from __future__ import annotations

import dataclasses
import re
import typing

from ._rules import name_fault
from ._values import BLANKS, TYPE_PREFIX, Words, text_of, words_of

if typing.TYPE_CHECKING:
    from ._source import Line, Source

INPUTS, OUTPUTS = "InputDtype:", "OutputDtype:"
_ENTRY = re.compile(
    r"(?P<type>OpType::)?[ \t]*(?P<name>[^:]+?)[ \t]*::?[ \t]*"
    r"(?:InputDtype:(?P<inputs>.*?))?(?:OutputDtype:(?P<outputs>.*))?"
)


@dataclasses.dataclass(frozen=True)
class OperatorDtypes:
    """The data types of one operator.

    Args:
        operator: its name (``"block1/unit_3/Relu"``), or its type in the Ascend IR (``"OpType::Relu"``).
        inputs: one data type per input, in order; empty text leaves an input as it is. All as they are by default.
        outputs: the same for the outputs.

    Raises:
        TypeError: the operator or a data type is not text.
    """

    operator: str
    inputs: Words = ()
    outputs: Words = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "operator", text_of(self.operator))
        for field in ("inputs", "outputs"):
            value = getattr(self, field)
            dtypes = list(value.split(",") if isinstance(value, str) else words_of(value))
            # Nothing at the end says the same as no end.
            while dtypes and not dtypes[-1].strip(BLANKS):
                dtypes.pop()
            object.__setattr__(self, field, tuple(dtype.strip(BLANKS) for dtype in dtypes))


def read_line(source: Source, line: Line) -> OperatorDtypes:
    """Read an entry; one colon or two after the operator make no difference."""
    match = _ENTRY.fullmatch(line.text)
    if not match or INPUTS in (match.group("outputs") or ""):
        expected = f"name::{INPUTS}...,{OUTPUTS}... or {TYPE_PREFIX}type:{INPUTS}...,{OUTPUTS}..."
        raise source.error(line.offset, f"{line.text[:60]!r} is no entry", expected)
    operator = (match.group("type") or "") + match.group("name")
    entry = OperatorDtypes(operator, match.group("inputs") or "", match.group("outputs") or "")
    if not entry.inputs and not entry.outputs:
        raise source.error(line.offset, f"{operator[:60]!r} has no data types", f"types after {INPUTS} or {OUTPUTS}")
    return entry


def write_line(entry: OperatorDtypes) -> str:
    """Return the entry as the reference's example writes it."""
    colons = ":" if entry.operator.startswith(TYPE_PREFIX) else "::"
    dtypes = [key + ",".join(words) for key, words in ((INPUTS, entry.inputs), (OUTPUTS, entry.outputs)) if words]
    return entry.operator + colons + ",".join(dtypes)


def operator_fault(operator: str) -> str:
    """Return why a line cannot name this operator, or an empty string."""
    name = operator[len(TYPE_PREFIX) :] if operator.startswith(TYPE_PREFIX) else operator
    if operator == TYPE_PREFIX.rstrip(":"):
        return "has the name that tells types from names"
    word = next((word for word in (INPUTS, OUTPUTS) if word.rstrip(":") in name), "")
    return f"has {word.rstrip(':')} in its name" if word else name_fault(name, ":", "#")
