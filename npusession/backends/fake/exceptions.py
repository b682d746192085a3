"""Dumps of operators that fail: their inputs, and what is known of the failure.

Both lie in ``{path}/extra-info/data-dump/{device}``: the inputs in ``{op_type}.{op_name}.{task}.{timestamp}``, and in
``exception_info.{stream}.{task}.{timestamp}`` the error, for the full form with shape, type and format of each tensor.

The runtime dumps by default; the emulation leaves nothing in the working directory unless the option is given. Of
the environment, NPU_COLLECT_PATH and ASCEND_WORK_PATH ask for the dump, too, since they say where to.
"""

from __future__ import annotations

import json
import os
import typing

from ..._compat import Protocol
from ..._tensorflow import tf1
from ...dumps.names import FAILURE_TYPE, DumpName
from ...options.debugging import ENABLE_EXCEPTION_DUMP
from .nodes import ancestors, by_name
from .places import Clock, collect_path, file_for, type_name, work_path, write_arrays
from .verdicts import Parameters, read

#: Forms of the dump.
_FULL, _LIGHT = 1, 2
#: Stateful operators whose value is the same when it is read again.
_STEADY = frozenset(
    {
        "Placeholder", "ReadVariableOp", "ResourceGather", "TemporaryVariable", "VarHandleOp", "VarIsInitializedOp",
        "Variable", "VariableV2",
    }
)  # fmt: skip


class Call(Protocol):
    """Runs the graph for some fetches, with the targets and feeds of the caller's run; profiled unless told not to."""

    def __call__(self, wanted: typing.Sequence[typing.Any], trace: bool = True) -> typing.Sequence[typing.Any]:
        """Return the values of ``wanted``."""


class ExceptionDump:
    """The exception dump of one session.

    Attributes:
        full: whether it is the full form.

    Args:
        full: whether it is the full form.
        root: directory that the files go to.
        device: logical id of the device.
    """

    def __init__(self, full: bool, root: str, device: int) -> None:
        self.full = full
        self._directory = os.path.join(root, "extra-info", "data-dump", str(device))
        self._clock = Clock()

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> ExceptionDump | None:
        """Return the dump that options and environment ask for, ``None`` when they ask for none."""
        collected, work = collect_path(), work_path()
        if collected is not None:
            return cls(True, collected, device)
        if ENABLE_EXCEPTION_DUMP.name not in parameters and work is None:
            return None
        form = read(parameters, ENABLE_EXCEPTION_DUMP) if ENABLE_EXCEPTION_DUMP.name in parameters else _LIGHT
        return cls(form == _FULL, work or os.getcwd(), device) if form in (_FULL, _LIGHT) else None

    def write(
        self,
        error: BaseException,
        call: Call,
        feeds: typing.Mapping[typing.Any, typing.Any],
    ) -> None:
        """Write what can be known of a failure.

        Args:
            error: what a run raised; nothing is written for one that no operator is to blame for.
            call: runs the graph with the same feeds, for other fetches.
            feeds: what was fed.
        """
        operation = _failed(error)
        if operation is None or not operation.inputs:
            return
        fed = by_name(feeds)
        arrays, left_out = {}, {}
        for position, tensor in enumerate(operation.inputs):
            try:
                arrays[f"input_{position}"] = fed[tensor.name] if tensor.name in fed else _again(tensor, fed, call)
            except _NotAgain as reason:
                left_out[f"input_{position}"] = str(reason)
        clock, task = self._clock(), operation.graph.get_operations().index(operation)
        write_arrays(self._directory, DumpName.of(operation.type, operation.name, task, None, clock), arrays)
        tensors: list[dict[str, object]] = []
        for kind, items in (("input", operation.inputs), ("output", operation.outputs)):
            for position, tensor in enumerate(items):
                name = f"{kind}_{position}"
                shape = arrays[name].shape if hasattr(arrays.get(name), "shape") else tensor.shape
                tensors.append(
                    {
                        "tensor": name,
                        "name": tensor.name,
                        "dtype": type_name(tensor.dtype.base_dtype.name),
                        "shape": None if getattr(shape, "rank", 0) is None else list(map(_dimension, shape)),
                        "format": "ND",
                    }
                )
        content: dict[str, object] = {
            "op_type": operation.type,
            "op_name": operation.name,
            "error": f"{type(error).__name__}: {getattr(error, 'message', error)}",
            "left_out": left_out,
        }
        if self.full:
            content["tensors"] = tensors
        path = file_for(self._directory, DumpName(FAILURE_TYPE, "0", task, None, clock))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=4, ensure_ascii=False)


class _NotAgain(Exception):
    """A value cannot be had once more."""


def _failed(error: BaseException) -> typing.Any:
    errors = tf1().errors
    # The end of a data set, and a run that was called off, are no fault of an operator.
    if not isinstance(error, errors.OpError) or isinstance(error, (errors.OutOfRangeError, errors.CancelledError)):
        return None
    return error.op


def _again(
    tensor: typing.Any,
    fed: typing.Mapping[str, typing.Any],
    call: Call,
) -> typing.Any:
    """Compute a tensor once more, where that gives the same value and changes nothing."""
    if tensor.dtype.name in ("resource", "variant") or tensor.op._get_control_flow_context() is not None:
        raise _NotAgain("has no single value outside of the run")
    for operation in ancestors([tensor], fed):
        if operation.type not in _STEADY and operation.node_def.op and _is_stateful(operation):
            raise _NotAgain(f"comes from {operation.name} ({operation.type}), which gives another value each time")
    try:
        return call([tensor], trace=False)[0]
    except Exception as error:
        raise _NotAgain(f"could not be computed again: {type(error).__name__}") from error


def _is_stateful(operation: typing.Any) -> bool:
    definition = operation.op_def
    return definition is None or bool(definition.is_stateful)


def _dimension(size: typing.Any) -> int | None:
    # A dimension is an object in TensorFlow 1, a number or None later.
    value = getattr(size, "value", size)
    return None if value is None else int(value)
