"""What scripts take from npu_init behaves as the real one was measured to."""

import importlib
import os

import pytest
from processes import run

tensorflow = pytest.importorskip("tensorflow", reason="the adapter imports TensorFlow")

from npusession import NotEmulatedError  # noqa: E402
from npusession.backends.fake import importing  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1
HAS_ESTIMATOR = hasattr(tf1, "estimator")
HAS_SESSIONS = hasattr(tf1.keras.backend, "set_session")
START = """
from npusession.backends.fake import importing
importing.enable()
import tensorflow as tf
tf1 = tf.compat.v1
"""


@pytest.fixture
def npu_init():
    """The module, and a runtime that never ran."""
    RUNTIME.reset()
    with importing.emulated():
        yield importlib.import_module("npu_bridge.npu_init")
    RUNTIME.finalize("end of test")


def entries(config):
    return [entry.name for entry in config.graph_options.rewrite_options.custom_optimizers]


class TestConfigurations:
    def test_npu_config_proto(self, npu_init):
        """A config is completed in place, and a second time changes nothing."""
        config = tf1.ConfigProto(log_device_placement=True)
        config.gpu_options.allow_growth = True
        assert npu_init.npu_config_proto(config_proto=config) is config
        rewrite = config.graph_options.rewrite_options
        off = npu_init.RewriterConfig.OFF
        assert entries(config) == ["NpuOptimizer"]
        assert (rewrite.remapping, rewrite.memory_optimization) == (off, off)
        assert config.allow_soft_placement
        assert not config.log_device_placement
        assert config.gpu_options.allow_growth
        before = config.SerializeToString(deterministic=True)
        npu_init.npu_config_proto(config)
        assert config.SerializeToString(deterministic=True) == before

    def test_memory_optimization(self, npu_init):
        """A config that has an entry keeps its memory_optimization, which then has to be off by the user's hand."""
        config = tf1.ConfigProto()
        config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
        npu_init.npu_config_proto(config)
        assert config.graph_options.rewrite_options.memory_optimization == npu_init.RewriterConfig.DEFAULT_MEM_OPT
        assert config.graph_options.rewrite_options.remapping == npu_init.RewriterConfig.OFF

    @pytest.mark.parametrize("wrong", [None, "config", {}])
    def test_wrong_types(self, npu_init, wrong):
        """The helpers replace everything that is no config by a new one, in silence."""
        assert entries(npu_init.npu_config_proto(wrong)) == ["NpuOptimizer"]
        off = tf1.OptimizerOptions.OFF
        assert npu_init.npu_graph_options(wrong).optimizer_options.global_jit_level == off
        assert npu_init.npu_optimizer_options(wrong).global_jit_level == off

    def test_graph_options(self, npu_init):
        """Options that are given are changed in place."""
        graph_options = tf1.GraphOptions(build_cost_model=3)
        assert npu_init.npu_graph_options(graph_options) is graph_options
        assert graph_options.build_cost_model == 3
        options = tf1.OptimizerOptions()
        assert npu_init.npu_optimizer_options(options) is options

    def test_run_config(self, npu_init):
        """A RunConfig gets the configuration; where there is no tf.estimator the error says which TensorFlow has it."""
        if not HAS_ESTIMATOR:
            with pytest.raises(NotEmulatedError, match=r"up to 2\.15"):
                npu_init.npu_run_config_init()
            return
        config = tf1.estimator.RunConfig(session_config=tf1.ConfigProto(intra_op_parallelism_threads=3))
        assert npu_init.npu_run_config_init(run_config=config) is config
        assert entries(config.session_config) == ["NpuOptimizer"]
        assert config.session_config.intra_op_parallelism_threads == 3
        assert entries(npu_init.npu_run_config_init().session_config) == ["NpuOptimizer"]


class TestResource:
    def test_defaults_without_initialisation(self, npu_init):
        """Without init_resource the getters say rank 0 of 1, whatever the cluster."""
        importlib.import_module("npu_bridge.estimator.npu.util").global_dict_init()
        assert (npu_init.get_npu_rank_id(), npu_init.get_npu_local_rank_id()) == (0, 0)
        assert (npu_init.get_npu_rank_size(), npu_init.get_npu_local_rank_size()) == (1, 1)
        with pytest.raises(ValueError, match=r"error. ret\["):
            npu_init.get_rank_id()

    def test_from_start_to_end(self, npu_init):
        """init_resource initialises, shutdown_resource finalises, close_session closes."""
        with tf1.Graph().as_default():
            session, shutdown = npu_init.init_resource(config="no config")
            assert RUNTIME.initialized
            assert (npu_init.get_rank_size(), npu_init.get_npu_rank_size()) == (1, 1)
            npu_init.shutdown_resource(session, shutdown)
            assert not RUNTIME.initialized
            npu_init.close_session(session)
            with pytest.raises(RuntimeError, match="closed"):
                session.run(shutdown)


class TestHooks:
    @pytest.mark.parametrize("append", ["npu_hooks_append", "npu_callbacks_append"])
    def test_append(self, npu_init, append):
        """The hook or callback is appended to a list that is given, in place; a tuple gives a new list."""
        function = getattr(npu_init, append)
        mine = [object()]
        assert function(mine) is mine
        assert len(mine) == 2
        assert [type(item) for item in function()] == [type(mine[1])]

    def test_empty_hook(self, npu_init):
        """NpuEmptyHook is a hook."""
        assert isinstance(npu_init.NpuEmptyHook(), tf1.train.SessionRunHook)


class TestKeras:
    def test_session(self, npu_init):
        """Keras runs in the session that is opened for it, and in a new one after npu_clear_session."""
        if not HAS_SESSIONS:
            for call in (npu_init.set_keras_session_npu_config, npu_init.npu_clear_session):
                with pytest.raises(NotEmulatedError, match="has no sessions"):
                    call()
            return
        opened = npu_init.set_keras_session_npu_config()
        assert tf1.keras.backend.get_session() is opened
        assert npu_init.backend.get_session() is opened
        npu_init.npu_clear_session()
        another = npu_init.backend.get_session()
        assert another is not opened
        assert entries(another._config) == ["NpuOptimizer"]
        opened.close()
        another.close()
        npu_init.backend.clear_session()


def test_sessions_are_configured():
    """Importing npu_init has every session configured; importing the rest leaves others to TensorFlow."""
    code, output, errors = run(
        START
        + """
from npu_bridge.estimator import npu_ops
from npusession.backends.fake.runtime import RUNTIME
tf1.disable_eager_execution()
one = tf1.constant(1)
mine = tf1.ConfigProto()
mine.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
with tf1.Session() as sess:
    print(sess.run(one), [event.name for event in RUNTIME.events])
names = ("initialize", "run", "finalize")
with tf1.Session(config=mine) as sess:
    print(sess.run(one))
print([event.name for event in RUNTIME.events if event.name in names])
import npu_bridge.npu_init
RUNTIME.reset()
with tf1.Session(config=None) as sess:
    print(sess.run(one))
print([event.name for event in RUNTIME.events if event.name in names])
try:
    tf1.Session("", tf1.get_default_graph(), None)
except AttributeError:
    print("positional None is an AttributeError")
sess = tf1.InteractiveSession()
print(one.eval(), RUNTIME.initialized)
sess.close()
""",
        session=False,
    )
    assert code == 0, errors
    assert output.splitlines() == [
        "1 ['host']",
        "1",
        "['initialize', 'run', 'finalize']",
        "1",
        "['initialize', 'run', 'finalize']",
        "positional None is an AttributeError",
        "1 True",
    ]


def test_reload():
    """Reloading npu_init breaks the making of sessions, as in the real one, and the error says why."""
    code, output, errors = run(
        START
        + """
import importlib
import npu_bridge.npu_init
with tf1.Session():
    pass
importlib.reload(npu_bridge.npu_init)
try:
    tf1.Session()
except TypeError as error:
    print(error)
""",
        session=False,
    )
    assert code == 0, errors
    assert "not reloaded" in output


def test_exit():
    """Importing the adapter has the device closed at exit, before what was registered earlier."""
    code, output, errors = run(
        """
import atexit
from npusession.backends.fake.runtime import RUNTIME
atexit.register(lambda: print([event.detail for event in RUNTIME.events if event.name == "finalize"]))
"""
        + START
        + """
from npu_bridge.npu_init import *
tf1.disable_eager_execution()
sess = tf1.Session(config=npu_config_proto())
sess.run(npu_ops.initialize_system())
""",
        session=False,
    )
    assert (code, output) == (0, "['exit']\n"), errors


class TestPlugin:
    """The runtime without a session."""

    @pytest.fixture
    def plugin(self, npu_init):
        return npu_init.npu_plugin

    def test_initialise(self, plugin):
        """npu_resource_init initialises with its options, npu_resource_shutdown finalises, twice is harmless."""
        plugin.npu_resource_init(precision_mode="allow_mix_precision", aicore_num=None)
        assert RUNTIME.initialized
        assert RUNTIME.parameters["precision_mode"] == ("s", "allow_mix_precision")
        assert RUNTIME.parameters["graph_run_mode"] == ("i", 1)
        plugin.npu_resource_shutdown()
        plugin.npu_resource_shutdown()
        assert not RUNTIME.initialized

    @pytest.mark.parametrize(
        ("keywords", "error"),
        [
            ({"graph_run_mode": 2}, ValueError),
            ({"graph_run_mode": "1"}, TypeError),
            ({"enable_profiling": 1}, TypeError),
            ({"enable_profiling": True}, ValueError),
            ({"aoe_mode": "3"}, ValueError),
            ({"aoe_mode": "1", "work_path": "/does/not/exist"}, ValueError),
            ({"oo_constant_folding": "on"}, TypeError),
        ],
    )
    def test_wrong(self, plugin, keywords, error):
        """Wrong arguments are refused before anything is initialised."""
        with pytest.raises(error):
            plugin.npu_resource_init(**keywords)
        assert not RUNTIME.initialized

    def test_remote_memory(self, plugin):
        """What needs a device's memory says so when it is called."""
        for call in (
            lambda: plugin.init_rdma_pool(1),
            lambda: plugin.rdma_remote_register([]),
            lambda: plugin.rdma_remote_init([], 1),
            lambda: plugin.get_var_addr_and_size("v"),
            lambda: plugin.malloc_shared_memory("v", [1], tf1.float32),
        ):
            with pytest.raises(NotEmulatedError, match=r"^[a-z_]+ needs memory of a device"):
                call()

    def test_library(self):
        """The library of the adapter's ops is that of the emulation."""
        with importing.emulated():
            ops = importlib.import_module("npu_bridge.helper.helper").get_gen_ops()
            assert callable(ops.npu_get_float_status)


class TestAcceleratedTrainingHook:
    @pytest.fixture(autouse=True)
    def environment(self, monkeypatch):
        for name in ("STEP_NOW", "TOTAL_STEP", "LOSS_NOW", "TARGET_LOSS"):
            monkeypatch.setenv(name, "")

    def test_variables(self, npu_init):
        """TellMeStepOrLossHook exports step and loss after each run, and what is known before the first."""
        with tf1.Graph().as_default():
            step = tf1.train.get_or_create_global_step()
            loss = tf1.constant(0.5)
            train = tf1.assign_add(step, 1)
            hook = npu_init.TellMeStepOrLossHook(step, 9, loss, 0.25)
            variables = ("STEP_NOW", "TOTAL_STEP", "LOSS_NOW", "TARGET_LOSS")
            assert [os.environ[name] for name in variables] == ["0", "9", "0.0", "0.25"]
            with tf1.train.MonitoredSession(hooks=[hook]) as session:
                session.run(train)
                session.run(train)
        assert int(os.environ["STEP_NOW"]) in (1, 2)
        assert os.environ["LOSS_NOW"] == "0.5"

    def test_nothing(self, npu_init):
        """Neither a step nor a loss is an error."""
        with pytest.raises(ValueError, match="step or loss"):
            npu_init.TellMeStepOrLossHook()


class TestOutputHook:
    def test_every_few_steps(self, npu_init):
        """NPUOutputTensorHook hands over the values of every n steps, and the rest at the end."""
        got = []
        with tf1.Graph().as_default():
            count = tf1.get_variable("count", initializer=0)
            train = tf1.assign_add(count, 1)
            hook = npu_init.NPUOutputTensorHook(
                {"count": count}, [train], lambda values: got.append([item["count"] for item in values]), 2
            )
            with tf1.train.MonitoredSession(hooks=[hook]) as session:
                for _ in range(3):
                    session.run(train)
        assert [len(values) for values in got] == [2, 1]

    def test_no_steps(self, npu_init):
        """Its default of no steps fails at the first run, as in the real one, and says what to give."""
        with tf1.Graph().as_default():
            one = tf1.constant(1)
            hook = npu_init.NPUOutputTensorHook({"one": one}, output_fn=print)
            with pytest.raises(ZeroDivisionError, match="output_every_n_steps"):
                with tf1.train.MonitoredSession(hooks=[hook]) as session:
                    session.run(one)


def test_shutdown_hook(npu_init):
    """NPUShutDownHook finalises when the session ends."""
    hooks = importlib.import_module("npu_bridge.estimator.npu.npu_hook")
    with tf1.Graph().as_default():
        one = tf1.constant(1)
        with tf1.train.MonitoredSession(hooks=[hooks.NPUShutDownHook()]) as session:
            session.run(one)
    assert "shutdown" in [event.name for event in RUNTIME.events]
