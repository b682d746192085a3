"""Images."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as gen_npu_image_ops


def decode_and_resize_jpeg(image: typing.Any, size: typing.Any) -> typing.Any:
    """Decode a JPEG and resize it.

    Args:
        image: the encoded image, a scalar string.
        size: new height and width, int32.

    Returns:
        The image, uint8 ``[height, width, 3]``.
    """
    return gen_npu_image_ops.decode_and_resize_jpeg(image, size)


def decode_and_crop_and_resize_jpeg(image: typing.Any, crop_size: typing.Any, size: typing.Any) -> typing.Any:
    """Decode a part of a JPEG and resize it.

    Args:
        image: the encoded image, a scalar string.
        crop_size: the part: top, left, height and width, int32.
        size: new height and width, int32.

    Returns:
        The image, uint8 ``[height, width, 3]``.
    """
    return gen_npu_image_ops.decode_and_crop_and_resize_jpeg(image, crop_size, size)
