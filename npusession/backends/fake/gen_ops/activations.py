"""GELU in its three forms, and PReLU, by the formulas of the vendor's kernels."""

from __future__ import annotations

import math
import typing

from ...._tensorflow import tf1
from ._node import FLOATS, REALS, Node, in_float32


def gelu(features: typing.Any, name: str | None = None) -> typing.Any:
    """Return ``0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))``, of the shape of ``features``."""
    return _elementwise("Gelu", features, name, _gelu)


def fast_gelu(features: typing.Any, name: str | None = None) -> typing.Any:
    """Return ``x sigmoid(1.702 x)``, of the shape of ``features``."""
    return _elementwise("FastGelu", features, name, _fast_gelu)


def fast_gelu_v2(features: typing.Any, name: str | None = None) -> typing.Any:
    """Return ``x (sgn(x) (-0.1444 (min(0.7071 |x|, 1.769) - 1.769)^2 + 0.5) + 0.5)``; it has no gradient."""
    return _elementwise("FastGeluV2", features, name, _fast_gelu_v2, differentiable=False)


def gelu_grad(gradients: typing.Any, features: typing.Any, activations: typing.Any, name: str | None = None) -> object:
    """Return the gradient of :func:`gelu`; ``activations``, its result, is not needed."""
    return _gradient("GeluGrad", gradients, features, name, _gelu)


def fast_gelu_grad(gradients: typing.Any, features: typing.Any, name: str | None = None) -> object:
    """Return the gradient of :func:`fast_gelu`."""
    return _gradient("FastGeluGrad", gradients, features, name, _fast_gelu)


def p_relu(x: typing.Any, weight: typing.Any, name: str | None = None) -> typing.Any:
    """Return ``x`` where it is positive, elsewhere ``weight x``; ``weight`` broadcasts against ``x``."""
    with Node("PRelu", name) as node:
        x = node.tensor(x, "x", FLOATS)
        return node.output(_p_relu(x, node.like(weight, x, "weight")))


def p_relu_grad(
    grads: typing.Any, features: typing.Any, weights: typing.Any, name: str | None = None
) -> list[typing.Any]:
    """Return the gradients of :func:`p_relu` with respect to its two arguments."""
    with Node("PReluGrad", name, differentiable=False) as node:
        features = node.tensor(features, "features", FLOATS)
        # Copies, so that nothing but this op lies between them and the result.
        x, weight = tf1().identity(features), tf1().identity(node.like(weights, features, "weights"))
        return node.outputs(tf1().gradients(_p_relu(x, weight), [x, weight], [grads]))


def _gelu(x: typing.Any) -> typing.Any:
    return 0.5 * x * (1.0 + tf1().tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _fast_gelu(x: typing.Any) -> typing.Any:
    return x * tf1().sigmoid(1.702 * x)


def _fast_gelu_v2(x: typing.Any) -> typing.Any:
    magnitude = tf1().minimum(tf1().abs(0.7071 * x), 1.769) - 1.769
    # Zero counts as positive in the kernel; the result is zero there either way.
    return x * (tf1().sign(x) * (-0.1444 * magnitude * magnitude + 0.5) + 0.5)


def _p_relu(x: typing.Any, weight: typing.Any) -> typing.Any:
    return tf1().where(x > 0, x, x * weight)


def _elementwise(
    op_type: str,
    features: typing.Any,
    name: str | None,
    compute: typing.Callable[[typing.Any], typing.Any],
    *,
    differentiable: bool = True,
) -> typing.Any:
    with Node(op_type, name, differentiable=differentiable) as node:
        return node.output(in_float32(compute, node.tensor(features, "features", REALS)))


def _gradient(
    op_type: str,
    gradients: typing.Any,
    features: typing.Any,
    name: str | None,
    compute: typing.Callable[[typing.Any], typing.Any],
) -> typing.Any:
    with Node(op_type, name, differentiable=False) as node:
        x = tf1().identity(node.tensor(features, "features", REALS))
        (result,) = tf1().gradients(in_float32(compute, x), [x], [gradients])
        return node.output(result)
