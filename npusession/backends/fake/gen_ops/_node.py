"""How an emulated op comes into the graph: under the name, with the checks and the gradients of the real one."""

from __future__ import annotations

import functools
import typing

from ...._tensorflow import tf1

#: Allowed dtypes, in the words of the adapter's op registrations.
FLOATS = ("float16", "float32")
REALS = (*FLOATS, "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*REALS, "complex64", "complex128")

#: Gradient of an op that has none.
_NO_GRADIENT = "NpusessionNoGradient"


class Node:
    """An op of the adapter, made of TensorFlow's.

    Used in a ``with`` statement, within which everything goes into a name scope of the op's name; the result gets
    the very name that the real op would have.

    Args:
        op_type: the op's type, as in ``FastGelu``.
        name: its name, the type by default.
        differentiable: whether the adapter registers a gradient for it. Where it does not, taking one is a
            LookupError, as on the real adapter.
    """

    def __init__(self, op_type: str, name: str | None = None, *, differentiable: bool = True) -> None:
        self.op_type = op_type
        self._name = name or op_type
        self._differentiable = differentiable
        self._scope = ""

    def __enter__(self) -> Node:
        self._context = tf1().name_scope(self._name)
        self._scope = self._context.__enter__()
        return self

    def __exit__(self, *raised: typing.Any) -> None:
        self._context.__exit__(*raised)

    def tensor(self, value: typing.Any, argument: str, allowed: typing.Sequence[str] = FLOATS) -> typing.Any:
        """Return an argument as a tensor.

        Raises:
            TypeError: its dtype is none of those that the op takes.
        """
        tensor = tf1().convert_to_tensor(value, name=argument)
        self._check(tensor, argument, allowed)
        return tensor

    def like(self, value: typing.Any, tensor: typing.Any, argument: str) -> typing.Any:
        """Return an argument as a tensor that has the dtype of another one.

        Raises:
            TypeError, ValueError: it has another dtype.
        """
        return tf1().convert_to_tensor(value, dtype=tensor.dtype.base_dtype, name=argument)

    def outputs(self, tensors: typing.Sequence[typing.Any]) -> list[typing.Any]:
        """Return the results as outputs of one op that bears the op's name."""
        return list(self._finish(tf1().identity_n, list(tensors)))

    def output(self, tensor: typing.Any) -> typing.Any:
        """Return the result as the output of an op that bears the op's name."""
        return self._finish(tf1().identity, tensor)

    def output_with(self, gradient: str, tensor: typing.Any) -> typing.Any:
        """Return the result as of :meth:`output`, with a gradient that is registered under a name."""
        return self._with_gradient(gradient, tf1().identity, tensor)

    def memory(self, reference: typing.Any) -> typing.Any:
        """Return the result as memory that other ops assign to, the output of an op that bears the op's name."""
        return tf1().raw_ops.RefIdentity(input=reference, name=self._scope)

    def operation(self, *dependencies: typing.Any) -> typing.Any:
        """Return an operation without results that bears the op's name and runs after the dependencies."""
        with tf1().control_dependencies(dependencies):
            return tf1().no_op(name=self._scope)

    def _finish(self, make: typing.Callable[..., typing.Any], value: typing.Any) -> typing.Any:
        if self._differentiable or tf1().executing_eagerly():
            return make(value, name=self._scope)
        _register()
        return self._with_gradient(_NO_GRADIENT, make, value)

    def _with_gradient(self, default: str, make: typing.Callable[..., typing.Any], value: typing.Any) -> typing.Any:
        graph = tf1().get_default_graph()
        # A script that overrides the gradient of the op's type means this one.
        gradient = graph._gradient_override_map.get(self.op_type, default)
        with graph.gradient_override_map({"Identity": gradient, "IdentityN": gradient}):
            return make(value, name=self._scope)

    def _check(self, tensor: typing.Any, argument: str, allowed: typing.Sequence[str]) -> None:
        if tensor.dtype.base_dtype.name not in allowed:
            raise TypeError(
                f"{self.op_type}: {argument} is {tensor.dtype.base_dtype.name}; the op takes {', '.join(allowed)}"
            )


def in_float32(compute: typing.Callable[..., typing.Any], *tensors: typing.Any) -> typing.Any:
    """Compute with float16 in float32 and return float16, as the device's kernels do; other dtypes as they are."""
    dtype = tensors[0].dtype.base_dtype
    if dtype.name not in ("float16", "bfloat16"):
        return compute(*tensors)
    results = compute(*(tf1().cast(tensor, tf1().float32) for tensor in tensors))
    if isinstance(results, (list, tuple)):
        return [tf1().cast(result, dtype) for result in results]
    return tf1().cast(results, dtype)


def graph_only(function: str) -> None:
    """Refuse eager execution, as the adapter's functions do.

    Raises:
        RuntimeError: TensorFlow executes eagerly.
    """
    if tf1().executing_eagerly():
        raise RuntimeError(f"{function}() needs a graph; TensorFlow executes eagerly")


@functools.lru_cache(maxsize=None)
def _register() -> None:
    """Register the gradient of ops without one, which fails as TensorFlow does for an op without a gradient."""

    def fail(op: typing.Any, *gradients: typing.Any) -> typing.NoReturn:
        raise LookupError(
            f"No gradient defined for operation '{op.name}': the adapter registers none for this op; "
            "tf.stop_gradient() around it keeps it out of the gradients"
        )

    tf1().RegisterGradient(_NO_GRADIENT)(fail)
