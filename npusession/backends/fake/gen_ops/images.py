"""Images: decoding, warping, and the sampling of deformable convolutions."""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from ._node import FLOATS, Node, in_float32


def decode_image_v3(
    contents: typing.Any,
    channels: int = 0,
    dtype: typing.Any = None,
    expand_animations: bool = True,
    name: str | None = None,
) -> typing.Any:
    """Decode a BMP, GIF, JPEG or PNG, as ``tf.io.decode_image`` does; uint8 by default, uint16 or float32."""
    with Node("DecodeImageV3", name, differentiable=False) as node:
        dtype = tf1().uint8 if dtype is None else dtype
        image = tf1().image.decode_image(contents, channels, dtype, expand_animations=expand_animations)
        return node.output(image)


def decode_and_resize_jpeg(image: typing.Any, size: typing.Any, name: str | None = None) -> typing.Any:
    """Decode a JPEG to RGB and resize it bilinearly.

    Args:
        image: the encoded image, a scalar string.
        size: new height and width, int32.
        name: name of the op.

    Returns:
        The image, uint8 ``[height, width, 3]``. The device's image unit rounds otherwise; values differ a little.
    """
    with Node("DecodeAndResizeJpeg", name, differentiable=False) as node:
        return node.output(_resize(tf1().image.decode_jpeg(image, channels=3), size))


def decode_and_crop_and_resize_jpeg(
    image: typing.Any, crop_size: typing.Any, size: typing.Any, name: str | None = None
) -> typing.Any:
    """As :func:`decode_and_resize_jpeg`, for a part of the image.

    Args:
        crop_size: the part: top, left, height and width, int32.
    """
    with Node("DecodeAndCropAndResizeJpeg", name, differentiable=False) as node:
        return node.output(_resize(tf1().image.decode_and_crop_jpeg(image, crop_size, channels=3), size))


def dense_image_warp(image: typing.Any, flow: typing.Any, name: str | None = None) -> typing.Any:
    """Move the pixels of images: ``y[b, i, j] = image[b, i - flow[b, i, j, 0], j - flow[b, i, j, 1]]``.

    Args:
        image: ``[batch, height, width, channels]``, float16 or float32, at least 2 pixels high and wide.
        flow: ``[batch, height, width, 2]``.
        name: name of the op.

    Returns:
        The images, interpolated bilinearly between pixels and continued by their border, as by ``dense_image_warp``
        of TensorFlow's contrib and add-ons.
    """
    with Node("DenseImageWarp", name) as node:
        image = node.tensor(image, "image", FLOATS)
        flow = node.tensor(flow, "flow", FLOATS)
        height, width = tf1().shape(image)[1], tf1().shape(image)[2]
        wanted = tf1().cast(flow, tf1().float32)
        rows = tf1().cast(tf1().range(height), tf1().float32)[None, :, None] - wanted[..., 0]
        columns = tf1().cast(tf1().range(width), tf1().float32)[None, None, :] - wanted[..., 1]
        top, down = _between(rows, height)
        left, right = _between(columns, width)
        pixels = tf1().cast(image, tf1().float32)
        upper = _mix(_pick(pixels, top, left), _pick(pixels, top, left + 1), right)
        lower = _mix(_pick(pixels, top + 1, left), _pick(pixels, top + 1, left + 1), right)
        result = tf1().cast(_mix(upper, lower, down), image.dtype)
        result.set_shape(image.shape)
        return node.output(result)


def dense_image_warp_grad(
    grad: typing.Any, image: typing.Any, flow: typing.Any, name: str | None = None
) -> list[typing.Any]:
    """Return the gradients of :func:`dense_image_warp` with respect to its two arguments."""
    with Node("DenseImageWarpGrad", name, differentiable=False) as node:
        image, flow = tf1().identity(image), tf1().identity(flow)
        return node.outputs(tf1().gradients(dense_image_warp(image, flow), [image, flow], [grad]))


def deformable_offsets(
    x: typing.Any,
    offsets: typing.Any,
    strides: typing.Sequence[int],
    pads: typing.Sequence[int],
    ksize: typing.Sequence[int],
    dilations: typing.Sequence[int] = (1, 1, 1, 1),
    data_format: str = "NHWC",
    deformable_groups: int = 1,
    modulated: bool = True,
    name: str | None = None,
) -> typing.Any:
    """Sample an image for a deformable convolution: its result is convolved with the kernel's size as stride.

    Args:
        x: ``[batch, height, width, channels]``, or in the order of ``data_format``; float16 or float32.
        offsets: for each place of the output, ``3 * deformable_groups * kernel height * kernel width`` channels: how
            far each tap moves to the right, how far down, and what it is multiplied by.
        strides: of the convolution, 4 numbers in the order of ``data_format``.
        pads: zeros around the image: top, bottom, left, right.
        ksize: height and width of the kernel.
        dilations: of the convolution, in the order of ``data_format``.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        deformable_groups: groups of channels, each with offsets of its own.
        modulated: only ``True``, as on the device.
        name: name of the op.

    Returns:
        The samples, ``[batch, out height * kernel height, out width * kernel width, channels]``; 0 outside the image.

    Raises:
        ValueError: an argument is none of those values.
    """
    if not modulated or data_format not in ("NHWC", "NCHW") or len(ksize) != 2:
        raise ValueError(
            f"DeformableOffsets: modulated={modulated}, data_format={data_format!r}, ksize={ksize}; they are True, "
            "'NHWC' or 'NCHW', and two numbers"
        )
    with Node("DeformableOffsets", name) as node:
        x = node.tensor(x, "x", FLOATS)
        offsets = node.like(offsets, x, "offsets")
        if data_format == "NCHW":
            x, offsets = (tf1().transpose(tensor, [0, 2, 3, 1]) for tensor in (x, offsets))
        stride, dilation = (
            (given[data_format.index("H")], given[data_format.index("W")]) for given in (strides, dilations)
        )
        pad = pads[0], pads[2]
        samples = in_float32(
            lambda x, offsets: _samples(x, offsets, stride, pad, ksize, dilation, deformable_groups), x, offsets
        )
        if data_format == "NCHW":
            samples = tf1().transpose(samples, [0, 3, 1, 2])
        return node.output(samples)


def deformable_offsets_grad(
    grad: typing.Any,
    x: typing.Any,
    offsets: typing.Any,
    strides: typing.Sequence[int],
    pads: typing.Sequence[int],
    ksize: typing.Sequence[int],
    dilations: typing.Sequence[int] = (1, 1, 1, 1),
    data_format: str = "NHWC",
    deformable_groups: int = 1,
    modulated: bool = True,
    name: str | None = None,
) -> list[typing.Any]:
    """Return the gradients of :func:`deformable_offsets` with respect to ``x`` and ``offsets``."""
    with Node("DeformableOffsetsGrad", name, differentiable=False) as node:
        x, offsets = tf1().identity(x), tf1().identity(offsets)
        samples = deformable_offsets(
            x, offsets, strides, pads, ksize, dilations, data_format, deformable_groups, modulated
        )
        return node.outputs(tf1().gradients(samples, [x, offsets], [grad]))


def _samples(
    x: typing.Any,
    offsets: typing.Any,
    stride: tuple[int, int],
    pad: tuple[int, int],
    ksize: typing.Sequence[int],
    dilation: tuple[int, int],
    groups: int,
) -> typing.Any:
    """Sample an NHWC image at each tap of a kernel, moved by its offset."""
    kernel_height, kernel_width = ksize
    taps = [groups, kernel_height, kernel_width]
    channels = x.shape.as_list()[3]
    batch, height, width = (tf1().shape(x)[axis] for axis in range(3))
    out_height, out_width = tf1().shape(offsets)[1], tf1().shape(offsets)[2]
    moves = tf1().reshape(offsets, tf1().stack([batch, out_height, out_width, 3, *taps]))

    def start(count: typing.Any, axis: int) -> typing.Any:
        return tf1().cast(tf1().range(count) * stride[axis] - pad[axis], x.dtype)

    def tap(axis: int) -> typing.Any:
        return tf1().cast(tf1().range(ksize[axis]) * dilation[axis], x.dtype)

    # All [batch, out height, out width, group, kernel height, kernel width].
    columns = moves[:, :, :, 0] + start(out_width, 1)[:, None, None, None] + tap(1)
    rows = moves[:, :, :, 1] + start(out_height, 0)[:, None, None, None, None] + tap(0)[:, None]
    top, left = tf1().floor(rows), tf1().floor(columns)
    down, right = rows - top, columns - left
    grouped = tf1().transpose(
        tf1().reshape(x, tf1().stack([batch, height, width, groups, channels // groups])), [0, 3, 1, 2, 4]
    )
    place = [
        tf1().reshape(tf1().range(batch), [-1, 1, 1, 1, 1, 1]),
        tf1().reshape(tf1().range(groups), [1, 1, 1, -1, 1, 1]),
    ]

    def corner(row: typing.Any, column: typing.Any, weight: typing.Any) -> typing.Any:
        row, column = tf1().cast(row, tf1().int32), tf1().cast(column, tf1().int32)
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        row, column = tf1().clip_by_value(row, 0, height - 1), tf1().clip_by_value(column, 0, width - 1)
        zeros = tf1().zeros_like(row)
        index = tf1().stack([zeros + place[0], zeros + place[1], row, column], -1)
        return tf1().gather_nd(grouped, index) * (weight * tf1().cast(inside, x.dtype))[..., None]

    values = (
        corner(top, left, (1 - down) * (1 - right))
        + corner(top, left + 1, (1 - down) * right)
        + corner(top + 1, left, down * (1 - right))
        + corner(top + 1, left + 1, down * right)
    ) * moves[:, :, :, 2][..., None]
    # To [batch, out height, kernel height, out width, kernel width, group, channel].
    ordered = tf1().transpose(values, [0, 1, 4, 2, 5, 3, 6])
    shape = tf1().stack([batch, out_height * kernel_height, out_width * kernel_width, channels])
    result = tf1().reshape(ordered, shape)
    known = offsets.shape.as_list()
    result.set_shape([x.shape.as_list()[0], _times(known[1], kernel_height), _times(known[2], kernel_width), channels])
    return result


def _times(length: int | None, factor: int) -> int | None:
    return None if length is None else length * factor


def _resize(image: typing.Any, size: typing.Any) -> typing.Any:
    resized = tf1().image.resize_bilinear(image[None], size)[0]
    return tf1().cast(tf1().round(resized), tf1().uint8)


def _between(positions: typing.Any, length: typing.Any) -> tuple[typing.Any, typing.Any]:
    """Return the pixel before each position, int32, and how far it is from there to the next one, 0 to 1."""
    before = tf1().clip_by_value(tf1().floor(positions), 0.0, tf1().cast(length - 2, tf1().float32))
    return tf1().cast(before, tf1().int32), tf1().clip_by_value(positions - before, 0.0, 1.0)[..., None]


def _pick(pixels: typing.Any, rows: typing.Any, columns: typing.Any) -> typing.Any:
    return tf1().gather_nd(pixels, tf1().stack([rows, columns], -1), batch_dims=1)


def _mix(before: typing.Any, after: typing.Any, share: typing.Any) -> typing.Any:
    return before + share * (after - before)
