"""Exception dump: the inputs of an operator that fails, where the option says."""

import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy  # noqa: E402

from npusession import Dump, NpuSession  # noqa: E402
from npusession.dumps import failure, find, tensors  # noqa: E402

tf1 = tensorflow.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
FEED = {"table:0": [[1.0, 2.0], [3.0, 4.0]], "index:0": [5]}
ERROR = tf1.errors.InvalidArgumentError


class Failing:
    """A graph whose gather fails for a wrong index."""

    def __init__(self):
        self.graph = tensorflow.Graph()
        with self.graph.as_default():
            table = tf1.placeholder(tf1.float32, (2, 2), name="table")
            index = tf1.placeholder(tf1.int32, (1,), name="index")
            weights = tf1.get_variable("weights", initializer=numpy.float32([10.0, 20.0]))
            doubled = tf1.multiply(table, weights, name="doubled")
            tf1.gather(doubled, index, name="layer/gather")
            noise = tf1.random_uniform((2, 2), name="noise")
            tf1.gather(noise, index, name="noisy")
            self.init = tf1.global_variables_initializer()

    def run(self, fetch="layer/gather:0", **options):
        with NpuSession.for_training(graph=self.graph, backend="fake", device=1, **options) as s:
            s.run(self.init)
            with pytest.raises(ERROR):
                s.run(fetch, FEED)


@pytest.fixture
def failing(emulated, tmp_path, monkeypatch):
    """The graph, in an empty working directory and without variables that name another."""
    for name in ("ASCEND_WORK_PATH", "NPU_COLLECT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Failing()


def found(path):
    """Return the arrays of the failed operator, what is known of it, and its directory."""
    files = {file.kind: file for file in find(str(path))}
    assert set(files) == {"exception", "failure"}
    assert files["exception"].device == "1"
    arrays = {item.name: item.load() for item in tensors(files["exception"].path)}
    return arrays, failure(files["failure"].path), os.path.relpath(os.path.dirname(files["exception"].path), str(path))


@pytest.mark.parametrize("form", [1, 2])
def test_real_values(failing, tmp_path, form):
    """The inputs have the values that the operator failed on, and the error is told."""
    failing.run(enable_exception_dump=form)
    arrays, known, directory = found(tmp_path)
    assert directory == os.path.join("extra-info", "data-dump", "1")
    numpy.testing.assert_array_equal(arrays["input_0"], [[10.0, 40.0], [30.0, 80.0]])
    numpy.testing.assert_array_equal(arrays["input_1"], [5])
    assert (known["op_type"], known["op_name"]) == ("GatherV2", "layer/gather")
    assert "5 is not in" in known["error"]
    assert ("tensors" in known) == (form == 1)


def test_descriptions(failing, tmp_path):
    """The full form tells type, shape and format of each tensor."""
    failing.run(enable_exception_dump=1)
    described = {item["tensor"]: item for item in found(tmp_path)[1]["tensors"]}
    assert described["input_0"] == {
        "tensor": "input_0", "name": "doubled:0", "dtype": "DT_FLOAT", "shape": [2, 2], "format": "ND"
    }  # fmt: skip
    assert described["output_0"]["shape"] == [1, 2]


@pytest.mark.parametrize(
    ("form", "collect", "work", "place", "full"),
    [
        (1, "collected", "work", "collected", True),
        (2, "collected", "work", "collected", True),
        (0, "collected", None, "collected", True),
        (1, None, "work", "work", True),
        (2, None, "work", "work", False),
        (1, None, None, ".", True),
        (None, None, "work", "work", False),
        (None, "collected", None, "collected", True),
    ],
)
def test_places(failing, tmp_path, monkeypatch, form, collect, work, place, full):
    """NPU_COLLECT_PATH goes first and forces the full form, then ASCEND_WORK_PATH, then the working directory."""
    for name, directory in (("NPU_COLLECT_PATH", collect), ("ASCEND_WORK_PATH", work)):
        if directory is not None:
            monkeypatch.setenv(name, str(tmp_path / directory))
    # Given past the check, which warns where the variable goes before the option.
    config = NpuSession.for_training(device=1).config_proto()
    parameters = config.graph_options.rewrite_options.custom_optimizers[0].parameter_map
    if form is not None:
        parameters["enable_exception_dump"].i = form
    with tf1.Session(graph=failing.graph, config=config) as session:
        session.run(failing.init)
        with pytest.raises(ERROR):
            session.run("layer/gather:0", FEED)
    arrays, known, directory = found(tmp_path)
    assert os.path.normpath(directory) == os.path.normpath(os.path.join(place, "extra-info", "data-dump", "1"))
    assert "input_0" in arrays
    assert ("tensors" in known) == full


@pytest.mark.parametrize("options", [{}, {"enable_exception_dump": 0}])
def test_nothing_when_not_asked_for(failing, tmp_path, options):
    """Without the option, or with it off, a failing run leaves nothing behind."""
    failing.run(**options)
    assert os.listdir(str(tmp_path)) == []


def test_what_cannot_be_had_again(failing, tmp_path):
    """A random input is left out, since it would be another one, and the reason is told."""
    failing.run("noisy:0", enable_exception_dump=1)
    arrays, known, _ = found(tmp_path)
    assert "input_0" not in arrays
    assert "noise" in known["left_out"]["input_0"]
    numpy.testing.assert_array_equal(arrays["input_1"], [5])


def test_other_errors(emulated, tmp_path, monkeypatch):
    """The end of a data set, a value that was not fed and a wrong fetch are no failures of an operator."""
    monkeypatch.chdir(tmp_path)
    graph = tensorflow.Graph()
    with graph.as_default():
        data = tensorflow.data.Dataset.from_tensors(1.0)
        following = tf1.data.make_one_shot_iterator(data).get_next()
        tf1.placeholder(tf1.float32, (), name="x")
    with NpuSession.for_training(graph=graph, backend="fake", enable_exception_dump=1) as s:
        assert s.run(following) == 1.0
        with pytest.raises(tf1.errors.OutOfRangeError):
            s.run(following)
        with pytest.raises(ERROR):
            s.run("x:0")
        with pytest.raises((KeyError, ValueError)):
            s.run("nothing:0")
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize(("dynamic", "dumped"), [(False, True), (True, False)])
def test_beside_data_dump(failing, tmp_path, dynamic, dumped):
    """On networks of dynamic shape the full form goes before a data dump; others get both."""
    directory = tmp_path / "dump"
    directory.mkdir()
    options = {"compile_dynamic_mode": True} if dynamic else {}
    failing.run(enable_exception_dump=1, dump=Dump(directory), **options)
    assert any(file.kind == "exception" for file in find(str(tmp_path)))
    assert any(file.kind == "tensors" for file in find(str(directory))) == dumped
