"""Images."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as gen_npu_cpu_ops

dtypes = tf1()


def decode_image(
    contents: typing.Any, channels: int = 0, dtype: typing.Any = dtypes.uint8, expand_animations: bool = True
) -> typing.Any:
    """Decode a BMP, GIF, JPEG or PNG.

    Args:
        contents: the encoded image, a scalar string.
        channels: how many are wanted; 0 for those of the image.
        dtype: uint8, uint16 or float32.
        expand_animations: whether a GIF gives all its images, ``[images, height, width, channels]``.
    """
    return gen_npu_cpu_ops.decode_image_v3(
        contents=contents, channels=channels, dtype=dtype, expand_animations=expand_animations
    )
