"""The runtime's own dump files.

8 bytes, little endian, say how long a protobuf message is that follows; it describes the operator's tensors. Behind
it come the data of its inputs, then those of its outputs. Few fields of the message matter here, so the wire format
is read without a protobuf library.
Source: the vendor's published tools that write and check such files.
"""

from __future__ import annotations

import struct
import typing

#: Length of the message's length.
_PREFIX = 8
#: NumPy types by the message's numbers; bfloat16 is widened to float32, which NumPy has.
DTYPES = {
    1: "float32", 2: "float16", 3: "int8", 4: "uint8", 5: "int16", 6: "uint16", 7: "int32", 8: "int64", 9: "uint32",
    10: "uint64", 11: "bool", 12: "float64", 16: "complex64", 17: "complex128", 27: "bfloat16",
}  # fmt: skip
LAYOUTS = {0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 29: "FRACTAL_NZ"}
#: Fields of the message: repeated outputs and inputs, and in each of them the number of the field for its size.
_OUTPUT, _INPUT = 3, 4
_SIZE = {_OUTPUT: 6, _INPUT: 5}
_TYPE, _LAYOUT, _SHAPE, _DATA = 1, 2, 3, 4
_DIMENSIONS = 1

Value = typing.Union[int, bytes]


class Malformed(ValueError):
    """The bytes are no dump."""


class Part(typing.NamedTuple):
    """One tensor in a file.

    Attributes:
        name: ``input_0``, ``output_0`` and so on.
        dtype: NumPy's name of its type, ``bfloat16``, or the number of another type.
        layout: such as NCHW.
        shape: its dimensions.
        offset: where in the file its data start; ``data`` counts where they stand in the message.
        size: how many bytes they take.
        data: its data, ``None`` when they stand behind the message.
    """

    name: str
    dtype: str
    layout: str
    shape: tuple[int, ...]
    offset: int
    size: int
    data: bytes | None


def read_parts(file: typing.BinaryIO, length: int) -> list[Part]:
    """Read the description in front of a file.

    Args:
        file: the file, at its start.
        length: how many bytes the file has.

    Raises:
        Malformed: the file is none of the runtime's.
    """
    prefix = file.read(_PREFIX)
    if len(prefix) < _PREFIX:
        raise Malformed("no dump: shorter than the 8 bytes that a dump begins with")
    (size,) = struct.unpack("<Q", prefix)
    if not 0 < size <= length - _PREFIX:
        raise Malformed(f"no dump: its first 8 bytes announce {size} bytes of description, {length - _PREFIX} follow")
    message = list(_fields(file.read(size)))
    offset = _PREFIX + size
    parts = []
    for number, kind in ((_INPUT, "input"), (_OUTPUT, "output")):
        tensors = [value for field, value in message if field == number and isinstance(value, bytes)]
        for position, tensor in enumerate(tensors):
            fields = dict(_fields(tensor))
            data = fields.get(_DATA)
            inside = data if isinstance(data, bytes) and data else None
            count = _number(fields, _SIZE[number]) if inside is None else len(inside)
            dtype, layout = _number(fields, _TYPE), _number(fields, _LAYOUT)
            parts.append(
                Part(
                    f"{kind}_{position}",
                    DTYPES.get(dtype, f"type {dtype}"),
                    LAYOUTS.get(layout, f"format {layout}"),
                    _shape(fields.get(_SHAPE)),
                    offset,
                    count,
                    inside,
                )
            )
            offset += count if inside is None else 0
    if offset > length:
        raise Malformed(f"cut short: {offset} bytes are described, the file has {length}")
    return parts


def to_array(part: Part, data: bytes) -> typing.Any:
    """Return a tensor's data as a NumPy array; flat where the device pads them, so that they do not fit the shape.

    Raises:
        Malformed: the type is not known, or the data are no whole number of elements.
    """
    import numpy

    if part.dtype not in DTYPES.values():
        raise Malformed(f"{part.name} has a type that NumPy does not ({part.dtype})")
    narrow = part.dtype == "bfloat16"
    dtype = numpy.dtype("<u2" if narrow else part.dtype)
    if len(data) % dtype.itemsize:
        raise Malformed(f"{part.name}: {len(data)} bytes are no whole number of elements of {part.dtype}")
    array = numpy.frombuffer(data, dtype)
    if narrow:
        array = (array.astype("<u4") << 16).view("<f4")
    elements = 1
    for dimension in part.shape:
        elements *= dimension
    return array.reshape(part.shape) if array.size == elements else array


def _shape(message: Value | None) -> tuple[int, ...]:
    dimensions: list[int] = []
    for field, value in _fields(message) if isinstance(message, bytes) else ():
        if field != _DIMENSIONS:
            continue
        if isinstance(value, int):
            dimensions.append(value)
            continue
        position = 0
        while position < len(value):
            dimension, position = _varint(value, position)
            dimensions.append(dimension)
    return tuple(dimensions)


def _number(fields: typing.Mapping[int, Value], number: int) -> int:
    value = fields.get(number, 0)
    if not isinstance(value, int):
        raise Malformed(f"field {number} is no number")
    return value


def _fields(message: bytes) -> typing.Iterator[tuple[int, Value]]:
    """Read the fields of a protobuf message."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, wire = key >> 3, key & 7
        if not number:
            raise Malformed("no protobuf message")
        if wire == 0:
            value, position = _varint(message, position)
            yield number, value
            continue
        if wire == 2:
            size, position = _varint(message, position)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise Malformed("no protobuf message")
        end = position + size
        if end > len(message):
            raise Malformed("a protobuf message that is cut short")
        yield number, message[position:end]
        position = end


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message) and shift < 64:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, position
        shift += 7
    raise Malformed("a protobuf message that is cut short")
