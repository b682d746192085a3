"""Dumps on disk: the emulation's, and files and trees as the runtime writes them."""

import contextlib
import json
import os
import struct

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

numpy = pytest.importorskip("numpy", reason="tensors are NumPy arrays")

from npusession.cli import main  # noqa: E402
from npusession.dumps import DumpName, NotADumpError, Statistics, describe, find, tensors  # noqa: E402

A = numpy.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture
def call():
    """Run ``npusession dump``; returns its exit code and output."""

    def run(*arguments):
        result = CliRunner().invoke(main, ["dump", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


@pytest.fixture(scope="module")
def message():
    """The vendor's message, made by the protobuf library from its published fields."""
    pytest.importorskip("google.protobuf", reason="the oracle for the binary format")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dump.proto", package="dump", syntax="proto3")

    def add(name, *fields):
        made = file.message_type.add(name=name)
        for number, field, kind, repeated in fields:
            label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            entry = made.field.add(name=field, number=number, label=label)
            if isinstance(kind, str):
                entry.type, entry.type_name = kinds.TYPE_MESSAGE, f".dump.{kind}"
            else:
                entry.type = kind

    u64, i32, raw, text = kinds.TYPE_UINT64, kinds.TYPE_INT32, kinds.TYPE_BYTES, kinds.TYPE_STRING
    add("Shape", (1, "dim", u64, True))
    shared = ((1, "data_type", i32, False), (2, "format", i32, False), (3, "shape", "Shape", False))
    add("OpInput", *shared, (4, "data", raw, False), (5, "size", u64, False), (6, "original_shape", "Shape", False))
    add("OpOutput", *shared, (4, "data", raw, False), (6, "size", u64, False), (7, "original_shape", "Shape", False))
    add("DumpData", (1, "version", text, False), (2, "dump_time", u64, False), (3, "output", "OpOutput", True),
        (4, "input", "OpInput", True), (6, "op_name", text, False))  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    descriptor = pool.FindMessageTypeByName("dump.DumpData")
    get = getattr(message_factory, "GetMessageClass", None)
    return get(descriptor) if get else message_factory.MessageFactory(pool).GetPrototype(descriptor)


def binary(message, inputs=(), outputs=(), inside=False):
    """Return a file as the runtime writes it; tensors are (number of the type, shape, bytes)."""
    content = message(version="2.0", dump_time=1, op_name="layer/mm")
    data = b""
    for field, items in ((content.input, inputs), (content.output, outputs)):
        for dtype, shape, raw in items:
            entry = field.add(data_type=dtype, format=2)
            entry.shape.dim.extend(shape)
            if inside:
                entry.data = raw
            else:
                entry.size, data = len(raw), data + raw
    header = content.SerializeToString()
    return struct.pack("<Q", len(header)) + header + data


@pytest.mark.parametrize("inside", [False, True])
def test_binary(message, tmp_path, inside):
    """The runtime's binary files give their tensors, whether their data follow the message or stand in it."""
    half, scalar = numpy.float16([1.5, -2]), numpy.int32(7)
    path = tmp_path / "MatMul.layer_mm.4.0.1614717261785189"
    path.write_bytes(
        binary(
            message,
            [(1, (2, 3), A.tobytes()), (7, (), scalar.tobytes())],
            [(2, (2,), half.tobytes()), (27, (1,), numpy.float32([3]).tobytes()[2:])],
            inside,
        )
    )
    found = tensors(str(path))
    assert [(item.name, item.dtype, item.shape, item.layout) for item in found] == [
        ("input_0", "float32", (2, 3), "ND"),
        ("input_1", "int32", (), "ND"),
        ("output_0", "float16", (2,), "ND"),
        ("output_1", "bfloat16", (1,), "ND"),
    ]
    for item, value in zip(found, (A, scalar, half, numpy.float32([3]))):
        numpy.testing.assert_array_equal(item.load(), value)


def test_binary_of_padded_data(message, tmp_path):
    """Data that the device pads stay flat; a type that NumPy lacks is named."""
    path = tmp_path / "Conv2D.c.1.0.1614717261785189"
    path.write_bytes(binary(message, outputs=[(1, (1,), A.tobytes()), (33, (2,), b"ab")]))
    padded, foreign = tensors(str(path))
    assert padded.load().shape == (6,)
    with pytest.raises(NotADumpError, match="type 33"):
        foreign.load()


@pytest.mark.parametrize("cut", [1, 8, 20, -1])
def test_binary_that_is_cut_short(message, tmp_path, cut):
    """A file that ends too early is refused by its name."""
    path = tmp_path / "MatMul.layer_mm.4.0.1614717261785189"
    path.write_bytes(binary(message, outputs=[(1, (2, 3), A.tobytes())])[:cut])
    with pytest.raises(NotADumpError, match="MatMul"):
        tensors(str(path))


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes(tmp_path_factory, content, framed):
    """Whatever stands in a file, it is read or refused."""
    path = tmp_path_factory.mktemp("any") / "A.b.1.2.3"
    path.write_bytes(struct.pack("<Q", len(content)) + content if framed else content)
    with contextlib.suppress(NotADumpError):
        for item in tensors(str(path)):
            item.load()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Conv2D.conv1.2.7.161243956333802", ("Conv2D", "conv1", 2, 7, 161243956333802, "")),
        ("GatherV2.GatherV21.1.1733469426252033", ("GatherV2", "GatherV21", 1, None, 1733469426252033, "")),
        ("Add.a.0.3.1673383728093446.4.1.0.0", ("Add", "a", 0, 3, 1673383728093446, "")),
        ("Add.a.0.3.1673383728093446.csv", ("Add", "a", 0, 3, 1673383728093446, ".csv")),
        ("Add.a.0.3.16.output.0.npy", ("Add", "a", 0, 3, 16, ".output.0.npy")),
        ("Add.a.0.3.16.input.0.32x256.npy", ("Add", "a", 0, 3, 16, ".input.0.32x256.npy")),
        ("Opdebug.Node_OpDebug.1.5.17.output.0.json", ("Opdebug", "Node_OpDebug", 1, 5, 17, ".output.0.json")),
    ],
)
def test_names(text, name):
    """The forms of names that the vendor documents are read."""
    assert DumpName.parse(text) == DumpName(*name)


@pytest.mark.parametrize("text", ["", "a", "mapping.csv", "a.b.c.d.e", "a.b.1", "..1.2.3", "a.b.1.2.3.txt"])
def test_other_names(text):
    """Anything else is no dump."""
    assert DumpName.parse(text) is None


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20), st.integers(0, 99), st.integers(0, 99))
def test_names_of_operators(op_type, op_name, task, stream):
    """A name made for any operator is read again; separators in it become underscores."""
    name = DumpName.of(op_type, op_name, task, stream, 1614717261785189)
    assert DumpName.parse(str(name)) == name
    assert not {"/", ".", " ", "\\"} & set(name.op_name)


@pytest.fixture
def tree(message, tmp_path):
    """A tree as the runtime writes it: two steps, a long name, statistics, and files of others."""
    steps = tmp_path / "20230822120819" / "1" / "ge_default_20230822120819_21" / "11"
    for step in ("9", "10"):
        (steps / step).mkdir(parents=True)
        content = binary(message, [(1, (2, 3), A.tobytes())], [(1, (2,), A.tobytes()[:8])])
        (steps / step / "MatMul.layer_mm.4.0.1614717261785189").write_bytes(content)
    (steps / "9" / "1234567890").write_bytes(binary(message, outputs=[(3, (1,), b"\x01")]))
    (steps / "9" / "mapping.csv").write_text("1234567890,Relu.{}.5.0.1614717261785190\n".format("long" * 80))
    (steps / "10" / "Add.sum.6.0.1614717261785190.csv").write_text(
        "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value\nOutput,0,24,DT_FLOAT,ND,2x3,5,0\n"
    )
    (steps / "notes.txt").write_text("mine")
    return tmp_path


def listed(call, *arguments):
    code, output = call("ls", *arguments, "--json")
    assert code == 0
    return json.loads(output)


def test_list(call, tree):
    """Listing tells of each tensor what it is and where it comes from, step by step."""
    rows = listed(call, tree)
    assert [(row["step"], row["op_type"], row["tensor"], row["dtype"], row["shape"], row["size"]) for row in rows] == [
        ("9", "MatMul", "input_0", "float32", [2, 3], 24),
        ("9", "MatMul", "output_0", "float32", [2], 8),
        ("9", "Relu", "output_0", "int8", [1], 1),
        ("10", "MatMul", "input_0", "float32", [2, 3], 24),
        ("10", "MatMul", "output_0", "float32", [2], 8),
        ("10", "Add", "output_0", "DT_FLOAT", [2, 3], 24),
    ]
    assert {(row["run"], row["device"], row["model_id"]) for row in rows} == {("20230822120819", "1", "11")}
    assert rows[2]["op_name"] == "long" * 80
    code, output = call("ls", tree)
    assert code == 0
    for word in ("step 9", "step 10", "device 1", "layer_mm", "input_0", "2x3"):
        assert word in output


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--op", "layer/mm"), 4),
        (("--op", "layer_*"), 4),
        (("--op", "Relu"), 1),
        (("--step", "10"), 3),
        (("--step", "0-9"), 3),
        (("--step", "9|10", "--op", "Add"), 1),
        (("--op", "none"), 0),
    ],
)
def test_filters(call, tree, filters, count):
    """The list narrows to operators, by name or type, and to steps."""
    assert len(listed(call, tree, *filters)) == count
    assert call("ls", tree, *filters)[0] == 0


def test_inside_the_tree(call, tree):
    """A directory inside the tree, or one file, is placed as the whole tree places it."""
    (step,) = tree.glob("*/*/*/*/10")
    assert {row["step"] for row in listed(call, step)} == {"10"}
    assert len(listed(call, step / "MatMul.layer_mm.4.0.1614717261785189")) == 2


def test_show(call, tmp_path):
    """A tensor is shown with its statistics, which leave out what is not finite and count it."""
    array = numpy.float32([1, 2, numpy.nan, numpy.inf, -numpy.inf, 3])
    path = tmp_path / "Exp.e.1.0.1614717261785189"
    with open(str(path), "wb") as file:
        numpy.savez(file, input_0=A, output_0=array)
    code, output = call("show", path, "--tensor", "output_0", "--json")
    assert code == 0
    (shown,) = json.loads(output)["tensors"]
    assert {key: shown[key] for key in ("min", "max", "mean", "nan", "inf", "-inf", "elements")} == {
        "min": 1, "max": 3, "mean": 2, "nan": 1, "inf": 1, "-inf": 1, "elements": 6
    }  # fmt: skip
    assert shown["first"] == [1.0, 2.0, "nan", "inf", "-inf", 3.0]
    assert "input_0" in call("show", path)[1]


def test_write_npy(call, tmp_path):
    """A tensor is written as .npy; no file that is there is touched."""
    path, target = tmp_path / "Exp.e.1.0.1614717261785189", tmp_path / "out.npy"
    with open(str(path), "wb") as file:
        numpy.savez(file, input_0=A, output_0=A + 1)
    code, output = call("show", path, "--npy", target)
    assert (code, "--tensor" in output, target.exists()) == (1, True, False)
    assert call("show", path, "--tensor", "output_0", "--npy", target)[0] == 0
    numpy.testing.assert_array_equal(numpy.load(str(target)), A + 1)
    assert call("show", path, "--tensor", "input_0", "--npy", target)[0] == 1
    numpy.testing.assert_array_equal(numpy.load(str(target)), A + 1)


def test_show_statistics(call, tree):
    """A file of statistics is shown as a table, or as JSON."""
    (path,) = tree.glob("**/*6.0.1614717261785190.csv")
    assert json.loads(call("show", path, "--json")[1])[0]["Max Value"] == "5"
    assert "DT_FLOAT" in call("show", path)[1]
    assert call("show", path, "--tensor", "output_0")[0] == 1


def test_converted_files(call, tmp_path):
    """What the vendor's converter makes of a dump is read as well."""
    numpy.save(str(tmp_path / "MatMul.m.4.0.1614717261785189.output.0.npy"), A)
    (row,) = listed(call, tmp_path)
    assert (row["tensor"], row["shape"]) == ("output_0", [2, 3])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", b"mine", "no dump"),
        ("a.npz", b"PK\x03\x04 no archive", "a.npz"),
        ("Add.a.1.2.3.csv", b"a,b\n1,2\n", "Input/Output"),
        ("Add.a.1.2.3.csv", b"\xff\xfe\x00", "statistics"),
        ("Opdebug.Node_OpDebug.1.2.3", b"\x00\x01binary", "msaccucmp"),
        ("Opdebug.Node_OpDebug.1.2.3", b"[1]", "no object"),
        ("exception_info.0.1.2", b"\x00\xff", "vendor"),
    ],
)
def test_foreign_files(call, tmp_path, name, content, said):
    """Files of others, and damaged ones, are refused by name; in a list they show as what they are."""
    path = tmp_path / name
    path.write_bytes(content)
    code, output = call("show", path)
    assert code == 1
    assert said in output
    assert str(path) in output
    if DumpName.parse(name) is not None:
        (row,) = listed(call, tmp_path)
        assert str(path) in row["error"]
        assert call("ls", tmp_path)[0] == 0


def test_wrong_paths(call, tmp_path):
    """A path that does not exist, a directory for a file, and a place without dumps are told apart."""
    assert call("ls", tmp_path / "none")[0] == 2
    assert call("show", tmp_path / "none")[0] == 2
    assert "ls" in call("show", tmp_path)[1]
    assert "no dump files" in call("ls", tmp_path)[1]
    assert call("ls", tmp_path, "--step", "x")[0] == 2


def test_pickles_are_not_opened(call, tmp_path):
    """An archive that would run code when it is opened is refused."""
    path = tmp_path / "Add.a.1.2.3"
    with open(str(path), "wb") as file:
        numpy.savez(file, output_0=numpy.array([{"a": 1}], dtype=object))
    code, output = call("show", path)
    assert code == 1
    assert str(path) in output


def test_statistics():
    """Statistics of empty, text and integer tensors make sense."""
    assert Statistics.of(numpy.zeros((0, 3))).elements == 0
    assert Statistics.of(numpy.array([b"a", b"b"])).elements == 2
    assert Statistics.of(numpy.array([3, 4])).l2norm == 5
    assert Statistics.of(numpy.array([True, False])).mean == 0.5


def test_no_tensorflow_needed():
    """Looking into dumps loads no TensorFlow."""
    from processes import run

    code, output, errors = run(
        """
        import npusession.cli, npusession.dumps
        print("tensorflow" in sys.modules, "numpy" in sys.modules)
        """,
        session=False,
    )
    assert (code, output.split()) == (0, ["False", "False"]), errors


def test_place_of_an_exception_dump(tmp_path):
    """Data of a failed operator are placed by their device."""
    directory = tmp_path / "extra-info" / "data-dump" / "3"
    directory.mkdir(parents=True)
    path = directory / "GatherV2.g.1.1733469426252033"
    with open(str(path), "wb") as file:
        numpy.savez(file, input_0=A)
    (found,) = find(str(tmp_path))
    assert (found.kind, found.device, found.run) == ("exception", "3", "")
    assert describe(str(path)) == found
    assert os.path.samefile(found.path, str(path))
