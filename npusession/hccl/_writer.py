"""The text of a rank table: JSON with a line for each device."""

from __future__ import annotations

import typing
from json.encoder import encode_basestring, encode_basestring_ascii

from .model import Extra

#: Members of an object, each a name and a value that is JSON already; an empty value leaves the member out.
Members = typing.Iterable[typing.Tuple[str, str]]


def quoted(text: str) -> str:
    """Return text as JSON, in its own characters where UTF-8 can encode them."""
    return (
        encode_basestring_ascii(text) if any("\ud800" <= char <= "\udfff" for char in text) else encode_basestring(text)
    )


def optional(text: str) -> str:
    """Return text as JSON; nothing for an empty one."""
    return quoted(text) if text else ""


def inline(members: Members, extra: Extra = ()) -> str:
    """Return an object on one line."""
    parts = [f'"{name}": {value}' for name, value in members if value]
    return "{" + ", ".join([*parts, *_rest(extra)]) + "}"


def block(members: Members, extra: Extra = ()) -> str:
    """Return an object with a line for each member."""
    return _lines("{", [*(f'"{name}": {value}' for name, value in members if value), *_rest(extra)], "}")


def rows(values: typing.Iterable[str]) -> str:
    """Return a list with a line for each item."""
    return _lines("[", list(values), "]")


def _rest(extra: Extra) -> typing.Iterator[str]:
    return (f"{quoted(name)}: {value}" for name, value in extra)


def _lines(opening: str, entries: list[str], closing: str) -> str:
    if not entries:
        return opening + closing
    # Text has no line ends of its own: JSON escapes them.
    body = ",\n".join(entries).replace("\n", "\n    ")
    return f"{opening}\n    {body}\n{closing}"
