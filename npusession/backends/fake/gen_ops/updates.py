"""Steps of optimizers: LARS, Adam and LAMB, by the formulas of the vendor's kernels."""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from ._node import FLOATS, Node


def lars(
    inputs_w: typing.Sequence[typing.Any],
    inputs_g: typing.Sequence[typing.Any],
    weight_decay: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    name: str | None = None,
) -> list[typing.Any]:
    """Scale the gradients of several weights, each as :func:`lars_v2` without ``use_clip`` does.

    Args:
        inputs_w: the weights.
        inputs_g: their gradients, of the same shapes.
        weight_decay: scalar.
        hyperpara: trust coefficient.
        epsilon: added to the denominator.
        name: name of the op.

    Raises:
        ValueError: there is not one gradient for each weight.
    """
    if len(inputs_w) != len(inputs_g):
        raise ValueError(f"LARS: {len(inputs_w)} weights, but {len(inputs_g)} gradients")
    with Node("LARS", name, differentiable=False) as node:
        decay = node.tensor(weight_decay, "weight_decay", ("float32",))
        results = []
        for weight, gradient in zip(inputs_w, inputs_g):
            weight = tf1().convert_to_tensor(weight)
            gradient = node.like(gradient, weight, "inputs_g")
            results.append(_lars(weight, gradient, tf1().cast(decay, weight.dtype), hyperpara, epsilon))
        return node.outputs(results)


def lars_v2(
    input_weight: typing.Any,
    input_grad: typing.Any,
    weight_decay: typing.Any,
    learning_rate: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    use_clip: bool = False,
    name: str | None = None,
) -> typing.Any:
    """Return ``coeff (g + weight_decay w)``, with ``coeff = hyperpara |w| / (|g| + weight_decay |w| + epsilon)``.

    Args:
        input_weight: the weight w, float32.
        input_grad: its gradient g, of the same shape.
        weight_decay: scalar.
        learning_rate: scalar, read with ``use_clip`` only.
        hyperpara: trust coefficient.
        epsilon: added to the denominator.
        use_clip: divide the coefficient by the learning rate and clip it to 0 .. 1.
        name: name of the op.
    """
    with Node("LarsV2", name, differentiable=False) as node:
        weight = node.tensor(input_weight, "input_weight", ("float32",))
        gradient, decay, rate = (
            node.like(value, weight, argument)
            for value, argument in (
                (input_grad, "input_grad"),
                (weight_decay, "weight_decay"),
                (learning_rate, "learning_rate"),
            )
        )
        return node.output(_lars(weight, gradient, decay, hyperpara, epsilon, rate if use_clip else None))


def adam_apply_one_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    mul0_x: typing.Any,
    mul1_x: typing.Any,
    mul2_x: typing.Any,
    mul3_x: typing.Any,
    add2_y: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Return the operation of one step of Adam without bias correction, which assigns to three variables.

    Args:
        input0: gradient g.
        input1: variable of the second moment: ``v = mul2_x v + mul3_x g^2``.
        input2: variable of the first moment: ``m = mul0_x m + mul1_x g``.
        input3: variable of the weight: ``w = w - input4 m / (sqrt(v) + add2_y)``.
        input4: learning rate.
        mul0_x: beta 1.
        mul1_x: 1 - beta 1.
        mul2_x: beta 2.
        mul3_x: 1 - beta 2.
        add2_y: epsilon.
        name: name of the op.

    Raises:
        TypeError: ``input1``, ``input2`` or ``input3`` is no variable.
    """
    factors = (mul0_x, mul1_x, mul2_x, mul3_x)
    return _adam("AdamApplyOneAssign", (input0, input1, input2, input3, input4), factors, None, add2_y, name)


def adam_apply_one_with_decay_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    mul0_x: typing.Any,
    mul1_x: typing.Any,
    mul2_x: typing.Any,
    mul3_x: typing.Any,
    mul4_x: typing.Any,
    add2_y: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """As :func:`adam_apply_one_assign`, with ``w = w - input4 (m / (sqrt(v) + add2_y) + mul4_x w)``."""
    factors = (mul0_x, mul1_x, mul2_x, mul3_x)
    inputs = (input0, input1, input2, input3, input4)
    return _adam("AdamApplyOneWithDecayAssign", inputs, factors, mul4_x, add2_y, name)


def lamb_apply_optimizer_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    mul0_x: typing.Any,
    mul1_x: typing.Any,
    mul2_x: typing.Any,
    mul3_x: typing.Any,
    add2_y: typing.Any,
    steps: typing.Any,
    do_use_weight: typing.Any,
    weight_decay_rate: typing.Any,
    name: str | None = None,
) -> list[typing.Any]:
    """Update the moments of LAMB and return its direction.

    Args:
        input0: gradient g.
        input1: variable of the second moment v.
        input2: variable of the first moment m.
        input3: weight w.
        mul0_x: beta 1.
        mul1_x: 1 - beta 1.
        mul2_x: beta 2.
        mul3_x: 1 - beta 2.
        add2_y: epsilon.
        steps: number of the step, from 1, for the bias correction.
        do_use_weight: 1 to decay the weight, else 0.
        weight_decay_rate: how much it decays.
        name: name of the op.

    Returns:
        The direction ``m' / (sqrt(v') + epsilon) + do_use_weight weight_decay_rate w``, with the corrected moments m'
        and v', and the new v and m.

    Raises:
        TypeError: ``input1`` or ``input2`` is no variable.
    """
    with Node("LambApplyOptimizerAssign", name, differentiable=False) as node:
        g = node.tensor(input0, "input0", FLOATS)
        v, m = _read(node, input1, g, "input1"), _read(node, input2, g, "input2")
        w, beta1, rest1, beta2, rest2, epsilon, step, use, rate = (
            node.like(value, g, argument)
            for value, argument in (
                (input3, "input3"),
                (mul0_x, "mul0_x"),
                (mul1_x, "mul1_x"),
                (mul2_x, "mul2_x"),
                (mul3_x, "mul3_x"),
                (add2_y, "add2_y"),
                (steps, "steps"),
                (do_use_weight, "do_use_weight"),
                (weight_decay_rate, "weight_decay_rate"),
            )
        )
        next_v = v * beta2 + g * g * rest2
        next_m = m * beta1 + g * rest1
        corrected_m = next_m / (1 - tf1().pow(beta1, step))
        corrected_v = next_v / (1 - tf1().pow(beta2, step))
        update = corrected_m / (tf1().sqrt(corrected_v) + epsilon) + w * rate * use
        with tf1().control_dependencies([_assign(input1, next_v), _assign(input2, next_m)]):
            return node.outputs([update, next_v, next_m])


def lamb_apply_weight_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Update a weight by LAMB and return it.

    Args:
        input0: norm of the weight.
        input1: norm of the direction.
        input2: learning rate.
        input3: direction, as :func:`lamb_apply_optimizer_assign` returns it.
        input4: variable of the weight: ``w = w - ratio input2 input3``, where the ratio is ``input0 / input1`` if both
            are positive, else 1.
        name: name of the op.

    Raises:
        TypeError: ``input4`` is no variable.
    """
    with Node("LambApplyWeightAssign", name, differentiable=False) as node:
        direction = node.tensor(input3, "input3", FLOATS)
        w_norm, g_norm, rate = (
            node.like(value, direction, argument)
            for value, argument in ((input0, "input0"), (input1, "input1"), (input2, "input2"))
        )
        weight = _read(node, input4, direction, "input4")
        one = tf1().ones_like(w_norm)
        positive = tf1().logical_and(w_norm > 0, g_norm > 0)
        ratio = tf1().where(positive, w_norm / tf1().where(positive, g_norm, one), one)
        updated = weight - ratio * rate * direction
        with tf1().control_dependencies([_assign(input4, updated)]):
            return node.output(updated)


def _lars(
    weight: typing.Any, gradient: typing.Any, decay: typing.Any, hyperpara: float, epsilon: float, rate: object = None
) -> typing.Any:
    weight_norm = tf1().sqrt(tf1().reduce_sum(weight * weight))
    gradient_norm = tf1().sqrt(tf1().reduce_sum(gradient * gradient))
    coefficient = hyperpara * weight_norm / (gradient_norm + decay * weight_norm + epsilon)
    if rate is not None:
        coefficient = tf1().clip_by_value(coefficient / rate, 0.0, 1.0)
    return coefficient * (gradient + decay * weight)


def _adam(
    op_type: str,
    inputs: tuple[typing.Any, ...],
    factors: tuple[typing.Any, ...],
    decay: typing.Any,
    epsilon: typing.Any,
    name: str | None,
) -> typing.Any:
    with Node(op_type, name, differentiable=False) as node:
        g = node.tensor(inputs[0], "input0", FLOATS)
        v, m, w = (_read(node, inputs[number], g, f"input{number}") for number in (1, 2, 3))
        rate = node.like(inputs[4], g, "input4")
        beta1, rest1, beta2, rest2 = (node.like(value, g, f"mul{k}_x") for k, value in enumerate(factors))
        next_v = g * g * rest2 + v * beta2
        next_m = m * beta1 + g * rest1
        direction = next_m / (tf1().sqrt(next_v) + node.like(epsilon, g, "add2_y"))
        if decay is not None:
            direction += w * node.like(decay, g, "mul4_x")
        results = zip(inputs[1:4], (next_v, next_m, w - direction * rate))
        return node.operation(*(_assign(variable, value) for variable, value in results))


def _read(node: Node, variable: typing.Any, like: typing.Any, argument: str) -> typing.Any:
    """Return the value of a variable, read once, before anything is assigned to it."""
    if _variable(variable) is None:
        raise TypeError(f"{node.op_type}: {argument} is assigned to, so it must be a variable, not {variable!r}")
    return tf1().identity(node.like(variable, like, argument))


def _assign(variable: typing.Any, value: typing.Any) -> typing.Any:
    return tf1().assign(_variable(variable), value)


def _variable(value: typing.Any) -> typing.Any:
    """Return the variable behind a variable or a tensor that was read from one; ``None`` when there is none."""
    if hasattr(value, "assign"):
        return value
    operation = getattr(value, "op", None)
    while operation is not None and operation.type == "Identity":
        operation = operation.inputs[0].op
    if operation is None or operation.type not in ("ReadVariableOp", "VariableV2", "Variable"):
        return None
    name = (operation.inputs[0].op if operation.type == "ReadVariableOp" else operation).name
    known = [*tf1().global_variables(), *tf1().local_variables()]
    return next((variable for variable in known if variable.op.name == name), None)
