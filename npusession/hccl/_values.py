"""Arguments that are numbers, or lists of them."""

from __future__ import annotations

import operator
import typing


def listed(name: str, values: typing.Iterable[typing.Any]) -> list[typing.Any]:
    """Return what can be gone through as a list of Python numbers; an error when it is none, or empty."""
    if isinstance(values, (str, bytes)) or not isinstance(values, typing.Iterable):
        raise TypeError(f"{name}={values!r} is no list of numbers")
    listed = [value.item() if hasattr(value, "item") else value for value in values]
    if not listed:
        raise ValueError(f"{name} is empty; give at least one")
    return listed


def whole_number(what: str, value: object) -> int:
    """Return a whole number as an int, those of NumPy too; TypeError for all else."""
    try:
        if not isinstance(value, bool):
            return operator.index(typing.cast("typing.SupportsIndex", value))
    except TypeError:
        pass
    raise TypeError(f"{what} is a whole number, not {value!r}")
