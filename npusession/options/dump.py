"""Data dump and overflow detection as one typed group."""

from __future__ import annotations

import dataclasses
import itertools
import operator
import os
import typing

from .._text import shorten
from .comparison import (
    DUMP_DATA,
    DUMP_DEBUG_MODE,
    DUMP_LAYER,
    DUMP_MODE,
    DUMP_PATH,
    DUMP_STEP,
    ENABLE_DUMP,
    ENABLE_DUMP_DEBUG,
    MAX_DUMP_STEPS,
)
from .kinds import Wire, text_of
from .model import Option

#: A step, an inclusive range of steps, or the option's own text for several.
Steps = typing.Union[str, int, typing.Iterable[typing.Union[int, str, range]]]


@dataclasses.dataclass(frozen=True)
class Dump:
    """Data dump, or through :meth:`overflow` the detection of overflows.

    Args:
        path: directory that the files go to. It must exist when the session opens, be no symbolic link, and be
            readable and writable.
        steps: training steps to dump, as the option's text (``"0|5-10"``), a number, or numbers and ranges
            (``[0, range(5, 11)]``); every step when left out. At most 100 entries.
        mode: ``"input"``, ``"output"`` (the default) or ``"all"``.
        data: ``"tensor"`` (the default) or ``"stats"``.
        layers: names of the operators to dump; all when left out.
        overflow_mode: set by :meth:`overflow`; turns the dump into overflow detection.

    Values are checked when the plan is made, together with all other options.
    Source: session configuration reference, 精度比对.
    """

    path: str | os.PathLike[str]
    steps: Steps | None = None
    mode: str | None = None
    data: str | None = None
    layers: str | typing.Sequence[str] | None = None
    overflow_mode: str | None = None

    #: The options that the group stands for.
    NAMES: typing.ClassVar[tuple[str, ...]] = tuple(
        option.name
        for option in (
            ENABLE_DUMP, ENABLE_DUMP_DEBUG, DUMP_DEBUG_MODE, DUMP_PATH, DUMP_STEP, DUMP_MODE, DUMP_DATA, DUMP_LAYER
        )
    )  # fmt: skip

    @classmethod
    def overflow(cls, path: str | os.PathLike[str], mode: str | None = None) -> Dump:
        """Detect overflows instead of dumping every step.

        Args:
            path: directory that the data of overflowing operators go to; the same rules as for a data dump.
            mode: ``"all"`` (the default), or on the Atlas training series ``"aicore_overflow"`` or
                ``"atomic_overflow"``.
        """
        return cls(path, overflow_mode="all" if mode is None else mode)

    def to_options(self) -> dict[str, object]:
        """Return the options that this group stands for, values as they were given."""
        if self.overflow_mode is None:
            values: dict[str, object] = {ENABLE_DUMP.name: True}
        else:
            values = {ENABLE_DUMP_DEBUG.name: True, DUMP_DEBUG_MODE.name: self.overflow_mode}
        values[DUMP_PATH.name] = self.path
        if self.steps is not None:
            values[DUMP_STEP.name] = _join_steps(self.steps)
        for option, value in ((DUMP_MODE, self.mode), (DUMP_DATA, self.data), (DUMP_LAYER, self.layers)):
            if value is not None:
                values[option.name] = value
        return values

    @classmethod
    def from_options(cls, given: typing.Mapping[str, Wire]) -> Dump | None:
        """Return the dump that canonical options describe, ``None`` when neither dump is on."""
        overflow = given.get(ENABLE_DUMP_DEBUG.name) is True
        if not overflow and given.get(ENABLE_DUMP.name) is not True:
            return None

        def text(option: Option) -> str | None:
            value = given.get(option.name)
            return None if value is None else str(value)

        return cls(
            text(DUMP_PATH) or "",
            text(DUMP_STEP),
            text(DUMP_MODE),
            text(DUMP_DATA),
            text(DUMP_LAYER),
            (text(DUMP_DEBUG_MODE) or "all") if overflow else None,
        )


def _join_steps(steps: object) -> object:
    """Return steps as the option's text; what is none is handed on, or shown, for the check to refuse."""
    if isinstance(steps, range):
        steps = [steps]
    elif isinstance(steps, (str, bytes)) or not isinstance(steps, typing.Iterable):
        return steps
    try:
        # More are refused anyway, and an iterator may have no end.
        given = list(itertools.islice(steps, MAX_DUMP_STEPS + 1))
    except Exception:
        return steps
    entries: list[str] = []
    for entry in given:
        if isinstance(entry, range) and entry.step == 1 and len(entry) > 1:
            entries.append(f"{entry[0]}-{entry[-1]}")
        elif isinstance(entry, range):
            entries += map(str, entry[: MAX_DUMP_STEPS + 1])
        else:
            entries.append(_written(entry))
    return "|".join(entries)


def _written(entry: object) -> str:
    try:
        if isinstance(entry, (str, bytes)):
            return text_of(entry)
        # A bool is a number to Python, but no step.
        return shorten(entry) if isinstance(entry, bool) else str(operator.index(entry))  # type: ignore[arg-type]
    except Exception:
        return shorten(entry)
