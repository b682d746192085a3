"""What a script did on the emulation."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import typing

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
        runs: runs on the device, of all sessions.
        ignored: what the runtime would ignore in silence, with how many sessions did so.
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
    sessions: list[dict[str, object]]
    initialized: list[dict[str, object]]
    finalized: list[str]
    shut_down: bool | None
    runs: int
    ignored: dict[str, int]
    leaks: list[str]
    devices: list[str]
    dumps: dict[str, int]
    profiles: list[str]
    precision: list[dict[str, object]]
    notes: list[str]

    @classmethod
    def of_this_process(cls, script: list[str], outcome: Outcome) -> RunReport:
        """Return what happened on the emulation until now."""
        seen, settings = FakeNpu(), RUNTIME.settings
        details: dict[str, list[str]] = collections.defaultdict(list)
        for event in seen.events:
            details[event.name].append(event.detail)
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
            sessions=[session._asdict() for session in seen.sessions],
            initialized=initialized,
            finalized=details["finalize"],
            shut_down=details["finalize"][-1:] != [_AT_EXIT] if initialized else None,
            runs=sum(session.runs for session in seen.sessions),
            ignored=dict(collections.Counter(details["ignored"])),
            leaks=details["leak"],
            devices=details["device"],
            dumps=dict(collections.Counter(os.path.dirname(str(path)) for path in seen.dumps)),
            profiles=[str(path) for path in seen.profiles],
            precision=[phase._asdict() for phase in seen.precision_timeline],
            notes=details["note"],
        )

    def as_json(self) -> str:
        """Return the report as a JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2, default=str) + "\n"

    def as_text(self) -> str:
        """Return the report as lines for a reader."""
        ended = f"ended by {self.error.splitlines()[0]}" if self.error else f"exit code {self.exit_code}"
        lines = [f"npusession run {' '.join(self.script)}: {ended}"]
        lines += self._life()
        for session in self.sessions:
            given = _configured(typing.cast("dict[str, object]", session["options"]))
            lines.append("  session {number} ({site}): runs: {runs}; {given}".format(**session, given=given))
        for title, found in (
            ("ignored in silence by the real runtime", [_times(text, n) for text, n in self.ignored.items()]),
            ("left to other sessions", self.leaks),
            ("devices touched besides", self.devices),
            ("dumps", [f"{path}: {_files(count)}" for path, count in self.dumps.items()]),
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
        for event in self.initialized:
            by = f"session {event['session']}" if event["session"] else "npu_resource_init"
            yield f"  initialised: device {event['device']}, by {by}"
        if self.shut_down:
            yield f"  shut down: {self.finalized[-1]}"
        elif self.shut_down is not None:
            yield "  not shut down: the device was closed when the process ended"
        left = [str(session["number"]) for session in self.sessions if not session["closed"]]
        if left:
            yield "  never closed: session {}".format(", ".join(left))


def _configured(options: typing.Mapping[str, object]) -> str:
    """Say which options are not at their defaults."""
    given = [
        f"{name}={value}"
        for name, value in sorted(options.items())
        if name not in TABLE or TABLE[name].default(Scene.TRAINING) != value
    ]
    return " ".join(given) or "all options at their defaults"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _times(text: str, count: int) -> str:
    return text if count == 1 else f"{text} ({count} sessions)"


def _listed(title: str, found: typing.Sequence[str]) -> list[str]:
    if not found:
        return []
    if len(found) == 1:
        return [f"  {title}: {found[0]}"]
    lines = [f"  {title}:", *(f"    {line}" for line in found[:_MOST])]
    return lines if len(found) <= _MOST else [*lines, f"    and {len(found) - _MOST} more"]
