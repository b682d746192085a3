"""Reading a record."""

from __future__ import annotations

import dataclasses
import json
import os
import typing

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
        ended: when it ended, ``None`` when the record breaks off.
        error: what it ended with, ``None`` when all went well.
    """

    about: dict[str, typing.Any]
    stages: list[Stage] = dataclasses.field(default_factory=list)
    steps: list[Step] = dataclasses.field(default_factory=list)
    ended: float | None = None
    error: str | None = None


def read(path: str | os.PathLike[str]) -> list[Section]:
    """Read a record; a last line that a killed process left unfinished is passed over.

    Raises:
        RecordError: the file is no record; the message says in which line.
        OSError: it cannot be read.
    """
    sections: list[Section] = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
                _add(sections, fields)
            except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
                if not line.endswith("\n"):
                    break
                raise RecordError(
                    f"{os.fspath(path)!r}, line {number}: no line of a record ({type(error).__name__}: {error}). "
                    'A record is the file that NpuSession.for_training(record="run.jsonl") writes.'
                ) from None
    if not sections:
        raise RecordError(f"{os.fspath(path)!r} holds no record of a session")
    return sections


def _add(sections: list[Section], fields: dict[str, typing.Any]) -> None:
    event = fields["event"]
    if event == "session":
        sections.append(Section(fields))
    elif event == "step":
        loss = fields["loss"]
        phase = fields["phase"]
        numbers = int(fields["step"]), float(fields["at"]), float(fields["seconds"])
        sections[-1].steps.append(Step(*numbers, None if loss is None else float(loss), phase))
    elif event == "stage":
        sections[-1].stages.append(Stage(str(fields["name"]), float(fields["at"]), float(fields["seconds"])))
    elif event == "end":
        sections[-1].ended, sections[-1].error = float(fields["at"]), fields["error"]
