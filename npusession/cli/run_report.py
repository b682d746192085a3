"""What a script did on the emulation."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import sys
import typing

from ..backends.fake.importing import NAMES
from ..backends.fake.runtime import RUNTIME
from ..options import TABLE, Scene
from ..testing import FakeNpu
from .script import Outcome

#: Why the runtime was finalised, in the words of its events, when nothing but the end of the process did it.
_AT_EXIT = "exit"
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
        sessions: number, the line that made it, device, runs, whether it was closed, and options of each session.
        initialized: for each initialisation the session that did it (0 for none), and the device.
        finalized: why the runtime was finalised, each time.
        shut_down: whether the script had it finalised before its end; ``None`` when nothing was initialised.
        shutdown_op: whether the shutdown op was run; ``None`` when none was made.
        runs: runs on the device, of all sessions.
        ignored: what the runtime would ignore in silence, with the line of each session that did so.
        leaks: what one session's options did to others.
        devices: devices that were touched besides a session's own.
        dumps: files that dumps wrote, by directory.
        profiles: directories of profiles.
        precision: session, run and mode of each precision phase of accelerated training.
        on_host: sessions that ran, but had no NpuOptimizer entry, by the lines that made them.
        adapter: whether the script imported the adapter, without which no entry has an effect.
        notes: what the emulation did for the script that a host would not, and what the reference asks for besides,
            with the line of each session that it is about.
    """

    script: list[str]
    exit_code: int
    error: str
    host: dict[str, object]
    sessions: list[dict[str, object]]
    initialized: list[dict[str, object]]
    finalized: list[str]
    shut_down: bool | None
    shutdown_op: bool | None
    runs: int
    ignored: dict[str, dict[str, int]]
    leaks: list[str]
    devices: list[str]
    dumps: dict[str, int]
    profiles: list[str]
    precision: list[dict[str, object]]
    on_host: dict[str, int]
    adapter: bool
    notes: dict[str, dict[str, int]]

    @classmethod
    def of_this_process(cls, script: list[str], outcome: Outcome) -> RunReport:
        """Return what happened on the emulation until now."""
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
            sessions=[session._asdict() for session in seen.sessions],
            initialized=initialized,
            finalized=details["finalize"],
            shut_down=details["finalize"][-1:] != [_AT_EXIT] if initialized else None,
            shutdown_op="shutdown" in details if RUNTIME.shutdown_made else None,
            runs=sum(session.runs for session in seen.sessions),
            ignored=_by_line("ignored"),
            leaks=details["leak"],
            devices=details["device"],
            dumps=dict(collections.Counter(os.path.dirname(str(path)) for path in seen.dumps)),
            profiles=[str(path) for path in seen.profiles],
            precision=[phase._asdict() for phase in seen.precision_timeline],
            on_host=dict(collections.Counter(details["host"])),
            adapter=not sys.modules.keys().isdisjoint(NAMES),
            notes=_by_line("note"),
        )

    def as_json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2, default=str) + "\n"

    def as_text(self) -> str:
        """Return the report as lines for a reader."""
        ended = f"ended by {self.error.splitlines()[0]}" if self.error else f"exit code {self.exit_code}"
        lines = [f"npusession run {' '.join(self.script)}: {ended}"]
        lines += self._life()
        alike: dict[tuple[object, str], list[dict[str, typing.Any]]] = collections.defaultdict(list)
        for session in self.sessions:
            given = _configured(typing.cast("dict[str, object]", session["options"]))
            alike[session["site"], given].append(session)
        for (site, given), sessions in alike.items():
            runs = sum(session["runs"] for session in sessions)
            lines.append("  {} ({}): runs: {}; {}".format(*_numbered(s["number"] for s in sessions), site, runs, given))
        for title, found in (
            ("ignored in silence by the real runtime", _with_lines(self.ignored)),
            ("left to other sessions", self.leaks),
            ("devices touched besides", self.devices),
            ("dumps", [f"{path}: {_files(count)}" for path, count in self.dumps.items()]),
            ("profiles", self.profiles),
            ("on the host, without an NpuOptimizer entry", [_times(*session) for session in self.on_host.items()]),
            ("note", _with_lines(self.notes)),
            ("precision", ["session {session}, from run {run}: {mode}".format(**phase) for phase in self.precision]),
        ):
            lines += _listed(title, found)
        return "\n".join(lines) + "\n"

    def _life(self) -> typing.Iterator[str]:
        if not self.sessions and not self.initialized:
            yield "  no session was configured for the device in this process"
            if "tensorflow" in sys.modules and not self.adapter:
                yield "  npu_bridge was never imported: without it, an NpuOptimizer entry has no effect"
            return
        if not self.initialized:
            yield "  never initialised: no graph ran on the device"
        by_device: dict[object, list[int]] = collections.defaultdict(list)
        for event in self.initialized:
            by_device[event["device"]].append(typing.cast("int", event["session"]))
        for device, numbers in by_device.items():
            by = [*(["npu_resource_init"] if 0 in numbers else []), *_numbered(filter(None, numbers))]
            yield "  initialised: device {}, by {}".format(device, " and ".join(by))
        if self.shut_down:
            yield f"  shut down: {self.finalized[-1]}"
        elif self.shut_down is not None:
            yield "  not shut down: the device was closed when the process ended"
        if self.shutdown_op is False:
            yield "  the shutdown op was never run"
        for left in _numbered(session["number"] for session in self.sessions if not session["closed"]):
            yield f"  never closed: {left}"


def _configured(options: typing.Mapping[str, object]) -> str:
    """Say which options are not at their defaults."""
    given = [
        f"{name}={value}"
        for name, value in sorted(options.items())
        if name not in TABLE or TABLE[name].default(Scene.TRAINING) != value
    ]
    return " ".join(given) or "all options at their defaults"


def _by_line(name: str) -> dict[str, dict[str, int]]:
    """Return the details of all events of a name, with the lines of the sessions that they are about."""
    lines = {session.number: session.site for session in RUNTIME.sessions}
    found: dict[str, dict[str, int]] = {}
    for event in RUNTIME.milestones:
        if event.name == name:
            where = found.setdefault(event.detail, {})
            line = lines.get(event.session)
            if line is not None:
                where[line] = where.get(line, 0) + 1
    return found


def _with_lines(found: typing.Mapping[str, typing.Mapping[str, int]]) -> list[str]:
    return [
        f"{text} ({', '.join(_times(*line) for line in lines.items())})" if lines else text
        for text, lines in found.items()
    ]


def _numbered(sessions: typing.Iterable[typing.Any]) -> typing.Iterator[str]:
    """Say which sessions, as in ``sessions 1-3, 5``; nothing for none."""
    ranges: list[list[int]] = []
    for number in sessions:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    text = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    if text:
        yield f"session {text}" if text.isdigit() else f"sessions {text}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _times(text: str, count: int) -> str:
    return text if count == 1 else f"{text}, {count} sessions"


def _listed(title: str, found: typing.Sequence[str]) -> list[str]:
    if not found:
        return []
    if len(found) == 1:
        return [f"  {title}: {found[0]}"]
    lines = [f"  {title}:", *(f"    {line}" for line in found[:_MOST])]
    return lines if len(found) <= _MOST else [*lines, f"    and {len(found) - _MOST} more"]
