"""Steps of LAMB, and PReLU as a layer."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as gen_npu_ops
from npusession.backends.fake.gen_ops._node import graph_only
from npusession.backends.fake.keras import keras

from ..estimator.npu_aicore_ops import prelu


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
) -> tuple[typing.Any, typing.Any, typing.Any]:
    """Return LAMB's direction and the new moments, which it assigns to ``input1`` and ``input2``."""
    graph_only("lamb_apply_optimizer_assign")
    update, next_v, next_m = gen_npu_ops.lamb_apply_optimizer_assign(
        input0, input1, input2, input3, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, steps, do_use_weight,
        weight_decay_rate, name,
    )  # fmt: skip
    return update, next_v, next_m


def lamb_apply_weight_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Return the weight as it is after it was run: it assigns to ``input4``."""
    graph_only("lamb_apply_weight_assign")
    return gen_npu_ops.lamb_apply_weight_assign(input0, input1, input2, input3, input4, name)


class PReLU(keras().layers.Layer):  # type: ignore[misc]
    """PReLU with one slope for each place of its input, or shared along axes.

    Args:
        alpha_initializer: of the slopes.
        alpha_regularizer: of the slopes.
        alpha_constraint: on the slopes.
        shared_axes: axes, from 1, along which a slope is shared.
    """

    def __init__(
        self,
        alpha_initializer: typing.Any = "zeros",
        alpha_regularizer: typing.Any = None,
        alpha_constraint: typing.Any = None,
        shared_axes: typing.Sequence[int] | None = None,
        **kwargs: typing.Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.alpha_initializer = keras().initializers.get(alpha_initializer)
        self.alpha_regularizer = keras().regularizers.get(alpha_regularizer)
        self.alpha_constraint = keras().constraints.get(alpha_constraint)
        self.shared_axes = shared_axes
        self.alpha: typing.Any = None

    def build(self, input_shape: typing.Any) -> None:
        """Make the slopes."""
        shape = tf1().TensorShape(input_shape).as_list()[1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        if all(length == 1 for length in shape):
            shape = [1]
        self.alpha = self.add_weight(
            name="alpha",
            shape=shape,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        self.input_spec = keras().layers.InputSpec(ndim=len(input_shape), axes={})
        self.built = True

    def call(self, inputs: typing.Any) -> typing.Any:
        """Apply it."""
        return prelu(inputs, self.alpha)
