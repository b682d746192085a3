"""An environment variable that changes with every step.

``os.environ`` hands each new value to ``setenv``, which keeps every distinct string for good (Python 3.9 and later), or
frees the old one while native threads may still read it (3.8 and earlier), and takes longer than all else that a step
costs here. So the variable gets one buffer, which ``putenv`` makes part of the environment, and whose text is
overwritten in place. Nobody reads it meanwhile: the runtime looks during a run, and a step comes between runs.
"""

from __future__ import annotations

import os
import typing

#: One buffer per variable. The environment points at them, so they are never freed.
_buffers: dict[str, typing.Any] = {}
#: Longest text of a number: that of a float.
_DIGITS = 24


def counting(name: str) -> typing.Callable[[bytes], None]:
    """Return a function that assigns a number's text to a variable, both in C's environment and in ``os.environ``."""
    # Imported where it is used: most sessions have no accelerated training.
    import ctypes

    key = os.fsencode(name)
    # What os.environ shows, by key; there is no public way to change it without setenv.
    shown: dict[bytes, bytes] | None = getattr(os.environ, "_data", None)
    putenv = getattr(ctypes.CDLL(None), "putenv", None)
    if not isinstance(shown, dict) or putenv is None:
        return lambda digits: os.environb.__setitem__(key, digits)
    buffer = _buffers.setdefault(name, ctypes.create_string_buffer(len(key) + 1 + _DIGITS + 1))
    prefix = key + b"="
    last: bytes | None = None

    def assign(digits: bytes) -> None:
        nonlocal last
        buffer.value = prefix + digits
        if shown.get(key) is not last or last is None:
            # Somebody else assigned to the variable since, and the environment points at another string.
            putenv(buffer)
        shown[key] = last = digits

    return assign
