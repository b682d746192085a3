"""What the runtime behind every backend does to scripts that use the adapter by itself."""

import importlib.util
import os
import subprocess
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

tf1 = tensorflow.compat.v1


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        # A constant, and what TensorFlow folds into one, stays on the host.
        tf1.reduce_sum(tf1.square(tf1.placeholder_with_default([1.0, 1.0], [2])), name="two")
    return graph


@pytest.fixture
def ops(runtime):
    """A session of a graph with the initialize and shutdown ops, and the two."""
    graph = tensorflow.Graph()
    with graph.as_default():
        initialize, shutdown = runtime.npu_ops.initialize_system(), runtime.npu_ops.shutdown_system()
    with tf1.Session(graph=graph, config=config()) as session:
        yield session, initialize, shutdown
        session.run(shutdown)


def config(*entries):
    """A ConfigProto with an NpuOptimizer entry for each set of options, given as name and (field, value)."""
    proto = tf1.ConfigProto()
    rewrite = proto.graph_options.rewrite_options
    rewrite.remapping = rewrite.memory_optimization = rewrite.OFF
    for options in entries or ({},):
        entry = rewrite.custom_optimizers.add()
        entry.name = "NpuOptimizer"
        for name, (field, value) in options.items():
            setattr(entry.parameter_map[name], field, value)
    return proto


def run(graph, *entries):
    with tf1.Session(graph=graph, config=config(*entries)) as session:
        return session.run("two:0")


def test_real_adapter():
    """Where there is an adapter it can be bound; where there is none, the contract is tested on the emulation alone."""
    if not any(map(importlib.util.find_spec, ("npu_bridge", "npu_device"))):
        pytest.skip("neither npu_bridge nor npu_device is installed: only the emulation is tested")
    code = "from npusession.backends import load; print(load('npu').name)"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True)
    # The adapter's libraries may print something, too.
    assert b"npu" in process.stdout.splitlines(), process.stderr.decode()


def test_initialising_again_does_nothing(ops, graph):
    """A second initialisation is harmless."""
    session, initialize, _ = ops
    session.run(initialize)
    session.run(initialize)
    assert run(graph) == 2


def test_shutting_down_again_does_nothing(ops):
    """Shutting down twice, or what was never initialised, is harmless."""
    session, initialize, shutdown = ops
    session.run(shutdown)
    session.run(initialize)
    session.run(shutdown)
    session.run(shutdown)


def test_after_a_shutdown(ops, graph):
    """After a shutdown the sessions that were there fail with a status, and a new one works."""
    session, initialize, shutdown = ops
    session.run(initialize)
    old = tf1.Session(graph=graph, config=config())
    try:
        assert old.run("two:0") == 2
        session.run(shutdown)
        with pytest.raises(tf1.errors.InternalError):
            old.run("two:0")
        assert run(graph) == 2
    finally:
        old.close()


def test_initialising_after_a_shutdown(ops, graph):
    """The runtime can be initialised again after it was shut down."""
    session, initialize, shutdown = ops
    for _ in range(2):
        session.run(initialize)
        assert run(graph) == 2
        session.run(shutdown)


def test_first_graph_initialises(runtime, graph):
    """Nobody has to run the initialize op."""
    assert run(graph) == run(graph) == 2


def test_last_session_finalises(ops, graph, runtime):
    """With the last session that ran a graph the runtime is gone, and ranks are not known any more."""
    session, initialize, _ = ops
    session.run(initialize)
    run(graph)
    with pytest.raises(ValueError, match=r"error. ret\["):
        runtime.ranks.get_rank_size()


def test_ranks_before_initialisation(runtime):
    """Ranks are asked for in vain before initialisation."""
    with pytest.raises(ValueError, match=r"get rank id error. ret\["):
        runtime.ranks.get_rank_id()


def test_ops_in_eager_execution(runtime):
    """The ops cannot be made eagerly."""
    if not tensorflow.executing_eagerly():
        pytest.skip("TensorFlow 1 builds graphs")
    for make in (runtime.npu_ops.initialize_system, runtime.npu_ops.shutdown_system):
        with pytest.raises(RuntimeError):
            make()


def test_every_session_gets_an_entry(runtime, graph):
    """A configuration without an NpuOptimizer entry gets one, in the very object that was handed in."""
    proto = tf1.ConfigProto(log_device_placement=True)
    tf1.Session(graph=graph, config=proto).close()
    rewrite = proto.graph_options.rewrite_options
    assert [entry.name for entry in rewrite.custom_optimizers] == ["NpuOptimizer"]
    assert rewrite.remapping == rewrite.memory_optimization == rewrite.OFF
    assert proto.allow_soft_placement
    assert not proto.log_device_placement


def test_config_none(runtime, graph):
    """No configuration is fine by keyword, and an AttributeError by position."""
    tf1.Session("", graph, config=None).close()
    with pytest.raises(AttributeError):
        tf1.Session("", graph, None)


@pytest.mark.parametrize(
    "options",
    [{"no_such_option": ("s", b"x")}, {"enable_dump": ("s", b"True")}, {"hcom_parallel": ("i", 1)}],
    ids=["unknown", "wrong field", "replaced"],
)
@pytest.mark.filterwarnings("ignore::npusession.IgnoredOptionsWarning")
def test_ignored_options(runtime, graph, options):
    """Unknown names and wrong fields are passed over."""
    assert run(graph, options) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"enable_dump": ("b", True)},
        {"enable_exception_dump": ("i", 3)},
        {"dump_data": ("s", b"all")},
        {"precision_mode": ("s", b"force_fp16"), "precision_mode_v2": ("s", b"origin")},
    ],
    ids=lambda options: "+".join(options),
)
def test_refused_options(runtime, graph, options):
    """Options that the runtime refuses fail the first run with a status, and the process goes on."""
    with tf1.Session(graph=graph, config=config(options)) as session:
        with pytest.raises(tf1.errors.InternalError):
            session.run("two:0")


@pytest.mark.filterwarnings("ignore::npusession.IgnoredOptionsWarning")
def test_entries_are_checked_one_by_one(runtime, graph):
    """Options that exclude each other pass when they stand in two entries."""
    assert run(graph, {"precision_mode": ("s", b"force_fp16")}, {"precision_mode_v2": ("s", b"origin")}) == 2


def test_off_line(runtime, graph):
    """With the device switched off the graph runs on the host."""
    assert run(graph, {"use_off_line": ("b", False)}) == 2


ABORT = """
import os, sys
import tensorflow as tf
from npusession.backends import load
name, option, value = sys.argv[1:]
load(name)
if name == "fake":
    from npusession.backends.fake.runtime import RUNTIME
    RUNTIME.configure(strict_abort=True)
graph = tf.Graph()
with graph.as_default():
    tf.reduce_sum(tf.square(tf.compat.v1.placeholder_with_default([1.0, 1.0], [2])), name="two")
config = tf.compat.v1.ConfigProto()
entry = config.graph_options.rewrite_options.custom_optimizers.add()
entry.name = "NpuOptimizer"
if option:
    entry.parameter_map[option].i = int(value)
tf.compat.v1.Session(graph=graph, config=config).run("two:0")
"""


@pytest.mark.parametrize(
    ("option", "value", "variables"),
    [
        ("graph_run_mode", 3, {}),
        ("session_device_id", -1, {}),
        ("", 0, {"ASCEND_DEVICE_ID": "one"}),
        ("", 0, {"TF_CONFIG": '{"task": "worker"}'}),
    ],
    ids=["graph_run_mode", "session_device_id", "ASCEND_DEVICE_ID", "TF_CONFIG"],
)
def test_the_process_ends(runtime, option, value, variables):
    """Some options, and some variables, end the process with SIGABRT."""
    process = subprocess.run(
        [sys.executable, "-c", ABORT, runtime.name, option, str(value)],
        env={**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
    )
    assert process.returncode == -6, process.stderr.decode()
