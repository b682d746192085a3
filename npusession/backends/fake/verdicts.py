"""What the runtime makes of a parameter_map: takes it, returns an error, or ends the process.

This is the runtime's own reading, not npusession's: unknown names are passed over, an option set through another
field reads as zero or empty, and values are looked at in the runtime's order, so that the first fault decides.
"""

from __future__ import annotations

import os
import typing

from ...options.basic import GRAPH_RUN_MODE, SESSION_DEVICE_ID
from ...options.comparison import (
    DUMP_DATA,
    DUMP_DEBUG_MODE,
    DUMP_MODE,
    DUMP_PATH,
    DUMP_STEP,
    ENABLE_DUMP,
    ENABLE_DUMP_DEBUG,
    USE_OFF_LINE,
    parse_dump_steps,
)  # fmt: skip
from ...options.debugging import ENABLE_EXCEPTION_DUMP
from ...options.deprecated import OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE
from ...options.kinds import PathIs, Refused, Wire, path_fault
from ...options.model import Option
from ...options.precision import PRECISION_MODE, PRECISION_MODE_V2

#: Field and value per name, as they stand in a parameter_map; the field is None where none is set.
Parameters = typing.Mapping[str, typing.Tuple[typing.Optional[str], typing.Optional[Wire]]]


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


def judge(parameters: Parameters) -> None:
    """Return when the runtime takes the parameters.

    Raises:
        Rejected: it returns an error.
        Aborted: it ends the process.
    """
    for step in (_dump, _overflow, _device, _run_mode, _implementation, _dump_data, _exception_dump, _precision):
        step(parameters)


def _words(option: Option) -> tuple[object, ...]:
    values = getattr(option.kind, "values", ())
    return tuple(choice.value for choice in values)


def _shown(parameters: Parameters, option: Option) -> str:
    return f"{option.name} is {read(parameters, option)!r}"


def _dump(parameters: Parameters) -> None:
    if not (read(parameters, ENABLE_DUMP) or read(parameters, ENABLE_DUMP_DEBUG)):
        return
    path = read(parameters, DUMP_PATH)
    if not path or path_fault(os.path.abspath(path), PathIs.DIRECTORY):
        raise Rejected(f"{DUMP_PATH.name} {path!r} is not a directory that can be read and written")
    if not read(parameters, ENABLE_DUMP):
        return
    steps = read(parameters, DUMP_STEP)
    if steps:
        try:
            parse_dump_steps(steps)
        except Refused as refused:
            raise Rejected(f"{DUMP_STEP.name}: {refused}") from None
    if DUMP_MODE.name in parameters and read(parameters, DUMP_MODE) not in _words(DUMP_MODE):
        raise Aborted(_shown(parameters, DUMP_MODE))


def _overflow(parameters: Parameters) -> None:
    named = DUMP_DEBUG_MODE.name in parameters and bool(read(parameters, ENABLE_DUMP_DEBUG))
    if named and read(parameters, DUMP_DEBUG_MODE) not in _words(DUMP_DEBUG_MODE):
        raise Aborted(_shown(parameters, DUMP_DEBUG_MODE))


def _device(parameters: Parameters) -> None:
    if read(parameters, SESSION_DEVICE_ID) < 0:
        raise Aborted(_shown(parameters, SESSION_DEVICE_ID))


def _run_mode(parameters: Parameters) -> None:
    if read(parameters, GRAPH_RUN_MODE) > 1:
        raise Aborted(_shown(parameters, GRAPH_RUN_MODE))


def _implementation(parameters: Parameters) -> None:
    if OP_SELECT_IMPLMODE.name not in parameters:
        if OPTYPELIST_FOR_IMPLMODE.name in parameters:
            raise Aborted(f"{OPTYPELIST_FOR_IMPLMODE.name} is set without {OP_SELECT_IMPLMODE.name}")
    elif read(parameters, OP_SELECT_IMPLMODE) not in _words(OP_SELECT_IMPLMODE):
        raise Aborted(_shown(parameters, OP_SELECT_IMPLMODE))


def _dump_data(parameters: Parameters) -> None:
    if DUMP_DATA.name in parameters and read(parameters, DUMP_DATA) not in _words(DUMP_DATA):
        raise Rejected(_shown(parameters, DUMP_DATA))


def _exception_dump(parameters: Parameters) -> None:
    if ENABLE_EXCEPTION_DUMP.name in parameters and read(parameters, ENABLE_EXCEPTION_DUMP) not in _words(
        ENABLE_EXCEPTION_DUMP
    ):
        raise Rejected(_shown(parameters, ENABLE_EXCEPTION_DUMP))


def _precision(parameters: Parameters) -> None:
    if PRECISION_MODE.name in parameters and PRECISION_MODE_V2.name in parameters:
        raise Rejected(f"{PRECISION_MODE.name} and {PRECISION_MODE_V2.name} are both set")
    for option in (PRECISION_MODE, PRECISION_MODE_V2):
        if option.name in parameters and read(parameters, option) not in _words(option):
            raise Rejected(_shown(parameters, option))


def off_line(parameters: Parameters) -> bool:
    """Tell whether the graph goes to the device; it does unless the switch is there and reads as off."""
    return USE_OFF_LINE.name not in parameters or bool(read(parameters, USE_OFF_LINE))
