"""How arguments of the typed values become the tuples of text that they are kept as."""

from __future__ import annotations

import operator
import typing

#: What surrounds entries without belonging to them. Wider blanks, such as the ideographic one, belong to names.
BLANKS = " \t\r\f\v"
#: Stands before an operator's type where names and types are mixed.
TYPE_PREFIX = "OpType::"

#: Words: one text with commas between them, or several texts.
Words = typing.Union[str, typing.Iterable[str]]
#: A word per name, as a mapping or as pairs; a bool stands for on or off.
Settings = typing.Union[
    typing.Mapping[str, typing.Union[str, bool]], typing.Iterable[typing.Tuple[str, typing.Union[str, bool]]]
]
#: Settings as they are kept.
Pairs = typing.Tuple[typing.Tuple[str, str], ...]


def words_of(value: Words | None) -> tuple[str, ...]:
    """Return words as a tuple; one text is split at its commas, the items of a list are taken as they are.

    Raises:
        TypeError: an item is not text.
    """
    if isinstance(value, str):
        return tuple(piece for piece in (piece.strip(BLANKS) for piece in value.split(",")) if piece)
    return tuple(text_of(item) for item in value or ())


def pairs_of(value: Settings | None) -> Pairs:
    """Return settings as pairs, in their order; ``True`` and ``False`` become ``on`` and ``off``.

    Raises:
        TypeError: a name is not text, a value is neither text nor a bool, or an item is not a pair.
    """
    if isinstance(value, str):
        raise TypeError("settings are a mapping or pairs, not text")
    items = value.items() if isinstance(value, typing.Mapping) else value or ()
    pairs = []
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise TypeError("settings are a mapping or pairs of a name and a word")
        name, word = item
        if isinstance(word, bool):
            word = "on" if word else "off"
        pairs.append((text_of(name), text_of(word)))
    return tuple(pairs)


def text_of(value: object) -> str:
    """Return text as a plain ``str``; raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"text is needed, not {type(value).__name__}")
    return str.__str__(value)


def number_of(value: object) -> int | None:
    """Return a whole number of any integer type, or ``None`` as it is; raises TypeError for anything else."""
    if isinstance(value, bool):
        raise TypeError("a whole number is needed, not a bool")
    return None if value is None else operator.index(value)  # type: ignore[arg-type]
