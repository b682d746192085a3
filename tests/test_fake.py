"""The emulation does what the runtime was measured to do."""

import csv
import glob
import json
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy  # noqa: E402

from npusession import AcceleratedTraining, Dump, IgnoredOptionsWarning, NpuAbortError, NpuSession, Profiling  # noqa: E402
from npusession.backends import load  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def backend():
    """The emulated adapter, with a runtime that never ran."""
    loaded = load("fake")
    RUNTIME.reset()
    yield loaded
    RUNTIME.finalize("end of test")


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (2,), name="x")
        tf1.reduce_sum(tf1.multiply(x, x, name="layer/square"), name="sum")
    return graph


FEED = {"x:0": [3.0, 4.0]}


def config(**parameters):
    """A ConfigProto as scripts write it; values are (field, value)."""
    proto = tf1.ConfigProto()
    entry = proto.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    for name, (field, value) in parameters.items():
        setattr(entry.parameter_map[name], field, value)
    return proto


def names():
    return [event.name for event in RUNTIME.events]


def init_ops(backend):
    """A graph with the initialize and shutdown ops, as scripts make them."""
    graph = tensorflow.Graph()
    with graph.as_default():
        return graph, backend.npu_ops.initialize_system(), backend.npu_ops.shutdown_system()


class TestLifecycle:
    def test_initialize_op(self, backend):
        """Running the initialize op initialises; running it again is a no-op."""
        graph, initialize, _ = init_ops(backend)
        with tf1.Session(graph=graph) as session:
            session.run(initialize)
            assert RUNTIME.initialized
            session.run(initialize)
        assert [event.detail for event in RUNTIME.events if event.name == "initialize"] == ["device 0", "no-op"]
        assert not RUNTIME.initialized

    def test_first_graph_initialises(self, backend, graph):
        """Without the op, the first graph that runs initialises, with its own session's options."""
        with tf1.Session(graph=graph, config=config(deterministic=("i", 1))) as session:
            assert not RUNTIME.initialized
            session.run("sum:0", FEED)
            assert RUNTIME.initialized
            assert RUNTIME.parameters == {"deterministic": ("i", 1)}

    def test_shutdown_without_initialise(self, backend):
        """Shutting down what was never initialised is harmless."""
        graph, _, shutdown = init_ops(backend)
        with tf1.Session(graph=graph) as session:
            session.run(shutdown)
        assert "finalize" not in names()

    def test_initialise_after_shutdown(self, backend):
        """After a shutdown the runtime can be initialised again."""
        graph, initialize, shutdown = init_ops(backend)
        with tf1.Session(graph=graph) as session:
            for operation in (initialize, shutdown, initialize):
                session.run(operation)
            assert RUNTIME.initialized
            assert RUNTIME.generation == 2

    def test_last_session_finalises(self, backend, graph):
        """Closing the last session that ran a graph finalises, even while the initialize session is open."""
        init_graph, initialize, _ = init_ops(backend)
        with tf1.Session(graph=init_graph) as first:
            first.run(initialize)
            with tf1.Session(graph=graph) as one, tf1.Session(graph=graph) as two:
                one.run("sum:0", FEED)
                two.run("sum:0", FEED)
                two.close()
                assert RUNTIME.initialized
            assert not RUNTIME.initialized

    def test_run_after_shutdown(self, backend, graph):
        """After a shutdown, sessions that had run before fail; a new one initialises by itself."""
        init_graph, initialize, shutdown = init_ops(backend)
        with tf1.Session(graph=init_graph) as first, tf1.Session(graph=graph) as old:
            first.run(initialize)
            old.run("sum:0", FEED)
            first.run(shutdown)
            with pytest.raises(tf1.errors.InternalError, match="finalised"):
                old.run("sum:0", FEED)
            with tf1.Session(graph=graph) as new:
                assert new.run("sum:0", FEED) == 25.0

    def test_ops_need_a_graph(self, backend):
        """Both ops refuse eager execution with RuntimeError."""
        if not hasattr(tensorflow, "function"):
            pytest.skip("no eager execution")
        script = tensorflow.executing_eagerly()
        if script:
            with pytest.raises(RuntimeError):
                backend.npu_ops.initialize_system()
            with pytest.raises(RuntimeError):
                backend.npu_ops.shutdown_system()
        else:
            assert init_ops(backend)[1].type == "PyFunc"

    @pytest.mark.parametrize("query", ["get_rank_id", "get_rank_size", "get_local_rank_id", "get_local_rank_size"])
    def test_ranks_before_initialisation(self, backend, query):
        """Rank queries fail with ValueError until the runtime is initialised."""
        with pytest.raises(ValueError, match=r"error. ret\["):
            getattr(backend.ranks, query)()
        graph, initialize, _ = init_ops(backend)
        with tf1.Session(graph=graph) as session:
            session.run(initialize)
            assert getattr(backend.ranks, query)() == int(query.endswith("size"))

    @pytest.mark.parametrize("value", ["-1", "one", "1.0"])
    def test_bad_device_in_environment(self, backend, graph, monkeypatch, value):
        """A device id that is no number ends the real process, and is an NpuAbortError here."""
        monkeypatch.setenv("ASCEND_DEVICE_ID", value)
        with tf1.Session(graph=graph) as session, pytest.raises(NpuAbortError, match="ASCEND_DEVICE_ID"):
            session.run("sum:0", FEED)

    def test_empty_device_in_environment(self, backend, graph, monkeypatch):
        """An empty variable names no device."""
        monkeypatch.setenv("ASCEND_DEVICE_ID", "")
        monkeypatch.setenv("DEVICE_ID", "3")
        with tf1.Session(graph=graph) as session:
            session.run("sum:0", FEED)
            assert RUNTIME.device == 3


class TestSideEffects:
    def test_sessions_get_an_entry(self, backend, graph):
        """A session without a configuration becomes one of the NPU, as under the adapter."""
        with tf1.Session(graph=graph) as session:
            rewrite = session._config.graph_options.rewrite_options
            assert [entry.name for entry in rewrite.custom_optimizers] == ["NpuOptimizer"]
            assert rewrite.remapping == rewrite.memory_optimization == rewrite.OFF

    def test_config_is_changed_in_place(self, backend, graph):
        """The adapter changes the very ConfigProto that a script hands in, and so does the emulation."""
        proto = config()
        proto.log_device_placement = True
        tf1.Session(graph=graph, config=proto).close()
        rewrite = proto.graph_options.rewrite_options
        assert proto.allow_soft_placement
        assert not proto.log_device_placement
        assert rewrite.remapping == rewrite.OFF
        assert rewrite.memory_optimization == 0

    def test_positional_none(self, backend, graph):
        """config=None is fine as a keyword and an AttributeError as third argument, as under the adapter."""
        tf1.Session("", graph, config=None).close()
        with pytest.raises(AttributeError):
            tf1.Session("", graph, None)

    def test_interactive_session(self, backend, graph):
        """InteractiveSession is taken over too."""
        session = tf1.InteractiveSession(graph=graph)
        assert session.run("sum:0", FEED) == 25.0
        session.close()
        assert names() == ["open", "initialize", "run", "close", "finalize"]

    def test_make_callable(self, backend, graph):
        """A callable made from the session counts as a run of the device."""
        with tf1.Session(graph=graph) as session:
            assert session.make_callable("sum:0", ["x:0"])([3.0, 4.0]) == 25.0
        assert "run" in names()


class TestVerdicts:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"graph_run_mode": ("i", 3)},
            {"session_device_id": ("i", -1)},
            {"op_select_implmode": ("s", b"fast")},
            {"optypelist_for_implmode": ("s", b"Pooling")},
        ],
    )
    def test_abort(self, backend, graph, parameters):
        """Options that the real process dies of are an NpuAbortError at the first run."""
        with tf1.Session(graph=graph, config=config(**parameters)) as session:
            with pytest.raises(NpuAbortError, match=next(iter(parameters)).split("_")[0]):
                session.run("sum:0", FEED)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"enable_dump": ("b", True)},
            {"precision_mode": ("s", b"fp8")},
            {"enable_exception_dump": ("i", 3)},
            {"dump_data": ("s", b"all")},
            {"experimental_accelerate_train_mode": ("s", b"fast|step|0.95")},
        ],
    )
    def test_error(self, backend, graph, parameters):
        """Options that the runtime refuses fail the first run with a status."""
        with tf1.Session(graph=graph, config=config(**parameters)) as session:
            with pytest.raises(tf1.errors.InternalError):
                session.run("sum:0", FEED)

    def test_ignored(self, backend, graph):
        """What the runtime passes over in silence does not fail."""
        proto = config(no_such_option=("s", b"x"), enable_dump=("s", b"True"))
        with tf1.Session(graph=graph, config=proto) as session, pytest.warns(IgnoredOptionsWarning):
            assert session.run("sum:0", FEED) == 25.0

    def test_off_line(self, backend, graph):
        """With the device switched off nothing is initialised and the graph runs on the host."""
        with tf1.Session(graph=graph, config=config(use_off_line=("b", False))) as session:
            assert session.run("sum:0", FEED) == 25.0
        assert names() == ["open", "close"]


class TestDump:
    def plan(self, graph, path, **more):
        return NpuSession.for_training(device=1, graph=graph, backend="fake", dump=Dump(path, **more))

    def files(self, path):
        """Dumped files by (data index, operator type and name)."""
        found = {}
        for name in glob.glob(str(path / "*" / "*" / "*" / "*" / "*" / "*")):
            index, file = name.split(os.sep)[-2:]
            found.setdefault((index, ".".join(file.split(".")[:2])), []).append(name)
        return found

    def test_layout_and_tensors(self, backend, graph, tmp_path):
        """A dump lies in the documented directories and holds the tensors of the run."""
        with self.plan(graph, tmp_path) as s:
            s.run("sum:0", FEED)
        found = self.files(tmp_path)
        (name,) = found["0", "Mul.layer_square"]
        stamp, device, model_name, model_id, index, file = os.path.relpath(name, str(tmp_path)).split(os.sep)
        assert len(stamp) == 14
        assert stamp.isdigit()
        assert (device, index) == ("1", "0")
        assert model_name == f"ge_default_{stamp}_{model_id}"
        assert all(part.isdigit() for part in file.split(".")[2:])
        assert len(file.split(".")) == 5
        assert list(numpy.load(name)["output_0"]) == [9.0, 16.0]
        assert numpy.load(found["0", "Sum.sum"][0])["output_0"] == 25.0
        assert list(numpy.load(found["0", "Placeholder.x"][0])["output_0"]) == [3.0, 4.0]

    def test_steps(self, backend, graph, tmp_path):
        """Only the steps that were asked for are dumped, each under its own number."""
        with self.plan(graph, tmp_path, steps=[1, range(3, 5)]) as s:
            for step in range(6):
                s.run("sum:0", {"x:0": [step, 0]})
        found = self.files(tmp_path)
        assert {index for index, _ in found} == {"1", "3", "4"}
        assert numpy.load(found["4", "Sum.sum"][0])["output_0"] == 16.0

    @pytest.mark.parametrize(
        ("mode", "kinds"), [("input", {"input_0", "input_1"}), ("all", {"input_0", "input_1", "output_0"})]
    )
    def test_modes(self, backend, graph, tmp_path, mode, kinds):
        """Inputs, outputs, or both in files of their own."""
        with self.plan(graph, tmp_path, mode=mode) as s:
            s.run("sum:0", FEED)
        files = self.files(tmp_path)["0", "Mul.layer_square"]
        assert len(files) == (2 if mode == "all" else 1)
        assert {key for file in files for key in numpy.load(file).files} == kinds

    def test_layers(self, backend, graph, tmp_path):
        """Only the operators that were named are dumped."""
        with self.plan(graph, tmp_path, layers=["sum"]) as s:
            s.run("sum:0", FEED)
        assert set(self.files(tmp_path)) == {("0", "Sum.sum")}

    def test_layers_with_data(self, backend, graph, tmp_path):
        """Data that feed a named operator are dumped with it."""
        with self.plan(graph, tmp_path, layers=["layer/square"]) as s:
            s.run("sum:0", FEED)
        assert set(self.files(tmp_path)) == {("0", "Mul.layer_square"), ("0", "Placeholder.x")}

    def test_stats(self, backend, graph, tmp_path):
        """Statistics are a CSV file for each operator, with the columns of the runtime."""
        with self.plan(graph, tmp_path, data="stats") as s:
            s.run("sum:0", FEED)
        (name,) = self.files(tmp_path)["0", "Mul.layer_square"]
        assert name.endswith(".csv")
        with open(name, encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        assert [float(row[f"{name} Value"]) for name in ("Max", "Min", "Avg")] == [16.0, 9.0, 12.5]
        assert (row["Input/Output"], row["Index"], row["Data Type"], row["Shape"]) == ("Output", "0", "DT_FLOAT", "2")

    def test_long_names(self, backend, tmp_path):
        """A name that is too long for the file system becomes a number, explained in mapping.csv."""
        graph = tensorflow.Graph()
        with graph.as_default():
            tf1.constant(1.0, name="a" * 300)
        with self.plan(graph, tmp_path) as s:
            s.run("a" * 300 + ":0")
        (mapping,) = glob.glob(str(tmp_path / "*" / "*" / "*" / "*" / "0" / "mapping.csv"))
        with open(mapping, encoding="utf-8") as file:
            number, name = file.read().strip().split(",")
        assert ("a" * 300) in name
        assert os.path.isfile(os.path.join(os.path.dirname(mapping), number))

    def test_results_are_unchanged(self, backend, graph, tmp_path):
        """A run that is dumped returns just what was asked for."""
        with self.plan(graph, tmp_path, mode="all") as s:
            assert s.run(["sum:0", "layer/square:0"], FEED)[0] == 25.0
            assert s.run(graph.get_operation_by_name("sum"), FEED) is None

    def test_nothing_else_is_written(self, backend, graph, tmp_path, monkeypatch):
        """Without dump and profiling nothing is written anywhere near."""
        monkeypatch.chdir(tmp_path)
        with NpuSession.for_training(graph=graph, backend="fake") as s:
            s.run("sum:0", FEED)
        assert os.listdir(str(tmp_path)) == []


class TestProfiling:
    def test_directory_and_timeline(self, backend, graph, tmp_path):
        """A profile is a directory as the profiler makes it, with a timeline of the operators that ran."""
        profiling = Profiling(output=tmp_path / "prof", training_trace=True, task_time="l1")
        with NpuSession.for_training(device=2, graph=graph, backend="fake", profiling=profiling) as s:
            assert s.run("sum:0", FEED) == 25.0
            s.run("sum:0", FEED)
        (profile,) = os.listdir(str(tmp_path / "prof"))
        assert profile.startswith("PROF_000001_")
        inner = tmp_path / "prof" / profile
        assert sorted(os.listdir(str(inner))) == ["device_2", "host", "mindstudio_profiler_output"]
        (timeline,) = (inner / "mindstudio_profiler_output").glob("msprof_*.json")
        events = json.loads(timeline.read_text())["traceEvents"]
        assert {event["args"]["run"] for event in events if event["ph"] == "X"} == {0, 1}
        assert any("square" in json.dumps(event) for event in events)

    def test_callers_own_trace(self, backend, graph, tmp_path):
        """A caller that traces a run itself gets its own trace."""
        metadata = tf1.RunMetadata()
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        profiling = Profiling(output=tmp_path, training_trace=True)
        with NpuSession.for_training(graph=graph, backend="fake", profiling=profiling) as s:
            s.run("sum:0", FEED, options, metadata)
        assert metadata.step_stats.dev_stats


class TestAcceleration:
    def test_timeline(self, backend, graph):
        """Precision is low from the first run, and comes back where the share of the steps is reached."""
        accelerate = AcceleratedTraining.by_step(10, fraction=0.5)
        with NpuSession.for_training(graph=graph, backend="fake", accelerate=accelerate) as s:
            for _ in s.steps(progress=False):
                s.run("sum:0", FEED)
        phases = [event.detail for event in RUNTIME.events if event.name == "precision"]
        assert phases == ["run 0: allow_mix_precision_fp16", "run 5: original"]

    def test_by_loss(self, backend, graph, monkeypatch):
        """By loss, precision comes back with the run after the loss came near its target."""
        accelerate = AcceleratedTraining.by_loss(2.0, 9.0, dtype="bfloat16", ratio=1.5)
        plan = NpuSession.for_training(graph=graph, backend="fake", precision_mode_v2="origin", accelerate=accelerate)
        with plan as s:
            for loss in ("9", "5", "3", "2"):
                s.run("sum:0", FEED)
                os.environ["LOSS_NOW"] = loss
        phases = [event.detail for event in RUNTIME.events if event.name == "precision"]
        assert phases == ["run 0: mixed_bfloat16", "run 3: original"]
