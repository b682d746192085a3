"""The text of a side file while it is read: positions, lines, sections, and what a strict reader would refuse."""

from __future__ import annotations

import re
import typing

from ..options.problems import Problem
from ._rules import STRICT_READER, closest, report
from ._values import BLANKS
from .base import ConfigFileError


class Line(typing.NamedTuple):
    """One line that says something, without the blanks around it, and where it begins in the text."""

    text: str
    offset: int
    #: Counted from 1.
    number: int
    #: How many blanks stand before it.
    indent: int


class Entry(typing.NamedTuple):
    """A key and a value, joined by an equals sign on one line, and where they begin in the text."""

    key: str
    value: str
    key_offset: int
    value_offset: int


class Source:
    """Text that is being read, and what was noticed on the way.

    Args:
        text: what is read; a byte order mark at its start is passed over.
        path: the file's name, for errors.
    """

    def __init__(self, text: str, path: str) -> None:
        self.has_mark = text.startswith("\ufeff")
        self.text = text[1:] if self.has_mark else text
        self.path = path
        #: What a value cannot hold, though it matters to other readers of the same file.
        self.found: list[Problem] = []
        #: Where each line begins, once that was asked.
        self._starts: list[int] = []

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both counted from 1."""
        # Most files have no problem whose position is asked.
        from bisect import bisect_right

        if not self._starts:
            self._starts = [0, *(end.end() for end in re.finditer("\n", self.text))]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def error(self, offset: int, problem: str, expected: str) -> ConfigFileError:
        """Return the error to raise for what is at ``offset``."""
        return ConfigFileError(self.path, *self.position(offset), problem, expected)

    def unknown(self, offset: int, what: str, word: str, known: typing.Sequence[str]) -> ConfigFileError:
        """Return the error for a word that is none of those known; it guesses which was meant."""
        guess = closest(word, known)
        problem = f"unknown {what} {word[:60]!r}" + (f" (did you mean {guess}?)" if guess else "")
        return self.error(offset, problem, " or ".join(known))

    def remark(self, offset: int, message: str, fix: str) -> None:
        """Note what a strict reader refuses, once per kind."""
        if all(problem.message != message for problem in self.found):
            place = "{}:{}:{}".format(self.path, *self.position(offset))
            self.found.append(report(STRICT_READER, place, message, fix=fix))

    def lines(self) -> typing.Iterator[Line]:
        """Yield the lines that are neither blank nor a comment, which begins with ``#``."""
        if self.has_mark:
            self.remark(0, "a byte order mark, which becomes part of the first line", "save the file without it")
        start = 0
        for number, raw in enumerate(self.text.split("\n"), 1):
            text = raw.strip(BLANKS)
            if text and not text.startswith("#"):
                indent = raw.index(text)
                yield Line(text, start + indent, number, indent)
            start += len(raw) + 1

    def entry(self, line: Line) -> Entry:
        """Split a line at its first equals sign; an error without one, or without a key before it."""
        key, equals, value = line.text.partition("=")
        key, value = key.rstrip(BLANKS), value.lstrip(BLANKS)
        if not equals:
            raise self.error(line.offset, f"{line.text[:60]!r} has no equals sign", "key=value")
        if not key:
            raise self.error(line.offset, "nothing before the equals sign", "key=value")
        return Entry(key, value, line.offset, line.offset + len(line.text) - len(value))

    def sections(self, names: typing.Sequence[str]) -> dict[str, dict[str, Entry]]:
        """Read ``[section]`` headers and the entries below each; none of them may come twice, nor lack a value."""
        found: dict[str, dict[str, Entry]] = {}
        current: dict[str, Entry] | None = None
        for line in self.lines():
            if line.text.startswith("["):
                name = line.text[1:-1].strip(BLANKS)
                if not line.text.endswith("]") or name not in names:
                    raise self.unknown(line.offset, "section", line.text, [f"[{known}]" for known in names])
                if name in found:
                    raise self.error(line.offset, f"section [{name}] again", "one section of each name")
                current = found[name] = {}
                continue
            if current is None:
                headers = " or ".join(f"[{known}]" for known in names)
                raise self.error(line.offset, "an entry before any section", headers)
            entry = self.entry(line)
            if not entry.value:
                raise self.error(entry.value_offset, f"{entry.key[:60]!r} has no value", "key=value")
            self.add(entry, current)
        return found

    def add(self, entry: Entry, earlier: dict[str, Entry]) -> None:
        """Put an entry among those that came earlier; an error when its key is there."""
        if entry.key in earlier:
            line, _ = self.position(earlier[entry.key].key_offset)
            raise self.error(entry.key_offset, f"{entry.key[:60]!r} again, after line {line}", "each key once")
        earlier[entry.key] = entry
