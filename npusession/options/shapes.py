"""Kinds of text that hold numbers: input shapes, gears, and plain lists of numbers."""

from __future__ import annotations

import re
import typing

from .kinds import INT32_MAX, Integer, Kind, Refused, text_of

#: The dimension in a shape that the gears fill in.
DYNAMIC = -1
MIN_GEARS = 2
#: The most gears that any product takes.
MAX_GEARS = 256
_MAX_DIM = 2**63 - 1
#: The runtime ends the process for names of other characters, and for blanks anywhere.
_NAME = re.compile(r"[A-Za-z0-9_]+")


class Shape(typing.NamedTuple):
    """The shape of one input; no dimensions at all for a scalar."""

    name: str
    dims: tuple[int, ...]


def parse_shapes(text: str) -> tuple[Shape, ...]:
    """Read ``name:dim,dim;name:dim``, where -1 is a dimension of the gears and a lone 0 a scalar.

    Raises:
        Refused: for everything else.
    """
    shapes: list[Shape] = []
    for entry in text.split(";"):
        name, colon, numbers = entry.partition(":")
        if not colon:
            raise Refused(f"{entry[:40]!r} is no input: a name, a colon, and dimensions joined by commas")
        if not _NAME.fullmatch(name):
            raise Refused(f"{name[:40]!r} is no input's name: letters, digits and underscores only")
        if any(name == shape.name for shape in shapes):
            raise Refused(f"the input {name[:40]!r} stands in it twice")
        dims = () if numbers == "0" else tuple(_dimension(number, entry) for number in numbers.split(","))
        shapes.append(Shape(name, dims))
    return tuple(shapes)


def _dimension(number: str, entry: str) -> int:
    if number == str(DYNAMIC):
        return DYNAMIC
    dim = _plain(number)
    if dim is None or dim > _MAX_DIM:
        raise Refused(f"{number[:20]!r} in {entry[:40]!r} is no dimension: a number from 1, or -1")
    if dim == 0:
        raise Refused(f"0 in {entry[:40]!r}: a 0 is for scalars, and stands alone")
    return dim


def parse_gears(text: str) -> tuple[tuple[int, ...], ...]:
    """Read ``dim,dim;dim,dim``: gears of as many dimensions each.

    Raises:
        Refused: for anything else, fewer than 2 gears, or more than any product takes.
    """
    gears = []
    for gear in text.split(";"):
        dims = [_plain(number) for number in gear.split(",")]
        if any(dim is None or not 1 <= dim <= _MAX_DIM for dim in dims):
            raise Refused(f"{gear[:40]!r} is no gear: numbers from 1 joined by commas")
        gears.append(tuple(dim for dim in dims if dim is not None))
    if len({len(gear) for gear in gears}) > 1:
        raise Refused("the gears differ in how many dimensions they have")
    if not MIN_GEARS <= len(gears) <= MAX_GEARS:
        raise Refused(f"{len(gears)} gears, {MIN_GEARS} to {MAX_GEARS} are allowed")
    return tuple(gears)


def _plain(number: str) -> int | None:
    """Return a number that is digits and nothing else; other digits than ASCII ones do not count."""
    return int(number) if number.isascii() and number.isdigit() and len(number) <= 19 else None


def _items(value: typing.Any) -> list[typing.Any]:
    try:
        return list(value)
    except Exception:
        raise Refused("cannot be read", wrong_type=True) from None


def _join(value: object, separator: str = ",") -> str:
    """Write a list of numbers, or a number by itself, as text; text is taken as it is."""
    if isinstance(value, (str, bytes)):
        return text_of(value)
    signed = Integer(DYNAMIC, _MAX_DIM)
    return separator.join(str(signed.parse(item)) for item in (_items(value) if _is_list(value) else [value]))


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _checked(text: str, read: typing.Callable[[str], object]) -> str:
    """Return ``text`` when it can be read; the runtime takes no blanks, so a text without them is the fix."""
    try:
        read(text)
    except Refused as refused:
        squeezed = "".join(text.split())
        if squeezed != text:
            read(squeezed)
            raise Refused("blanks are not allowed", fix=repr(squeezed)) from None
        raise refused from None
    return text


class Shapes(Kind):
    """The shapes of inputs, as text or as a dict of name to dimensions."""

    def parse(self, value: object) -> str:
        """Read the option's text, or ``{"data": (1, 1, 40, -1), "mask": 0}`` in the inputs' order."""
        if isinstance(value, dict):
            shapes = _items(dict.items(value))
            value = ";".join("{}:{}".format(text_of(name), _join(dims) or "0") for name, dims in shapes)
        return _checked(text_of(value), parse_shapes)

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "name:dim,dim;name:dim,dim with -1 for dimensions of the gears, and name:0 for a scalar"

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return "name:dim,dim;name:dim,dim，-1 表示分档维度，标量写作 name:0"


class Gears(Kind):
    """Gears of dynamic dimensions, as text or as a list of lists."""

    def parse(self, value: object) -> str:
        """Read the option's text, or ``[(20, 1), (40, 2)]``."""
        if isinstance(value, (list, tuple)):
            value = ";".join(_join(gear) for gear in _items(value))
        return _checked(text_of(value), parse_gears)

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return f"dim,dim;dim,dim with numbers from 1, {MIN_GEARS} to 100 gears (to {MAX_GEARS} on Atlas 350)"

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return f"dim,dim;dim,dim，数值从 1 起，{MIN_GEARS} 到 100 档（Atlas 350 加速卡到 {MAX_GEARS} 档）"


class Numbers(Kind):
    """Whole numbers joined by a character, as text or as a list.

    Args:
        grammar: the grammar in words, for messages.
        separator: what stands between the numbers.
        minimum: smallest number allowed.
        count: how many there must be; any number of them, but one at least, when left out.
        zh: the grammar in Chinese words.
    """

    def __init__(
        self, grammar: str, separator: str = ",", minimum: int = 0, count: int | None = None, *, zh: str = ""
    ) -> None:
        self.grammar = grammar
        self.grammar_zh = zh
        self.separator = separator
        self.minimum = minimum
        self.count = count

    def parse(self, value: object) -> str:
        """Read the option's text, numbers in a list, or one number by itself."""
        return _checked(_join(value, self.separator), self._read)

    def _read(self, text: str) -> None:
        numbers = text.split(self.separator)
        if self.count is not None and len(numbers) != self.count:
            raise Refused(f"not {self.count} numbers joined by {self.separator!r}")
        for number in numbers:
            plain = _plain(number)
            if plain is None or not self.minimum <= plain <= INT32_MAX:
                raise Refused(f"{number[:20]!r} is not a number from {self.minimum}")

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return self.grammar

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return self.grammar_zh or self.grammar
