"""JSON with positions: duplicate keys and values of the wrong kind are errors that say where."""

from __future__ import annotations

import json
import re
import typing

from ._source import Source

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"(?:-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.])")
_DECODER = json.JSONDecoder()
#: Deeper than any format here.
_MAX_DEPTH = 10


class Node(typing.NamedTuple):
    """A value and where it begins: an object, a list, text, or ``None`` for numbers and the bare words."""

    value: dict[str, Node] | list[Node] | str | None
    offset: int
    #: Where the key begins, for a member of an object.
    key_offset: int = 0


def document(source: Source) -> Node:
    """Read the whole text as one JSON value.

    ``//`` comments are passed over, since the reference shows them, and remarked on, since JSON has none.

    Raises:
        ConfigFileError: the text is not JSON, or an object has a key twice.
    """
    node, end = _value(source, _skip(source, 0), 0)
    end = _skip(source, end)
    if end != len(source.text):
        raise source.error(end, "text after the end of the document", "nothing more")
    return node


def members(source: Source, node: Node, known: typing.Sequence[str] = ()) -> dict[str, Node]:
    """Return the members of an object; its keys must be among ``known``, when there are any."""
    if not isinstance(node.value, dict):
        raise source.error(node.offset, "a value that is no object", "an object" + " with ".join(["", *known[:1]]))
    for key, member in node.value.items():
        if known and key not in known:
            raise source.unknown(member.key_offset, "key", key, known)
    return node.value


def strings(source: Source, node: Node) -> tuple[str, ...]:
    """Return a list of text as a tuple."""
    if not isinstance(node.value, list):
        raise source.error(node.offset, "a value that is no list", "a list of text")
    return tuple(string(source, item) for item in node.value)


def string(source: Source, node: Node) -> str:
    """Return a text."""
    if not isinstance(node.value, str):
        raise source.error(node.offset, "a value that is no text", "text in double quotes")
    return node.value


def dump(value: object) -> str:
    """Return a value as JSON, indented, in its own characters, with a line end."""
    return json.dumps(value, ensure_ascii=False, indent=4) + "\n"


def _skip(source: Source, index: int) -> int:
    """Return the index of the next character that is neither blank nor comment."""
    while True:
        index += len(_SPACE.match(source.text, index).group())  # type: ignore[union-attr]
        if not source.text.startswith("//", index):
            return index
        source.remark(index, "a comment, which JSON does not have", "write the file again: write(path, overwrite=True)")
        end = source.text.find("\n", index)
        index = len(source.text) if end < 0 else end


def _value(source: Source, index: int, depth: int) -> tuple[Node, int]:
    if depth > _MAX_DEPTH:
        raise source.error(index, "values nested too deeply", f"at most {_MAX_DEPTH} levels")
    first = source.text[index : index + 1]
    if first == "{":
        return _object(source, index, depth)
    if first == "[":
        return _list(source, index, depth)
    if first == '"':
        text, end = _string(source, index)
        return Node(text, index), end
    scalar = _SCALAR.match(source.text, index)
    if not scalar:
        raise source.error(index, _seen(source, index), "a value" if depth else "an object in braces")
    return Node(None, index), scalar.end()


def _object(source: Source, index: int, depth: int) -> tuple[Node, int]:
    found: dict[str, Node] = {}
    start, index = index, _skip(source, index + 1)
    while source.text[index : index + 1] != "}" or found:
        if source.text[index : index + 1] != '"':
            raise source.error(index, _seen(source, index), "a key in double quotes")
        key_offset = index
        key, index = _string(source, index)
        if key in found:
            line, _ = source.position(found[key].key_offset)
            raise source.error(key_offset, f"key {key[:60]!r} again, after line {line}", "each key once")
        index = _expect(source, _skip(source, index), ":")
        node, index = _value(source, _skip(source, index), depth + 1)
        found[key] = node._replace(key_offset=key_offset)
        index = _skip(source, index)
        if source.text[index : index + 1] == "}":
            break
        index = _skip(source, _expect(source, index, ",", "}"))
    return Node(found, start), index + 1


def _list(source: Source, index: int, depth: int) -> tuple[Node, int]:
    found: list[Node] = []
    start, index = index, _skip(source, index + 1)
    while source.text[index : index + 1] != "]" or found:
        node, index = _value(source, index, depth + 1)
        found.append(node)
        index = _skip(source, index)
        if source.text[index : index + 1] == "]":
            break
        index = _skip(source, _expect(source, index, ",", "]"))
    return Node(found, start), index + 1


def _string(source: Source, index: int) -> tuple[str, int]:
    try:
        text, end = _DECODER.raw_decode(source.text, index)
    except json.JSONDecodeError as error:
        raise source.error(error.pos, "text that JSON cannot read", "text in double quotes, on one line") from None
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise source.error(index, "text that UTF-8 cannot encode", "whole characters, not half of a pair")
    return text, end


def _expect(source: Source, index: int, wanted: str, other: str = "") -> int:
    if source.text[index : index + 1] != wanted:
        expected = " or ".join(repr(mark) for mark in (wanted, other) if mark)
        raise source.error(index, _seen(source, index), expected)
    return index + 1


def _seen(source: Source, index: int) -> str:
    return repr(source.text[index]) if index < len(source.text) else "the end of the text"
