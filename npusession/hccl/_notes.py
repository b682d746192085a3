"""What is noted while a rank table is read and checked."""

from __future__ import annotations

import re

from ..options.problems import Rule, Severity
from ._reader import HOLE_PATTERN
from ._rules import Fault, Path

#: Addresses with letters for digits, as in 10.xx.xx.xx, and what people write for "fill this in".
_FILLER = re.compile(r"(?=.*[xX*])[\dxX*]+(?:[.:][\dxX*]*){3,}|[xX*]{2,}|\.{3}|…|__\w+__|TODO|your[_ -]?\w+", re.I)


class Notes:
    """The mistakes of one table.

    Args:
        quoted: whether numbers are text in double quotes, as in every version but 2.0.

    Attributes:
        faults: what is wrong.
        complete: whether everything could be read.
        lost: where something is that could not be read, or that was said to be missing.
    """

    def __init__(self, quoted: bool = True) -> None:
        self.quoted = quoted
        self.faults: list[Fault] = []
        self.complete = True
        self.lost: set[Path] = set()

    def copy(self) -> Notes:
        """Return notes that go on from here."""
        notes = Notes(self.quoted)
        notes.faults += self.faults
        notes.complete = self.complete
        notes.lost = self.lost
        return notes

    def add(
        self,
        rule: Rule,
        path: Path,
        message: str,
        value: object = None,
        allowed: str = "",
        fix: str = "",
        severity: Severity | None = None,
        at_key: bool = False,
    ) -> None:
        """Note a fault."""
        self.faults.append(Fault(rule, path, message, value, allowed, fix, severity, at_key))

    def lose(
        self, rule: Rule, path: Path, message: str, value: object = None, allowed: str = "", fix: str = ""
    ) -> None:
        """Note a fault because of which something cannot be read."""
        self.complete = False
        self.lost.add(path)
        self.add(rule, path, message, value, allowed, fix)

    def written(self, number: int) -> str:
        """Return a number as this version writes it."""
        return f'"{number}"' if self.quoted else str(number)


def is_placeholder(text: str) -> bool:
    """Tell whether a text stands for something that should have been filled in."""
    return bool(HOLE_PATTERN.search(text) or _FILLER.fullmatch(text))
