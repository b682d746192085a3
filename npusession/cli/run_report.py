"""What a script did on the emulation."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import re
import sys
import traceback
import typing

from ..backends.fake.importing import NAMES
from ..backends.fake.runtime import RUNTIME
from ..testing import FakeNpu
from .script import Outcome

#: Why the runtime was finalised, in the words of its events, when nothing but the end of the process did it.
_AT_EXIT = "exit"
#: What launch scripts export for each rank.
_EXPORTED = ("ASCEND_DEVICE_ID", "DEVICE_ID", "JOB_ID", "RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE")


@dataclasses.dataclass
class Remark:
    """Something that is said of some sessions, or of the script.

    Attributes:
        text: what it is.
        sessions: the numbers of the sessions that it is about, none where it is about the script.
        sites: the lines that made them.
    """

    text: str
    sessions: list[int] = dataclasses.field(default_factory=list)
    sites: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class RunReport:
    """The report on a script's run.

    Attributes:
        script: the script and its arguments.
        exit_code: its exit code.
        error: the exception that ended it, empty when none did.
        host: the settings of the emulated host.
        given: variables that were set for the script, as launch scripts do.
        adapter: whether the script imported the adapter, without which no entry has an effect.
        sessions: number, the line that made it, device, runs, whether it was closed, and options of each session.
        initialized: for each initialisation the session that did it (0 for none), and the device.
        finalized: why the runtime was finalised, each time.
        shut_down: whether the script had it finalised before its end; ``None`` when nothing was initialised.
        shutdown_op: whether the shutdown op was run; ``None`` when none was made.
        runs: runs on the device, of all sessions.
        ignored: what the runtime would ignore in silence.
        leaks: what one session's options did to others.
        devices: devices that were touched besides a session's own.
        dumps: files that dumps wrote, by directory.
        profiles: directories of profiles.
        precision: session, run and mode of each precision phase of accelerated training.
        on_host: sessions that ran, but had no NpuOptimizer entry, by the lines that made them.
        notes: what the emulation did for the script that a host would not, what the script found missing, and what the
            reference asks for besides.
    """

    script: list[str]
    exit_code: int
    error: str
    host: dict[str, object]
    given: dict[str, str]
    adapter: bool
    sessions: list[dict[str, object]]
    initialized: list[dict[str, object]]
    finalized: list[str]
    shut_down: bool | None
    shutdown_op: bool | None
    runs: int
    ignored: list[Remark]
    leaks: list[str]
    devices: list[str]
    dumps: dict[str, int]
    profiles: list[str]
    precision: list[dict[str, object]]
    on_host: dict[str, int]
    notes: list[Remark]

    @classmethod
    def of_this_process(cls, script: list[str], outcome: Outcome, given: dict[str, str]) -> RunReport:
        """Return what happened on the emulation until now.

        Args:
            script: the script and its arguments.
            outcome: how it ended.
            given: variables that were set for it.
        """
        seen, settings = FakeNpu(), RUNTIME.settings
        details: dict[str, list[str]] = collections.defaultdict(list)
        for event in RUNTIME.milestones:
            details[event.name].append(event.detail)
        initialized = [
            {"session": event.session, "device": event.detail.partition(" ")[2]}
            for event in RUNTIME.milestones
            if event.name == "initialize" and event.detail.startswith("device")
        ]
        error = outcome.error
        return cls(
            script=script,
            exit_code=outcome.code,
            error="" if error is None else f"{type(error).__name__}: {error}".rstrip(": "),
            host={
                "devices": settings.devices,
                "product": None if settings.product is None else settings.product.value,
                "strict": settings.strict,
                "simulate_precision": settings.simulate_precision,
            },
            given=given,
            adapter=not sys.modules.keys().isdisjoint(NAMES),
            sessions=[session._asdict() for session in seen.sessions],
            initialized=initialized,
            finalized=details["finalize"],
            shut_down=details["finalize"][-1:] != [_AT_EXIT] if initialized else None,
            shutdown_op="shutdown" in details if RUNTIME.shutdown_made else None,
            runs=sum(session.runs for session in seen.sessions),
            ignored=_remarks("ignored"),
            leaks=details["leak"],
            devices=details["device"],
            dumps=dict(collections.Counter(os.path.dirname(str(path)) for path in seen.dumps)),
            profiles=[str(path) for path in seen.profiles],
            precision=[phase._asdict() for phase in seen.precision_timeline],
            on_host=dict(collections.Counter(details["host"])),
            notes=[*_remarks("note"), *_missing(error)],
        )

    def as_json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2, default=str) + "\n"


def _remarks(name: str) -> list[Remark]:
    """Return what the events of a name say, each once."""
    sites = {session.number: session.site for session in RUNTIME.sessions}
    found: dict[str, Remark] = {}
    for event in RUNTIME.milestones:
        if event.name == name:
            remark = found.setdefault(event.detail, Remark(event.detail))
            if event.session:
                remark.sessions.append(event.session)
            site = sites.get(event.session)
            if site is not None and site not in remark.sites:
                remark.sites.append(site)
    return list(found.values())


def _missing(error: BaseException | None) -> typing.Iterator[Remark]:
    """Say which variable of a launch script is not there, when the line that failed reads one."""
    if not isinstance(error, (KeyError, TypeError, ValueError)):
        return
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        read = set(re.findall(r"\w+", frame.line or ""))
        names = [name for name in _EXPORTED if name in read and not os.environ.get(name)]
        if names:
            where = f"{frame.filename}:{frame.lineno}"
            yield Remark(f"{where} reads what launch scripts export, not set: {' '.join(names)}")
            return
