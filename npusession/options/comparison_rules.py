"""The rules of accuracy comparison, and the group that its options form."""

from __future__ import annotations

import typing

from .check_value import path_problems
from .comparison import (
    BUFFER_OPTIMIZE,
    DUMP_DATA,
    DUMP_DEBUG_MODE,
    DUMP_LAYER,
    DUMP_MODE,
    DUMP_PATH,
    DUMP_STEP,
    ENABLE_DUMP,
    ENABLE_DUMP_DEBUG,
    FUSION_SWITCH_FILE,
    QUANT_DUMPABLE,
    USE_OFF_LINE,
)
from .debugging import ENABLE_EXCEPTION_DUMP
from .model import Group, Option, Settings, problem
from .problems import Problem, Rule, Severity
from .variables import COLLECT_PATH

DUMP_NEEDS_PATH = Rule("NPU203", "missing-companion", "enable_dump and enable_dump_debug need dump_path.")
TWO_DUMPS = Rule("NPU204", "conflict", "Data dump and overflow detection exclude each other.")
EXCEPTION_DUMP_ONLY = Rule(
    "NPU255",
    "conflict",
    "On networks of dynamic shape an exception dump of 1 silences data dump and overflow detection.",
    Severity.WARNING,
)
NOTHING_DUMPED = Rule("NPU256", "no-effect", "quant_dumpable is for data dump, which is off.", Severity.WARNING)


def _on(settings: Settings) -> list[Option]:
    return [switch for switch in (ENABLE_DUMP, ENABLE_DUMP_DEBUG) if settings.get(switch.name) is True]


def _dump_needs_path(settings: Settings) -> typing.Iterator[Problem]:
    if DUMP_PATH.name in settings:
        return
    for switch in _on(settings):
        yield problem(
            DUMP_NEEDS_PATH,
            switch,
            f"on, but there is no {DUMP_PATH.name}",
            value=True,
            fix='dump=Dump("/a/directory/that/exists")',
        )


def _two_dumps(settings: Settings) -> typing.Iterator[Problem]:
    if len(_on(settings)) == 2:
        yield problem(
            TWO_DUMPS,
            ENABLE_DUMP_DEBUG,
            f"on together with {ENABLE_DUMP.name}",
            value=True,
            fix="run twice, once with each of them",
        )


def _exception_dump_only(settings: Settings) -> typing.Iterator[Problem]:
    forced = bool(settings.environ.get(COLLECT_PATH))
    if not forced and settings.get(ENABLE_EXCEPTION_DUMP.name) != 1:
        return
    for switch in _on(settings):
        yield problem(
            EXCEPTION_DUMP_ONLY,
            switch,
            "writes nothing for networks of dynamic shape, since {}".format(
                f"{COLLECT_PATH} is set" if forced else f"{ENABLE_EXCEPTION_DUMP.name} is 1"
            ),
            value=True,
            fix=f"unset {COLLECT_PATH}" if forced else f"{ENABLE_EXCEPTION_DUMP.name}=2",
        )


def _nothing_dumped(settings: Settings) -> typing.Iterator[Problem]:
    dumping = settings.get(ENABLE_DUMP.name, ENABLE_DUMP.name in settings.refused)
    if settings.get(QUANT_DUMPABLE.name) == "1" and not dumping:
        yield problem(
            NOTHING_DUMPED,
            QUANT_DUMPABLE,
            f"has no effect without {ENABLE_DUMP.name}",
            value="1",
            fix='dump=Dump("/a/directory/that/exists")',
        )


def _dump_path_is_there(settings: Settings) -> typing.Iterator[Problem]:
    if _on(settings):
        # The runtime refuses a link here.
        yield from path_problems(DUMP_PATH, settings, links=False)


GROUP = Group(
    "comparison",
    "Accuracy comparison",
    "精度比对",
    (
        ENABLE_DUMP, DUMP_MODE, ENABLE_DUMP_DEBUG, DUMP_DEBUG_MODE, DUMP_PATH, DUMP_STEP, DUMP_DATA, DUMP_LAYER,
        QUANT_DUMPABLE, FUSION_SWITCH_FILE, BUFFER_OPTIMIZE, USE_OFF_LINE,
    ),
    (DUMP_NEEDS_PATH, TWO_DUMPS, EXCEPTION_DUMP_ONLY, NOTHING_DUMPED),
    (_dump_needs_path, _two_dumps, _exception_dump_only, _nothing_dumped, _dump_path_is_there),
)  # fmt: skip
