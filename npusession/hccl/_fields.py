"""Reading the fields of a rank table: as much as can be read, with every mistake noted."""

from __future__ import annotations

import difflib
import functools
import json
import typing

from ..environment import whole
from ._notes import Notes, is_placeholder
from ._reader import HOLE
from ._rules import BAD_NAME, BAD_NUMBER, COUNT, MISSING, MISTYPED, PLACEHOLDER, QUOTES, UNKNOWN_KEY, Path
from .model import Extra

UINT32_MAX = 2**32 - 1
LAST_PORT = 65535
#: Members that schedulers and generators add, some of them near to names that HCCL knows.
_FOREIGN = frozenset({"host_nic_ip", "container_ip", "server_ip", "device_logical_id", "hardware_type", "pod_ip"})
_KINDS = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "text"}


class Item:
    """An object of the table.

    Args:
        notes: where mistakes are noted.
        value: what should be an object; anything else is a mistake, and read as an empty object.
        path: where it is.
        known: the names of its members.

    Attributes:
        lost: whether it is no object.
    """

    __slots__ = ("_known", "_notes", "lost", "path", "value")

    def __init__(self, notes: Notes, value: object, path: Path, known: frozenset[str]) -> None:
        self._notes, self.path, self._known = notes, path, known
        self.value: dict[str, typing.Any] = {}
        self.lost = not isinstance(value, dict)
        if isinstance(value, dict):
            self.value = value
        else:
            self._mistyped(value, path, "an object in braces")
            # What it lacks is no further mistake.
            self._known = frozenset()

    def list(self, key: str, required: bool = True) -> list[typing.Any]:
        """Return a list that holds something; an empty one when it cannot be read."""
        if key not in self.value:
            if required:
                self._missing(key)
            return []
        value = self.value[key]
        if isinstance(value, list):
            if not value and required:
                self._notes.lose(MISSING, (*self.path, key), "an empty list", allowed="at least one entry")
            return value
        self._mistyped(value, (*self.path, key), "a list in brackets")
        return []

    def text(self, key: str, required: bool = False) -> str:
        """Return a text; an empty one when it is not there or cannot be read."""
        if key not in self.value:
            if required:
                self._missing(key)
            return ""
        return self._text(self.value[key], (*self.path, key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of text."""
        return tuple(self._text(value, (*self.path, key, index)) for index, value in enumerate(self.list(key)))

    def name(self, key: str, required: bool = True, longest: int = 64) -> str:
        """Return a name: a text that is neither empty nor too long, and no placeholder."""
        text = self.text(key, required)
        if not isinstance(self.value.get(key), str):
            return text
        path = (*self.path, key)
        if is_placeholder(text):
            self._notes.add(PLACEHOLDER, path, "never filled in", text, fix="write the name")
        elif (not text and required) or len(text) > longest or any("\ud800" <= char <= "\udfff" for char in text):
            allowed = f"1 to {longest} characters that UTF-8 can encode"
            self._notes.add(BAD_NAME, path, f"{len(text)} characters" if text else "empty", text, allowed)
        return text

    def number(self, key: str, low: int = 0, high: int = UINT32_MAX, required: bool = False) -> int | None:
        """Return a whole number in a range; ``None`` when it is not there or cannot be read."""
        if key not in self.value:
            if required:
                self._missing(key)
            return None
        value, notes = self.value[key], self._notes
        number = whole(value)
        if number is None:
            self._no_number(value, (*self.path, key), low, high)
            return None
        if isinstance(value, str) is not notes.quoted:
            seen, right = ("without", "in double") if notes.quoted else ("in", "without")
            notes.add(
                QUOTES, (*self.path, key), f"a number {seen} quotes", value, f"a number {right} quotes",
                notes.written(number),
            )  # fmt: skip
        if not low <= number <= high:
            notes.lose(BAD_NUMBER, (*self.path, key), "out of range", value, f"{low} to {high}")
            return None
        return number

    def count(self, key: str, actual: int | None, what: str, required: bool = True) -> None:
        """Check the field that says how many of something there are, if that is known."""
        number = self.number(key, required=required)
        if number is not None and actual is not None and number != actual:
            right = self._notes.written(actual)
            value = self.value[key]
            self._notes.add(COUNT, (*self.path, key), f"there are {actual} {what}", value, right, f'"{key}": {right}')

    def rest(self) -> Extra:
        """Return the members that are not known, after all known ones were read.

        One that looks like a known one that is not there gets a warning, unless that was missed.
        """
        if self._known.issuperset(self.value):
            return ()
        extra = []
        for key, value in self.value.items():
            if key in self._known:
                continue
            try:
                extra.append((key, json.dumps(value, allow_nan=False, default=_nothing)))
            except (ValueError, RecursionError):
                # A number beyond all bounds, or brackets beyond all depth.
                self._notes.lose(MISTYPED, (*self.path, key), "cannot be written again", fix="leave it out")
            meant = _meant(key, self._known)
            if meant and meant not in self.value and (*self.path, meant) not in self._notes.lost:
                message = f"unknown; did you mean {meant}?"
                self._notes.add(UNKNOWN_KEY, (*self.path, key), message, fix=f'"{meant}"', at_key=True)
        return tuple(extra)

    def _text(self, value: object, path: Path) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._notes.add(QUOTES, path, "a number without quotes", value, "text in double quotes", f'"{value}"')
            self._notes.lost.add(path)
            return str(value)
        self._mistyped(value, path, "text in double quotes")
        return ""

    def _missing(self, key: str) -> None:
        if self._known:
            close = difflib.get_close_matches(key, [other for other in self.value if other not in self._known], 1, 0.75)
            fix = f'rename "{close[0]}" to "{key}"' if close else f'add "{key}"'
            self._notes.lose(MISSING, (*self.path, key), "missing", fix=fix)

    def _mistyped(self, value: object, path: Path, wanted: str) -> None:
        if value is HOLE:
            # What is wrong with it was said where it stands.
            self._notes.complete = False
            self._notes.lost.add(path)
            return
        seen = _KINDS.get(type(value), "a number")
        shown = value if isinstance(value, (str, int, float)) else None
        self._notes.lose(MISTYPED, path, f"{seen}, which is of another type", shown, wanted)

    def _no_number(self, value: object, path: Path, low: int, high: int) -> None:
        wanted = f"a whole number from {low} to {high}" + (" in double quotes" if self._notes.quoted else "")
        if isinstance(value, str) and is_placeholder(value):
            self._notes.lose(PLACEHOLDER, path, "never filled in", value, wanted, "write the number")
        elif isinstance(value, (str, float)):
            self._notes.lose(BAD_NUMBER, path, "no whole number" if value != "" else "empty", value, wanted)
        else:
            self._mistyped(value, path, wanted)


@functools.lru_cache(maxsize=256)
def _meant(key: str, known: frozenset[str]) -> str:
    if key in _FOREIGN:
        return ""
    close = difflib.get_close_matches(key, sorted(known), 1, 0.8)
    return close[0] if close else ""


def _nothing(hole: object) -> None:
    """Encode what could not be read as null."""
