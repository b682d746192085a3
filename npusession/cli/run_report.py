"""What a script did on the emulation."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import re
import traceback
import typing

from ..backends.fake.run_config import UNASKED
from ..backends.fake.runtime import RUNTIME
from ..options import TABLE, Scene
from ..testing import FakeNpu
from .script import Outcome

#: Why the runtime was finalised, in the words of its events, when nothing but the end of the process did it.
_AT_EXIT = "exit"
#: What launch scripts export for each rank.
_EXPORTED = ("ASCEND_DEVICE_ID", "DEVICE_ID", "JOB_ID", "RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE")
#: Lines of one kind that the text has.
_MOST = 20


@dataclasses.dataclass
class RunReport:
    """The report on a script's run.

    Attributes:
        script: the script and its arguments.
        exit_code: its exit code.
        error: the exception that ended it, empty when none did.
        host: the settings of the emulated host.
        given: variables that were set for the script, as launch scripts do.
        sessions: number, the line that made it, device, runs, whether it was closed, and options of each session.
        initialized: for each initialisation the session that did it (0 for none), and the device.
        finalized: why the runtime was finalised, each time.
        shut_down: whether the script had it finalised before its end; ``None`` when nothing was initialised.
        runs: runs on the device, of all sessions.
        ignored: what the runtime would ignore in silence: in words, with the numbers of the sessions, and the lines
            that made them.
        leaks: what one session's options did to others.
        devices: devices that were touched besides a session's own.
        dumps: files that dumps wrote, by directory.
        profiles: directories of profiles.
        precision: session, run and mode of each precision phase of accelerated training.
        notes: what the emulation did for the script that a host would not.
    """

    script: list[str]
    exit_code: int
    error: str
    host: dict[str, object]
    given: dict[str, str]
    sessions: list[dict[str, object]]
    initialized: list[dict[str, object]]
    finalized: list[str]
    shut_down: bool | None
    runs: int
    ignored: list[dict[str, object]]
    leaks: list[str]
    devices: list[str]
    dumps: dict[str, int]
    profiles: list[str]
    precision: list[dict[str, object]]
    notes: list[str]

    @classmethod
    def of_this_process(cls, script: list[str], outcome: Outcome, given: dict[str, str]) -> RunReport:
        """Return what happened on the emulation until now.

        Args:
            script: the script and its arguments.
            outcome: how it ended.
            given: variables that were set for it.
        """
        seen, settings = FakeNpu(), RUNTIME.settings
        sites = {session.number: session.site for session in seen.sessions}
        details: dict[str, list[str]] = collections.defaultdict(list)
        ignoring: dict[str, list[int]] = collections.defaultdict(list)
        for event in seen.events:
            details[event.name].append(event.detail)
            if event.name == "ignored":
                ignoring[event.detail].append(event.session)
        initialized = [
            {"session": event.session, "device": event.detail.partition(" ")[2]}
            for event in seen.events
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
            sessions=[session._asdict() for session in seen.sessions],
            initialized=initialized,
            finalized=details["finalize"],
            shut_down=details["finalize"][-1:] != [_AT_EXIT] if initialized else None,
            runs=sum(session.runs for session in seen.sessions),
            ignored=[
                {
                    "problem": detail,
                    "sessions": numbers,
                    "sites": list(dict.fromkeys(sites[number] for number in numbers if number in sites)),
                }
                for detail, numbers in ignoring.items()
            ],
            leaks=details["leak"],
            devices=details["device"],
            dumps=dict(collections.Counter(os.path.dirname(str(path)) for path in seen.dumps)),
            profiles=[str(path) for path in seen.profiles],
            precision=[phase._asdict() for phase in seen.precision_timeline],
            notes=[*details["note"], *_missing(error)],
        )

    def as_json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2, default=str) + "\n"

    def as_text(self) -> str:
        """Return the report as lines for a reader."""
        ended = f"ended by {self.error.splitlines()[0]}" if self.error else f"exit code {self.exit_code}"
        lines = [f"npusession run {' '.join(self.script)}: {ended}"]
        lines += self._life()
        lines += self._sessions()
        for title, found in (
            ("ignored in silence by the real runtime", list(map(_at, self.ignored))),
            ("left to other sessions", self.leaks),
            ("devices touched besides", self.devices),
            ("dumps", _dumped(self.dumps)),
            ("profiles", self.profiles),
            ("note", self.notes),
            ("precision", ["session {session}, from run {run}: {mode}".format(**phase) for phase in self.precision]),
        ):
            lines += _listed(title, found)
        return "\n".join(lines) + "\n"

    def _life(self) -> typing.Iterator[str]:
        if not self.sessions and not self.initialized:
            yield "  no session was configured for the device"
            return
        if not self.initialized:
            yield "  never initialised: no graph ran on the device"
        by: dict[object, list[object]] = collections.defaultdict(list)
        for event in self.initialized:
            by[event["device"]].append(event["session"])
        for device, numbers in by.items():
            sessions = [_numbered(numbers)] if any(numbers) else []
            resource = ["npu_resource_init"] * numbers.count(0)
            yield f"  initialised: device {device}, by {', '.join([*sessions, *resource])}"
        if self.shut_down:
            yield f"  shut down: {self.finalized[-1]}"
        elif self.shut_down is not None:
            yield "  not shut down: the device was closed when the process ended"
        left = [session["number"] for session in self.sessions if not session["closed"]]
        if left:
            yield f"  never closed: {_numbered(left)}"

    def _sessions(self) -> typing.Iterator[str]:
        """Say what the sessions were; those of one line with the same options are one."""
        alike: dict[tuple[object, str], list[dict[str, object]]] = collections.defaultdict(list)
        for session in self.sessions:
            alike[session["site"], _configured(typing.cast("dict[str, object]", session["options"]))].append(session)
        for (site, given), sessions in alike.items():
            runs = ", ".join(str(session["runs"]) for session in sessions[:_MOST])
            more = ", ..." if len(sessions) > _MOST else ""
            yield f"  {_numbered([session['number'] for session in sessions])} ({site}): runs: {runs}{more}; {given}"


def _missing(error: BaseException | None) -> list[str]:
    """Say which variable of a launch script is not there, when the line that failed reads one."""
    if not isinstance(error, (KeyError, TypeError, ValueError)):
        return []
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        read = set(re.findall(r"\w+", frame.line or ""))
        names = [name for name in _EXPORTED if name in read and not os.environ.get(name)]
        if names:
            return [f"{frame.filename}:{frame.lineno} reads what launch scripts export, not set: {' '.join(names)}"]
    return []


def _configured(options: typing.Mapping[str, object]) -> str:
    """Say which options are not at their defaults, nor what the estimator writes into each configuration."""
    unasked = UNASKED if UNASKED.items() <= options.items() else {}
    given = [
        f"{name}={value}"
        for name, value in sorted(options.items())
        if name not in unasked and (name not in TABLE or TABLE[name].default(Scene.TRAINING) != value)
    ]
    return " ".join(given) or "all options at their defaults"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _at(ignored: typing.Mapping[str, typing.Any]) -> str:
    where = f"{', '.join(ignored['sites'])}; {_numbered(ignored['sessions'])}"
    return f"{ignored['problem']} ({where})" if ignored["sites"] else ignored["problem"]


def _dumped(dumps: typing.Mapping[str, int]) -> list[str]:
    """Say how many files lie in each directory; those of the runs of one graph are numbered, and counted together."""
    graphs: dict[str, int] = collections.Counter()
    for path, count in dumps.items():
        parent, name = os.path.split(path)
        graphs[parent if name.isdigit() else path] += count
    return [f"{path}: {_files(count)}" for path, count in graphs.items()]


def _numbered(numbers: typing.Sequence[object]) -> str:
    """Name sessions by their numbers; 0 is none."""
    found = [str(number) for number in numbers if number]
    more = ["..."] if len(found) > _MOST else []
    return f"session{'s' if len(found) > 1 else ''} {', '.join([*found[:_MOST], *more])}"


def _listed(title: str, found: typing.Sequence[str]) -> list[str]:
    if not found:
        return []
    if len(found) == 1:
        return [f"  {title}: {found[0]}"]
    lines = [f"  {title}:", *(f"    {line}" for line in found[:_MOST])]
    return lines if len(found) <= _MOST else [*lines, f"    and {len(found) - _MOST} more"]
