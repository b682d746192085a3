"""Overflow detection: a dump where a run leaves the range of float16, and only there."""

import glob
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy  # noqa: E402

from npusession import Dump, NpuSession, OptionsError  # noqa: E402
from npusession.dumps import find, overflow, tensors  # noqa: E402

tf1 = tensorflow.compat.v1
MODES = ("aicore_overflow", "atomic_overflow", "all")
pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")


@pytest.fixture
def graph():
    """x is scaled, then raised to a power, then that is halved."""
    graph = tensorflow.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (2,), name="x")
        grown = tf1.exp(tf1.multiply(x, 2.0, name="scaled"), name="power/exp")
        tf1.multiply(grown, 0.5, name="halved")
        tf1.segment_sum(tf1.reshape(tf1.multiply(x, 1.0), (2,)), tf1.constant([0, 0]), name="segments")
    return graph


def plan(graph, path, mode="all"):
    return NpuSession.for_training(graph=graph, backend="fake", device=1, dump=Dump.overflow(path, mode))


def test_nothing_without_overflow(emulated, graph, tmp_path):
    """Runs within the range write nothing, not even a directory."""
    with plan(graph, tmp_path) as s:
        for _ in range(3):
            assert s.run("halved:0", {"x:0": [1.0, 5.0]}).shape == (2,)
    assert os.listdir(str(tmp_path)) == []


def test_infinite_input(emulated, graph, tmp_path):
    """Where the input is infinite already, no operator is to blame."""
    with plan(graph, tmp_path) as s:
        s.run("halved:0", {"x:0": [1.0, numpy.inf]})
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("value", [6.0, 50.0])
def test_where_it_happens(emulated, graph, tmp_path, value):
    """The operator that leaves the range is dumped with inputs and outputs; those behind it are not."""
    with plan(graph, tmp_path) as s:
        s.run("halved:0", {"x:0": [1.0, 2.0]})
        s.run("halved:0", {"x:0": [1.0, value]})
    files = {file.kind: file for file in find(str(tmp_path))}
    assert set(files) == {"tensors", "overflow"}
    operator, debug = files["tensors"], files["overflow"]
    assert (operator.name.op_type, operator.name.op_name, operator.step, operator.device) == (
        "Exp", "power_exp", "1", "1"
    )  # fmt: skip
    arrays = {item.name: item.load() for item in tensors(operator.path)}
    numpy.testing.assert_array_equal(arrays["input_0"], numpy.float32([2, 2 * value]))
    assert set(arrays) == {"input_0", "output_0"}
    assert os.path.basename(debug.path).startswith("Opdebug.Node_OpDebug.")
    found = overflow(debug.path)
    assert {unit: content["status"] for unit, content in found.items()} == {
        "DHA Atomic Add": 0, "L2 Atomic Add": 0, "AI Core": 32
    }  # fmt: skip
    assert found["AI Core"]["task_id"] == operator.name.task
    assert str(found["AI Core"]["model_id"]) == operator.model_id


def test_nan(emulated, tmp_path):
    """Numbers that are no longer any are an overflow of the operator that makes them."""
    graph = tensorflow.Graph()
    with graph.as_default():
        tf1.log(tf1.placeholder(tf1.float32, (1,), name="x"), name="log")
    with plan(graph, tmp_path) as s:
        s.run("log:0", {"x:0": [-1.0]})
    assert {file.name.op_name for file in find(str(tmp_path))} == {"log", "Node_OpDebug"}


def test_float64_and_integers(emulated, tmp_path):
    """Large integers are in range, large floats of any width are not."""
    graph = tensorflow.Graph()
    with graph.as_default():
        number = tf1.placeholder(tf1.int32, (), name="n")
        tf1.cast(tf1.multiply(number, number, name="square"), tf1.float64, name="wide")
    with plan(graph, tmp_path) as s:
        assert s.run("wide:0", {"n:0": 1000}) == 1e6
    assert {file.name.op_name for file in find(str(tmp_path))} == {"wide", "Node_OpDebug"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("fetch", "unit"), [("halved:0", "AI Core"), ("segments:0", "DHA Atomic Add")])
def test_modes(emulated, graph, tmp_path, mode, fetch, unit):
    """Each mode sees its own kind of overflow, all sees both."""
    value = 6.0 if fetch == "halved:0" else 60000.0
    with plan(graph, tmp_path, mode) as s:
        s.run(fetch, {"x:0": [value, value]})
    units = [
        name
        for path in glob.glob(str(tmp_path / "*" / "*" / "*" / "*" / "*" / "Opdebug.*.json"))
        for name, content in overflow(path).items()
        if content["status"]
    ]
    seen = mode == "all" or (mode == "aicore_overflow") == (unit == "AI Core")
    assert units == ([unit] if seen else [])


def test_results_are_unchanged(emulated, graph, tmp_path):
    """A run in which an overflow is found returns just what was asked for."""
    with plan(graph, tmp_path) as s:
        first, second = s.run(["halved:0", "x:0"], {"x:0": [6.0, 0.0]})
        assert first[0] == pytest.approx(numpy.exp(12) / 2, rel=1e-6)
        assert list(second) == [6.0, 0.0]


def test_not_beside_data_dump(tmp_path):
    """Data dump and overflow detection exclude each other."""
    with pytest.raises(OptionsError):
        NpuSession.for_training(dump=Dump.overflow(tmp_path), enable_dump=True)
