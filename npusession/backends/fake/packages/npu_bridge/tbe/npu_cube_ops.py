"""Convolutions."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as gen_npu_ops
from npusession.backends.fake.gen_ops._gradients import attributes
from npusession.backends.fake.gen_ops._node import graph_only


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
) -> typing.Any:
    """Convolve an image with a kernel whose taps move.

    Args:
        x: ``[batch, height, width, channels]``, or in the order of ``data_format``; float16 or float32.
        filter: ``[height, width, channels, out channels]``.
        offsets: for each place of the output and each tap: how far it moves to the right, how far down, and its
            factor; ``3 * deformable_groups * filter height * filter width`` channels.
        strides: 4 numbers in the order of ``data_format``.
        pads: zeros around the image: top, bottom, left, right.
        data_format: ``"NHWC"`` or ``"NCHW"``. TensorFlow's CPU convolves NHWC only.
        dilations: 4 numbers in the order of ``data_format``.
        groups: only 1, as on the device.
        deformable_groups: groups of channels with offsets of their own.
        modulated: only ``True``, as on the device.
        name: name of the ops.

    Returns:
        ``[batch, out height, out width, out channels]``.

    Raises:
        RuntimeError: TensorFlow executes eagerly, or ``groups`` or ``modulated`` has another value.
        TypeError: ``strides`` or ``pads`` is not given.
    """
    graph_only("deformable_conv2d")
    if not modulated:
        raise RuntimeError("deformable_conv2d() supports modulated=True only")
    if groups != 1:
        raise RuntimeError(f"deformable_conv2d() supports groups=1 only, not {groups}")
    if strides is None or pads is None:
        raise TypeError("deformable_conv2d() needs strides and pads")
    height, width = filter.shape.as_list()[:2]
    samples = gen_npu_ops.deformable_offsets(
        x, offsets, strides, pads, [height, width], dilations, data_format, deformable_groups, True, name
    )
    steps = list(strides)
    steps[data_format.index("H")], steps[data_format.index("W")] = height, width
    return tf1().nn.conv2d(samples, filter, strides=steps, padding="VALID", data_format=data_format, name=name)


def deformable_offsets_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]:
    """Return the gradients of an op with the inputs and attributes of the sampling of a deformable convolution."""
    given = attributes(op, "strides", "pads", "ksize", "dilations", "data_format", "deformable_groups", "modulated")
    return gen_npu_ops.deformable_offsets_grad(grad, op.inputs[0], op.inputs[1], **given)
