"""Data dump: the tensors of a run, in the directories and under the names that the runtime gives them.

``{dump_path}/{YYYYMMDDHHMMSS}/{device}/{model_name}/{model_id}/{data_index}/{op_type}.{op_name}.{task}.{stream}.{timestamp}``

A file is a NumPy archive (``numpy.load`` reads it) of arrays named ``output_0``, ``output_1`` or ``input_0`` and so
on; with both asked for, the inputs of an operator have a file and its outputs another. Where statistics are asked
for, each of these is a ``.csv`` file of them.
"""

from __future__ import annotations

import csv
import os
import time
import typing

from ...dumps.names import DumpName
from ...dumps.summary import Statistics
from ...options.comparison import (
    DUMP_DATA,
    DUMP_LAYER,
    DUMP_MODE,
    DUMP_PATH,
    DUMP_STEP,
    ENABLE_DUMP,
    parse_dump_steps,
)  # fmt: skip
from ...options.kinds import Refused
from .models import Model
from .nodes import can_be_fetched
from .places import Clock, file_for, plain, type_name, write_arrays
from .runtime import RUNTIME
from .verdicts import Parameters, read

#: Columns of statistics, as the runtime writes them.
COLUMNS = (
    "Input/Output", "Index", "Data Size", "Data Type", "Format", "Shape", "Max Value", "Min Value", "Avg Value",
    "Count", "Nan Count", "Negative Inf Count", "Positive Inf Count",
)  # fmt: skip
#: Types of operators that bring data into a graph.
_DATA = frozenset({"Placeholder", "PlaceholderWithDefault", "PlaceholderV2", "IteratorGetNext", "GetNext"})


class Item(typing.NamedTuple):
    """One tensor to dump."""

    operation: typing.Any
    kind: str
    position: int
    tensor: typing.Any


class Directory:
    """Where one session's dumps go; ``{dump_path}/{YYYYMMDDHHMMSS}/{device}``.

    Args:
        parameters: the session's options.
        device: logical id of the device.
    """

    def __init__(self, parameters: Parameters, device: int) -> None:
        self._start = time.strftime("%Y%m%d%H%M%S")
        self._root = os.path.join(read(parameters, DUMP_PATH), self._start, str(device))
        RUNTIME.dumps.append(os.path.abspath(self._root))
        self.clock = Clock()

    def of(self, model: Model) -> str:
        """Return the directory of a model's present run."""
        name = f"ge_default_{self._start}_{model.number}"
        return os.path.join(self._root, name, str(model.number), str(model.runs))


class DataDump:
    """The data dump of one session.

    Args:
        parameters: the session's options.
        device: logical id of the device.
    """

    def __init__(self, parameters: Parameters, device: int) -> None:
        self._directory = Directory(parameters, device)
        steps = read(parameters, DUMP_STEP)
        self._steps = _steps(steps) if steps else ()
        mode = read(parameters, DUMP_MODE) or "output"
        self._kinds = ("input", "output") if mode == "all" else (mode,)
        self._layers = frozenset((read(parameters, DUMP_LAYER) or "").split())
        self._stats = read(parameters, DUMP_DATA) == "stats"
        self._items: dict[int, list[Item]] = {}

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> DataDump | None:
        """Return the dump that the options ask for, ``None`` when it is off."""
        return cls(parameters, device) if read(parameters, ENABLE_DUMP) else None

    def tensors(self, model: Model) -> list[typing.Any]:
        """Return what has to be seen of the model's present run."""
        if self._steps and not any(first <= model.runs <= last for first, last in self._steps):
            return []
        if model.number not in self._items:
            self._items[model.number] = list(self._found(model))
        return [item.tensor for item in self._items[model.number]]

    def write(self, model: Model, values: typing.Mapping[str, typing.Any]) -> None:
        """Write the tensors; ``values`` has them by name."""
        files: dict[tuple[typing.Any, str], dict[str, typing.Any]] = {}
        for item in self._items[model.number]:
            arrays = files.setdefault((item.operation, item.kind), {})
            arrays[f"{item.kind}_{item.position}"] = values[item.tensor.name]
        write = _write_statistics if self._stats else write_arrays
        for (operation, _), arrays in files.items():
            task = model.task_of(operation)
            name = DumpName.of(operation.type, operation.name, task, 0, self._directory.clock())
            write(self._directory.of(model), name, arrays)

    def _found(self, model: Model) -> typing.Iterator[Item]:
        chosen = self._layers
        if chosen:
            # The data operators that feed one of them come along.
            named = [operation for operation in model.operations if operation.name in self._layers]
            inputs = [tensor.op for operation in named for tensor in operation.inputs]
            chosen = chosen.union(operation.name for operation in inputs if operation.type in _DATA)
        for operation in model.operations:
            if chosen and operation.name not in chosen:
                continue
            for kind in self._kinds:
                for position, tensor in enumerate(operation.inputs if kind == "input" else operation.outputs):
                    if can_be_fetched(tensor):
                        yield Item(operation, kind, position, tensor)


def _steps(text: str) -> tuple[tuple[int, int], ...]:
    try:
        return parse_dump_steps(text)
    except Refused:
        # The runtime takes some forms that the reference does not have; what they dump is not known.
        return ((0, -1),)


def _write_statistics(directory: str, name: DumpName, arrays: typing.Mapping[str, typing.Any]) -> None:
    path = file_for(directory, name._replace(ending=".csv"))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for tensor, value in arrays.items():
            kind, _, position = tensor.partition("_")
            array = plain(value)
            dtype = getattr(value, "dtype", array.dtype)
            size = array.size * dtype.itemsize
            shape = "x".join(map(str, array.shape))
            found = Statistics.of(array)
            numbers = (found.maximum, found.minimum, found.mean) if array.dtype.kind in "biuf" else ("", "", "")
            row = (kind.capitalize(), position, size, type_name(dtype.name), "ND", shape, *numbers, found.elements)
            writer.writerow((*row, found.nan, found.negative_inf, found.positive_inf))
