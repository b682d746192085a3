"""The numbers that accelerated training reads from the environment at its first run."""

from __future__ import annotations

import typing

from .experimental import NOTHING_TO_READ, parse_mode
from .model import problem
from .native_numbers import fraction, unsigned
from .problems import Problem

#: What each trigger reads, and the call that sets it.
_NAMES = {"step": ("TOTAL_STEP", "STEP_NOW"), "loss": ("TARGET_LOSS", "LOSS_NOW")}
_CALLS = {"step": "by_step(total_steps=...)", "loss": "by_loss(target_loss=..., initial_loss=...)"}
_ALLOWED = {"step": "a whole number from 0 to 4294967295", "loss": "a number"}
_READERS: dict[str, typing.Callable[[str], object]] = {"step": unsigned, "loss": fraction}


def unreadable(mode: str, environ: typing.Mapping[str, str]) -> typing.Iterator[Problem]:
    """Yield what the first run would fail to read.

    Args:
        mode: a value of experimental_accelerate_train_mode.
        environ: the environment at that moment.
    """
    trigger = parse_mode(mode).trigger
    for name in _NAMES[trigger]:
        text = environ.get(name)
        if text is None or _READERS[trigger](text) is None:
            yield problem(
                NOTHING_TO_READ,
                name,
                "not set" if text is None else "cannot be read",
                value=text,
                allowed=_ALLOWED[trigger],
                fix=f"accelerate=AcceleratedTraining.{_CALLS[trigger]}",
            )
