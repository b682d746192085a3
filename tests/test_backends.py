"""Choosing a backend, and binding the adapter that is installed."""

import pathlib

import pytest
from processes import run

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession.hccl import RankTable

ADAPTER = pathlib.Path(__file__).parent / "adapter"

PLAIN = """
import tensorflow as tf
from npusession import *
graph = tf.Graph()
with graph.as_default():
    two = tf.constant(2)
"""

#: The adapter cannot be imported, whatever is installed on the host of the tests.
NONE = "sys.modules.update(npu_bridge=None, npu_device=None)\n"


def test_fake_with_a_warning():
    """Without an adapter sessions run on the CPU, and one warning says so and how to mean it."""
    code, output, errors = run(
        NONE
        + PLAIN
        + """
warnings.simplefilter("always", FakeBackendWarning)
for _ in range(2):
    with NpuSession.for_training(graph=graph) as s:
        print(s.backend.name, s.run(two))
""",
        session=False,
    )
    assert (code, output) == (0, "fake 2\nfake 2\n"), errors
    assert errors.count("FakeBackendWarning") == 1
    assert "NPUSESSION_BACKEND=fake" in errors
    assert "npu_bridge" in errors


def test_fake_by_choice():
    """A fake that was asked for, by argument or variable, gives no warning."""
    body = PLAIN + "warnings.simplefilter('error', FakeBackendWarning)\n"
    by_argument = body + "print(NpuSession.for_training(graph=graph, backend='fake').start().backend.name)"
    by_variable = body + "print(NpuSession.for_training(graph=graph).start().backend.name)"
    assert run(by_argument, session=False)[1] == "fake\n"
    assert run(by_variable, session=False, NPUSESSION_BACKEND="fake")[1] == "fake\n"


def test_npu_that_is_not_there():
    """Asking for the NPU where there is none lists every attempt and its cause."""
    code, output, _ = run(
        NONE
        + PLAIN
        + """
try:
    NpuSession.for_training(graph=graph, backend="npu").start()
except BackendError as error:
    print(error)
""",
        session=False,
    )
    assert code == 0
    assert "npu_bridge.npu_init with hccl.manage.api: ModuleNotFoundError" in output
    assert "npu_device.compat.v1.npu_init after enable_v1: ModuleNotFoundError" in output
    assert "set_env.sh" in output


def test_broken_adapter(tmp_path):
    """An adapter whose native library does not load is reported with all that it says, and the fake takes over."""
    (tmp_path / "npu_bridge").mkdir()
    (tmp_path / "npu_bridge" / "__init__.py").write_text("from npu_bridge.helper import handle\n")
    # As the adapter does it: what fails is printed, and what is missing then is the error.
    (tmp_path / "npu_bridge" / "helper.py").write_text("print('libge_runner.so: cannot open shared object file')\n")
    code, output, errors = run(
        PLAIN
        + """
warnings.simplefilter("always", FakeBackendWarning)
with NpuSession.for_training(graph=graph) as s:
    print(s.backend.name)
""",
        session=False,
        path=[tmp_path],
    )
    assert (code, output.splitlines()) == (0, ["libge_runner.so: cannot open shared object file", "fake"]), errors
    assert "ImportError: cannot import name 'handle'" in errors
    assert "it printed: libge_runner.so: cannot open shared object file" in errors


def test_unknown_backend():
    """A misspelt backend is refused when the plan is made, or when the variable is read."""
    from npusession import NpuSession

    with pytest.raises(ValueError, match="'npu' and 'fake'"):
        NpuSession.for_training(backend="gpu")
    code, _, errors = run(PLAIN + "NpuSession.for_training(graph=graph).start()", session=False, NPUSESSION_BACKEND="x")
    assert code == 1
    assert "NPUSESSION_BACKEND" in errors


def test_installed_adapter():
    """With an adapter installed the same code drives it: open, run, close, again, a second device, a failing body."""
    code, output, errors = run(
        PLAIN
        + """
plan = NpuSession.for_training(graph=graph, device=0)
for _ in range(2):
    with plan as s:
        print(s.backend.name, s.backend.version, s.run(two), s.rank_id, s.rank_size, flush=True)
with plan, plan.replace(device=1) as s:
    print(s.run(two), flush=True)
try:
    with plan as s:
        raise ValueError("body")
except ValueError as error:
    print(error, s.closed, flush=True)
s = plan.start()
""",
        session=False,
        path=[ADAPTER],
    )
    assert code == 0, errors
    assert output.splitlines() == ["npu 1.15.0-standin 2 0 1"] * 2 + ["2", "body True"]
    life = [line for line in errors.splitlines() if line in ("initialize", "shutdown", "adapter closes the device")]
    # Also at exit our shutdown comes before the adapter's own handler.
    assert life == ["initialize", "shutdown"] * 5 + ["adapter closes the device"]


RANKS = (
    PLAIN
    + """
try:
    with NpuSession.for_training(graph=graph) as s:
        print(s.rank_id, s.rank_size)
    print(s.rank_id, s.local_rank_id, s.local_rank_size, s.closed)
except Exception as error:
    print(type(error).__name__, error)
"""
)


@pytest.fixture
def rank_of_eight(tmp_path):
    """The environment of rank 3 on a server of eight."""
    path = RankTable.single_server("0-7", device_ips={}).write(tmp_path / "rank_table.json")
    return {"RANK_TABLE_FILE": path, "RANK_ID": "3", "RANK_SIZE": "8", "ASCEND_DEVICE_ID": "3"}


def test_ranks_of_an_installed_adapter(rank_of_eight):
    """In a cluster the adapter is asked once, right after initialisation; its answers outlive the session."""
    code, output, errors = run(RANKS, session=False, path=[ADAPTER], **rank_of_eight)
    assert (code, output) == (0, "3 8\n3 3 8 True\n"), errors


def test_no_ranks_of_an_installed_adapter(rank_of_eight):
    """Where the adapter has no answer, the session does not open, and the error says what described the cluster."""
    del rank_of_eight["RANK_SIZE"]
    code, output, errors = run(RANKS, session=False, path=[ADAPTER], **rank_of_eight)
    assert code == 0, errors
    assert output.startswith("NotInitializedError HCCL does not answer after initialisation")
    assert "rank table describes 8 ranks" in output
    assert "shutdown" in errors.splitlines()


def test_other_ranks_than_described(rank_of_eight):
    """Where HCCL counts other ranks than the rank table, the session does not open."""
    body = "from hccl.manage import api\napi.get_rank_id = lambda: 4\n" + RANKS
    code, output, errors = run(body, session=False, path=[ADAPTER], **rank_of_eight)
    assert code == 0, errors
    assert output.startswith("ClusterError ")
    assert "HCCL answers 4, and rank table says 3" in output
    assert "shutdown" in errors.splitlines()


def test_contract_on_an_installed_adapter():
    """The contract suite passes on an adapter as it is installed, not only on the emulation."""
    suite = str(ADAPTER.parent / "contract")
    code, output, errors = run(
        f"import pytest\nsys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {suite!r}]))",
        session=False,
        path=[ADAPTER],
        NPUSESSION_BACKEND="npu",
    )
    assert code == 0, output + errors
