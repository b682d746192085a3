"""The runtime's checks of data dump and overflow detection."""

from __future__ import annotations

from ...options.comparison import (
    DUMP_DEBUG_MODE,
    DUMP_MODE,
    DUMP_PATH,
    DUMP_STEP,
    ENABLE_DUMP,
    ENABLE_DUMP_DEBUG,
    MAX_DUMP_STEPS,
)  # fmt: skip
from .verdict_reading import (
    Aborted,
    Parameters,
    Rejected,
    atoi,
    given,
    is_digits,
    is_directory,
    pieces,
    read,
    shown,
    words,
)  # fmt: skip


def directory(parameters: Parameters) -> None:
    """Either kind of dump needs a directory; without one the path is not looked at."""
    wanted = read(parameters, ENABLE_DUMP) or read(parameters, ENABLE_DUMP_DEBUG)
    if wanted and not is_directory(read(parameters, DUMP_PATH)):
        raise Rejected(f"{shown(parameters, DUMP_PATH)}, no directory that can be read and written")


def steps_and_mode(parameters: Parameters) -> None:
    """Steps and mode count with data dump on."""
    if not read(parameters, ENABLE_DUMP):
        return
    if not are_steps(read(parameters, DUMP_STEP)):
        raise Rejected(shown(parameters, DUMP_STEP))
    if given(parameters, DUMP_MODE) and read(parameters, DUMP_MODE) not in words(DUMP_MODE):
        raise Aborted(shown(parameters, DUMP_MODE))


def overflow(parameters: Parameters) -> None:
    """The mode of overflow detection counts with that on."""
    looked_at = read(parameters, ENABLE_DUMP_DEBUG) and given(parameters, DUMP_DEBUG_MODE)
    if looked_at and read(parameters, DUMP_DEBUG_MODE) not in words(DUMP_DEBUG_MODE):
        raise Aborted(shown(parameters, DUMP_DEBUG_MODE))


def are_steps(text: str) -> bool:
    """Tell whether the runtime takes a text as steps: all that npusession takes, no steps at all, and open ranges."""
    entries = pieces(text, "|")
    return len(entries) <= MAX_DUMP_STEPS and all(_is_step(entry) for entry in entries)


def _is_step(entry: str) -> bool:
    numbers = pieces(entry, "-")
    if not 1 <= len(numbers) <= 2 or not all(is_digits(number) for number in numbers):
        return False
    return len(numbers) == 1 or atoi(numbers[0]) < atoi(numbers[1])
