import typing

from ..estimator.npu_aicore_ops import prelu as prelu

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
) -> tuple[typing.Any, typing.Any, typing.Any]: ...
def lamb_apply_weight_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    name: str | None = None,
) -> typing.Any: ...

class PReLU(typing.Any):
    supports_masking: bool
    alpha_initializer: typing.Any
    alpha_regularizer: typing.Any
    alpha_constraint: typing.Any
    shared_axes: typing.Any
    alpha: typing.Any

    def __init__(
        self,
        alpha_initializer: typing.Any = "zeros",
        alpha_regularizer: typing.Any = None,
        alpha_constraint: typing.Any = None,
        shared_axes: typing.Sequence[int] | None = None,
        **kwargs: typing.Any,
    ) -> None: ...
    input_spec: typing.Any
    built: bool

    def build(self, input_shape: typing.Any) -> None: ...
    def call(self, inputs: typing.Any) -> typing.Any: ...
