"""The grammars of deprecated options: shape ranges of dynamic inputs, sizes of memory."""

from __future__ import annotations

import typing

from .kinds import Refused

#: Largest size of memory that releases which still read it allowed: 256 GB.
LARGEST_MEMORY = 256 * 1024**3
#: Where inputs come from: a dataset, and placeholders.
SOURCES = ("getnext", "data")

#: One axis, smallest and largest size; the largest is ``None`` where there is no limit.
Axis = typing.Tuple[int, typing.Optional[int]]
#: One input, axis by axis; a scalar has none.
Shape = typing.Tuple[Axis, ...]


def parse_shape_ranges(text: str) -> dict[str, tuple[Shape, ...]]:
    """Read ``dynamic_inputs_shape_range``: the inputs of each source, in order.

    ``"getnext:[3,2~8];data:[-1],[]"`` gives ``{"getnext": (((3, 3), (2, 8)),), "data": (((0, None),), ())}``.

    Raises:
        Refused: for another source, a source that is there twice, or an axis that is neither a number, a rising
            range such as ``2~8``, nor -1.
    """
    sources: dict[str, tuple[Shape, ...]] = {}
    for part in text.split(";"):
        name, colon, shapes = part.partition(":")
        name = name.strip()
        if not colon or name not in SOURCES:
            raise Refused(f"{part[:40]!r} does not begin with getnext: or data:")
        if name in sources:
            raise Refused(f"{name} stands in it twice")
        sources[name] = tuple(_shapes(shapes))
    return sources


def _shapes(text: str) -> typing.Iterator[Shape]:
    rest = text
    while True:
        before, opening, inside = rest.partition("[")
        axes, closing, rest = inside.partition("]")
        if before.strip() or not opening or not closing or "[" in axes:
            raise Refused(f"{text[:40]!r} is not a list of shapes in square brackets")
        if not axes.strip():
            if before:
                raise Refused("no blank may stand before the [] of a scalar")
            yield ()
        else:
            yield tuple(_axis(axis.strip()) for axis in axes.split(","))
        comma, rest = rest.lstrip()[:1], rest.lstrip()[1:]
        if not comma:
            return
        if comma != ",":
            raise Refused(f"a comma has to follow each shape, not {comma!r}")


def _axis(text: str) -> Axis:
    if text == "-1":
        return 0, None
    low, tilde, high = (number.strip() for number in text.partition("~"))
    if not _is_number(low) or (tilde and not _is_number(high)):
        raise Refused(f"{text[:40]!r} is neither a size, a range of sizes such as 2~8, nor -1")
    smallest, largest = int(low), int(high or low)
    if largest < smallest:
        raise Refused(f"the range {text[:40]!r} falls")
    return smallest, largest


def parse_memory(text: str) -> int:
    """Read a number of bytes, which may be a product such as ``"16 * 1024 * 1024 * 1024"``; raises :class:`Refused`."""
    size = 1
    for factor in text.split("*"):
        if not _is_number(factor.strip()):
            raise Refused(f"{factor.strip()[:40]!r} is not a whole number")
        size *= int(factor)
        if size > LARGEST_MEMORY:
            # A zero further on does not help: nobody writes that.
            raise Refused("more than 256 GB")
    return size


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def read_shape_ranges(text: str) -> str:
    """Return the text when it is one of ``dynamic_inputs_shape_range``."""
    parse_shape_ranges(text)
    return text


def read_memory(text: str) -> str:
    """Return the text when it is a size of memory."""
    parse_memory(text)
    return text
