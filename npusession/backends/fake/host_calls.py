"""The function of an NPUEstimatorSpec that the host calls with tensors of each step.

On a device the tensors go through a channel, and a thread of the host takes them out. On the CPU the tensors are there,
so that the function's ops simply run after the step.
"""

from __future__ import annotations

import inspect
import typing

from ..._tensorflow import tf1


def check(host_call: typing.Any) -> None:
    """Check the form of a host call: a function, and a list of its tensors or a dict of them.

    Raises:
        RuntimeError: the function takes another number of tensors.
        TypeError: the first part is no function.
        ValueError: there are not two parts, or the second is neither list nor dict.
    """
    if not isinstance(host_call, (tuple, list)) or len(host_call) != 2:
        raise ValueError(f"host_call is a function and its tensors, not {host_call!r}")
    function, tensors = host_call
    if not callable(function):
        raise TypeError(f"host_call[0] is a function, not a {type(function).__name__}")
    if isinstance(tensors, dict):
        return
    if not isinstance(tensors, (tuple, list)):
        raise ValueError(f"host_call[1] is a list or a dict of tensors, not a {type(tensors).__name__}")
    specification = inspect.getfullargspec(function)
    taken = len(specification.args) - inspect.ismethod(function)
    if specification.varargs is None and taken != len(tensors):
        raise RuntimeError(f"host_call[0] takes {taken} tensors, and host_call[1] has {len(tensors)}")


def called_with(loss: typing.Any, host_call: typing.Any, after: typing.Any) -> typing.Any:
    """Return the loss, such that whoever fetches it runs the host call, which comes after an op."""
    function, tensors = host_call
    named: dict[typing.Any, typing.Any] = tensors if isinstance(tensors, dict) else dict(enumerate(tensors))
    with tf1().control_dependencies([after]):
        named = {name: tf1().identity(tensor) for name, tensor in named.items()}
    # Not after the op itself: opening a summary writer, which the function may do, is no part of a step.
    called = function(**named) if isinstance(tensors, dict) else function(*named.values())
    operations = called if isinstance(called, (tuple, list)) else [called]
    with tf1().control_dependencies([item for item in operations if item is not None]):
        return tf1().identity(loss)
