import typing

def deformable_conv2d(
    x: typing.Any,
    filter: typing.Any,
    offsets: typing.Any,
    strides: typing.Sequence[int] | None = None,
    pads: typing.Sequence[int] | None = None,
    data_format: str = "NHWC",
    dilations: typing.Sequence[int] = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
    name: str | None = None,
) -> typing.Any: ...
def deformable_offsets_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]: ...
