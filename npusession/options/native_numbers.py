"""Numbers in text as TensorFlow's native half reads them: that of 1.15 and 2.6, with which the runtime is built."""

from __future__ import annotations

import math
import re
import struct

#: A text for a fraction has to fit a buffer.
_LONGEST = 31
_BLANK = r"[ \t\n\v\f\r]*"
# Not compiled before they are needed, which is seldom.
_UNSIGNED = f"{_BLANK}0*([0-9]{{1,10}}){_BLANK}"
_FRACTION = rf"{_BLANK}([-+]?)(?:0x([0-9a-f]+)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf|nan)){_BLANK}"


def unsigned(text: str) -> int | None:
    """Return the whole number of 32 bits that a text is, ``None`` when it is none; signs are not allowed."""
    found = re.fullmatch(_UNSIGNED, text)
    if found is None or int(found.group(1)) >= 2**32:
        return None
    return int(found.group(1))


def fraction(text: str) -> float | None:
    """Return the number that a text is, before it is rounded to single precision; ``None`` when it is none."""
    found = re.fullmatch(_FRACTION, text, re.IGNORECASE) if len(text) <= _LONGEST else None
    if found is None:
        return None
    sign, hexadecimal, decimal = found.groups()
    number = float(int(hexadecimal, 16)) if hexadecimal else float(decimal)
    return -number if sign == "-" else number


def float32(value: float) -> float:
    """Return ``value`` rounded to single precision, in which the runtime computes; infinite when too large."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except (OverflowError, struct.error):
        # struct.error: a whole number beyond double precision.
        return math.inf if value > 0 else -math.inf
