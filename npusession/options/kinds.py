"""The kinds of values that options take: how each is read, what it allows, and its field in the ConfigProto.

A kind turns what a user or a command line flag gives (``True``, ``"on"``, ``"8"``, ``b"all"``, a path object) into
the one canonical value that goes into the ConfigProto, or raises :class:`Refused` with what is allowed instead.
"""

from __future__ import annotations

import enum
import operator
import os
import re
import typing

from ..products import ALL_PRODUCTS, Product

#: What ends up in an AttrValue: field ``b``, ``i`` or ``s``.
Wire = typing.Union[bool, int, str]

_TRUE = frozenset({"true", "on", "yes", "1"})
_FALSE = frozenset({"false", "off", "no", "0"})
#: The runtime copies integers into 32 bits and wraps larger ones silently.
INT32_MAX = 2**31 - 1
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")


class Refused(ValueError):
    """A value that a kind cannot take.

    Attributes:
        wrong_type: whether the value's type, and not just the value, is wrong.
        fix: what to write instead, where that is clear.
    """

    def __init__(self, message: str, *, wrong_type: bool = False, fix: str = "") -> None:
        super().__init__(message)
        self.wrong_type = wrong_type
        self.fix = fix


class Kind:
    """Base of all kinds."""

    #: The field of AttrValue that the runtime reads: ``b``, ``i`` or ``s``.
    field: typing.ClassVar[str] = "s"

    def parse(self, value: object) -> Wire:
        """Return the canonical form of ``value``; raises :class:`Refused`."""
        raise NotImplementedError

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        raise NotImplementedError

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return self.allowed


class Flag(Kind):
    """On or off, as ``bool`` or as the words that command line flags use."""

    field: typing.ClassVar[str] = "b"

    def parse(self, value: object) -> bool:
        """Read a bool, 0, 1, or a word for on or off."""
        if isinstance(value, (str, bytes)):
            word = text_of(value).strip().lower()
            if word in _TRUE:
                return True
            if word in _FALSE:
                return False
            raise Refused("not a word for on or off")
        number = _whole(value)
        if number in (0, 1):
            return bool(number)
        raise Refused("neither on nor off")

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "True, False"


class Value(typing.NamedTuple):
    """One of the values of a choice.

    Attributes:
        value: the value itself.
        summary: what it does, a few words.
        summary_zh: the same in Chinese.
        products: the product families that know it.
    """

    value: int | str
    summary: str
    summary_zh: str = ""
    products: frozenset[Product] = ALL_PRODUCTS


class Integer(Kind):
    """A whole number within a range.

    Args:
        minimum: smallest value allowed.
        maximum: largest value allowed.
        unit: what is counted, for messages; empty for a bare number.
        unit_zh: the same in Chinese, where it has words.
    """

    field: typing.ClassVar[str] = "i"

    def __init__(self, minimum: int, maximum: int = INT32_MAX, unit: str = "", unit_zh: str = "") -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.unit = unit
        self.unit_zh = unit_zh or unit

    def parse(self, value: object) -> int:
        """Read an integer, or its decimal text."""
        number = value if type(value) is int else _whole_or_text(value)
        if not self.minimum <= number <= self.maximum:
            raise Refused("outside the range")
        return number

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "{} to {}{}".format(self.minimum, self.maximum, " " + self.unit if self.unit else "")

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return "{} 到 {}{}".format(self.minimum, self.maximum, " " + self.unit_zh if self.unit_zh else "")


class IntChoice(Kind):
    """A few whole numbers, each with a meaning of its own."""

    field: typing.ClassVar[str] = "i"

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.values = values

    def parse(self, value: object) -> int:
        """Read one of the numbers, or its decimal text; a bool counts as 0 or 1."""
        on_off = {"true": 1, "on": 1, "yes": 1, "false": 0, "off": 0, "no": 0}
        if isinstance(value, (str, bytes)):
            value = on_off.get(text_of(value).strip().lower(), value)
        number = int(_whole(value)) if _is_bool(value) else _whole_or_text(value)
        if all(number != choice.value for choice in self.values):
            raise Refused("not one of the allowed values")
        return number

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return ", ".join(str(choice.value) for choice in self.values)


class Choice(Kind):
    """One word out of a few; the runtime compares them to the letter."""

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.values = values
        self.words = tuple(str(choice.value) for choice in values)

    def parse(self, value: object) -> str:
        """Read one of the words; where they are digits or true and false, numbers and bools count too."""
        words = self.words
        if isinstance(value, bool):
            value = "true" if value else "false"
            if value not in words:
                raise Refused("a bool is not one of the words", wrong_type=True)
        elif isinstance(value, enum.Enum):
            value = value.value
        if not isinstance(value, (str, bytes)):
            value = _digits(_whole(value))
        word = text_of(value)
        if word not in words:
            raise Refused("not one of the allowed values", fix=_closest(word, words))
        return word

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return ", ".join(str(choice.value) for choice in self.values)


class Switch(Choice):
    """A choice among on, off and levels between; bools and the other words for on and off count too."""

    def parse(self, value: object) -> str:
        """Read one of the words, or a bool."""
        if type(value) is str and value in self.words:
            return value
        if isinstance(value, bool):
            value = "on" if value else "off"
        elif isinstance(value, (str, bytes)):
            word = text_of(value).strip().lower()
            value = value if word in self.words else {"true": "on", "false": "off"}.get(word, value)
        return super().parse(value)


class Text(Kind):
    """Text with a grammar of its own.

    Args:
        grammar: the grammar in words, for messages.
        reader: takes the text, returns its canonical form, raises :class:`Refused`; ``None`` takes any text.
        separator: joins the items when a list is given; empty when a list makes no sense.
        zh: the grammar in Chinese words.
    """

    def __init__(
        self, grammar: str, reader: typing.Callable[[str], str] | None = None, separator: str = "", *, zh: str = ""
    ) -> None:
        self.grammar = grammar
        self.grammar_zh = zh
        self.reader = reader
        self.separator = separator

    def parse(self, value: object) -> str:
        """Read text, or a list of it where the grammar is a list."""
        if self.separator and isinstance(value, (list, tuple)):
            value = self.separator.join(text_of(item) for item in value)
        if not isinstance(value, str) and not _is_bool(value) and hasattr(type(value), "__index__"):
            value = _digits(_whole(value))
        text = text_of(value)
        return self.reader(text) if self.reader else text

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return self.grammar

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return self.grammar_zh or self.grammar


class PathIs(enum.Enum):
    """What a path must be when the session opens."""

    #: A directory that exists, readable and writable.
    DIRECTORY = "an existing directory that can be read and written"
    #: A file that exists and is readable.
    FILE = "an existing file that can be read"
    #: Created by the runtime when it is not there.
    CREATED = "a directory; the runtime creates it"
    #: A directory of which the reference does not say whether it must exist.
    PLACE = "a directory"


_PLACES_ZH = {
    PathIs.DIRECTORY: "已存在且可读写的目录",
    PathIs.FILE: "已存在且可读的文件",
    PathIs.CREATED: "目录，不存在时由运行时创建",
    PathIs.PLACE: "目录",
}


class Path(Kind):
    """A path on the host; whether it exists is checked by :func:`path_fault` when a session opens.

    Args:
        must_be: what has to be there.
        plain: whether names in it are limited to letters, digits, ``_``, ``-``, ``.`` and Chinese characters.
    """

    def __init__(self, must_be: PathIs, plain: bool = False) -> None:
        self.must_be = must_be
        self.plain = plain

    def parse(self, value: object) -> str:
        """Read a str, bytes or path object."""
        try:
            text = os.fspath(value)  # type: ignore[call-overload]
        except Exception:
            raise Refused("not a path", wrong_type=True) from None
        text = text_of(text)
        if not text:
            raise Refused("an empty path")
        if _CONTROL.search(text):
            raise Refused("control characters are not allowed in a path")
        if self.plain:
            strange = [character for character in _PLAIN.sub("", text) if not _is_chinese(character)]
            if strange:
                raise Refused(f"the character {strange[0]!r} is not allowed in this path")
        return text

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.plain:
            return f"{self.must_be.value}, named with letters, digits, _, -, . and Chinese characters only"
        return self.must_be.value

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        names = "，名称仅含大小写字母、数字、下划线、中划线、句点和中文字符" if self.plain else ""
        return _PLACES_ZH[self.must_be] + names


def _is_chinese(character: str) -> bool:
    # The blocks of Chinese characters: extension A, the common ones, compatibility, and the later planes.
    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
    return any(first <= ord(character) <= last for first, last in blocks)


def path_fault(path: str, must_be: PathIs) -> str:
    """Return what is wrong with ``path`` on this host, or an empty string.

    The runtime refuses a symbolic link as a dump directory, so a link counts as wrong for directories.
    """
    if must_be in (PathIs.CREATED, PathIs.PLACE):
        return "is a file" if os.path.isfile(path) else ""
    if must_be is PathIs.DIRECTORY:
        if os.path.islink(path):
            return "is a symbolic link, which the runtime refuses"
        if not os.path.exists(path):
            return "does not exist"
        if not os.path.isdir(path):
            return "is not a directory"
        return "" if os.access(path, os.R_OK | os.W_OK) else "cannot be read and written by this user"
    if not os.path.isfile(path):
        return "is not a file" if os.path.exists(path) else "does not exist"
    return "" if os.access(path, os.R_OK) else "cannot be read by this user"


def text_of(value: object) -> str:
    """Return ``value`` as text: str as it is, bytes decoded as UTF-8; raises :class:`Refused` for the rest."""
    if isinstance(value, str):
        # The text itself, whatever a subclass such as an enumeration prints.
        text = str.__str__(value)
        if text.isascii() and "\0" not in text:
            return text
    elif isinstance(value, bytes):
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("bytes that are not UTF-8", wrong_type=True) from None
    else:
        raise Refused(f"not text but {type(value).__name__}", wrong_type=True)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("text that UTF-8 cannot encode") from None
    if "\0" in text:
        raise Refused("a null character in text")
    return text


def _digits(number: int) -> str:
    """Return a number in decimal; Python refuses to write very long ones."""
    try:
        return str(number)
    except ValueError:
        raise Refused("a number of thousands of digits") from None


def _whole(value: object) -> int:
    """Return a whole number of any numeric type (bool, int, numpy integers and bools)."""
    try:
        # Old Pythons leave an IntEnum as it is.
        return int(operator.index(bool(value) if _is_bool(value) else value))  # type: ignore[arg-type]
    except Exception:
        raise Refused(f"not a whole number but {type(value).__name__}", wrong_type=True) from None


def _is_bool(value: object) -> bool:
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def _whole_or_text(value: object) -> int:
    if _is_bool(value):
        raise Refused("a bool where a number belongs", wrong_type=True)
    if not isinstance(value, (str, bytes)):
        return _whole(value)
    text = text_of(value).strip()
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 19):
        raise Refused("not a whole number")
    return int(text)


def _closest(word: str, words: typing.Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, words, 1, 0.6)
    return repr(close[0]) if close else ""
