"""Text for messages."""

from __future__ import annotations


def shorten(value: object, width: int = 120) -> str:
    """Return ``repr(value)`` cut to ``width`` characters, for messages.

    A value whose repr raises is shown by its type, since any object may be handed to a checker.
    """
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= width else text[: width - 3] + "..."
