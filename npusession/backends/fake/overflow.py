"""Overflow detection: the data of operators that leave the range of float16, written when one really does.

Beside the operator's file lies ``Opdebug.Node_OpDebug.{task}.{stream}.{timestamp}.output.0.json``, which says what
overflowed, as the vendor's converter puts it. The operator's file holds its inputs and outputs.
"""

from __future__ import annotations

import json
import typing

from ...dumps.names import OVERFLOW_NAME, OVERFLOW_TYPE, DumpName
from ...options.comparison import DUMP_DEBUG_MODE, ENABLE_DUMP_DEBUG
from .dump import Directory
from .models import Model
from .nodes import can_be_fetched
from .places import file_for, plain, write_arrays
from .verdicts import Parameters, read

#: The largest finite float16.
LARGEST = 65504.0
#: Bit of AI Core's status for an overflow of floating-point numbers.
_FLOAT_OVERFLOW = 32
_ATOMIC_OVERFLOW = 1
#: Operators that add up in global memory, which takes atomic additions on the device.
_ATOMIC = frozenset(
    {
        "BiasAddGrad", "Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter", "ScatterNd", "SegmentSum",
        "TensorScatterAdd", "UnsortedSegmentSum",
    }
)  # fmt: skip
_AI_CORE, _ADD = "AI Core", "DHA Atomic Add"
_UNITS = (_ADD, "L2 Atomic Add", _AI_CORE)


class OverflowDump:
    """The overflow detection of one session.

    Args:
        parameters: the session's options.
        device: logical id of the device.
    """

    def __init__(self, parameters: Parameters, device: int) -> None:
        self._directory = Directory(parameters, device)
        mode = read(parameters, DUMP_DEBUG_MODE) or "all"
        self._units = {"aicore_overflow": (_AI_CORE,), "atomic_overflow": (_ADD,)}.get(mode, (_AI_CORE, _ADD))
        self._operations: dict[int, list[typing.Any]] = {}

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> OverflowDump | None:
        """Return the detection that the options ask for, ``None`` when it is off."""
        return cls(parameters, device) if read(parameters, ENABLE_DUMP_DEBUG) else None

    def tensors(self, model: Model) -> list[typing.Any]:
        """Return what has to be seen of a run."""
        if model.number not in self._operations:
            self._operations[model.number] = [item for item in model.operations if self._computes(item)]
        return [tensor for item in self._operations[model.number] for tensor in (*item.inputs, *item.outputs)
                if can_be_fetched(tensor)]  # fmt: skip

    def write(self, model: Model, values: typing.Mapping[str, typing.Any]) -> None:
        """Write the data of the operators that overflowed in a run; ``values`` has the tensors by name."""
        normal: dict[str, bool] = {}

        def fits(tensor: typing.Any) -> bool:
            if tensor.name not in normal:
                normal[tensor.name] = _fits(values[tensor.name])
            return normal[tensor.name]

        for operation in self._operations[model.number]:
            inputs = [tensor for tensor in operation.inputs if can_be_fetched(tensor)]
            outputs = [tensor for tensor in operation.outputs if can_be_fetched(tensor)]
            if inputs and all(map(fits, inputs)) and not all(map(fits, outputs)):
                self._write(model, operation, values)

    def _computes(self, operation: typing.Any) -> bool:
        unit = _ADD if operation.type in _ATOMIC else _AI_CORE
        return unit in self._units and any(tensor.dtype.is_floating for tensor in operation.outputs)

    def _write(self, model: Model, operation: typing.Any, values: typing.Mapping[str, typing.Any]) -> None:
        directory, task = self._directory.of(model), model.task_of(operation)
        arrays = {
            f"{kind}_{position}": values[tensor.name]
            for kind, tensors in (("input", operation.inputs), ("output", operation.outputs))
            for position, tensor in enumerate(tensors)
            if can_be_fetched(tensor)
        }
        write_arrays(directory, DumpName.of(operation.type, operation.name, task, 0, self._directory.clock()), arrays)
        found: dict[str, dict[str, object]] = {
            unit: {"model_id": 0, "stream_id": 0, "task_id": 0, "task_type": 0, "pc_start": "0x0", "para_base": "0x0"}
            for unit in _UNITS
        }
        found[_AI_CORE].update(kernel_code="0x0", block_idx=0)
        for unit in found.values():
            unit["status"] = 0
        name, status = (_ADD, _ATOMIC_OVERFLOW) if operation.type in _ATOMIC else (_AI_CORE, _FLOAT_OVERFLOW)
        found[name].update(model_id=model.number, task_id=task, status=status)
        file_name = DumpName(OVERFLOW_TYPE, OVERFLOW_NAME, task, 0, self._directory.clock(), ".output.0.json")
        with open(file_for(directory, file_name), "w", encoding="utf-8") as file:
            json.dump(found, file, indent=4)


def _fits(value: typing.Any) -> bool:
    import numpy

    array = plain(value)
    # NaN is not below the limit, so it does not fit either.
    return array.dtype.kind != "f" or bool((numpy.abs(array) <= LARGEST).all())
