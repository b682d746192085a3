"""The text of a rank table: its data at once, and the place of anything in it when that is asked."""

from __future__ import annotations

import json
import re
import typing

from .._compat import shallow
from ..configfiles._source import Source
from ..options.problems import Problem, Rule, Severity
from ._reader import HOLE, Node, Reader, locate, plain
from ._rules import NOT_JSON, Fault, Path, json_path

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")


class Entry(typing.NamedTuple):
    """Where a member of an object or an item of a list begins."""

    offset: int
    key_offset: int


class Document:
    """A JSON text, well-formed or not.

    Attributes:
        source: the file, or what stands for it.
        slips: what keeps it from being JSON, empty for a well-formed text.
        cut_off: whether it ends inside brackets, so that what is missing may just not be there yet.
    """

    def __init__(self, text: str | bytes, source: str) -> None:
        self.source = source
        self._source, bad = _decoded(text, source)
        #: The positions of everything, of a text that is no JSON; others are looked up where they are asked.
        self._tree: Node | None = None
        self._known: dict[Path, dict[str | int, Entry]] = {}
        self.slips: list[Problem] = []
        self.cut_off = False
        if bad is not None:
            self.slips.append(self._problem(NOT_JSON, bad, (), "bytes that are not UTF-8", fix="save it as UTF-8"))

    def load(self) -> typing.Any:
        """Return what the text says; :data:`._reader.HOLE` stands for what cannot be read."""
        try:
            # In C, since almost every table is well-formed and has no problem whose position is asked.
            return json.loads(shallow(self._source.text), object_pairs_hook=_unique, parse_constant=_refuse)
        except ValueError:
            reader = Reader(self._source.text)
            self._tree = reader.read()
            self.slips += (
                self._problem(slip.rule, slip.offset, slip.path, slip.message, slip.value, fix=slip.fix)
                for slip in reader.slips
            )
            self.cut_off = reader.cut_off
            return plain(self._tree) if reader.going else HOLE

    def problems(self, faults: typing.Iterable[Fault]) -> list[Problem]:
        """Return faults as problems with their places."""
        return [
            self._problem(
                fault.rule, self._offset(fault.path, fault.at_key), fault.path, fault.message, fault.value,
                fault.allowed, fault.fix, fault.severity,
            )
            for fault in faults
        ]  # fmt: skip

    def _offset(self, path: Path, at_key: bool) -> int:
        """Return where a value begins, or the nearest one around it that is there."""
        entry = Entry(_SPACE.match(self._source.text).end(), 0)  # type: ignore[union-attr]
        if self._tree is not None:
            return locate(self._tree, path, at_key)
        for length in range(len(path)):
            inner = self._entries(path[:length], entry.offset)
            if path[length] not in inner:
                return entry.offset
            entry = inner[path[length]]
        return entry.key_offset if at_key else entry.offset

    def _entries(self, path: Path, offset: int) -> dict[str | int, Entry]:
        """Return where the entries of a value begin, by key or index; empty unless it is an object or a list."""
        if path not in self._known:
            self._known[path] = _entries(self._source.text, offset)
        return self._known[path]

    def _problem(
        self,
        rule: Rule,
        offset: int,
        path: Path,
        message: str,
        value: object = None,
        allowed: str = "",
        fix: str = "",
        severity: Severity | None = None,
    ) -> Problem:
        line, column = self._source.position(offset)
        message, allowed, fix = (_printable(part) for part in (message, allowed, fix))
        return Problem(
            rule, json_path(path), message, value, allowed, rule.title, fix, severity or rule.severity,
            source=self._source.path, line=line, column=column,
        )  # fmt: skip


def _decoded(text: str | bytes, source: str) -> tuple[Source, int | None]:
    """Return the text, and the offset of the first bytes that are none."""
    if isinstance(text, str):
        return Source(text, source), None
    try:
        return Source(text.decode("utf-8"), source), None
    except UnicodeDecodeError as error:
        found = Source(text.decode("utf-8", "replace"), source)
        return found, len(text[: error.start].decode("utf-8")) - found.has_mark


def _entries(text: str, offset: int) -> dict[str | int, Entry]:
    found: dict[str | int, Entry] = {}
    opening, index = text[offset], offset
    while opening in "{[":
        # Past the bracket or the comma.
        index = key_offset = _SPACE.match(text, index + 1).end()  # type: ignore[union-attr]
        if text[index] in "}]":
            break
        key: str | int = len(found)
        if opening == "{":
            key, index = _DECODER.raw_decode(text, index)
            index = _COLON.match(text, index).end()  # type: ignore[union-attr]
        found[key] = Entry(index, key_offset)
        # Passed over in C, whatever is in it.
        _, index = _DECODER.raw_decode(text, index)
        index = _SPACE.match(text, index).end()  # type: ignore[union-attr]
        if text[index] != ",":
            break
    return found


def _printable(text: str) -> str:
    """Return text that UTF-8 can encode, which halves of characters in a table are not."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key twice")
    return members


def _refuse(word: str) -> object:
    raise ValueError(word)
