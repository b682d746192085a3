"""Several steps in one run, and the other helpers of util."""

import importlib
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

tensorflow = pytest.importorskip("tensorflow", reason="the adapter imports TensorFlow")

from npusession import IgnoredOptionsWarning  # noqa: E402
from npusession.backends.fake import importing, sharding  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def util():
    """The module, sessions configured, and a graph of the test's own."""
    RUNTIME.reset()
    with importing.emulated(), tf1.Graph().as_default():
        importlib.import_module("npu_bridge.npu_init")
        yield importlib.import_module("npu_bridge.estimator.npu.util")
    RUNTIME.finalize("end of test")


def counter():
    """A variable, and an operation that adds 1 to it."""
    count = tf1.get_variable("count", initializer=0, use_resource=True)
    return count, tf1.assign_add(count, 1).op


class TestLoop:
    def test_steps_of_a_run(self, util):
        """A run makes as many steps as set_iteration_per_loop was told, and counts as one run."""
        count, add = counter()
        with tf1.Session() as session:
            train = util.set_iteration_per_loop(session, add, 5)
            session.run(tf1.global_variables_initializer())
            before = len(RUNTIME.events)
            session.run(train)
            assert [event.name for event in RUNTIME.events[before:] if event.name != "ignored"] == ["run"]
            assert session.run(count) == 5
            session.run([train])
            assert session.run(count) == 10
            session.run(add)
            assert session.run(count) == 11

    @pytest.mark.parametrize(("option", "reported"), [(5, 0), (4, 1), (None, 1)])
    def test_option_differs(self, util, option, reported):
        """A loop of another number of steps than the option iterations_per_loop is reported, once."""
        _, add = counter()
        config = tf1.ConfigProto()
        entry = config.graph_options.rewrite_options.custom_optimizers.add()
        entry.name = "NpuOptimizer"
        entry.parameter_map["enable_data_pre_proc"].b = True
        if option is not None:
            entry.parameter_map["iterations_per_loop"].i = option
        before = len(RUNTIME.events)
        with tf1.Session(config=config) as session, warnings.catch_warnings(record=True) as caught:
            train = util.set_iteration_per_loop(session, add, 5)
            session.run(tf1.global_variables_initializer())
            for _ in range(3):
                session.run(train)
        found = [event.detail for event in RUNTIME.events[before:] if event.name == "ignored"]
        assert len(found) == reported
        assert all("5 steps a run, and the option says" in detail for detail in found)
        assert [warning.category for warning in caught].count(IgnoredOptionsWarning) == reported

    def test_last_step_counts(self, util):
        """What is fetched along is that of the last step."""
        count, add = counter()
        with tf1.Session() as session:
            train = util.set_iteration_per_loop(session, add, 3)
            with tf1.control_dependencies([train]):
                after = count.read_value()
            session.run(tf1.global_variables_initializer())
            assert session.run([train, after])[1] == 3

    def test_groups_around_it(self, util):
        """An op that depends on the train op loops like it."""
        count, add = counter()
        with tf1.Session() as session:
            both = tf1.group(util.set_iteration_per_loop(session, add, 4), tf1.no_op())
            session.run(tf1.global_variables_initializer())
            session.run(both)
            assert session.run(count) == 4

    def test_one_step(self, util):
        """For one step per run the train op stays what it is."""
        _, add = counter()
        with tf1.Session() as session:
            assert util.set_iteration_per_loop(session, add) is add

    def test_final_graph(self, util):
        """IterationPerLoop does the same in two parts, so that a monitored session's graph may be final."""
        step = tf1.train.get_or_create_global_step()
        loop = util.IterationPerLoop()
        train = loop.create_iteration_per_loop_var(tf1.assign_add(step, 1).op)
        with tf1.train.MonitoredTrainingSession(hooks=[tf1.train.StopAtStepHook(last_step=9)]) as session:
            loop.load_iteration_per_loop_var(session, 3)
            runs = 0
            while not session.should_stop():
                session.run(train)
                runs += 1
        assert runs == 3

    def test_two_sessions(self, util):
        """Each session has its own number of steps."""
        count, add = counter()
        loop = util.IterationPerLoop()
        train = loop.create_iteration_per_loop_var(add)
        initialize = tf1.global_variables_initializer()
        with tf1.Session() as one, tf1.Session() as two:
            for session, steps in ((one, 2), (two, 7)):
                loop.load_iteration_per_loop_var(session, steps)
                session.run(initialize)
                session.run(train)
                assert session.run(count) == steps

    def test_end_of_data(self, util):
        """When the data ends within a run, the run fails as the data does, and the steps before it are made."""
        count, _ = counter()
        item = tf1.data.make_one_shot_iterator(tf1.data.Dataset.range(5)).get_next()
        with tf1.control_dependencies([item]):
            add = tf1.assign_add(count, 1).op
        with tf1.Session() as session:
            train = util.set_iteration_per_loop(session, add, 3)
            session.run(tf1.global_variables_initializer())
            session.run(train)
            with pytest.raises(tf1.errors.OutOfRangeError):
                session.run(train)
            assert session.run(count) == 5

    def test_on_the_cpu(self, util):
        """A session whose graphs stay on the host makes one step, as the group is no more than a group there."""
        count, add = counter()
        config = tf1.ConfigProto()
        entry = config.graph_options.rewrite_options.custom_optimizers.add()
        entry.name = "NpuOptimizer"
        entry.parameter_map["use_off_line"].b = False
        with tf1.Session(config=config) as session:
            train = util.set_iteration_per_loop(session, add, 3)
            session.run(tf1.global_variables_initializer())
            session.run(train)
            assert session.run(count) == 1

    def test_meta_graph(self, util):
        """A graph with a loop is exported and imported with its loop."""
        _, add = counter()
        importlib.import_module("npu_bridge.estimator.npu.npu_hook")
        with tf1.Session() as session:
            name = util.set_iteration_per_loop(session, add, 3).name
        exported = tf1.train.export_meta_graph()
        with tf1.Graph().as_default() as graph, tf1.Session() as session:
            tf1.train.import_meta_graph(exported)
            session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
            session.run(graph.get_operation_by_name(name))
            assert session.run(tf1.global_variables()) == [1]

    @pytest.mark.parametrize(
        ("steps", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)]
    )
    def test_wrong_steps(self, util, steps, error):
        """The number of steps is a positive int."""
        _, add = counter()
        with tf1.Session() as session:
            with pytest.raises(error, match="iterations_per_loop"):
                util.set_iteration_per_loop(session, add, steps)
            loop = util.IterationPerLoop()
            loop.create_iteration_per_loop_var(add)
            with pytest.raises(error, match="iterations_per_loop"):
                loop.load_iteration_per_loop_var(session, steps)

    def test_no_operation(self, util):
        """A tensor in place of the train op is refused with its dtype."""
        with tf1.Session() as session:
            for call in (
                lambda: util.set_iteration_per_loop(session, tf1.constant(1.0), 2),
                lambda: util.IterationPerLoop().create_iteration_per_loop_var(tf1.constant(1.0)),
            ):
                with pytest.raises(ValueError, match="float32 tensor"):
                    call()

    def test_wrong_order(self, util):
        """Loading before creating says what comes first."""
        with pytest.raises(RuntimeError, match="create_iteration_per_loop_var"):
            util.IterationPerLoop().load_iteration_per_loop_var(None, 2)


class TestChecks:
    def test_values(self, util):
        """The checks and conversions answer as the real ones."""
        assert [util.convert_bool_to_int(value) for value in (True, False, 1, None)] == [1, 0, -1, -1]
        assert (util.format_string(None, "x"), util.format_string("a", "x")) == ("", "a")
        assert util.check_profiling_options(["task_time", "op_trace"]) == "task_time:op_trace"
        assert util.check_aoe_mode("2") is None

    def test_refusals(self, util, tmp_path):
        """Each check refuses with the kind of error of the real one, naming the argument."""
        file = tmp_path / "file"
        file.write_text("")
        for error, call in (
            (ValueError, lambda: util.check_not_none(None, "x")),
            (TypeError, lambda: util.check_positive_integer("1", "x")),
            (ValueError, lambda: util.check_positive_integer(0, "x")),
            (ValueError, lambda: util.check_nonnegative_integer(-1, "x")),
            (TypeError, lambda: util.check_bool_type(1, "x")),
            (TypeError, lambda: util.format_string(1, "x")),
            (ValueError, lambda: util.check_profiling_options(["x"])),
            (ValueError, lambda: util.check_profiling_options([])),
            (ValueError, lambda: util.check_aoe_mode("x")),
            (ValueError, lambda: util.check_path(str(file))),
            (ValueError, lambda: util.check_path(str(tmp_path / "x"))),
        ):
            with pytest.raises(error, match=r"x|training_trace|path="):
                call()
        assert util.check_path(str(tmp_path)) == str(tmp_path.resolve())

    def test_rank_size(self, util, monkeypatch):
        """The number of ranks comes from one of two variables, never both."""
        monkeypatch.delenv("RANK_SIZE", raising=False)
        monkeypatch.delenv("CM_WORKER_SIZE", raising=False)
        assert util.get_ranksize() == "1"
        monkeypatch.setenv("CM_WORKER_SIZE", "4")
        assert util.get_ranksize() == "4"
        monkeypatch.setenv("RANK_SIZE", "8")
        with pytest.raises(ValueError, match="cannot both"):
            util.get_ranksize()

    def test_values_kept(self, util):
        """Values are kept by name until all are forgotten."""
        util.set_value("a", 1)
        assert (util.get_value("a"), util.get_value("b", 2)) == (1, 2)
        util.global_dict_init()
        assert util.get_value("a") is None


class TestMarks:
    def test_set_graph_exec_config(self, util):
        """What is fetched carries how it is to run, by tensor, name, list or operation, and computes the same."""
        npu_config = importlib.import_module("npu_bridge.estimator.npu.npu_config")
        one = tf1.constant(1, name="one")
        recompute = npu_config.ExperimentalConfig(
            graph_memory_optimize_config=npu_config.GraphMemoryOptimizeConfig(recompute="auto")
        )
        assert util.set_graph_exec_config(one, dynamic_input=True, experimental_config=recompute) is one
        assert one.op.get_attr("_graph_dynamic_input") is True
        assert one.op.get_attr("_recompute_mode") == b"auto"
        two = tf1.constant(2, name="two")
        assert util.set_graph_exec_config("two:0", is_train_graph=True) is two
        assert util.set_graph_exec_config([one, two.op])[1] is two.op
        assert two.op.get_attr("_is_train_graph") is False
        with tf1.Session() as session:
            assert session.run(one + two) == 3
        for wrong in ({"fetch": 1}, {"fetch": one, "dynamic_graph_execute_mode": "x"}):
            with pytest.raises(ValueError, match=r"fetch is|dynamic_graph_execute_mode='x'"):
                util.set_graph_exec_config(**wrong)

    def test_ops(self, util):
        """Shapes, sizes, gears and kept precision are marked on the op."""
        one = tf1.constant(1, name="one")
        util.set_op_tensor_max_range(one, "1,2")
        util.set_op_tensor_max_size(one.op, 7)
        util.set_op_input_tensor_multi_dims(one, "-1", "1;2")
        util.keep_tensors_dtypes(one.graph, ["one:0"])
        found = {name: one.op.get_attr(name) for name in ("_op_max_shape", "_op_max_size", "_keep_dtype")}
        assert found == {"_op_max_shape": b"1,2", "_op_max_size": 7, "_keep_dtype": 1}
        assert one.op.get_attr("_subgraph_multi_dims_input_dims") == b"1;2"
        for wrong in (("graph", ["one:0"]), (one.graph, "one:0")):
            with pytest.raises(ValueError, match="not a str"):
                util.keep_tensors_dtypes(*wrong)

    def test_compile(self, util):
        """npu_compile runs what would be fetched; variables are initialised under the name for the host."""
        count, add = counter()
        initialize = util.variable_initializer_in_host([count])
        assert initialize.name == "var_in_host"
        with tf1.Session() as session:
            session.run(initialize)
            util.npu_compile(session, add, count)
            assert session.run(count) == 1


class TestSharding:
    def test_ranks_of_weights(self, util):
        """Each weight has the rank that updates it, found by gradient and by weight."""
        weights = [tf1.get_variable(f"w{number}", shape=[size]) for number, size in enumerate((4, 4, 8))]
        gradients = [tf1.identity(weight) for weight in weights]
        util.add_grads_and_vars([*zip(gradients, weights), (None, weights[0])], 2)
        assert [util.get_gid_by_weight(weight) for weight in weights] == [0, 0, 1]
        assert [util.get_gid_by_grad(gradient) for gradient in gradients] == [0, 0, 1]
        assert [item.size for item in util.get_all_grad_item()] == [16, 16, 32]
        assert util.get_gid_by_weight(tf1.get_variable("other", shape=[1])) == -1
        util.add_grads_and_vars([], 0)

    def test_saver_without_sharding(self, util, tmp_path):
        """NPUSaver saves and restores like a Saver."""
        saver_module = importlib.import_module("npu_bridge.estimator.npu.npu_saver")
        count, add = counter()
        saver = saver_module.NPUSaver(max_to_keep=1)
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(add)
            path = saver.save(session, str(tmp_path / "model"))
            session.run(add)
            saver.restore(session, path)
            assert session.run(count) == 1


class Item:
    def __init__(self, size):
        self.size, self.root_rank_id = size, -1


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.data())
def test_every_rank_has_something(sizes, data):
    """Neighbours stay together, every rank has at least one gradient, and every gradient a rank."""
    ranks = data.draw(st.integers(1, len(sizes)))
    items = [Item(size) for size in sizes]
    sharding.divide(items, ranks)
    given_ranks = [item.root_rank_id for item in items]
    assert given_ranks == sorted(given_ranks)
    assert set(given_ranks) == set(range(ranks))


def test_more_ranks_than_gradients():
    """More ranks than gradients are refused."""
    with pytest.raises(ValueError, match="1 gradients cannot be divided among 2"):
        sharding.divide([Item(1)], 2)


def test_strategy(util):
    """NPUStrategy has as many replicas as ranks, and only the one device name."""
    strategy = importlib.import_module("npu_bridge.estimator.npu.npu_strategy")
    with pytest.raises(ValueError, match="cpu:0"):
        strategy.NPUStrategy("/cpu:1")
    assert strategy.NPUStrategy().num_replicas_in_sync == 1
