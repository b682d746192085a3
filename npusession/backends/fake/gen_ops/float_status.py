"""The device's flag of an overflow, as scripts with loss scaling of their own read it.

The device sets it when any number overflows. The emulation looks at those tensors that the read depends on by control
dependencies: scripts make them the gradients.
"""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from ._node import Node

#: Length of the flag's second form.
_LENGTH = 8


def finite(tensors: typing.Iterable[typing.Any]) -> typing.Any:
    """Return whether all numbers of some tensors are finite, a scalar bool; what is ``None`` or no float is passed."""
    checks = []
    for tensor in tensors:
        values = getattr(tensor, "values", tensor)
        if values is not None and values.dtype.base_dtype.is_floating:
            checks.append(tf1().reduce_all(tf1().is_finite(values)))
    return tf1().reduce_all(tf1().stack(checks)) if checks else tf1().constant(True)


def npu_alloc_float_status(name: str | None = None) -> typing.Any:
    """Return a cleared flag, float32 ``[1]``; it is memory, which reading the status writes to."""
    with Node("NpuAllocFloatStatus", name, differentiable=False) as node:
        if tf1().executing_eagerly():
            return node.output(tf1().zeros([1]))
        memory = tf1().raw_ops.TemporaryVariable(shape=[1], dtype=tf1().float32)
        return node.memory(tf1().assign(memory, tf1().zeros([1])))


def npu_get_float_status(input_float: typing.Any, name: str | None = None) -> typing.Any:
    """Return the flag, float32 ``[1]``: 0 unless something overflowed."""
    watched = _watched()
    with Node("NpuGetFloatStatus", name, differentiable=False) as node:
        status = 1 - tf1().cast(finite(watched), tf1().float32)
        flag = node.tensor(input_float, "input_float", ("float32",))
        value = status + tf1().zeros_like(flag)
        # Scripts compare the memory itself with the cleared flag.
        return node.output(tf1().assign(flag, value) if flag.dtype._is_ref_dtype else value)


def npu_clear_float_status(float_status: typing.Any, name: str | None = None) -> typing.Any:
    """Return a cleared flag, float32 ``[1]``."""
    with Node("NpuClearFloatStatus", name, differentiable=False) as node:
        flag = node.tensor(float_status, "float_status", ("float32",))
        # TensorFlow makes zeros of a known shape a constant, which nothing has to come before.
        with tf1().control_dependencies([flag]):
            return node.output(tf1().zeros_like(flag))


def npu_get_float_status_v2(name: str | None = None) -> typing.Any:
    """Return the flag, int32 ``[8]``: zeros unless something overflowed."""
    watched = _watched()
    with Node("NpuGetFloatStatusV2", name, differentiable=False) as node:
        return node.output(tf1().fill([_LENGTH], 1 - tf1().cast(finite(watched), tf1().int32)))


def npu_clear_float_status_v2(name: str | None = None) -> typing.Any:
    """Return the operation that clears the flag, which has nothing to do here."""
    with Node("NpuClearFloatStatusV2", name) as node:
        return node.operation()


def _watched() -> list[typing.Any]:
    """Return the tensors of the operations that whatever is built now depends on."""
    if tf1().executing_eagerly():
        return []
    with tf1().name_scope("NpuFloatStatusProbe"):
        probe = tf1().no_op()
    return [tensor for operation in probe.control_inputs for tensor in operation.outputs]
