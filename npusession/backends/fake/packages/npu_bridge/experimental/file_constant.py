"""Constants in files."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as gen_npu_cpu_ops


def file_constant(
    shape: typing.Sequence[int],
    dtype: typing.Any,
    file_path: str | None = None,
    file_id: str | None = None,
    name: str | None = None,
) -> typing.Any:
    """Return the numbers that a file holds; ``file_id``, a name in the device's configuration, is not emulated."""
    return gen_npu_cpu_ops.file_constant(shape=shape, dtype=dtype, file_path=file_path, file_id=file_id, name=name)
