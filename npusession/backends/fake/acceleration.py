"""Accelerated training as the runtime does it: when low precision starts, and at which run it ends.

The runtime reads its numbers from the environment before each run: whole ones of 32 bits, fractions in single
precision. A first run that cannot read them fails; at later runs the switch back then just never happens.
"""

from __future__ import annotations

import math
import typing

from ...options.experimental import DTYPES, RATIOS, Mode
from ...options.native_numbers import float32, fraction, unsigned
from ...options.switching import loss_limit, loss_reaches, step_limit

#: The mode that each type of acceleration sets, in the older and in the newer option.
_LOW = {
    "float16": ("allow_mix_precision_fp16", "mixed_float16"),
    "bfloat16": ("allow_mix_precision_bf16", "mixed_bfloat16"),
}
_ALLOWED = ("", "allow_fp32_to_fp16", "must_keep_origin_dtype")
_ALLOWED_V2 = ("", "origin")


class Unreadable(ValueError):
    """What makes the first run fail."""


class Acceleration:
    """The acceleration of one session.

    Args:
        text: the option's value, read as the runtime reads it.
        modes: values of the older and the newer option for the precision mode, empty when not given.
        loop: steps in one run.
    """

    def __init__(self, text: str, modes: tuple[str, str] = ("", ""), loop: int = 1) -> None:
        self._text = text
        self._modes = modes
        self._loop = loop
        self._mode: Mode | None = None
        #: Whether runs are made in low precision now.
        self.low = False
        #: What they are in the low phase.
        self.low_modes: tuple[str | None, str | None] = (None, None)

    def start(self, environ: typing.Mapping[str, str]) -> None:
        """Begin the low-precision phase at the first run.

        Raises:
            Unreadable: the mode or the variables cannot be read, or the precision mode does not allow it.
        """
        mode = _parse(self._text)
        if self._modes[0] not in _ALLOWED or self._modes[1] not in _ALLOWED_V2:
            raise Unreadable(f"accelerated training does not go with the precision mode {self._modes}")
        self._reached(mode, environ)
        self._mode, self.low = mode, True
        low, low_v2 = _LOW[DTYPES[mode.kind]]
        self.low_modes = (None, low_v2) if self._modes[1] else (low, None)

    def before_run(self, environ: typing.Mapping[str, str]) -> bool:
        """Return whether the original precision comes back with the run that follows; once true, never again."""
        if self._mode is None or not self.low:
            return False
        try:
            if not self._reached(self._mode, environ):
                return False
        except Unreadable:
            return False
        self.low = False
        return True

    def _reached(self, mode: Mode, environ: typing.Mapping[str, str]) -> bool:
        if mode.trigger == "step":
            total, now = _unsigned(environ, "TOTAL_STEP"), _unsigned(environ, "STEP_NOW")
            return now >= step_limit(total, mode.ratio, self._loop)
        target, loss = _single(environ, "TARGET_LOSS"), _single(environ, "LOSS_NOW")
        return loss_reaches(loss, loss_limit(target, mode.ratio))


def _parse(text: str) -> Mode:
    fields = text.split("|")
    if not 2 <= len(fields) <= 3 or fields[0] not in DTYPES or fields[1] not in RATIOS:
        raise Unreadable(f"{text!r} is no mode of accelerated training")
    low, high, default = RATIOS[fields[1]]
    if len(fields) == 2 or not fields[2]:
        return Mode(fields[0], fields[1], default)
    number = fraction(fields[2])
    # Not a number lies outside, too.
    ratio = math.nan if number is None else float32(number)
    if not float32(low) <= ratio <= float32(high):
        raise Unreadable(f"the ratio in {text!r} lies outside {low} to {high}")
    return Mode(fields[0], fields[1], ratio)


def _unsigned(environ: typing.Mapping[str, str], name: str) -> int:
    number = unsigned(environ.get(name, ""))
    if number is None:
        raise Unreadable(f"{name}={environ.get(name)!r} is no unsigned integer")
    return number


def _single(environ: typing.Mapping[str, str], name: str) -> float:
    number = fraction(environ.get(name, ""))
    if number is None:
        raise Unreadable(f"{name}={environ.get(name)!r} is no number")
    return float32(number)
