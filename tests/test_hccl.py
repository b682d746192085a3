"""HCCL from a script's point of view: initialised, asked, grouped, shut down."""

import json
import os

import pytest
from processes import run

tensorflow = pytest.importorskip("tensorflow", reason="initialisation is an op of TensorFlow")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from npusession import NotInitializedError, NpuSession, OptionsError, OptionsWarning, System, hccl  # noqa: E402
from npusession._placement import Placement  # noqa: E402
from npusession.backends.fake import groups  # noqa: E402
from npusession.hccl import Cluster, ClusterError, RankTable  # noqa: E402
from npusession.hccl.process_groups import _check_training_series  # noqa: E402
from npusession.system import runtime  # noqa: E402
from npusession.testing import FakeNpu  # noqa: E402

tf1 = tensorflow.compat.v1
QUERIES = (hccl.rank, hccl.size, hccl.local_rank, hccl.local_size)


@pytest.fixture
def npu():
    """The emulation, as in a new process."""
    with FakeNpu() as npu:
        yield npu
        hccl.shutdown()


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The emulation, in a job of one rank with a rank table."""
    path = RankTable.single_server("0", device_ips={}).write(tmp_path / "rank_table.json")
    for name, value in {"RANK_TABLE_FILE": path, "RANK_ID": "0", "RANK_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    with FakeNpu() as npu:
        yield npu
        hccl.shutdown()


def places():
    return [query() for query in QUERIES]


def test_before_initialisation(npu):
    """Before initialisation nobody is 0 of 1: each query is an error that shows how to initialise."""
    assert not hccl.is_initialized()
    for query in QUERIES:
        with pytest.raises(NotInitializedError) as caught:
            query()
        assert f"hccl.{query.__name__}() needs HCCL" in str(caught.value)
        assert "with hccl.init(NpuSession.for_training())" in str(caught.value)


def test_as_a_context_manager(told):
    """Within init() ranks are known, and after it they still are; the runtime is shut down."""
    with hccl.init(NpuSession.for_training()):
        assert hccl.is_initialized()
        assert places() == [0, 1, 0, 1]
    assert not hccl.is_initialized()
    assert places() == [0, 1, 0, 1]
    told.assert_clean_exit()


def test_as_functions(told):
    """init() and shutdown() do the same without a with statement; each may be called again."""
    for _ in range(2):
        hccl.init()
        hccl.init()
        assert places() == [0, 1, 0, 1]
        hccl.shutdown()
        hccl.shutdown()
        assert not hccl.is_initialized()
    told.assert_clean_exit()


def test_no_plan(told):
    """What is no plan is refused, and nothing starts."""
    with pytest.raises(TypeError, match="is an NpuSession"):
        hccl.init(0)
    assert not told.events


def test_within_a_session(told):
    """A session initialises HCCL itself, and its ranks outlive it."""
    with NpuSession.for_training() as s:
        assert hccl.is_initialized()
        assert places() == [s.rank_id, s.rank_size, s.local_rank_id, s.local_rank_size] == [0, 1, 0, 1]
    assert not hccl.is_initialized()
    assert (s.rank_id, s.rank_size, s.local_rank_id, s.local_rank_size) == (0, 1, 0, 1)


def test_sessions_of_others(told):
    """init() lets go of its own hold only: a session that is open goes on."""
    with NpuSession.for_training(graph=tensorflow.Graph()) as s:
        with hccl.init(NpuSession.for_training()):
            pass
        hccl.shutdown()
        assert hccl.is_initialized()
        with s.graph.as_default():
            assert s.run(tf1.constant(2)) == 2


def test_failing_body(told):
    """What the body raises comes out, and HCCL is shut down."""
    with pytest.raises(KeyboardInterrupt), hccl.init():
        raise KeyboardInterrupt
    told.assert_clean_exit()


def test_failing_initialisation(told):
    """When initialisation fails nothing is left, and ranks are not known."""
    told.fail("initialize", RuntimeError("no device"))
    with pytest.raises(RuntimeError, match="no device"):
        hccl.init()
    assert not hccl.is_initialized()
    with pytest.raises(NotInitializedError):
        hccl.rank()
    told.assert_clean_exit()


def test_failing_shutdown(told):
    """When shutting down fails the error comes out, and the next initialisation works."""
    hccl.init()
    told.fail("shutdown", RuntimeError("stuck"))
    with pytest.raises(RuntimeError, match="stuck"):
        hccl.shutdown()
    with hccl.init():
        assert hccl.rank() == 0


def test_contradictions(told, monkeypatch):
    """A cluster that contradicts itself is told before anything starts, with what to change."""
    monkeypatch.setenv("RANK_SIZE", "8")
    monkeypatch.setenv("HCCL_CONNECT_TIMEOUT", "60")
    for start in (hccl.init, System(NpuSession.for_training()).start, NpuSession.for_training().ready):
        with pytest.raises(OptionsError) as caught:
            start()
        assert "export RANK_SIZE=1" in str(caught.value)
        assert "export HCCL_CONNECT_TIMEOUT=120" in str(caught.value)
    assert not told.events


SLURM = {"SLURM_PROCID": "2", "SLURM_NTASKS": "8", "SLURM_LOCALID": "2"}


def test_started_by_slurm_alone(npu, monkeypatch):
    """Slurm's variables tell HCCL nothing: init() is an error that says so, and a session by itself warns."""
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClusterError, match="HCCL is told nothing"):
        hccl.init()
    with pytest.warns(OptionsWarning, match="NPU454"), NpuSession.for_training() as s:
        assert (s.rank_id, s.rank_size) == (0, 1)


def test_evaluator_alone(told, monkeypatch):
    """An evaluator takes no part in HCCL, and is rank 0 of 1 where the job has no other rank."""
    monkeypatch.setenv("TF_CONFIG", json.dumps({"task": {"type": "evaluator", "index": 0}}))
    with hccl.init():
        assert places() == [0, 1, 0, 1]


def test_in_a_fork(tmp_path):
    """A fork knows its parent's rank, and that HCCL is not initialised in it."""
    body = """
import os
from npusession import NpuSession, hccl, NotInitializedError
with hccl.init(NpuSession.for_training(backend="fake")):
    if not os.fork():
        print(hccl.rank(), hccl.size(), hccl.is_initialized(), flush=True)
        try:
            hccl.allreduce([1.0])
        except NotInitializedError as error:
            print("refused", flush=True)
        os._exit(0)
    os.wait()
    print(hccl.is_initialized())
"""
    code, output, errors = run(body, session=False)
    assert (code, output) == (0, "0 1 False\nrefused\nTrue\n"), errors


def test_forgotten(tmp_path):
    """A program that never shuts down ends in order, its error and exit code unchanged."""
    body = """
from npusession import NpuSession, hccl
hccl.init(NpuSession.for_training(backend="fake"))
raise SystemExit(3)
"""
    code, _, errors = run(body, session=False)
    assert code == 3, errors


def test_group(told):
    """A group has ranks of its own, HCCL knows it, and it ends with its block."""
    with hccl.init():
        with hccl.group("all", ranks=[0]) as everybody:
            assert (everybody.name, everybody.ranks, everybody.size) == ("all", (0,), 1)
            assert (everybody.rank, everybody.local_rank, everybody.local_size) == (0, 0, 1)
            assert groups.members("all") == (0,)
        with pytest.raises(ValueError, match="no group 'all'"):
            groups.members("all")
        with pytest.raises(ValueError, match="any more"), tensorflow.Graph().as_default():
            hccl.allreduce([1.0], group=everybody)
        with hccl.group("all", ranks=[0]) as again, tensorflow.Graph().as_default():
            assert again.size == 1
            hccl.allreduce([1.0], group=again)


def test_group_of_a_process_alone(npu):
    """Without a cluster HCCL is not asked for a group, and one of a single rank is there all the same."""
    with hccl.init(), hccl.group("all", ranks=range(1)) as everybody:
        assert (everybody.rank, everybody.size) == (0, 1)
        with pytest.raises(ValueError, match="no group"):
            groups.members("all")


NAMES = {"": ValueError, "x" * 128: ValueError, "\u96c6" * 43: ValueError, "hccl_world_group": ValueError, 3: TypeError}


@pytest.mark.parametrize(("name", "error"), NAMES.items(), ids=["empty", "long", "long in bytes", "world", "number"])
def test_names_of_groups(told, name, error):
    """A name that HCCL does not take is refused."""
    with hccl.init(), pytest.raises(error, match=r"127|all ranks|text"), hccl.group(name, [0]):
        pass
    with hccl.init(), hccl.group("x" * 127, [0]) as longest:
        assert longest.size == 1


MEMBERS = {
    "none": ([], ValueError, "at least one"),
    "twice": ([0, 0], ValueError, r"\[0\] are there more than once"),
    "beyond": ([0, 1], ValueError, "no rank 1, only 0 to 0"),
    "negative": ([-1, 0], ValueError, "no rank -1"),
    "text": ("0", TypeError, "no list"),
    "number": (0, TypeError, "no list"),
    "float": ([0.0], TypeError, "whole number"),
    "bool": ([False], TypeError, "whole number"),
}


@pytest.mark.parametrize(("ranks", "error", "message"), MEMBERS.values(), ids=MEMBERS)
def test_ranks_of_groups(told, ranks, error, message):
    """Ranks that HCCL does not take are refused, and the name stays free."""
    with hccl.init():
        with pytest.raises(error, match=message), hccl.group("g", ranks):
            pass
        with hccl.group("g", [0]):
            pass


def test_name_of_a_group_twice(told):
    """Two groups of one name at once are refused; the first one is not harmed."""
    with hccl.init(), hccl.group("g", [0]):
        with pytest.raises(ValueError, match="already"), hccl.group("g", [0]):
            pass
        assert groups.members("g") == (0,)


def test_not_in_a_group(told):
    """A rank that is not in the group is told how to leave it out."""
    with hccl.init() as system:
        runtime.placement = Placement(2, 4, 2, 4, hccl=True, cluster=runtime.placement.cluster)
        with pytest.raises(ValueError, match=r"if hccl.rank\(\) in \(0, 1\)"), hccl.group("g", [0, 1]):
            pass
        system.stop()


@pytest.mark.parametrize(
    ("devices", "ranks", "message"),
    [
        ([range(8)], [0, 1, 2], "1, 2, 4 or 8"),
        ([range(8)], [3, 4], "0-3 or within 4-7"),
        ([range(8)], [0, 1, 2, 3], ""),
        ([range(8)], range(8), ""),
        ([range(8), range(8)], [1, 9], ""),
        ([range(8), range(8)], [1, 2, 9], "as many as the others"),
        ([range(4, 8), range(4)], [0, 1, 4, 5], ""),
        ([range(8)] * 3, [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23], ""),
    ],
)
@pytest.mark.parametrize("described", [True, False], ids=["rank table", "chief"])
def test_groups_on_the_training_series(devices, ranks, message, described):
    """On the Atlas training series the devices of a group keep to its networks, by the table or else by rank."""
    hosts = {f"node_{n}": {d: f"192.0.2.{8 * n + d + 1}" for d in ids} for n, ids in enumerate(devices)}
    table = RankTable.from_hosts(hosts)
    if not described and any(len(ids) != 8 for ids in devices):
        pytest.skip("counted by eights")
    cluster = Cluster.from_table(table, "") if described else Cluster(hccl.Source.CHIEF, None, table.size)
    placement = Placement(0, table.size, 0, 1, hccl=True, cluster=cluster)
    if message:
        with pytest.raises(ValueError, match=message):
            _check_training_series(list(ranks), placement)
    else:
        _check_training_series(list(ranks), placement)


def test_group_over_sessions(told):
    """A group is there again after the runtime finalised by itself with the last session."""
    with hccl.init(), hccl.group("g", [0]) as g, tensorflow.Graph().as_default() as graph:
        total = hccl.allreduce([1.0], group=g)
        for _ in range(2):
            with NpuSession.for_training(graph=graph) as s:
                assert s.run(total).tolist() == [1.0]
                assert groups.members("g") == (0,)


def test_group_after_the_runtime(told):
    """A group whose runtime has gone ends without an error, and is not there in the next one."""
    hccl.init()
    with hccl.group("g", [0]):
        hccl.shutdown()
    hccl.init()
    with hccl.group("g", [0]):
        hccl.shutdown()
        hccl.init()
        with pytest.raises(ValueError, match="no group"):
            groups.members("g")


def test_failing_in_a_group(told):
    """What fails in a group comes out, even when the group cannot be destroyed either."""

    def stuck(group):
        raise RuntimeError("stuck")

    with hccl.init(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "destroy_group", stuck)
        with pytest.raises(KeyError, match="body"), hccl.group("g", [0]):
            raise KeyError("body")
        with pytest.raises(RuntimeError, match="stuck"), hccl.group("h", [0]):
            pass


def test_splits(told):
    """Gradients are split as HCCL is told."""
    with hccl.init():
        hccl.split_by_index([20, 100, 159])
        assert groups.splits()["hccl_world_group"] == ("index", (20, 100, 159))
        hccl.split_by_size((60, 20.5, 19.5))
        assert groups.splits()["hccl_world_group"] == ("size", (60, 20.5, 19.5))
        with hccl.group("g", [0]) as g:
            hccl.split_by_index(range(1, 3), group=g)
            assert groups.splits()["g"] == ("index", (1, 2))


INDICES = {
    "none": ([], ValueError),
    "equal": ([1, 1], ValueError),
    "falling": ([2, 1], ValueError),
    "negative": ([-1], ValueError),
    "large": ([2**32], ValueError),
    "float": ([1.0], TypeError),
    "bool": ([True], TypeError),
    "text": ("12", TypeError),
}


@pytest.mark.parametrize(("indices", "error"), INDICES.values(), ids=INDICES)
def test_wrong_indices(told, indices, error):
    """Indices that do not rise within 32 bits are refused, and HCCL keeps what it had."""
    with hccl.init():
        hccl.split_by_index([0, 2**32 - 1])
        with pytest.raises(error):
            hccl.split_by_index(indices)
        assert groups.splits()["hccl_world_group"] == ("index", (0, 2**32 - 1))


SHARES = {
    "none": ([], ValueError),
    "short": ([60, 39], ValueError),
    "long": ([60, 41], ValueError),
    "negative": ([110, -10], ValueError),
    "endless": ([float("inf")], ValueError),
    "nan": ([float("nan"), 100], ValueError),
    "text": (["100"], TypeError),
    "bool": ([True, 99], TypeError),
}


@pytest.mark.parametrize(("shares", "error"), SHARES.values(), ids=SHARES)
def test_wrong_shares(told, shares, error):
    """Percentages that do not sum to 100 are refused."""
    with hccl.init():
        hccl.split_by_size([0, 100])
        with pytest.raises(error):
            hccl.split_by_size(shares)
        assert groups.splits()["hccl_world_group"] == ("size", (0, 100))


@given(st.lists(st.one_of(st.integers(-2, 2**33), st.floats(), st.booleans(), st.text()), max_size=4))
def test_any_indices(values):
    """Whatever is given as indices is either rising numbers of 32 bits or refused, never an accident."""
    fine = bool(values) and all(type(value) is int and 0 <= value < 2**32 for value in values)
    fine = fine and sorted(set(values)) == values
    runtime.placement = None
    # Without HCCL what is right is refused later, for that reason.
    with pytest.raises(NotInitializedError if fine else (TypeError, ValueError)):
        hccl.split_by_index(values)


def test_environment_is_kept(told):
    """The whole way leaves the environment as it was."""
    before = dict(os.environ)
    with hccl.init(NpuSession.for_training(device=0)), hccl.group("g", [0]):
        assert hccl.rank() == 0
    assert dict(os.environ) == before
