"""The emulated HCCL between ranks: every rank a member of one job, here in threads of one process."""

import concurrent.futures
import os
import signal
import socket
import sys
import time
import uuid

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from jobs import MARK, marked, until
from processes import start

from npusession.backends.fake.job import address, hub, member
from npusession.backends.fake.job.calls import Call
from npusession.backends.fake.job.member import Job, Member
from npusession.environment import FAKE_HUB, HUB_PROCESS
from npusession.errors import CollectiveError
from npusession.launch.processes import name

SIZE = 3
GROUP = "hccl_world_group"


@pytest.fixture(autouse=True)
def fresh_hub(monkeypatch):
    """Each test has a hub of its own, and its processes have a mark that this one bears only later."""
    monkeypatch.setenv(MARK, uuid.uuid4().hex)
    yield
    member.unserve()


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def together(size, work):
    """Run ``work(rank)`` on all ranks at once; gives what each returned or raised."""

    def guarded(rank):
        try:
            return work(rank)
        except CollectiveError as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(size) as pool:
        return list(pool.map(guarded, range(size)))


def job(rank, size, where):
    return Job((rank,), size, where, b"secret", rank == 0)


def joined(where, size=SIZE, timeout=20.0):
    return together(size, lambda rank: Member(job(rank, size, where), timeout))


@pytest.fixture
def members(port):
    ranks = joined(("127.0.0.1", port))
    yield ranks
    for each in reversed(ranks):
        each.leave()


def call(kind, name="op", members=range(SIZE), group=GROUP, own=(), graph=(), **options):
    return Call(kind, group, tuple(members), name, 0, tuple(sorted(options.items())), tuple(own), tuple(graph))


def arrays(rank, shape=(2, 3), dtype="float32"):
    return [np.arange(np.prod(shape), dtype=dtype).reshape(shape) + rank]


def totals(ranks):
    """Sum the ranks' numbers over all of them, and let them leave."""
    sums = together(SIZE, lambda r: ranks[r].call(call("allreduce", reduction="sum"), [np.array(r)], 20))
    for each in ranks:
        each.leave()
    return [int(total[0]) for total in sums]


def test_allreduce(members):
    """Every rank gets the sum over all ranks, and several tensors go in one call."""
    pair = together(SIZE, lambda r: members[r].call(call("allreduce", reduction="sum"), arrays(r) + arrays(-r), 20))
    for one, other in pair:
        np.testing.assert_array_equal(one, 3 * arrays(0)[0] + 3)
        np.testing.assert_array_equal(other, 3 * arrays(0)[0] - 3)


@pytest.mark.parametrize(("reduction", "expected"), [("sum", 6.0), ("prod", 6.0), ("max", 3.0), ("min", 1.0)])
def test_reductions(members, reduction, expected):
    """Sum, product, maximum and minimum, as HCCL has them."""
    numbers = together(
        SIZE, lambda r: members[r].call(call("allreduce", reduction=reduction), [np.float32([r + 1])], 20)
    )
    assert [float(number[0][0]) for number in numbers] == [expected] * SIZE


def test_others(members):
    """Gather, broadcast, reduce to one rank and reduce with scatter give each rank its part."""
    gathered = together(SIZE, lambda r: members[r].call(call("allgather"), [np.full((1, 2), r)], 20))
    assert gathered[1][0].tolist() == [[0, 0], [1, 1], [2, 2]]
    sent = together(SIZE, lambda r: members[r].call(call("broadcast", root=1), [np.array(r)], 20))
    assert [int(part[0]) for part in sent] == [1, 1, 1]
    reduced = together(SIZE, lambda r: members[r].call(call("reduce", root=2, reduction="sum"), [np.array(r)], 20))
    assert int(reduced[2][0]) == 3
    scattered = together(
        SIZE, lambda r: members[r].call(call("reduce_scatter", reduction="sum"), [np.arange(3) + r], 20)
    )
    assert [part[0].tolist() for part in scattered] == [[3], [6], [9]]


def test_subgroups(members):
    """A group of some ranks works beside the others, in its own order of ranks."""

    def work(rank):
        if rank == 1:
            return None
        return members[rank].call(call("allgather", members=(2, 0), group="pair"), [np.array([rank])], 20)[0].tolist()

    assert together(SIZE, work) == [[2, 0], None, [2, 0]]


def test_point_to_point(members):
    """One rank sends a tensor to another."""

    def work(rank):
        if rank == 2:
            return None
        payload = [np.float32([1, 2])] if rank == 0 else []
        options = {"dtype": "float32", "shape": (2,)}
        return members[rank].call(call("send", name="tag-0-1", members=(0, 1), **options), payload, 20)

    assert together(SIZE, work)[1][0].tolist() == [1.0, 2.0]


@hypothesis.settings(max_examples=20)
@hypothesis.given(data=st.data(), size=st.integers(2, 4))
def test_all_to_all(data, size):
    """Whatever the counts are, each rank gets the elements meant for it, both ways of giving the counts agree."""
    from npusession.backends.fake.job.arithmetic import results

    matrix = np.array(data.draw(st.lists(st.lists(st.integers(0, 3), min_size=size, max_size=size),
                                         min_size=size, max_size=size)))  # fmt: skip
    payloads = [np.arange(matrix[rank].sum()) + 100 * rank for rank in range(size)]
    expected = [
        np.concatenate([payloads[s][matrix[s, :to].sum() : matrix[s, : to + 1].sum()] for s in range(size)]).tolist()
        for to in range(size)
    ]
    by_matrix = [(call("alltoallvc", members=range(size), counts=tuple(matrix.ravel())), [p]) for p in payloads]
    assert [part[0].tolist() for part in results(by_matrix)] == expected

    def starts(counts):
        return (np.cumsum(counts) - counts).tolist()

    by_rank = [
        (
            call(
                "alltoallv",
                members=range(size),
                own=[
                    ("send_counts", matrix[rank].tolist()),
                    ("send_displacements", starts(matrix[rank])),
                    ("recv_counts", matrix[:, rank].tolist()),
                    ("recv_displacements", starts(matrix[:, rank])),
                ],
            ),
            [payloads[rank]],
        )
        for rank in range(size)
    ]
    assert [part[0].tolist() for part in results(by_rank)] == expected


def test_many_at_once(members):
    """Calls are matched by name, in whatever order each rank makes them."""

    def work(rank):
        names = [f"op{number}" for number in range(20)]
        if rank == 1:
            names.reverse()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            results = pool.map(
                lambda name: int(
                    members[rank].call(call("allreduce", name=name, reduction="sum"), [np.array(int(name[2:]))], 20)[0]
                ),
                names,
            )
            return dict(zip(names, results))

    for results in together(SIZE, work):
        assert results == {f"op{number}": 3 * number for number in range(20)}


@pytest.mark.parametrize(
    ("mine", "payload", "words"),
    [
        (call("allreduce", reduction="max"), arrays(1), "reduction=max"),
        (call("allreduce", reduction="sum"), arrays(1, (3, 2)), r"float32\[3, 2\]"),
        (call("allreduce", reduction="sum"), arrays(1, dtype="int32"), r"int32\[2, 3\]"),
        (call("broadcast", root=0), arrays(1), "broadcast"),
        (call("allreduce", reduction="sum", members=(0, 1)), arrays(1), r"\[0, 1\]"),
    ],
)
def test_ranks_that_disagree(members, mine, payload, words):
    """Ranks that call different things all get an error that says who called what."""

    def work(rank):
        if rank == 1:
            return members[1].call(mine, payload, 20)
        return members[rank].call(call("allreduce", reduction="sum"), arrays(rank), 20)

    errors = [error for error in together(2, work) if isinstance(error, CollectiveError)]
    assert len(errors) == 2
    for error in errors:
        with pytest.raises(CollectiveError, match=f"rank 0: allreduce.*rank 1: .*{words}"):
            raise error


def test_a_rank_that_does_not_call(members):
    """When its time is up, each waiting rank learns who did not come."""
    together(SIZE, lambda r: members[r].call(call("allreduce", "first", reduction="sum"), arrays(r), 60))
    errors = together(2, lambda r: members[r].call(call("allreduce", reduction="sum"), arrays(r), 0.5))
    for error in errors:
        with pytest.raises(CollectiveError, match="ranks 0, 1 called it, rank 2 did not"):
            raise error


def test_different_graphs(members, monkeypatch):
    """Ranks that wait for different things are told so before the time is up, with what their graphs have."""
    monkeypatch.setattr(hub, "PATIENCE", 0.1)

    def work(rank):
        name = "a" if rank else "b"
        return members[rank].call(call("allreduce", name=name, graph=["x", name], reduction="sum"), arrays(rank), 60)

    errors = together(SIZE, work)
    for error in errors:
        with pytest.raises(CollectiveError, match="different graphs: only rank 0 has b, only rank 1 has a"):
            raise error


def test_a_rank_that_leaves(members):
    """Ranks that wait for one that has shut down get an error at once."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(members[0].call, call("allreduce", reduction="sum"), arrays(0), 60)
        members[2].leave()
        with pytest.raises(CollectiveError, match="rank 2 has shut its system down"):
            waiting.result()
    with pytest.raises(CollectiveError, match="rank 2 has shut its system down"):
        members[1].call(call("allreduce", reduction="sum"), arrays(1), 60)


def test_joining_again(port):
    """After all ranks left, they can join again, and what went wrong before is forgotten."""
    for _ in range(3):
        assert totals(joined(("127.0.0.1", port))) == [3, 3, 3]


def test_a_rank_that_never_comes(port):
    """The ranks that wait for another one say how many they are, and what to do."""
    where = ("127.0.0.1", port)
    outcomes = together(2, lambda rank: Member(job(rank, SIZE, where), 0.3))
    for error in outcomes:
        with pytest.raises(CollectiveError, match="not all of the 3 ranks came"):
            raise error
    # Nothing of the failed attempt is left.
    assert totals(joined(where)) == [3, 3, 3]


def test_ranks_that_are_counted(port):
    """Where no variable numbers the ranks, they are counted by server and device."""
    places = [(10, 0, 0, 2, 0), (10, 0, 0, 1, 1), (10, 0, 0, 1, 0)]
    where = ("127.0.0.1", port)
    ranks = together(SIZE, lambda r: Member(Job(places[r], SIZE, where, b"secret", r == 0), 20))
    assert [each.rank for each in ranks] == [2, 1, 0]
    assert ranks[0].identities == tuple(sorted(places))
    for each in ranks:
        each.leave()


def test_two_of_one_rank(port):
    """A second process of the same rank is refused."""
    where = ("127.0.0.1", port)
    ranks = [0, 1, 1]
    outcomes = together(3, lambda place: Member(job(ranks[place], SIZE, where), 1.0))
    assert any("two processes of rank 1" in str(outcome) for outcome in outcomes)


def test_sizes_that_differ(port):
    """A rank that believes in another number of ranks is told so."""
    where = ("127.0.0.1", port)
    outcomes = together(2, lambda rank: Member(job(rank, SIZE + rank, where), 0.5))
    assert "rank 1 says that the job has 4 ranks, rank 0 says 3" in str(outcomes[1])


def test_strangers_are_turned_away(port):
    """A process that does not know the job's secret neither joins nor disturbs it."""
    where = ("127.0.0.1", port)
    ranks = joined(where)
    with pytest.raises(Exception, match="digest"):
        address.connect(where, b"another", 1.0)
    assert totals(ranks) == [3, 3, 3]


def test_an_address_in_use(port):
    """Rank 0 says that its address is taken, and that a job needs a JOB_ID of its own."""
    taken = address.listen(("127.0.0.1", port))
    try:
        with pytest.raises(CollectiveError, match="JOB_ID of its own"):
            Member(job(0, 2, ("127.0.0.1", port)), 1.0)
    finally:
        address.close(taken)


@pytest.mark.parametrize("text", ["", ":1", "host", "host:", "host:0", "host:65536", "host:x"])
def test_bad_addresses(text):
    """An address that cannot be read is an error that shows how one looks."""
    environ = {FAKE_HUB: text or " "}
    with pytest.raises(ValueError, match=r"write host:port"):
        address.address_in(environ)


def test_addresses():
    """The hub is where the variables say; else processes of one job on one host find each other."""
    assert address.address_in({FAKE_HUB: "10.0.0.1:29500"}) == ("10.0.0.1", 29500)
    assert address.address_in({FAKE_HUB: "[::1]:29500"}) == ("::1", 29500)
    assert address.address_in({"CM_CHIEF_IP": "10.0.0.1", "CM_CHIEF_PORT": "6000"}) == ("10.0.0.1", 6000)
    one, same, other = ({"JOB_ID": job, "RANK_ID": rank} for job, rank in (("1", "0"), ("1", "1"), ("2", "0")))
    assert address.address_in(one) == address.address_in(same) != address.address_in(other)
    assert address.address_in({**one, FAKE_HUB: "this-host"}) == address.address_in(one)


def test_without_rank_0(members):
    """Ranks that need rank 0 for nothing go on when it has left, and so does what they had begun before."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pair = call("allreduce", members=(1, 2), group="pair", reduction="sum")
        begun = pool.submit(members[1].call, pair, arrays(1), 60)
        members[0].leave()
        member.unserve()
        np.testing.assert_array_equal(members[2].call(pair, arrays(2), 60)[0], 2 * arrays(0)[0] + 3)
        assert len(begun.result()) == 1
    with pytest.raises(CollectiveError, match="rank 0 has shut its system down"):
        members[1].call(call("allreduce", reduction="sum"), arrays(1), 60)


def test_nobody_is_left(port):
    """The process in which ranks meet ends with the last of them, whichever that is."""
    ranks = joined(("127.0.0.1", port))
    (process,) = hubs()
    ranks[0].leave()
    ranks[2].leave()
    member.unserve()
    assert hubs() == [process]
    ranks[1].leave()
    until(lambda: hubs() == [])


def test_the_meeting_point_is_gone(members):
    """Where the host of rank 0 is gone with all that ran there, the others are told so; a new job can begin."""
    (process,) = hubs()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(members[1].call, call("allreduce", reduction="sum"), arrays(1), 60)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(CollectiveError, match="on the host of rank 0, has ended"):
            waiting.result()
    where = member._served[0].address
    until(lambda: not member._served[1].alive)
    assert totals(joined(where)) == [3, 3, 3]


def hubs():
    """Return the processes of the hubs of this process's jobs."""
    return [process for process in marked(os.environ[MARK]) if name(process) == HUB_PROCESS]


def test_a_stranger_who_says_nothing(port):
    """Who connects and says nothing keeps no rank waiting."""
    where = ("127.0.0.1", port)
    first = together(1, lambda rank: Member(job(0, 2, where), 0.2))
    assert "rank 1 did not come" in str(first[0])
    with socket.create_connection(where):
        ranks = joined(where, 2)
        assert [each.rank for each in ranks] == [0, 1]
        for each in ranks:
            each.leave()


def test_rank_0_ends_before_all_are_there(port):
    """Ranks that wait for others do not wait on when rank 0 has ended."""
    where = ("127.0.0.1", port)
    first = together(1, lambda rank: Member(job(0, 3, where), 0.2))
    assert "ranks 1, 2 did not come" in str(first[0])
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(Member, job(1, 3, where), 60)
        time.sleep(0.2)
        member.unserve()
        with pytest.raises(CollectiveError, match="its process has ended before all ranks were there"):
            waiting.result()


def test_modules_in_the_working_directory(port, monkeypatch, tmp_path):
    """Files of a user that are called like Python's own modules do not keep the ranks from meeting."""
    (tmp_path / "json.py").write_text("raise ImportError('mine')")
    monkeypatch.chdir(tmp_path)
    assert totals(joined(("127.0.0.1", port))) == [3, 3, 3]


def test_no_python(port, monkeypatch):
    """When the meeting point cannot be started, rank 0 says what that process said."""
    monkeypatch.setattr(sys, "path", ["/nowhere"])
    with pytest.raises(CollectiveError, match=r"(?s)cannot start the process.*ModuleNotFoundError"):
        Member(job(0, 2, ("127.0.0.1", port)), 1.0)


FORKING = """
import os, time
from npusession.backends.fake.job.member import Job, Member
member = Member(Job(({rank},), 2, ("127.0.0.1", {port}), b"secret", {rank} == 0), 60)
print("joined", flush=True)
if os.fork() == 0:
    os.close(1)
    os.close(2)
    time.sleep(600)
"""


@pytest.mark.parametrize("dying", [0, 1])
def test_a_rank_that_leaves_a_child(port, dying):
    """A rank is gone when its process is, though a forked child of it lives."""
    bodies = [RANK.format(rank=rank, port=port, dying=-1) for rank in range(2)]
    bodies[dying] = FORKING.format(rank=dying, port=port) + "else:\n    os.kill(os.getpid(), 9)"
    ranks = [start(body, session=False) for body in bodies]
    try:
        output, errors = ranks[1 - dying].communicate(timeout=60)
        assert f"rank {dying} is gone" in output, errors
    finally:
        ranks[dying].communicate()
        for process in marked(os.environ[MARK]):
            os.kill(process, signal.SIGKILL)


RANK = """
import time
from npusession.backends.fake.job.calls import Call
from npusession.backends.fake.job.member import Job, Member
import numpy as np
member = Member(Job(({rank},), 2, ("127.0.0.1", {port}), b"secret", {rank} == 0), 60)
print("joined", flush=True)
if {rank} == {dying}:
    time.sleep(60)
try:
    member.call(Call("allreduce", "g", (0, 1), "op", 0, (("reduction", "sum"),)), [np.zeros(2)], 60)
except Exception as error:
    print(error, flush=True)
"""


@pytest.mark.parametrize(("dying", "words"), [(0, "rank 0 is gone"), (1, "rank 1 is gone: its process has ended")])
def test_a_rank_that_dies(port, dying, words):
    """When a rank is killed, the others get an error that names it, and do not hang."""
    ranks = [start(RANK.format(rank=rank, port=port, dying=dying), session=False) for rank in range(2)]
    for rank in ranks:
        assert rank.stdout.readline() == "joined\n"
    ranks[dying].kill()
    output, errors = ranks[1 - dying].communicate(timeout=60)
    assert words in output, errors
    ranks[dying].communicate()
