"""Layer normalisation and centralisation."""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from ._node import FLOATS, Node, in_float32


def fused_layer_norm(
    x: typing.Any,
    gamma: typing.Any,
    beta: typing.Any,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 0.0000001,
    name: str | None = None,
) -> list[typing.Any]:
    """Normalise to mean 0 and variance 1 over the axes from ``begin_norm_axis`` on, then scale and shift.

    Args:
        x: tensor of any rank, float16 or float32.
        gamma: scale, of the shape of ``x`` from ``begin_params_axis`` on.
        beta: what is added, of the same shape.
        begin_norm_axis: first axis to normalise over; negative ones count from the end.
        begin_params_axis: first axis of ``gamma`` and ``beta``.
        epsilon: added to the variance.
        name: name of the op.

    Returns:
        The result, and mean and variance, whose normalised axes have the length 1.

    Raises:
        ValueError: the rank is unknown, or does not have such an axis.
    """
    with Node("FusedLayerNorm", name) as node:
        x = node.tensor(x, "x", FLOATS)
        rank = x.shape.ndims
        if rank is None:
            raise ValueError("FusedLayerNorm: the rank of x is not known")
        for argument, axis in (("begin_norm_axis", begin_norm_axis), ("begin_params_axis", begin_params_axis)):
            if not -rank <= axis < rank:
                raise ValueError(f"FusedLayerNorm: {argument}={axis}, but x has {rank} axes")
        axes = list(range(begin_norm_axis % rank, rank))

        def compute(x: typing.Any, gamma: typing.Any, beta: typing.Any) -> list[typing.Any]:
            mean, variance = tf1().nn.moments(x, axes, keep_dims=True)
            return [(x - mean) * tf1().rsqrt(variance + epsilon) * gamma + beta, mean, variance]

        # gamma and beta end with the last axis of x, so that broadcasting from the right puts them in place.
        return node.outputs(in_float32(compute, x, node.like(gamma, x, "gamma"), node.like(beta, x, "beta")))


def centralization(x: typing.Any, axes: typing.Sequence[int], name: str | None = None) -> typing.Any:
    """Return ``x`` less its mean over ``axes``; it has no gradient."""
    with Node("Centralization", name, differentiable=False) as node:
        x = node.tensor(x, "x", FLOATS)
        return node.output(in_float32(lambda x: x - tf1().reduce_mean(x, axes, keepdims=True), x))
