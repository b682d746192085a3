"""Data dump: the tensors of a run, in the directories and under the names that the runtime gives them.

``{dump_path}/{YYYYMMDDHHMMSS}/{device}/{model_name}/{model_id}/{data_index}/{op_type}.{op_name}.{task}.{stream}.{timestamp}``

A file is a NumPy archive (``numpy.load`` reads it) of arrays named ``output_0``, ``output_1`` or ``input_0`` and so on.
Where statistics are asked for there is one CSV file per run instead.
"""

from __future__ import annotations

import csv
import os
import random
import re
import time
import typing

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
from .runtime import RUNTIME
from .verdicts import Parameters, read

#: Characters that the runtime replaces in names of operators.
_REPLACED = re.compile(r"[./\\\s]")
_LONGEST_NAME = 255


class Item(typing.NamedTuple):
    """One tensor to dump."""

    operation: typing.Any
    kind: str
    position: int
    tensor: typing.Any


class DataDump:
    """The data dump of one session.

    Args:
        parameters: the session's options.
        device: logical id of the device.
    """

    def __init__(self, parameters: Parameters, device: int) -> None:
        self._root = os.path.join(read(parameters, DUMP_PATH), time.strftime("%Y%m%d%H%M%S"), str(device))
        steps = read(parameters, DUMP_STEP)
        self._steps = _steps(steps) if steps else ()
        mode = read(parameters, DUMP_MODE) or "output"
        self._kinds = ("input", "output") if mode == "all" else (mode,)
        self._layers = frozenset((read(parameters, DUMP_LAYER) or "").split())
        #: Whether statistics are written in place of the data.
        self.stats = read(parameters, DUMP_DATA) == "stats"
        self._models: dict[tuple[object, ...], int] = {}
        self._runs: dict[int, int] = {}
        self._stamp = 0

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> DataDump | None:
        """Return the dump that the options ask for, ``None`` when it is off."""
        return cls(parameters, device) if read(parameters, ENABLE_DUMP) else None

    def begin(
        self,
        targets: typing.Sequence[typing.Any],
        fetches: typing.Sequence[typing.Any],
        feeds: typing.Mapping[typing.Any, typing.Any],
    ) -> Run | None:
        """Start a run; returns what it has to fetch besides, ``None`` when this step is not dumped."""
        # From TensorFlow 2 on, feeds are keyed by references, since tensors cannot be hashed.
        fed = {getattr(key, "deref", lambda key=key: key)().name: value for key, value in feeds.items()}
        names = ([item.name for item in targets], [item.name for item in fetches], fed)
        signature = tuple(tuple(sorted(group)) for group in names)
        if signature not in self._models:
            self._models[signature] = RUNTIME.model_number()
        model = self._models[signature]
        index = self._runs.get(model, 0)
        self._runs[model] = index + 1
        if self._steps and not any(first <= index <= last for first, last in self._steps):
            return None
        operations = _ancestors([getattr(item, "op", item) for item in (*targets, *fetches)], fed)
        items = [
            Item(operation, kind, position, tensor)
            for operation in operations
            if not self._layers or operation.name in self._layers
            for kind in self._kinds
            for position, tensor in enumerate(operation.inputs if kind == "input" else operation.outputs)
            if _can_be_fetched(tensor)
        ]
        stamp = os.path.basename(os.path.dirname(self._root))
        directory = os.path.join(self._root, f"ge_default_{stamp}_{model}", str(model), str(index))
        return Run(self, directory, items, fed)

    def timestamp(self) -> int:
        """Return microseconds, rising with each call."""
        self._stamp = max(self._stamp + 1, int(time.time() * 1e6))
        return self._stamp


def _steps(text: str) -> tuple[tuple[int, int], ...]:
    try:
        return parse_dump_steps(text)
    except Refused:
        # The runtime takes some forms that the reference does not have; what they dump is not known.
        return ((0, -1),)


class Run:
    """The dump of one run.

    Attributes:
        tensors: what has to be fetched besides what the caller asked for.
    """

    def __init__(self, dump: DataDump, directory: str, items: list[Item], fed: typing.Mapping[str, typing.Any]) -> None:
        self._dump = dump
        self._directory = directory
        self._items = items
        self._values = dict(fed)
        wanted = {item.tensor.name: item.tensor for item in items}
        self.tensors = [tensor for key, tensor in wanted.items() if key not in self._values]

    def write(self, results: typing.Sequence[typing.Any]) -> None:
        """Write the values of :attr:`tensors`, and those that were fed."""
        import numpy

        self._values.update((tensor.name, value) for tensor, value in zip(self.tensors, results))
        os.makedirs(self._directory, exist_ok=True)
        files: dict[tuple[typing.Any, str], dict[str, typing.Any]] = {}
        for item in self._items:
            arrays = files.setdefault((item.operation, item.kind), {})
            arrays[f"{item.kind}_{item.position}"] = numpy.asarray(self._values[item.tensor.name])
        if self._dump.stats:
            self._write_stats(files)
            return
        for task, ((operation, _), arrays) in enumerate(files.items()):
            names = _REPLACED.sub("_", operation.type), _REPLACED.sub("_", operation.name)
            name = "{}.{}.{}.0.{}".format(*names, task, self._dump.timestamp())
            with open(os.path.join(self._directory, self._shortened(name)), "wb") as file:
                numpy.savez(file, **arrays)

    def _shortened(self, name: str) -> str:
        if len(name.encode("utf-8")) <= _LONGEST_NAME:
            return name
        number = str(random.randrange(10**19, 10**20))
        with open(os.path.join(self._directory, "mapping.csv"), "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow((number, name))
        return number

    def _write_stats(self, files: typing.Mapping[tuple[typing.Any, str], typing.Mapping[str, typing.Any]]) -> None:
        import numpy

        path = os.path.join(self._directory, f"stats.{self._dump.timestamp()}.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("op_type", "op_name", "tensor", "dtype", "shape", "max", "min", "mean", "l2norm"))
            for (operation, _), arrays in files.items():
                for name, array in arrays.items():
                    numbers: tuple[object, ...] = ("",) * 4
                    if array.size and numpy.issubdtype(array.dtype, numpy.number):
                        wide = array.astype("float64")
                        numbers = (wide.max(), wide.min(), wide.mean(), numpy.sqrt((wide**2).sum()))
                    shape = "x".join(map(str, array.shape))
                    writer.writerow((operation.type, operation.name, name, array.dtype, shape, *numbers))


def _ancestors(operations: list[typing.Any], fed: typing.Container[str]) -> list[typing.Any]:
    """Return everything that runs for ``operations``, inputs first; what is fed cuts off what lies before it."""
    ordered: dict[str, typing.Any] = {}
    seen: set[str] = set()
    stack = [(operation, False) for operation in reversed(operations)]
    while stack:
        operation, inputs_done = stack.pop()
        if inputs_done:
            ordered[operation.name] = operation
        elif operation.name not in seen:
            seen.add(operation.name)
            stack.append((operation, True))
            if any(tensor.name in fed for tensor in operation.outputs):
                continue
            inputs = [tensor.op for tensor in operation.inputs]
            stack.extend((before, False) for before in (*inputs, *operation.control_inputs))
    return list(ordered.values())


def _can_be_fetched(tensor: typing.Any) -> bool:
    operation = tensor.op
    return bool(
        tensor.dtype.name not in ("resource", "variant")
        and not tensor.dtype._is_ref_dtype
        # Inside tf.cond and tf.while_loop of version 1 a tensor may be dead, or have many values.
        and operation._get_control_flow_context() is None
        and operation.graph.is_fetchable(tensor)
    )
