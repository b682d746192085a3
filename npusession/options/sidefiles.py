"""Looking into the side files that options point at, where a rule depends on what stands in them."""

from __future__ import annotations

import os

#: Side files are short; a longer file is something else.
_LONGEST = 1 << 20


def text_at(path: object) -> str | None:
    """Return the text of a file, ``None`` when it cannot be read as text here and now."""
    try:
        # Opening a pipe or a device may never return.
        if not isinstance(path, str) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            content = file.read(_LONGEST + 1)
    except (OSError, ValueError):
        return None
    if len(content) > _LONGEST:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
