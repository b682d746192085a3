"""Names of dump files.

``{op_type}.{op_name}.{task}.{stream}.{timestamp}`` for operators (exception dumps leave out the stream), and
``Opdebug.Node_OpDebug.{task}.{stream}.{timestamp}`` for what is known of an overflow. Statistics end in ``.csv``;
what the vendor's converter makes of a file ends in ``.output.0.json`` or ``.output.0.npy``.
Source: the vendor's guide to accuracy debugging, naming of dump files.
"""

from __future__ import annotations

import csv
import os
import re
import typing

#: Beside files whose name was too long for the file system: lines of the number they are called by, and their name.
MAPPING = "mapping.csv"
OVERFLOW_TYPE, OVERFLOW_NAME = "Opdebug", "Node_OpDebug"
#: Beside the data of an operator that failed: ``exception_info.{stream}.{task}.{timestamp}``.
FAILURE_TYPE = "exception_info"

#: Characters that the runtime replaces in types and names of operators.
_REPLACED = re.compile(r"[./\\\s]")
_NAME = re.compile(
    r"([^.]+)\.([^.]+)\.([0-9]+)(?:\.([0-9]+))?\.([0-9]{1,255})(?:\.[0-9]+){0,4}"
    r"(\.csv|\.bin|\.(?:input|output)\.[0-9]+(?:\.[^.]+)?\.(?:json|npy))?"
)


class DumpName(typing.NamedTuple):
    """What the name of a dump file says.

    Attributes:
        op_type: type of the operator.
        op_name: its name, with ``_`` where the graph has ``/``, ``.``, a backslash or a blank.
        task: number of the task on the device.
        stream: number of the stream, ``None`` where the name has none.
        timestamp: when, in microseconds since 1970.
        ending: what follows, such as ``.csv``.
    """

    op_type: str
    op_name: str
    task: int
    stream: int | None
    timestamp: int
    ending: str = ""

    @classmethod
    def of(
        cls, op_type: str, op_name: str, task: int, stream: int | None, timestamp: int, ending: str = ""
    ) -> DumpName:
        """Return the name for an operator, as the graph calls it."""
        replaced = _REPLACED.sub("_", op_type), _REPLACED.sub("_", op_name)
        return cls(replaced[0], replaced[1], task, stream, timestamp, ending)

    @classmethod
    def parse(cls, text: str) -> DumpName | None:
        """Read a file's name, ``None`` when it is not the name of a dump."""
        found = _NAME.fullmatch(text)
        if found is None:
            return None
        op_type, op_name, task, stream, timestamp, ending = found.groups()
        return cls(op_type, op_name, int(task), None if stream is None else int(stream), int(timestamp), ending or "")

    def __str__(self) -> str:
        parts = [self.op_type, self.op_name, str(self.task)]
        parts += [] if self.stream is None else [str(self.stream)]
        return ".".join([*parts, str(self.timestamp)]) + self.ending


def read_mapping(directory: str) -> dict[str, str]:
    """Return the names that files of a directory really have, by the numbers that they are called by."""
    try:
        with open(os.path.join(directory, MAPPING), newline="", encoding="utf-8") as file:
            return {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) == 2}
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
