"""How native code reads a parameter_map: fields, numbers, lists in text, directories."""

from __future__ import annotations

import os
import stat
import typing

from ...options.kinds import Wire
from ...options.model import Option

#: Field and value per name, as they stand in a parameter_map; the field is None where none is set.
Parameters = typing.Mapping[str, typing.Tuple[typing.Optional[str], typing.Optional[Wire]]]

_DIGITS = frozenset("0123456789")
_INT64_MAX = 2**63 - 1
_INT64_DIGITS = 19


class Rejected(Exception):
    """The session's first run fails with a status."""


class Aborted(Exception):
    """The process ends with SIGABRT."""


def read(parameters: Parameters, option: Option) -> typing.Any:
    """Read one option as native code does: zero, False or empty where its field is not the one that is set."""
    field, value = parameters.get(option.name, (None, None))
    if field == option.field:
        return value
    return {"b": False, "i": 0, "s": ""}[option.field]


def given(parameters: Parameters, option: Option) -> bool:
    """Tell whether an option has an entry; one through another field, or with no field set, counts."""
    return option.name in parameters


def words(option: Option) -> tuple[object, ...]:
    """Return what an option may be."""
    values = getattr(option.kind, "values", ())
    return tuple(choice.value for choice in values)


def shown(parameters: Parameters, option: Option) -> str:
    """Say what an option reads as, for messages."""
    return f"{option.name} is {read(parameters, option)!r}"


def int32(number: int) -> int:
    """Return a number as it is copied into 32 bits: larger ones wrap."""
    return (number + 2**31) % 2**32 - 2**31


def is_digits(text: str) -> bool:
    """Tell whether a text has nothing but ASCII digits; an empty one has."""
    return _DIGITS.issuperset(text)


def atoi(digits: str) -> int:
    """Return the number that digits are read as: 0 when there are none, and the largest of 64 bits cut to 32."""
    significant = digits.lstrip("0")
    # Python refuses to read thousands of digits.
    number = int(significant or "0") if len(significant) <= _INT64_DIGITS else _INT64_MAX
    return int32(min(number, _INT64_MAX))


def pieces(text: str, separator: str) -> list[str]:
    """Split a text as reading it line by line does: no last piece when nothing follows the last separator."""
    found = text.split(separator)
    return found if found[-1] else found[:-1]


def is_directory(path: str) -> bool:
    """Tell whether a path is a directory to read and write; a symbolic link is none."""
    # A path ends at a null character, as everywhere in native code.
    path = path.partition("\0")[0]
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode) and os.access(path, os.R_OK | os.W_OK)
    except (OSError, ValueError):
        # ValueError: text that no file system can name.
        return False
