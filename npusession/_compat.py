"""What differs between Python 3.7 and later ones."""

from __future__ import annotations

import itertools
import re
import sys
import typing

if sys.version_info >= (3, 8):
    from typing import Literal, Protocol
else:
    from typing_extensions import Literal, Protocol

__all__ = ["Literal", "Protocol", "add_note", "shallow"]


def add_note(error: BaseException, note: str) -> None:
    """Attach a line to an exception's traceback, where Python can (3.11 and later)."""
    attach: typing.Callable[[str], None] | None = getattr(error, "add_note", None)
    if attach is not None:
        attach(note)


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_BRACKET = re.compile(r"[\[\]{}]")
#: Deeper than any JSON that this package reads.
_MAX_DEPTH = 200


def shallow(text: str) -> str:
    """Return a JSON text that is about to be parsed.

    Python 3.7 ends the process when garbage is collected, and a finalizer calls some functions, while its JSON parser
    is at the limit of recursion.

    Raises:
        ValueError: for a text with more than 200 brackets within each other.
    """
    if text.count("[") + text.count("{") > _MAX_DEPTH:
        steps = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(_STRING.sub("", text)))
        if max(itertools.accumulate(steps), default=0) > _MAX_DEPTH:
            raise ValueError(f"more than {_MAX_DEPTH} brackets within each other")
    return text
