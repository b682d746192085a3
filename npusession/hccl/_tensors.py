"""Which tensors HCCL takes, by operation and product."""

from __future__ import annotations

import typing

from .._tensorflow import tf1
from ..errors import GraphRequiredError
from ..products import Product

_ALL_REDUCED = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
_ALL_MOVED = (*_ALL_REDUCED, "uint8", "uint16", "uint32", "uint64", "float64")
#: What some products do not take, of what is reduced and of what is moved.
_NOT_REDUCED = {
    Product.ATLAS_TRAINING: ("int16", "bfloat16"),
    Product.ATLAS_300I_DUO: ("int64", "bfloat16"),
}
_NOT_MOVED = {Product.ATLAS_TRAINING: ("bfloat16",), Product.ATLAS_300I_DUO: ("bfloat16",)}
#: What they do not take for some reductions.
_NOT_BY = {
    (Product.ATLAS_A2, "prod"): ("int16", "bfloat16"),
    (Product.ATLAS_A3, "prod"): ("int16", "bfloat16"),
    (Product.ATLAS_300I_DUO, "prod"): ("int16",),
    (Product.ATLAS_300I_DUO, "max"): ("int16",),
    (Product.ATLAS_300I_DUO, "min"): ("int16",),
}
REDUCTIONS = ("sum", "max", "min", "prod")


def moved_dtypes(product: Product | None) -> tuple[str, ...]:
    """Return the dtypes that can be sent from rank to rank."""
    return _without(_ALL_MOVED, _NOT_MOVED.get(product, ()) if product else ())


def reduced_dtypes(product: Product | None, reduction: str) -> tuple[str, ...]:
    """Return the dtypes that can be reduced."""
    if product is None:
        return _ALL_REDUCED
    return _without(_ALL_REDUCED, (*_NOT_REDUCED.get(product, ()), *_NOT_BY.get((product, reduction), ())))


def _without(names: typing.Sequence[str], others: typing.Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in others)


def checked(call: str, value: object, allowed: typing.Sequence[str]) -> typing.Any:
    """Return an argument as a tensor of one of the dtypes.

    Raises:
        GraphRequiredError: TensorFlow executes eagerly.
        TypeError: it cannot be a tensor, or its dtype is another.
    """
    need_graph(call)
    if isinstance(value, tf1().IndexedSlices):
        raise TypeError(
            f"hccl.{call}: IndexedSlices are not one tensor. hccl.distributed_optimizer() reduces such gradients; "
            "elsewhere tf.convert_to_tensor() makes them one"
        )
    tensor = tf1().convert_to_tensor(value)
    check_dtype(call, tensor.dtype, allowed)
    return tensor


def check_dtype(call: str, dtype: typing.Any, allowed: typing.Sequence[str]) -> None:
    """Refuse a dtype that is none of those; TypeError."""
    name = dtype.base_dtype.name
    if name not in allowed:
        nearest = "float32" if dtype.is_floating else "int32" if dtype.is_integer or dtype.is_bool else ""
        fix = f"; tf.cast(x, tf.{nearest}) makes it one" if nearest else ""
        raise TypeError(f"hccl.{call}: the tensor is {name}, and HCCL takes {', '.join(allowed)}{fix}")


def need_graph(call: str) -> None:
    """Refuse eager execution; GraphRequiredError."""
    if tf1().executing_eagerly():
        raise GraphRequiredError(
            f"hccl.{call} adds ops to a graph, and TensorFlow executes eagerly. Call it inside `with NpuSession... as "
            "s:`, `with graph.as_default():`, or after tf.compat.v1.disable_eager_execution()."
        )


def first_axis(call: str, tensor: typing.Any) -> int | None:
    """Return the length of the first axis, ``None`` when it is not known; ValueError for a scalar."""
    shape = tensor.shape
    if shape.ndims is None:
        return None
    if shape.ndims == 0:
        raise ValueError(f"hccl.{call}: a scalar has no first axis; tf.reshape(x, [1]) gives it one")
    length: int | None = shape.as_list()[0]
    return length


def without_gradient(call: str, tensor: typing.Any, compute: typing.Callable[[typing.Any], typing.Any]) -> typing.Any:
    """Return what is computed of a tensor, with no gradient: taking one is a LookupError, as of the adapter's ops."""

    def computed(given: typing.Any) -> typing.Any:
        def gradient(upstream: typing.Any) -> typing.NoReturn:
            raise LookupError(
                f"hccl.{call}: of collectives only the sum over ranks has a gradient; tf.stop_gradient() around it "
                "keeps it out of the gradients"
            )

        return compute(given), gradient

    return tf1().custom_gradient(computed)(tensor)


def given_back(call: str, tensor: typing.Any) -> typing.Any:
    """Return what a process that is alone gets for a tensor: the tensor, without a gradient as among several ranks."""
    return without_gradient(call, tensor, tf1().identity)
