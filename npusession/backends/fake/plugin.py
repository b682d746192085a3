"""Initialising the emulated runtime without a session."""

from __future__ import annotations

import typing

from ...options import TABLE
from .runtime import RUNTIME
from .verdicts import Parameters

if typing.TYPE_CHECKING:
    from .device import DeviceSession

#: Keywords of npu_resource_init that are called otherwise in a session's parameters.
_NAMES = {"enable_profiling": "profiling_mode"}


class _Initializer(typing.NamedTuple):
    """What the runtime needs to know of who initialises it."""

    parameters: Parameters
    number: int = 0


def initialize(keywords: typing.Mapping[str, typing.Any]) -> None:
    """Initialise with options that are given as keywords of npu_resource_init; ``None`` is not given."""
    parameters = {}
    for keyword, value in keywords.items():
        option = TABLE[_NAMES.get(keyword, keyword)]
        if value is not None:
            parameters[option.name] = (option.field, str(value) if option.field == "s" else value)
    RUNTIME.initialize(typing.cast("DeviceSession", _Initializer(parameters)), by_op=False)


def finalize(reason: str) -> None:
    """Finalise; harmless when it is not initialised."""
    RUNTIME.finalize(reason)
