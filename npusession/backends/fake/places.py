"""Directories and names of what the runtime leaves behind."""

from __future__ import annotations

import csv
import os
import random
import time
import typing

from ...dumps.names import MAPPING, DumpName
from ...options.debugging import WORK_PATH
from ...options.variables import COLLECT_PATH

_LONGEST_NAME = 255
#: Types that the device calls by other names than NumPy does.
_TYPES = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "bfloat16": "DT_BF16"}


def work_path() -> str | None:
    """Return the directory that ASCEND_WORK_PATH names for all that is written, ``None`` when it is not set."""
    return os.environ.get(WORK_PATH) or None


def collect_path() -> str | None:
    """Return the directory that NPU_COLLECT_PATH names for what is collected of failures, ``None`` when not set."""
    return os.environ.get(COLLECT_PATH) or None


class Clock:
    """Microseconds since 1970, rising with each call."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> int:
        """Return the next one."""
        self._last = max(self._last + 1, int(time.time() * 1e6))
        return self._last


def type_name(dtype: str) -> str:
    """Return the device's name for a type of NumPy or TensorFlow."""
    return _TYPES.get(dtype) or "DT_" + ("STRING" if dtype.startswith(("bytes", "object", "str")) else dtype.upper())


def file_for(directory: str, name: DumpName) -> str:
    """Return the path for a dump file; one with a name that is too long gets a number, noted in ``mapping.csv``."""
    os.makedirs(directory, exist_ok=True)
    text = str(name)
    if len(text.encode("utf-8")) <= _LONGEST_NAME:
        return os.path.join(directory, text)
    number = str(random.randrange(10**19, 10**20))
    with open(os.path.join(directory, MAPPING), "a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow((number, text))
    return os.path.join(directory, number)


def write_arrays(directory: str, name: DumpName, arrays: typing.Mapping[str, typing.Any]) -> None:
    """Write tensors as a NumPy archive that loads without pickle: text as bytes, bfloat16 as float32."""
    import numpy

    with open(file_for(directory, name), "wb") as file:
        numpy.savez(file, **{key: plain(array) for key, array in arrays.items()})


def plain(value: typing.Any) -> typing.Any:
    """Return a value as an array of a type that NumPy knows by itself."""
    import numpy

    array = numpy.asarray(value)
    if array.dtype.kind == "O":
        return array.astype("S")
    return array.astype("float32") if array.dtype.name == "bfloat16" else array
