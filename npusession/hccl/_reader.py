"""A JSON reader that keeps positions and goes on after a mistake, so that one reading finds several.

It accepts what people write instead of JSON: commas too many or too few, brackets that do not match, placeholders of
templates, comments, words without quotes, full-width punctuation. Each is a fault with its place.
"""

from __future__ import annotations

import re
import typing

from ..options.problems import Rule
from ._rules import KEY_TWICE, NOT_JSON, PLACEHOLDER, Path

#: Deeper than any rank table.
_MAX_DEPTH = 24
#: After so many faults the text is something else than a rank table.
_MAX_FAULTS = 100
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"(?://|#)[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_MARKUP = re.compile(r"<(?:!|\?|html\b)", re.I)
_PLAIN = re.compile(r'"([^"\\\x00-\x1f]*)"')
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)("?)')
_QUOTED = re.compile(r"'([^'\n]*)'|“([^”\"\n]*)[”\"]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\s,:\[\]{}\"，：]+")
#: {name}, ${NAME}, {{ name }}, {{#name}}; {% statement %}; $NAME, $(command); <name>; %s, %(name)s; @NAME@.
HOLE_PATTERN = re.compile(
    r"\$?\{\{?[^\S\n]*[#/^]?[A-Za-z_][^{}\":,\n]*\}?\}|\{%.*?%\}|\$\w+|\$\([^()\n]*\)|<[^<>\n\"]+>|%(?:\(\w+\))?[sdi]\b|@\w+@"
)
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))?')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
#: Values of other languages.
_FOREIGN_WORDS = frozenset({"NaN", "nan", "Infinity", "-Infinity", "inf", "True", "False", "None", "undefined", "nil"})
#: Keys of Chinese keyboards, and what JSON has instead.
_WIDE = {"，": ",", "：": ":", "｛": "{", "｝": "}", "［": "[", "］": "]"}
_OPENING = {"}": "{", "]": "["}


class Hole:
    """Stands for a value that cannot be read; what is wrong with it was reported where it stands."""


HOLE = Hole()


class Node(typing.NamedTuple):
    """A value, and where it begins in the text."""

    value: dict[str, Node] | list[Node] | str | float | bool | Hole | None
    offset: int
    #: Where the key begins, for a member of an object.
    key_offset: int = 0


class Slip(typing.NamedTuple):
    """Something that is no JSON, by its offset in the text and the innermost value around it."""

    rule: Rule
    offset: int
    path: Path
    message: str
    value: str | None = None
    fix: str = ""


def plain(node: Node) -> typing.Any:
    """Return a node's value without positions."""
    if isinstance(node.value, dict):
        return {key: plain(member) for key, member in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def locate(node: Node, path: Path, at_key: bool = False) -> int:
    """Return where the value at a path begins, or the nearest one around it that is there."""
    for step in path:
        inner = node.value
        if isinstance(inner, dict):
            found = inner.get(str(step))
        else:
            listed = isinstance(inner, list) and isinstance(step, int) and step < len(inner)
            found = inner[step] if listed else None  # type: ignore[index]
        if found is None:
            return node.offset
        node = found
    return node.key_offset if at_key else node.offset


class Reader:
    """Reads a text whatever is wrong with it.

    Attributes:
        slips: what is wrong, in the order of the text.
        cut_off: whether the text ends inside brackets.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.slips: list[Slip] = []
        bare = _STRING.sub("", text)
        #: By closing bracket: how many more of it there are than opening ones.
        self._surplus = {closing: bare.count(closing) - bare.count(opening) for closing, opening in _OPENING.items()}
        self._path: list[str | int] = []
        self._last_comma = -1
        self.cut_off = False

    def read(self) -> Node:
        """Return the tree of the whole text."""
        index = self._skip(0)
        if index == len(self.text):
            self._slip(index, "the file is empty", fix="generate it again, or wait until it is written")
            return Node(HOLE, 0)
        if _MARKUP.match(self.text, index):
            self._slip(index, "a page of HTML or XML", fix="get the table itself; a server may have sent an error page")
            return Node(HOLE, index)
        node, index = self._value(index, 0)
        index = self._skip(index)
        while index < len(self.text) and self.going and not isinstance(node.value, Hole):
            char = self.text[index]
            if char in "}]":
                self._slip(index, f"a stray {char!r} after the end of the table", fix=f"remove this {char!r}")
                index = self._skip(index + 1)
            else:
                self._slip(index, f"{self._seen(index)} after the end of the table", fix="remove what follows")
                break
        return node

    @property
    def going(self) -> bool:
        """Whether it has not given up: after very many slips the text is something else."""
        return len(self.slips) < _MAX_FAULTS

    def _slip(self, offset: int, message: str, rule: Rule = NOT_JSON, value: str | None = None, fix: str = "") -> None:
        if self.going:
            self.slips.append(Slip(rule, offset, tuple(self._path), message, value, fix))

    def _seen(self, index: int) -> str:
        return repr(self.text[index]) if index < len(self.text) else "the end of the file"

    def _skip(self, index: int) -> int:
        while True:
            index = _SPACE.match(self.text, index).end()  # type: ignore[union-attr]
            if not self.text.startswith(("/", "#"), index):
                return index
            comment = _COMMENT.match(self.text, index)
            if not comment:
                return index
            self._slip(index, "a comment, which JSON does not have", fix="remove the comment")
            index = comment.end()

    def _char(self, index: int) -> str:
        """Return the character at ``index``, for a full-width one the one that was meant."""
        char = self.text[index : index + 1]
        if char not in _WIDE:
            return char
        self._slip(index, f"a full-width {char!r}", fix=f"write {_WIDE[char]}")
        return _WIDE[char]

    def _value(self, index: int, depth: int) -> tuple[Node, int]:
        simple = _PLAIN.match(self.text, index)
        if simple:
            return Node(simple.group(1), index), simple.end()
        hole = HOLE_PATTERN.match(self.text, index)
        if hole:
            self._slip(index, "never filled in", PLACEHOLDER, hole.group(), "fill in the template, with its own tool")
            return Node(HOLE, index), hole.end()
        char = self._char(index)
        if depth > _MAX_DEPTH or not self.going:
            self._slip(index, f"more than {_MAX_DEPTH} levels of brackets", fix="write the table anew")
            return Node(HOLE, index), len(self.text)
        if char == "{":
            return self._object(index, depth)
        if char == "[":
            return self._list(index, depth)
        if char in ('"', "'", "“"):
            text, end = self._string(index)
            return Node(text, index), end
        number = _NUMBER.match(self.text, index)
        if number:
            return Node(_number(number.group()), index), number.end()
        word = _WORD.match(self.text, index)
        if not word:
            self._slip(index, f"{self._seen(index)} where a value belongs", fix="write the value")
            return Node(HOLE, index), index
        if word.group() in _WORDS:
            return Node(_WORDS[word.group()], index), word.end()
        if word.group() in _FOREIGN_WORDS:
            self._slip(index, "a value that JSON does not have", value=word.group(), fix="write the value")
            return Node(HOLE, index), word.end()
        self._slip(index, "a word without quotes", value=word.group()[:60], fix=f'"{word.group()[:60]}"')
        return Node(word.group(), index), word.end()

    def _string(self, index: int) -> tuple[str, int]:
        """Read text in quotes of any kind."""
        other = _QUOTED.match(self.text, index)
        if other:
            text = other.group(1) if other.group(2) is None else other.group(2)
            self._slip(index, "quotes of another kind", value=other.group()[:60], fix=f'"{text[:60]}"')
            return text, other.end()
        match = _STRING.match(self.text, index)
        if not match or not match.group(2):
            end = self.text.find("\n", index)
            end = len(self.text) if end < 0 else end
            raw = self.text[index + 1 : end].rstrip(" \t\r,")
            self._slip(index, "text that has no closing quote", value=raw[:60], fix="close it with a double quote")
            return raw, index + 1 + len(raw)
        raw = match.group(1)
        bad = next((escape for escape in _ESCAPE.finditer(raw) if not (escape.group(1) or escape.group(2))), None)
        if bad or any(char < " " for char in raw):
            self._slip(index, "text with a character or an escape that JSON does not allow", value=raw[:60])
        text = _ESCAPE.sub(_unescape, raw)
        if "\\u" in raw:
            # Two halves make one character.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return text, match.end()

    def _object(self, index: int, depth: int) -> tuple[Node, int]:
        found: dict[str, Node] = {}
        return Node(found, index), self._members(found, index, index + 1, depth)

    def _members(self, found: dict[str, Node], start: int, index: int, depth: int) -> int:
        """Read the members of an object into ``found``, up to its end."""
        index = self._skip(index)
        while self.going:
            char = self._char(index)
            if char == "}":
                if depth or self._surplus["}"] <= 0:
                    return index + 1
                after = self._skip(index + 1)
                if not self.text.startswith((",", '"'), after):
                    return index + 1
                self._stray(index)
                index = self._skip(after + 1) if self.text[after] == "," else after
            elif not char:
                return self._ended(start, "}")
            elif char == ",":
                self._slip(index, "a comma too many", fix="remove this comma")
                index = self._skip(index + 1)
            elif char == "]":
                if self._surplus["]"] <= 0:
                    return self._missing("}", start, index)
                self._stray(index)
                index = self._separator(index + 1, "}")
            else:
                hole = HOLE_PATTERN.match(self.text, index)
                if char in "{[" and not hole:
                    if self._surplus["}"] < 0:
                        return self._missing("}", start, index)
                    self._slip(index, f"{char!r} where a key belongs", fix="write the key before it")
                    _, index = self._value(index, depth + 1)
                elif hole and self.text[self._skip(hole.end()) :][:1] != ":":
                    _, index = self._value(index, depth + 1)
                else:
                    index = self._member(found, index, depth)
                index = self._separator(index, "}")
        return len(self.text)

    def _member(self, found: dict[str, Node], index: int, depth: int) -> int:
        """Read a key and its value."""
        key_offset = index
        node, index = self._value(index, depth + 1)
        key = node.value if isinstance(node.value, str) else self.text[key_offset:index]
        if not isinstance(node.value, (str, Hole)):
            self._slip(key_offset, "a key without quotes", value=key[:60], fix=f'"{key[:60]}"')
        index = self._skip(index)
        if self._char(index) == ":":
            index = self._skip(index + 1)
        else:
            self._slip(index, f"no colon after the key {key[:60]!r}", fix="write a colon between key and value")
            if self.text[index : index + 1] in ",}]":
                return max(index, key_offset + 1)
        self._path.append(key)
        value, index = self._value(index, depth + 1)
        self._path.pop()
        if key in found:
            self._slip(key_offset, "the key is in this object already", KEY_TWICE, key[:60], "keep one of the two")
            if plain(found[key]) != plain(value):
                # Which one is meant is not known.
                value = Node(HOLE, value.offset)
        found[key] = value._replace(key_offset=key_offset)
        # Whatever it was, something has been passed.
        return max(index, key_offset + 1)

    def _list(self, index: int, depth: int) -> tuple[Node, int]:
        found: list[Node] = []
        return Node(found, index), self._items(found, index, index + 1, depth)

    def _items(self, found: list[Node], start: int, index: int, depth: int) -> int:
        """Read the items of a list into ``found``, up to its end."""
        index = self._skip(index)
        while self.going:
            char = self._char(index)
            if char == "]":
                return index + 1
            if not char:
                return self._ended(start, "]")
            if char == ",":
                self._slip(index, "a comma too many", fix="remove this comma")
                index = self._skip(index + 1)
            elif char == "}":
                if self._surplus["}"] <= 0:
                    return self._missing("]", start, index)
                self._stray(index)
                index = self._separator(index + 1, "]")
            else:
                self._path.append(len(found))
                node, end = self._value(index, depth + 1)
                self._path.pop()
                if isinstance(node.value, str) and self.text.startswith((":", "："), self._skip(end)):
                    last = found[-1] if found else node
                    if not isinstance(last.value, dict) or self._surplus["}"] <= 0:
                        return self._missing("]", start, index)
                    # The object before this key was closed too early.
                    self._stray(self.text.rfind("}", 0, index))
                    end = self._members(last.value, last.offset, index, depth + 1)
                else:
                    found.append(node)
                # A value that is not there leaves the index where it was.
                index = self._separator(max(end, index + 1), "]")
        return len(self.text)

    def _separator(self, index: int, closing: str) -> int:
        """Pass over the comma after an entry; the closing bracket stays."""
        index = self._skip(index)
        char = self._char(index)
        if char == ",":
            self._last_comma, index = index, self._skip(index + 1)
            if self.text[index : index + 1] == closing:
                self._slip(self._last_comma, f"a comma before {closing!r}", fix="remove this comma")
        elif char and char not in "}]":
            self._slip(index, f"no comma before {self._seen(index)}", fix="write a comma between the two")
        return index

    def _missing(self, closing: str, start: int, index: int) -> int:
        """Report a closing bracket that is not there; go on at the comma before ``index``, if there is one."""
        line = self.text.count("\n", 0, start) + 1
        self._slip(
            index,
            f"{closing!r} is missing before {self._seen(index)}; {_OPENING[closing]!r} on line {line} is still open",
            fix=f"add {closing!r}",
        )
        self._surplus[closing] += 1
        between = self.text[self._last_comma + 1 : index]
        return index if between.strip() or self._last_comma < 0 else self._last_comma

    def _ended(self, start: int, closing: str) -> int:
        """Report the end of the text inside brackets, for the innermost of them."""
        if not self.cut_off:
            self.cut_off = True
            self._slip(start, f"the file ends before this {_OPENING[closing]!r} is closed", fix=f"add {closing!r}")
        return len(self.text)

    def _stray(self, index: int) -> None:
        char = self.text[index]
        self._slip(index, f"a stray {char!r}: more of it are closed than opened", fix=f"remove this {char!r}")
        self._surplus[char] -= 1


def _number(text: str) -> float:
    # Longer ones are out of every range, and int() takes its time with them or refuses.
    return int(text) if re.fullmatch(r"-?\d{1,400}", text) else float(text[:400])


def _unescape(match: typing.Match[str]) -> str:
    simple, code = match.groups()
    if code:
        return chr(int(code, 16))
    return _ESCAPES.get(simple, simple or "")
