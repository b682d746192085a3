"""What differs between Python 3.7 and later ones."""

from __future__ import annotations

import sys
import typing

if sys.version_info >= (3, 8):
    from typing import Literal, Protocol
else:
    from typing_extensions import Literal, Protocol

__all__ = ["Literal", "Protocol", "add_note"]


def add_note(error: BaseException, note: str) -> None:
    """Attach a line to an exception's traceback, where Python can (3.11 and later)."""
    attach: typing.Callable[[str], None] | None = getattr(error, "add_note", None)
    if attach is not None:
        attach(note)
