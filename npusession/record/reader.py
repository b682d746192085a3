"""Reading a record."""

from __future__ import annotations

import dataclasses
import json
import os
import typing
import warnings

from ..errors import NpuSessionError


class RecordError(NpuSessionError, ValueError):
    """A file that is no record."""


class Step(typing.NamedTuple):
    """One step; seconds, with ``at`` counted from the section's beginning."""

    step: int
    at: float
    seconds: float
    loss: float | None
    phase: str | None


class Stage(typing.NamedTuple):
    """A part of the life cycle; seconds, with ``at`` counted from the section's beginning."""

    name: str
    at: float
    seconds: float


@dataclasses.dataclass
class Section:
    """What is known of one session.

    Attributes:
        about: the fields of its first line.
        stages: parts of the life cycle, in the order in which they ended.
        steps: steps, in order.
        warnings: what the training was warned of while it ran, each with the second at which that was.
        ended: when it ended, ``None`` when the record breaks off.
        error: what it ended with, ``None`` when all went well.
    """

    about: dict[str, typing.Any]
    stages: list[Stage] = dataclasses.field(default_factory=list)
    steps: list[Step] = dataclasses.field(default_factory=list)
    warnings: list[tuple[float, str]] = dataclasses.field(default_factory=list)
    ended: float | None = None
    error: str | None = None

    @property
    def loop(self) -> int:
        """Training steps in one run, of which one step was recorded."""
        return int(self.about.get("options", {}).get("iterations_per_loop", 1))


def read(path: str | os.PathLike[str]) -> list[Section]:
    """Read a record.

    Lines that a killed process or a full disk left unfinished are passed over, with a warning when they are not the
    last.

    Raises:
        RecordError: the file is no record; the message says why.
        OSError: it cannot be read.
    """
    sections: list[Section] = []
    by_id: dict[str, Section] = {}
    unread = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                _add(json.loads(line), sections, by_id)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                if not sections:
                    raise RecordError(
                        f"{os.fspath(path)!r}, line {number}: no line of a record ({type(error).__name__}: {error}). "
                        'A record is the file that NpuSession.for_training(record="run.jsonl") writes.'
                    ) from None
                if line.endswith("\n"):
                    unread.append(str(number))
    if not sections:
        raise RecordError(f"{os.fspath(path)!r} holds no record of a session")
    if unread:
        lines = ", ".join(unread[:10]) + (", ..." if unread[10:] else "")
        warnings.warn(f"{os.fspath(path)!r}: left out what cannot be read, line {lines}", RuntimeWarning, stacklevel=2)
    return sections


def _add(fields: dict[str, typing.Any], sections: list[Section], by_id: dict[str, Section]) -> None:
    event, name = fields["event"], fields["section"]
    if event == "session":
        sections.append(Section(fields))
        by_id[name] = sections[-1]
        return
    section = by_id[name]
    if event == "step":
        loss, phase = fields["loss"], fields["phase"]
        numbers = int(fields["step"]), float(fields["at"]), float(fields["seconds"])
        section.steps.append(Step(*numbers, None if loss is None else float(loss), phase))
    elif event == "stage":
        section.stages.append(Stage(str(fields["name"]), float(fields["at"]), float(fields["seconds"])))
    elif event == "warning":
        section.warnings.append((float(fields["at"]), str(fields["text"])))
    elif event == "end":
        section.ended, section.error = float(fields["at"]), fields["error"]
