"""The tree of dump files.

``{dump_path}/{run}/{device}/{model_name}/{model_id}/{step}/{file}`` for data dumps and overflows, where a run is
called by its start, YYYYMMDDHHMMSS; ``{path}/extra-info/data-dump/{device}/{file}`` for operators that failed.
"""

from __future__ import annotations

import os
import re
import typing

from .names import FAILURE_TYPE, MAPPING, OVERFLOW_NAME, OVERFLOW_TYPE, DumpName, read_mapping

_EXCEPTION = ("extra-info", "data-dump")


class DumpFile(typing.NamedTuple):
    """A dump file and where it lies.

    Attributes:
        path: the file.
        name: its name, or what ``mapping.csv`` says that its name is.
        kind: ``"tensors"``, ``"statistics"``, ``"overflow"``, ``"exception"`` for tensors of an operator that failed,
            or ``"failure"`` for what is known of it.
        run: start of the run, YYYYMMDDHHMMSS; empty where the file lies in no tree, as are the others.
        device: id of the device.
        model: name of the model.
        model_id: number of the model.
        step: data index, which is the training step with ``dump_step``.
    """

    path: str
    name: DumpName
    kind: str
    run: str = ""
    device: str = ""
    model: str = ""
    model_id: str = ""
    step: str = ""


def find(path: str) -> typing.Iterator[DumpFile]:
    """Find dump files in a directory and below, step by step and in the order in which operators ran."""
    for directory, below, names in os.walk(path):
        below.sort(key=_natural)
        mapping = read_mapping(directory) if MAPPING in names else {}
        found = [_placed(os.path.join(directory, name), mapping.get(name, name)) for name in names]
        yield from sorted(filter(None, found), key=lambda file: (file.name.timestamp, file.path))


def describe(path: str) -> DumpFile | None:
    """Return what name and place of one file say, ``None`` when its name is not that of a dump."""
    directory, name = os.path.split(path)
    return _placed(path, read_mapping(directory).get(name, name))


def _placed(path: str, text: str) -> DumpFile | None:
    name = DumpName.parse(text)
    if name is None:
        return None
    kind = "statistics" if name.ending == ".csv" else "tensors"
    if (name.op_type, name.op_name) == (OVERFLOW_TYPE, OVERFLOW_NAME):
        kind = "overflow"
    parts = os.path.abspath(path).split(os.sep)[:-1]
    if name.op_type == FAILURE_TYPE:
        kind = "failure"
    if tuple(parts[-3:-1]) == _EXCEPTION:
        return DumpFile(path, name, "exception" if kind == "tensors" else kind, device=parts[-1])
    if len(parts) >= 5:
        run, device, model, model_id, step = parts[-5:]
        if re.fullmatch("[0-9]{14}", run) and all(part.isdigit() for part in (device, model_id, step)):
            return DumpFile(path, name, kind, run, device, model, model_id, step)
    return DumpFile(path, name, kind)


def _natural(name: str) -> tuple[int, int, str]:
    """Return a key that sorts step 10 behind step 9."""
    return (0, int(name), name) if name.isdigit() else (1, 0, name)
