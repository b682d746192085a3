"""Dropout in two steps, as on the device: a mask of what is kept, and its use.

The mask has one element for each number, where the device packs the first kind's into bits. What is kept is chosen as
by ``tf.nn.dropout`` with the same seeds.
"""

from __future__ import annotations

import numbers
import typing

from ...._tensorflow import tf1
from ._node import FLOATS, Node


def drop_out(
    gen_mask: typing.Callable[..., typing.Any],
    do_mask: typing.Callable[..., typing.Any],
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any,
    seed: int | None,
    name: str | None,
) -> typing.Any:
    """Apply one of the kinds of dropout, as the adapter's functions do.

    Args:
        gen_mask: op that makes the mask.
        do_mask: op that applies it.
        x: tensor, float16 or float32.
        keep_prob: probability to keep a number, 0 to 1; all are kept, without an op, at the number 1.0.
        noise_shape: shape of the mask, which broadcasts against ``x``; that of ``x`` by default.
        seed: seed of the op, as everywhere in TensorFlow.
        name: name of both ops.

    Raises:
        ValueError: ``x`` is no float, or ``keep_prob`` a number outside 0 .. 1.
    """
    x = tf1().convert_to_tensor(x, name="x")
    if not x.dtype.is_floating:
        raise ValueError(f"x is a tensor of {x.dtype.base_dtype.name}; dropout takes floats")
    if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1:
        raise ValueError(f"keep_prob={keep_prob}; it is more than 0 and at most 1")
    if isinstance(keep_prob, float) and keep_prob == 1.0:
        return x
    from tensorflow.python.framework import random_seed

    seed, seed2 = random_seed.get_seed(seed)
    return do_mask(x, gen_mask(_noise_shape(x, noise_shape), keep_prob, seed, seed2, name), keep_prob, name)


def drop_out_gen_mask(
    shape: typing.Any, prob: typing.Any, seed: int | None = 0, seed2: int | None = 0, name: str | None = None
) -> typing.Any:
    """Return a mask of ``shape`` that is 1 with the probability ``prob``, else 0; uint8."""
    return _mask("DropOutGenMask", shape, prob, seed, seed2, name)


def drop_out_gen_mask_v3(
    shape: typing.Any, prob: typing.Any, seed: int | None = 0, seed2: int | None = 0, name: str | None = None
) -> typing.Any:
    """As :func:`drop_out_gen_mask`."""
    return _mask("DropOutGenMaskV3", shape, prob, seed, seed2, name)


def drop_out_gen_mask_v4(
    shape: typing.Any,
    prob: typing.Any,
    seed: int | None = 0,
    seed2: int | None = 0,
    dtype: typing.Any = None,
    name: str | None = None,
) -> typing.Any:
    """As :func:`drop_out_gen_mask`; ``dtype``, which the op only takes as bool, does not change the mask's uint8.

    Raises:
        ValueError: ``dtype`` is another one.
    """
    if dtype is not None and tf1().as_dtype(dtype) != tf1().bool:
        raise ValueError(f"DropOutGenMaskV4: dtype is {tf1().as_dtype(dtype).name}; the op takes bool")
    return _mask("DropOutGenMaskV4", shape, prob, seed, seed2, name)


def drop_out_do_mask(x: typing.Any, mask: typing.Any, keep_prob: typing.Any, name: str | None = None) -> typing.Any:
    """Return ``x / keep_prob`` where the mask is 1, else 0; the mask broadcasts against ``x``."""
    return _apply("DropOutDoMask", x, mask, keep_prob, name)


def drop_out_do_mask_v3(x: typing.Any, mask: typing.Any, keep_prob: typing.Any, name: str | None = None) -> typing.Any:
    """As :func:`drop_out_do_mask`."""
    return _apply("DropOutDoMaskV3", x, mask, keep_prob, name)


def _noise_shape(x: typing.Any, noise_shape: typing.Any) -> typing.Any:
    """Return the mask's shape, with the lengths of ``x`` where it leaves them open."""
    if noise_shape is None:
        return tf1().shape(x)
    try:
        lengths = tf1().TensorShape(noise_shape).as_list()
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.ndims != len(lengths):
        return noise_shape
    return [own if given is None else given for given, own in zip(lengths, x.shape.as_list())]


def _mask(
    op_type: str, shape: typing.Any, prob: typing.Any, seed: int | None, seed2: int | None, name: str | None
) -> typing.Any:
    with Node(op_type, name, differentiable=False) as node:
        prob = node.tensor(prob, "prob", FLOATS)
        uniform = tf1().raw_ops.RandomUniform(shape=shape, dtype=prob.dtype, seed=seed or 0, seed2=seed2 or 0)
        return node.output(tf1().cast(uniform >= 1 - prob, tf1().uint8))


def _apply(op_type: str, x: typing.Any, mask: typing.Any, keep_prob: typing.Any, name: str | None) -> typing.Any:
    with Node(op_type, name) as node:
        x = node.tensor(x, "x", FLOATS)
        scale = 1 / node.like(keep_prob, x, "keep_prob")
        kept = tf1().cast(node.tensor(mask, "mask", ("uint8",)), x.dtype)
        result = x * scale * tf1().stop_gradient(kept)
        result.set_shape(x.shape)
        return node.output(result)
