"""Profiles: where they go, and timelines that trace viewers open."""

import json
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

from npusession import NpuSession, Profiling  # noqa: E402
from npusession.backends.fake import profiling  # noqa: E402

tf1 = tensorflow.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
FEED = {"x:0": [3.0, 4.0]}


@pytest.fixture
def graph(emulated, tmp_path, monkeypatch):
    """A sum of squares, in an empty working directory."""
    for name in ("ASCEND_WORK_PATH", "PROFILING_MODE", "PROFILING_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    graph = tensorflow.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (2,), name="x")
        tf1.reduce_sum(tf1.multiply(x, x, name="square"), name="sum")
    return graph


def train(graph, runs=3, **options):
    with NpuSession.for_training(graph=graph, backend="fake", **options) as s:
        for _ in range(runs):
            assert s.run("sum:0", FEED) == 25.0


def timelines(path):
    return sorted(path.glob("PROF_*/mindstudio_profiler_output/msprof_*.json"))


def events(path):
    return [event for file in timelines(path) for event in json.loads(file.read_text())["traceEvents"]]


def operators(found):
    return [event for event in found if event["ph"] == "X" and event["cat"] != "Iteration"]


def test_schema(graph, tmp_path):
    """Every event has what the trace format asks of one of its kind, and every process has a name."""
    train(graph, profiling=Profiling(output=tmp_path, training_trace=True))
    found = events(tmp_path)
    for event in found:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert event["ph"] in {"M", "X", "s", "t"}
        if event["ph"] == "M":
            assert event["args"]["name"]
            continue
        assert isinstance(event["ts"], int)
        assert isinstance(event["tid"], int)
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] == "X" or isinstance(event["id"], int)
    named = {event["pid"] for event in found if event["ph"] == "M" and event["name"] == "process_name"}
    assert {event["pid"] for event in found} <= named


def test_arrows_stay_within_runs(graph, tmp_path):
    """No arrow leads from one run to another."""
    train(graph, profiling=Profiling(output=tmp_path))
    runs = {}
    for event in events(tmp_path):
        if event["ph"] in "st":
            runs.setdefault(event["id"], set()).add(event["args"]["run"])
    if not runs:
        pytest.skip("this TensorFlow ran all on one thread, so it draws no arrows")
    assert all(len(members) == 1 for members in runs.values())


def test_no_run_is_lost(graph, tmp_path):
    """All runs are in the timeline, the first that initialises the runtime and those through callables too."""
    plan = NpuSession.for_training(graph=graph, profiling=Profiling(output=tmp_path, training_trace=True))
    with tf1.Session(graph=graph, config=plan.config_proto()) as session:
        for _ in range(150):
            session.run("sum:0", FEED)
        x = graph.get_tensor_by_name("x:0")
        assert session.make_callable("sum:0", [x])([1.0, 2.0]) == 5.0
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        session.run("sum:0", FEED, options, tf1.RunMetadata())
    found = events(tmp_path)
    assert [event["name"] for event in found if event.get("cat") == "Iteration"] == [
        f"Iteration {i}" for i in range(152)
    ]
    # The first run of all is initialised by itself, so the profile begins within it.
    assert {event["args"]["run"] for event in operators(found)} == set(range(152))


def test_begin_and_end(graph, tmp_path):
    """A profile begins with initialisation and ends with finalisation; each has one of its own."""
    train(graph, profiling=Profiling(output=tmp_path))
    train(graph, profiling=Profiling(output=tmp_path))
    profiles = sorted(os.listdir(str(tmp_path)))
    assert [name[:12] for name in profiles] == ["PROF_000001_", "PROF_000002_"]
    assert len(timelines(tmp_path)) == 2


@pytest.mark.parametrize(
    ("keys", "any_operators", "details", "iterations"),
    [
        ({}, True, True, False),
        ({"task_time": "l1"}, True, True, False),
        ({"task_time": "on"}, True, True, False),
        ({"task_time": "l0"}, True, False, False),
        ({"task_trace": "off"}, False, False, False),
        ({"task_time": "off", "training_trace": "on"}, False, False, True),
        ({"training_trace": "on"}, True, True, True),
    ],
)
def test_keys(graph, tmp_path, keys, any_operators, details, iterations):
    """task_time says how much is told of operators, training_trace whether runs are shown."""
    train(graph, profiling=Profiling(output=tmp_path, **keys))
    found = events(tmp_path)
    assert bool(operators(found)) == any_operators
    assert any("input0" in event["args"] for event in operators(found)) == details
    assert any(event.get("cat") == "Iteration" for event in found) == iterations


@pytest.mark.parametrize(
    ("output", "work", "place"),
    [("out", "work", "out"), (None, "work", "work"), (None, None, "."), ("a/b", None, "a/b")],
)
def test_places(graph, tmp_path, monkeypatch, output, work, place):
    """output goes first, then ASCEND_WORK_PATH, then the working directory; what is missing is made."""
    if work:
        monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path / work))
    train(graph, profiling=Profiling(output=output), export_compile_stat=0)
    (timeline,) = tmp_path.glob("**/msprof_*.json")
    assert timeline.parent.parent.parent == (tmp_path / place)


@pytest.mark.parametrize(
    ("variable", "options", "profiled"),
    [("true", {}, True), ("false", {}, False), ("true", {"profiling_mode": False}, False), (None, {}, False)],
)
def test_environment(graph, tmp_path, monkeypatch, variable, options, profiled):
    """PROFILING_MODE counts where the option is not given, with PROFILING_OPTIONS beside it."""
    if variable:
        monkeypatch.setenv("PROFILING_MODE", variable)
        monkeypatch.setenv("PROFILING_OPTIONS", json.dumps({"output": str(tmp_path / "out")}))
    train(graph, **options)
    assert (tmp_path / "out").exists() == profiled


def test_large_timelines(graph, tmp_path, monkeypatch):
    """A timeline continues in further files, each of which opens by itself; within a limit the oldest go."""
    monkeypatch.setattr(profiling, "MAX_BYTES", 1000)
    train(graph, runs=5, profiling=Profiling(output=tmp_path / "all", training_trace=True))
    files = timelines(tmp_path / "all")
    assert len(files) >= 5
    for file in files:
        part = json.loads(file.read_text())["traceEvents"]
        assert {event["pid"] for event in part} <= {event["pid"] for event in part if event["ph"] == "M"}
    monkeypatch.setattr(profiling, "_MEGABYTE", 5)
    train(graph, runs=5, profiling=Profiling(output=tmp_path / "few", storage_limit="200MB"))
    (last,) = timelines(tmp_path / "few")
    assert "slice" in last.name


def test_process_that_dies(tmp_path):
    """A process that dies leaves the runs it made, in a file that lacks its end only."""
    from processes import run

    code, _, errors = run(
        f"""
        session = plan.replace(profiling=Profiling(output={str(tmp_path)!r}, training_trace=True)).__enter__()
        for _ in range(3):
            session.run(two)
        os._exit(0)
        """
    )
    assert code == 0, errors
    (timeline,) = timelines(tmp_path)
    found = json.loads(timeline.read_text() + "]}")["traceEvents"]
    assert sum(event.get("cat") == "Iteration" for event in found) == 3


def test_off_the_device(graph, tmp_path):
    """Graphs that stay on the CPU are not profiled."""
    train(graph, profiling=Profiling(output=tmp_path), use_off_line=False)
    assert events(tmp_path) == []


def test_failing_runs(graph, tmp_path):
    """A run that fails is passed over, and those after it are traced."""
    with NpuSession.for_training(graph=graph, backend="fake", profiling=Profiling(output=tmp_path)) as s:
        with pytest.raises(tf1.errors.InvalidArgumentError):
            s.run("sum:0")
        s.run("sum:0", FEED)
    assert operators(events(tmp_path))
