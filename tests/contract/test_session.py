"""What a session must do on every backend."""

import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import NpuSession, SessionClosedError, System  # noqa: E402


@pytest.fixture
def graph():
    """A fresh graph, so that tests see nothing of each other."""
    return tensorflow.Graph()


@pytest.fixture
def plan(graph, backend):
    """A plan for training on the backend at hand, bound to the test's graph."""
    return NpuSession.for_training(graph=graph, backend=backend.name)


def test_runs_the_graph(plan, graph, tf1):
    """A session computes what a plain TensorFlow session computes, fetches nested as they were asked for."""
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (2,))
        y = tf1.reduce_sum(x * x)
    with plan as s:
        result = s.run({"sum": y, "both": [x, (y,)]}, {x: [3.0, 4.0]})
    assert result["sum"] == 25.0
    assert list(result["both"][0]) == [3.0, 4.0]
    assert result["both"][1] == (25.0,)


def test_is_the_default_session(plan, tf1):
    """Inside `with`, eval() and run() without a session use the very object that `as` names."""
    with plan as s:
        assert tf1.get_default_session() is s
        assert tf1.get_default_graph() is s.graph
        assert tf1.constant(2).eval() == 2
    assert tf1.get_default_session() is None


def test_as_default_does_not_close(plan, graph, tf1):
    """A started session can be made the default for a while, and goes on afterwards."""
    with graph.as_default():
        two = tf1.constant(2)
    s = plan.start()
    try:
        with s.as_default() as inner:
            assert inner is s
            assert two.eval() == 2
        assert tf1.get_default_session() is None
        assert s.run(two) == 2
    finally:
        s.stop()
    assert s.closed


def test_is_a_session(plan, tf1):
    """Code that asks isinstance takes it for TensorFlow's own session."""
    with plan as s:
        assert isinstance(s, tf1.Session)


def test_saver(plan, graph, tf1, tmp_path):
    """Saver writes and restores checkpoints through the session."""
    with graph.as_default():
        variable = tf1.get_variable("v", initializer=1.0)
        double = variable.assign(variable * 2)
        initialize, saver = tf1.global_variables_initializer(), tf1.train.Saver()
    with plan as s:
        s.run(initialize)
        path = saver.save(s, str(tmp_path / "model"))
        s.run(double)
        saver.restore(s, path)
        assert variable.eval(session=s) == 1.0


def test_saved_model(plan, graph, tf1, tmp_path):
    """A SavedModel is written from the session."""
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, ())
        y = x + tf1.get_variable("v", initializer=1.0)
        initialize = tf1.global_variables_initializer()
    with plan as s:
        s.run(initialize)
        tf1.saved_model.simple_save(s, str(tmp_path / "saved"), {"x": x}, {"y": y})
    assert (tmp_path / "saved" / "saved_model.pb").is_file()


def test_freezing(plan, graph, tf1):
    """Variables are frozen into constants through the session."""
    with graph.as_default():
        tf1.identity(tf1.get_variable("v", initializer=3.0, use_resource=False), name="out")
        initialize = tf1.global_variables_initializer()
    with plan as s:
        s.run(initialize)
        frozen = tf1.graph_util.convert_variables_to_constants(s, graph.as_graph_def(), ["out"])
    assert {node.op for node in frozen.node} <= {"Const", "Identity"}


def test_supervisor_helpers(plan, graph, tf1):
    """Queue runners and a coordinator, as Supervisor starts them, take the session."""
    with graph.as_default():
        queue = tf1.FIFOQueue(10, tf1.int32, ())
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(1)])
        tf1.train.add_queue_runner(runner)
        item = queue.dequeue()
    with plan as s:
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(sess=s, coord=coordinator)
        assert s.run(item) == 1
        coordinator.request_stop()
        s.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads)


def test_keras_session(plan, graph, tf1):
    """Keras takes the session where TensorFlow still has Keras sessions."""
    backend = tf1.keras.backend
    if not hasattr(backend, "set_session"):
        pytest.skip("Keras 3 has no sessions")
    with plan as s:
        before = backend.get_session()
        backend.set_session(s)
        assert backend.get_session() is s
        backend.set_session(before)


def test_finalized_graph(plan, graph, tf1):
    """A graph that is final can be run; nothing is added to it."""
    with graph.as_default():
        two = tf1.constant(2)
    graph.finalize()
    operations = len(graph.get_operations())
    with plan as s:
        assert s.run(two) == 2
    assert len(graph.get_operations()) == operations


def test_target(plan, graph, tf1):
    """A session can connect to a TensorFlow server."""
    server = tf1.train.Server.create_local_server()
    with graph.as_default():
        two = tf1.constant(2)
    with plan.replace(target=server.target) as s:
        assert s.sess_str == server.target.encode()
        assert s.run(two) == 2


def test_default_graph(plan, graph, tf1):
    """A plan without a graph runs the graph that is the default when it opens."""
    with graph.as_default():
        two = tf1.constant(2)
        with plan.replace(graph=None) as s:
            assert s.graph is graph
            assert s.run(two) == 2


def test_reopening(plan, graph, tf1):
    """A plan can be entered again after it closed, and again."""
    with graph.as_default():
        two = tf1.constant(2)
    for _ in range(3):
        with plan as s:
            assert s.run(two) == 2
        assert s.closed


def test_closing_twice(plan):
    """Closing and stopping again does nothing."""
    s = plan.start()
    s.close()
    s.close()
    s.stop()
    assert s.closed


def test_run_after_close(plan, graph, tf1):
    """A closed session says that it is closed, and where it was opened; what it knew of its rank it still tells."""
    with graph.as_default():
        two = tf1.constant(2)
    with plan as s:
        pass
    with pytest.raises(SessionClosedError, match="is closed"):
        s.run(two)
    assert (s.rank_id, s.rank_size, s.local_rank_id, s.local_rank_size) == (0, 1, 0, 1)
    with pytest.raises(SessionClosedError, match="is closed"), s:
        pass


def test_two_devices_at_once(plan, graph, tf1):
    """Sessions on two devices share one initialisation, and either may close first."""
    with graph.as_default():
        two = tf1.constant(2)
    with plan.replace(device=0) as first:
        with plan.replace(device=1) as second:
            assert first.run(two) == second.run(two) == 2
        assert first.run(two) == 2


def test_either_may_close_first(plan, graph, tf1):
    """The session that opened the system may close before another one."""
    with graph.as_default():
        two = tf1.constant(2)
    first = plan.start()
    second = plan.replace(device=1).start()
    try:
        first.close()
        assert second.run(two) == 2
    finally:
        second.close()
        first.close()


def test_failing_body(plan, graph, tf1):
    """An exception in the body comes out as it is, and the plan can be entered again."""
    with graph.as_default():
        two = tf1.constant(2)
    error = ValueError("of the body")
    with pytest.raises(ValueError, match="of the body") as caught, plan:
        raise error
    assert caught.value is error
    with plan as s:
        assert s.run(two) == 2


def test_failing_operation(plan, graph, tf1):
    """An error of TensorFlow in the body comes out as it is."""
    with graph.as_default():
        bad = tf1.Assert(tf1.constant(False), [tf1.constant("no")])
    with pytest.raises(tf1.errors.InvalidArgumentError), plan as s:
        s.run(bad)
    assert s.closed


def test_environment(plan, monkeypatch):
    """The device's variable is there during the session when the environment names none, and gone afterwards."""
    monkeypatch.delenv("ASCEND_DEVICE_ID", raising=False)
    monkeypatch.delenv("DEVICE_ID", raising=False)
    before = dict(os.environ)
    with plan.replace(device=3):
        assert os.environ["ASCEND_DEVICE_ID"] == "3"
    assert dict(os.environ) == before


def test_environment_that_names_the_device(plan, monkeypatch):
    """A device that the environment names is left alone."""
    monkeypatch.delenv("ASCEND_DEVICE_ID", raising=False)
    monkeypatch.setenv("DEVICE_ID", "1")
    with plan.replace(device=1):
        assert "ASCEND_DEVICE_ID" not in os.environ


def test_alone(plan):
    """Without a cluster the process is rank 0 of 1."""
    with plan as s:
        assert (s.rank_id, s.rank_size, s.local_rank_id, s.local_rank_size) == (0, 1, 0, 1)


def test_system_outlives_sessions(plan, graph, tf1):
    """While the system is held, sessions come and go, and ranks are known after the last of them closed."""
    with graph.as_default():
        two = tf1.constant(2)
    with System(plan):
        for _ in range(2):
            with plan as s:
                assert s.run(two) == 2
                assert s.rank_size == 1


def test_config_of_the_caller(graph, tf1, plan):
    """The ConfigProto that a caller hands in is not changed, and everything in it reaches the session."""
    config = tf1.ConfigProto(intra_op_parallelism_threads=3)
    before = config.SerializeToString()
    with plan.replace(config=config) as s:
        assert s.plan.config_proto().intra_op_parallelism_threads == 3
        assert s._config.intra_op_parallelism_threads == 3
    assert config.SerializeToString() == before
