"""What dump files hold.

The emulation writes NumPy archives of arrays named ``input_0``, ``output_0`` and so on, the runtime a binary format
of its own; both are read here, as are the ``.npy`` files that the vendor's converter makes of the latter.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import os
import typing
import zipfile
import zlib

from .._compat import shallow
from . import binary
from .names import DumpName

_ZIP, _NPY = b"PK", b"\x93NUMPY"
_CONVERTED = (".npy", ".json")


class NotADumpError(ValueError):
    """A file is not what it was taken for; the message names the file and says what is wrong with it."""


class Tensor(typing.NamedTuple):
    """A tensor in a dump file.

    Attributes:
        name: ``input_0``, ``output_0`` and so on.
        dtype: name of its type.
        shape: its dimensions.
        size: how many bytes it has.
        layout: such as NCHW, empty where the file does not say.
        load: reads it into a NumPy array.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    layout: str
    load: typing.Callable[[], typing.Any]


def tensors(path: str) -> list[Tensor]:
    """Return the tensors in a file; their data are read when they are loaded.

    Raises:
        NotADumpError: the file holds no tensors, or is damaged.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        start = file.read(len(_NPY))
    with _refused(path):
        if start.startswith(_ZIP):
            return _archive(path)
        if start == _NPY:
            return _single(path)
        return _binary(path)


def statistics(path: str) -> list[dict[str, str]]:
    """Return the rows of a file of statistics, by the names of their columns.

    Raises:
        NotADumpError: the file holds none.
        OSError: it cannot be read.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = [{str(name): str(value or "") for name, value in row.items()} for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise NotADumpError(f"{path}: no table of statistics: {error}") from error
    if not reader.fieldnames or "Input/Output" not in reader.fieldnames:
        raise NotADumpError(f"{path}: no table of statistics, which begins with the column Input/Output")
    return rows


def overflow(path: str) -> dict[str, dict[str, object]]:
    """Return what an overflow file says of each unit of the device: task, stream, model and status.

    Raises:
        NotADumpError: the file is no JSON of that kind. Those of the runtime are binary until its converter has read
            them.
        OSError: it cannot be read.
    """
    content = _json(path, "convert an overflow file of the runtime with the vendor's msaccucmp.py convert first")
    if not all(isinstance(unit, dict) for unit in content.values()):
        raise NotADumpError(f"{path}: JSON, but not of an overflow")
    return content


def failure(path: str) -> dict[str, typing.Any]:
    """Return what is known of an operator that failed: ``op_type``, ``op_name``, ``error`` and more.

    Raises:
        NotADumpError: the file is no JSON of that kind, as those of the runtime are none.
        OSError: it cannot be read.
    """
    return _json(path, "what the runtime writes of a failure is for the vendor's tools")


def _json(path: str, otherwise: str) -> dict[str, typing.Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.loads(shallow(file.read()))
    except ValueError as error:
        raise NotADumpError(f"{path}: not JSON; {otherwise}") from error
    if not isinstance(content, dict):
        raise NotADumpError(f"{path}: JSON, but no object")
    return content


@contextlib.contextmanager
def _refused(path: str) -> typing.Iterator[None]:
    try:
        yield
    except NotADumpError:
        raise
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        # ValueError: NumPy refuses objects, too, which would run code when they are loaded.
        raise NotADumpError(f"{path}: {error}") from error


def _archive(path: str) -> list[Tensor]:
    import numpy

    with numpy.load(path, allow_pickle=False) as archive:
        found = []
        for name in archive.files:
            with archive.zip.open(name + ".npy") as member:
                shape, dtype = _header(member)
            size = dtype.itemsize * int(numpy.prod(shape, dtype="int64"))
            found.append(Tensor(name, str(dtype), shape, size, "", functools.partial(_member, path, name)))
    return found


def _header(file: typing.Any) -> tuple[tuple[int, ...], typing.Any]:
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    return tuple(shape), dtype


def _member(path: str, name: str) -> typing.Any:
    import numpy

    with _refused(path), numpy.load(path, allow_pickle=False) as archive:
        return archive[name]


def _single(path: str) -> list[Tensor]:
    import numpy

    array = numpy.load(path, mmap_mode="r", allow_pickle=False)
    name = DumpName.parse(os.path.basename(path))
    # .output.0.npy, of the vendor's converter.
    pieces = name.ending.split(".") if name is not None and name.ending.endswith(_CONVERTED) else []
    title = "_".join(pieces[1:3]) if len(pieces) > 3 else "tensor"
    load = functools.partial(numpy.load, path, allow_pickle=False)
    return [Tensor(title, str(array.dtype), tuple(array.shape), int(array.nbytes), "", load)]


def _binary(path: str) -> list[Tensor]:
    with open(path, "rb") as file:
        parts = binary.read_parts(file, os.path.getsize(path))
    return [
        Tensor(part.name, part.dtype, part.shape, part.size, part.layout, functools.partial(_part, path, part))
        for part in parts
    ]


def _part(path: str, part: binary.Part) -> typing.Any:
    data = part.data
    if data is None:
        with open(path, "rb") as file:
            file.seek(part.offset)
            data = file.read(part.size)
    with _refused(path):
        return binary.to_array(part, data)
