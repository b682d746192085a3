"""What the runtime does to options without a word is said: ignored, replaced, carried over to other sessions."""

import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

from npusession import IgnoredOptionsWarning, NpuSession, OptionsError  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture(autouse=True)
def npu(fake_npu):
    return fake_npu


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        tf1.constant(3.0, name="three")
    return graph


def config(*entries, **parameters):
    """A ConfigProto as scripts write it, with an NpuOptimizer entry for each set of options; values: (field, value)."""
    proto = tf1.ConfigProto()
    rewrite = proto.graph_options.rewrite_options
    rewrite.remapping = rewrite.memory_optimization = rewrite.OFF
    for options in entries or (parameters,):
        entry = rewrite.custom_optimizers.add()
        entry.name = "NpuOptimizer"
        for name, (field, value) in options.items():
            setattr(entry.parameter_map[name], field, value)
    return proto


def details(npu, name):
    return [event.detail for event in npu.events if event.name == name]


def run(graph, proto, times=1):
    with tf1.Session(graph=graph, config=proto) as session:
        for _ in range(times):
            session.run("three:0")


class TestIgnored:
    @pytest.mark.parametrize(
        ("parameters", "code"),
        [
            ({"presicion_mode": ("s", b"force_fp32")}, "NPU101 presicion_mode"),
            ({"no_such_thing": ("i", 1)}, "NPU102 no_such_thing"),
            ({"use_off_line": ("s", b"1")}, "NPU104 use_off_line"),
            ({"hcom_parallel": ("s", b"True")}, "NPU104 hcom_parallel"),
            ({"deterministic": ("i", 7)}, "NPU105 deterministic"),
        ],
    )
    def test_reported_once(self, npu, graph, parameters, code):
        """Options that pass, and are errors by the reference, are one event each, and one warning per session."""
        with pytest.warns(IgnoredOptionsWarning) as caught:
            run(graph, config(**parameters), times=2)
        assert len(caught) == 1
        assert code in str(caught[0].message)
        assert caught[0].filename == __file__
        (detail,) = details(npu, "ignored")
        assert detail.startswith(code)

    @pytest.mark.fake_npu(strict=True)
    def test_strict(self, npu, graph):
        """In strict settings they are an OptionsError at every run, with all of them in it."""
        with tf1.Session(graph=graph, config=config(dump=("b", True), jit=("s", b"x"))) as session:
            for _ in range(2):
                with pytest.raises(OptionsError, match="2 problems"):
                    session.run("three:0")

    def test_rest_of_the_config(self, npu, graph):
        """What a ConfigProto must have besides is looked at too."""
        proto = config()
        proto.graph_options.rewrite_options.disable_model_pruning = True
        with pytest.warns(IgnoredOptionsWarning, match="disable_model_pruning"):
            run(graph, proto)

    @pytest.mark.fake_npu(product="910A")
    def test_product(self, npu, graph):
        """What the product at hand does not support is looked at where the settings name one."""
        with pytest.warns(IgnoredOptionsWarning, match="NPU110"):
            run(graph, config(precision_mode_v2=("s", b"mixed_bfloat16")))

    @pytest.mark.fake_npu(strict=True)
    def test_what_the_estimator_writes(self, npu, graph):
        """What the adapter's own estimator writes into every configuration is no mistake of the user's."""
        own = {"enable_reduce_precision": ("b", False), "min_group_size": ("b", True)}
        run(graph, config(**own))
        with pytest.raises(OptionsError, match="min_group_size"):
            run(graph, config(min_group_size=("b", True)))

    def test_refused_is_not_ignored(self, npu, graph):
        """Options that the runtime refuses itself are its own error and no event."""
        with tf1.Session(graph=graph, config=config(precision_mode=("s", b"fp8"), nope=("i", 1))) as session:
            with pytest.raises(tf1.errors.InternalError):
                session.run("three:0")
        assert details(npu, "ignored") == []

    def test_nothing_to_say(self, npu, graph):
        """Good options give no warning, and sessions without options neither."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", IgnoredOptionsWarning)
            run(graph, config(deterministic=("i", 1)))
            with tf1.Session(graph=graph) as session:
                session.run("three:0")
            with NpuSession.for_training(graph=graph, device=1) as s:
                s.run("three:0")
        assert details(npu, "ignored") == details(npu, "leak") == []


@pytest.mark.filterwarnings("ignore::npusession.IgnoredOptionsWarning")
class TestLeaks:
    @pytest.mark.parametrize(
        ("name", "field", "value"),
        [
            ("precision_mode", "s", b"force_fp16"),
            ("precision_mode_v2", "s", b"origin"),
            ("op_debug_level", "i", 1),
            ("export_compile_stat", "i", 2),
            ("oo_constant_folding", "b", False),
        ],
    )
    def test_kept_for_the_process(self, npu, graph, name, field, value):
        """An option of one session holds for later ones that do not give it, and each of them is told."""
        run(graph, config(**{name: (field, value)}))
        with pytest.warns(IgnoredOptionsWarning, match=f"{name}=.* of session 1 holds for session 2"):
            run(graph, config())
        run(graph, config(**{name: (field, value)}))
        assert [event.session for event in npu.events if event.name == "leak"] == [2]

    def test_of_a_configuration_that_failed(self, npu, graph):
        """It stays in force even if the configuration that brought it was refused for something after it."""
        with tf1.Session(graph=graph, config=config(op_debug_level=("i", 1), precision_mode=("s", b"fp8"))) as session:
            with pytest.raises(tf1.errors.InternalError):
                session.run("three:0")
        run(graph, config())
        assert len(details(npu, "leak")) == 1
        assert "op_debug_level=1" in details(npu, "leak")[0]

    def test_not_what_comes_after_the_fault(self, npu, graph):
        """What stands after the fault that ended it is never read."""
        proto = config(graph_run_mode=("i", 9), precision_mode=("s", b"force_fp16"))
        with tf1.Session(graph=graph, config=proto) as session, pytest.raises(RuntimeError):
            session.run("three:0")
        assert RUNTIME.kept == {}

    def test_passes_the_exclusion(self, npu, graph):
        """A precision_mode that was left by another session passes beside a new precision_mode_v2."""
        run(graph, config(precision_mode=("s", b"force_fp16")))
        run(graph, config(precision_mode_v2=("s", b"origin")))
        assert "precision_mode='force_fp16'" in details(npu, "leak")[0]

    def test_two_entries_pass_the_exclusion(self, npu, graph):
        """Two NpuOptimizer entries are checked one by one: options that exclude each other pass, and are reported."""
        both = {"precision_mode": ("s", b"force_fp16")}, {"precision_mode_v2": ("s", b"origin")}
        with tf1.Session(graph=graph, config=config({**both[0], **both[1]})) as session:
            with pytest.raises(tf1.errors.InternalError, match="both set"):
                session.run("three:0")
        with pytest.warns(IgnoredOptionsWarning, match="2 entries"):
            run(graph, config(*both))
        assert npu.sessions[1].options == {"precision_mode": "force_fp16", "precision_mode_v2": "origin"}

    def test_reaches_accelerated_training(self, npu, graph, monkeypatch):
        """A precision that was left by another session keeps accelerated training from starting, as on the runtime."""
        monkeypatch.setenv("TOTAL_STEP", "10")
        monkeypatch.setenv("STEP_NOW", "0")
        accelerated = config(experimental_accelerate_train_mode=("s", b"fast|step|0.9"))
        run(graph, accelerated)
        run(graph, config(precision_mode=("s", b"force_fp16")))
        with tf1.Session(graph=graph, config=accelerated) as session:
            with pytest.raises(tf1.errors.InternalError, match="force_fp16"):
                session.run("three:0")

    def test_one_device_id_for_the_process(self, npu, graph):
        """The newest session's session_device_id takes the place of another's that is still running."""
        with tf1.Session(graph=graph, config=config(session_device_id=("i", 1))) as first:
            first.run("three:0")
            run(graph, config(session_device_id=("i", 2)))
            assert RUNTIME.session_device == 2
            run(graph, config())
            assert RUNTIME.session_device == -1
        assert details(npu, "leak") == [
            "session_device_id is one value in the process: after 1 it is 2",
            "session_device_id is one value in the process: after 2 there is none",
        ]

    def test_a_new_process_has_none(self, npu, graph):
        """A reset is a new process."""
        run(graph, config(precision_mode=("s", b"force_fp16")))
        RUNTIME.reset()
        run(graph, config())
        assert details(npu, "leak") == []


class TestDevices:
    def test_touched_besides(self, npu, graph, monkeypatch):
        """A session on a device that the environment does not name has another device initialised besides."""
        for name in ("ASCEND_DEVICE_ID", "DEVICE_ID"):
            monkeypatch.delenv(name, raising=False)
        run(graph, config(session_device_id=("i", 3)))
        assert details(npu, "initialize") == ["device 0"]
        assert details(npu, "device") == ["runs on 3; 0 is initialised besides, since the environment names none"]

    def test_wraps_in_32_bits(self, npu, graph):
        """An id of more than 32 bits is cut to them, in silence."""
        with pytest.warns(IgnoredOptionsWarning, match="session_device_id"):
            run(graph, config(session_device_id=("i", 2**32 + 1)))
        assert npu.sessions[0].device == 1

    @pytest.mark.fake_npu(devices=4)
    def test_out_of_range(self, npu, graph, monkeypatch):
        """A session on a device that the host does not have fails; where the environment names it, the process dies."""
        with tf1.Session(graph=graph, config=config(session_device_id=("i", 4))) as session:
            with pytest.raises(tf1.errors.InternalError, match="no device 4: the emulated host has 4, from 0"):
                session.run("three:0")
        monkeypatch.setenv("ASCEND_DEVICE_ID", "4")
        RUNTIME.finalize("test")
        with tf1.Session(graph=graph) as session, pytest.raises(RuntimeError, match="abort here: there is no device 4"):
            session.run("three:0")

    def test_out_of_range_by_the_op(self, npu, graph, monkeypatch):
        """What fails in the initialize op comes out as it is, and not as an error of Python code in TensorFlow."""
        monkeypatch.setenv("ASCEND_DEVICE_ID", "99")
        with pytest.raises(RuntimeError, match="no device 99"):
            NpuSession.for_training(graph=graph, device=99).start()
        assert all(session.closed for session in npu.sessions)


def test_part_in_a_cluster_that_stays_on_the_cpu(npu, graph):
    """With job=ps nothing goes to the device, nor is anything initialised."""
    run(graph, config(job=("s", b"ps")))
    assert details(npu, "initialize") == []
