"""The public test helpers: the emulation under a test's control, and guards against what is left behind."""

import os
import tempfile
import threading
import time

import pytest
from processes import run

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    Dump,
    IgnoredOptionsWarning,
    LifecycleError,
    NpuAbortError,
    NpuSession,
    OptionsError,
    Product,
    Profiling,
    System,
    backends,
    testing,
)
from npusession.backends.fake import sessions  # noqa: E402
from npusession.backends.fake.runtime import MAX_EVENTS, RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (), name="x")
        tf1.multiply(tf1.add(x, 1.0, name="layer/more"), 2.0, name="twice")
        tf1.constant(3.0, name="three")
    return graph


@pytest.fixture
def plan(graph):
    """A plan that names no backend: the fixture decides."""
    return NpuSession.for_training(graph=graph)


@pytest.fixture
def plain():
    """TensorFlow as it is where nothing loaded a backend."""
    installed = sessions.installed()
    sessions.uninstall()
    backends.unload("fake")
    yield
    if installed:
        backends.load("fake")


def names(npu):
    return [event.name for event in npu.events]


class TestFakeNpu:
    def test_sessions_run_on_the_fake(self, fake_npu, plan):
        """Inside a test every session runs on the emulation, and is seen with its options and its line."""
        with plan.replace(device=3, deterministic=1) as s:
            assert s.backend.name == "fake"
            assert s.run("three:0") == 3.0
            assert not fake_npu.sessions[1].closed
        first, second = fake_npu.sessions
        assert names(fake_npu)[:3] == ["open", "initialize", "open"]
        assert (first.runs, second.runs) == (0, 1)
        assert second.closed
        assert second.device == 3
        assert second.options == {"session_device_id": 3, "deterministic": 1}
        assert second.site.startswith(f"{__file__}:")

    def test_bare_sessions_too(self, fake_npu, graph):
        """Sessions of scripts that know nothing of npusession are the emulation's as well."""
        with tf1.Session(graph=graph) as session:
            session.run("three:0")
        assert names(fake_npu) == ["open", "initialize", "run", "close", "finalize"]

    @pytest.mark.fake_npu(devices=2, product="A2", strict=True)
    def test_settings(self, fake_npu, graph):
        """The marker's keywords are the settings of the emulated host."""
        assert RUNTIME.settings.devices == 2
        assert RUNTIME.settings.product is Product.ATLAS_A2
        with tf1.Session(graph=graph, config=config(no_such_option=("s", b"x"))) as session:
            with pytest.raises(OptionsError, match="no_such_option"):
                session.run("three:0")
        fake_npu.configure(strict=False)
        with tf1.Session(graph=graph, config=config(session_device_id=("i", 2))) as session:
            with pytest.raises(tf1.errors.InternalError, match="has 2, from 0"):
                session.run("three:0")

    def test_wrong_setting(self, plain):
        """A setting that is none is an error, and nothing is changed by it."""
        before = dict(os.environ)
        with pytest.raises(TypeError, match="decives"), testing.FakeNpu(decives=2):
            pytest.fail("the body must not run")
        assert dict(os.environ) == before
        assert not sessions.installed()

    def test_fresh(self, plan):
        """Each time the emulation starts with a runtime that never ran, on a host of its own."""
        hosts = set()
        for _ in range(2):
            with testing.FakeNpu() as npu:
                assert npu.events == npu.sessions == ()
                hosts.add(os.environ["NPUSESSION_FAKE_HOST"])
                with plan as s:
                    s.run("three:0")
        assert len(hosts) == 2
        assert (len(RUNTIME.events), len(RUNTIME.sessions)) == (0, 0)

    def test_long_trainings(self, plan, fake_npu):
        """However many runs a training makes, the events before them are kept."""
        with plan as s:
            s.run("three:0")
            for _ in range(MAX_EVENTS):
                RUNTIME.record("run", 2)
        names = [event.name for event in fake_npu.events if event.name != "run"]
        assert names[:2] == ["open", "initialize"]
        assert names[-1] == "close"
        assert [event.name for event in fake_npu.events[:2]] == ["open", "initialize"]

    def test_nothing_stays(self, plain, graph):
        """After the test TensorFlow's sessions are plain ones again, and the environment is as before."""
        before, own = dict(os.environ), tf1.Session.__init__
        with testing.FakeNpu():
            assert tf1.Session.__init__ is not own
        assert tf1.Session.__init__ is own
        assert dict(os.environ) == before
        with tf1.Session(graph=graph) as session:
            session.run("three:0")
        assert not testing.FakeNpu().events

    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_leftovers_are_closed(self, plan):
        """What a test leaves open is closed, so that the next one is not disturbed."""
        with testing.FakeNpu():
            s = plan.start()
        assert s.closed
        assert not RUNTIME.initialized

    def test_not_under_open_sessions(self, fake_npu, plan):
        """An emulation is not made fresh under a session that is open; the error names its line."""
        with plan, pytest.raises(LifecycleError, match=__file__), testing.FakeNpu():
            pytest.fail("the body must not run")

    def test_dumps(self, fake_npu, plan, tmp_path):
        """Dumped files are found without knowing the directories that they lie in; what was there before is none."""
        (tmp_path / "before").write_text("")
        with plan.replace(dump=Dump(tmp_path)) as s:
            s.run("three:0")
        assert [path.name.split(".")[:2] for path in fake_npu.dumps] == [["Const", "three"]]

    def test_profiles(self, fake_npu, plan, tmp_path):
        """The directories of profiles are known."""
        with plan.replace(profiling=Profiling(output=tmp_path, training_trace=True)) as s:
            s.run("three:0")
        (profile,) = fake_npu.profiles
        assert profile.parent == tmp_path
        assert (profile / "mindstudio_profiler_output").is_dir()

    def test_precision_timeline(self, fake_npu, plan):
        """The timeline tells from which run on which precision held."""
        with plan.replace(accelerate=AcceleratedTraining.by_step(10, fraction=0.5)) as s:
            number = fake_npu.sessions[-1].number
            for _ in s.steps(progress=False):
                s.run("three:0")
        assert fake_npu.precision_timeline == ((number, 0, "allow_mix_precision_fp16"), (number, 5, "original"))


def config(**parameters):
    """A ConfigProto as scripts write it; values are (field, value)."""
    proto = tf1.ConfigProto()
    rewrite = proto.graph_options.rewrite_options
    rewrite.remapping = rewrite.memory_optimization = rewrite.OFF
    entry = rewrite.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    for name, (field, value) in parameters.items():
        setattr(entry.parameter_map[name], field, value)
    return proto


class TestFaults:
    @pytest.mark.parametrize("at", ["initialize", "session", "run", "close", "shutdown"])
    def test_at_a_moment(self, fake_npu, plan, at):
        """A planted error comes out of the moment that it was planted at, and everything is cleaned up."""
        error = RuntimeError("planted")
        fake_npu.fail(at=at, error=error)
        with pytest.raises(RuntimeError) as caught, plan as s:
            s.run("three:0")
        assert caught.value is error
        fake_npu.assert_clean_exit()

    @pytest.mark.parametrize(
        ("at", "kind"), [("run", tf1.errors.InternalError), ("initialize", NpuAbortError)], ids=["run", "initialize"]
    )
    def test_default_error(self, fake_npu, plan, at, kind):
        """Without an error it is the one that the runtime fails with, and names the plant."""
        fake_npu.fail(at=at)
        with pytest.raises(kind, match=f"planted at '{at}'"), plan as s:
            s.run("three:0")

    def test_class_of_errors(self, fake_npu, plan):
        """A class of exceptions is enough."""
        fake_npu.fail(at="run", error=MemoryError)
        with pytest.raises(MemoryError, match="planted"), plan as s:
            s.run("three:0")

    def test_after(self, fake_npu, plan):
        """A fault lets as many runs pass as it is told to, and comes once."""
        fake_npu.fail(at="run", after=2)
        with plan as s:
            assert s.run("three:0") == s.run("three:0") == 3.0
            with pytest.raises(tf1.errors.InternalError):
                s.run("three:0")
            assert s.run("three:0") == 3.0

    @pytest.mark.parametrize("fetch", ["twice:0", "layer/more:0", ["three:0", {"a": "twice"}]], ids=str)
    def test_at_an_op(self, fake_npu, plan, fetch):
        """A fault at an op comes with a run that needs the op, however it is fetched, and with no other."""
        fake_npu.fail(at="layer/more")
        with plan as s:
            assert s.run("three:0") == 3.0
            assert s.run("twice:0", {"layer/more:0": 4.0}) == 8.0
            with pytest.raises(tf1.errors.InternalError, match="layer/more"):
                s.run(fetch, {"x:0": 1.0})
            assert s.run("twice:0", {"x:0": 1.0}) == 4.0

    def test_at_an_op_of_a_callable(self, fake_npu, plan):
        """Callables that were made of the session meet the faults too."""
        with plan as s:
            call = s.make_callable({"result": "twice:0"} if hasattr(tf1, "nest") else "twice:0", ["x:0"])
            assert call(1.0)["result"] == 4.0
            fake_npu.fail(at="layer/more")
            with pytest.raises(tf1.errors.InternalError, match="layer/more"):
                call(1.0)

    def test_hang(self, fake_npu, plan):
        """A hang takes its time, once."""
        fake_npu.hang("run", 0.2)
        with plan as s:
            before = time.monotonic()
            s.run("three:0")
            assert time.monotonic() - before >= 0.2

    def test_hang_longer_than_the_timeout(self, fake_npu, graph):
        """A run that hangs longer than graph_exec_timeout fails when that is over, not later."""
        fake_npu.hang("three", 3600)
        with tf1.Session(graph=graph, config=config(graph_exec_timeout=("i", 50))) as session:
            with pytest.raises(tf1.errors.InternalError, match="graph_exec_timeout"):
                session.run("three:0")

    def test_never_reached(self):
        """A fault whose moment never came is an error: the test did not test what it says."""
        with pytest.raises(AssertionError, match=r"never reached: fail\(at='lyaer/more'\), 2 more"):
            with testing.FakeNpu() as npu:
                npu.fail(at="lyaer/more", after=2)

    def test_never_reached_after_a_failure(self):
        """It does not cover up the body's own failure."""
        with pytest.raises(KeyError), testing.FakeNpu() as npu:
            npu.hang("run", 1)
            raise KeyError("body")

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda npu: npu.fail(at=""), ValueError, "initialize, session, run, shutdown, close"),
            (lambda npu: npu.fail(at=None), ValueError, "None"),
            (lambda npu: npu.fail(at="run", after=-1), ValueError, "-1"),
            (lambda npu: npu.fail(at="run", error="no"), TypeError, "'no'"),
            (lambda npu: npu.hang("run", 0), ValueError, "seconds=0"),
        ],
    )
    def test_refused(self, fake_npu, call, error, message):
        """A fault that cannot be planted is refused at once."""
        with pytest.raises(error, match=message):
            call(fake_npu)


class TestCleanExit:
    def test_clean(self, fake_npu, plan):
        """A session in a `with` block leaves nothing."""
        with plan as s:
            s.run("three:0")
        fake_npu.assert_clean_exit()

    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_open_session(self, fake_npu, plan):
        """A session that was left open is named with the line that opened it, and so is the system."""
        s = plan.start()
        with pytest.raises(AssertionError, match="not clean") as caught:
            fake_npu.assert_clean_exit()
        lines = str(caught.value).splitlines()
        assert "the system is initialised, by session" in lines[1]
        assert sum(f"is open, made at {__file__}:" in line for line in lines) == 2
        s.close()
        fake_npu.assert_clean_exit()

    def test_open_bare_session(self, fake_npu, graph):
        """A bare session that was never closed is named too."""
        session = tf1.Session(graph=graph)
        session.run("three:0")
        with pytest.raises(AssertionError, match="is open, made at"):
            fake_npu.assert_clean_exit()
        session.close()

    def test_system_without_shutdown(self, fake_npu):
        """An initialisation that nobody took back is named."""
        system = System(NpuSession.for_training()).start()
        with pytest.raises(AssertionError, match="initialised"):
            fake_npu.assert_clean_exit()
        system.stop()

    def test_changed_environment(self, fake_npu, monkeypatch):
        """A variable that was changed is named, with its values."""
        monkeypatch.setenv("STEP_NOW", "3")
        with pytest.raises(AssertionError, match="STEP_NOW was added: '3'"):
            fake_npu.assert_clean_exit()


class TestGuards:
    def test_environment(self, monkeypatch):
        """Variables that were added, removed or changed are named."""
        monkeypatch.setenv("REMOVED", "1")
        monkeypatch.setenv("CHANGED", "1")
        with pytest.raises(AssertionError) as caught, testing.unchanged_environment():
            monkeypatch.delenv("REMOVED")
            monkeypatch.setenv("CHANGED", "2")
            monkeypatch.setenv("ADDED", "3")
        for words in ("REMOVED was removed", "CHANGED is '2', was '1'", "ADDED was added: '3'"):
            assert words in str(caught.value)

    def test_threads(self):
        """A thread that goes on is named; one that ends soon after is none of its business."""
        goes_on = threading.Event()
        with pytest.raises(AssertionError, match="reader"), testing.unchanged_threads():
            reader = threading.Thread(target=goes_on.wait, name="reader", daemon=True)
            reader.start()
        goes_on.set()
        reader.join()
        with testing.unchanged_threads():
            threading.Thread(target=time.sleep, args=(0.05,)).start()

    def test_files(self, tmp_path, monkeypatch):
        """Files in the working directory and temporary ones are named."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "was there").write_text("")
        with testing.unchanged_files():
            tempfile.TemporaryFile().close()
        with pytest.raises(AssertionError) as caught, testing.unchanged_files():
            (tmp_path / "kernel_meta").mkdir()
            tempfile.mkdtemp(prefix="left-")
        assert "kernel_meta" in str(caught.value)
        assert "left-" in str(caught.value)
        assert "was there" not in str(caught.value)

    def test_files_after_a_failure(self):
        """The body's own failure comes out, and temporary files go where they went before."""
        before = tempfile.gettempdir(), os.environ.get("TMPDIR")
        with pytest.raises(KeyError), testing.unchanged_files():
            raise KeyError("body")
        assert (tempfile.gettempdir(), os.environ.get("TMPDIR")) == before

    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_sessions(self, fake_npu, plan):
        """A session that was left open is named with its line; one from before is not."""
        with plan, testing.unchanged_sessions():
            pass
        with pytest.raises(AssertionError, match=__file__), testing.unchanged_sessions():
            s = plan.start()
        s.close()


def test_import_is_light():
    """Importing the helpers imports neither TensorFlow nor an adapter, importing the plugin not even npusession."""
    code, output, errors = run(
        """
import pytest
before = set(sys.modules)
import pytest_npusession
print(sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
import npusession.testing
print(sorted({"tensorflow", "npu_bridge", "numpy", "wrapt"} & set(sys.modules)))
""",
        session=False,
    )
    assert (code, output.splitlines()) == (0, ["['pytest_npusession']", "[]"]), errors


def test_warning_category():
    """The warning for what the runtime does in silence is public."""
    assert issubclass(IgnoredOptionsWarning, UserWarning)
