"""Runs that do without Session.run, as the emulation sees them."""

import pytest
from processes import run as run_program

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")

from npusession import Dump, NpuSession, Profiling  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        tf1.identity(tf1.placeholder(tf1.float32, (2, None), name="x") * 2.0, name="double")
        tf1.constant([1, 2], name="constant")
    return graph


def test_emulation_sees_each_run(graph):
    """Events, a failing device and the life cycle hold for prepared runs as for any."""
    RUNTIME.reset()
    with NpuSession.for_training(graph=graph, backend="fake") as s:
        step = s.prepare("constant:0")
        step()
        step()
        RUNTIME.fail("run", tf1.errors.InternalError(None, None, "the device is gone"))
        with pytest.raises(tf1.errors.InternalError, match="the device is gone"):
            step()
        made = s.make_callable("constant:0")
        made()
        fed = s.make_callable("double:0", ["x:0"])
        fed([[1], [1]])
    assert [event.detail for event in RUNTIME.events if event.name == "run"] == ["0", "1", "2", "3"]


def test_dump(graph, tmp_path):
    """The tensors of prepared runs are dumped, each run under its own index."""
    plan = NpuSession.for_training(graph=graph, backend="fake", dump=Dump(str(tmp_path), steps="1"))
    with plan as s:
        step = s.prepare("double:0", "x:0")
        for number in range(3):
            assert step([[number], [0]])[0] == 2 * number
        # The callable of TensorFlow, too.
        call = s.make_callable("constant:0")
        call()
        call()
    dumped = sorted(tmp_path.rglob("*double*"))
    assert [path.parent.name for path in dumped] == ["1"]
    with numpy.load(str(dumped[0])) as arrays:
        assert arrays["output_0"].tolist() == [[2.0], [0.0]]
    assert len(list(tmp_path.rglob("*constant*"))) == 1


def test_profile(graph, tmp_path):
    """Prepared runs are in the profile."""
    plan = NpuSession.for_training(graph=graph, backend="fake", profiling=Profiling(output=str(tmp_path)))
    with plan as s:
        s.prepare("double:0", "x:0")([[1], [1]])
    (timeline,) = tmp_path.rglob("msprof_*.json")
    assert "double" in timeline.read_text("utf-8")


def test_fork():
    """A step of the parent's session cannot be used in a fork, and the parent goes on."""
    body = """
s = plan.start()
step = s.prepare(two)
assert step() == 2
pid = os.fork()
if pid == 0:
    try:
        step()
    except ForkedError:
        os._exit(7)
    os._exit(1)
assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 7
assert step() == 2
print("went on")
s.stop()
"""
    code, output, errors = run_program(body)
    assert (code, output.strip()) == (0, "went on"), errors
