"""Jobs on several hosts: here launchers of one job on one host, and network namespaces."""

import socket
import uuid

import pytest
from jobs import Job, lines, until


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


PLACED = """
from npusession.backends.fake.job.joining import join
position = join(os.environ)
print(position.rank, position.size, position.here)
position.member.leave()
"""


def test_processes_of_an_engine(tmp_path):
    """Launchers that MPI has started on one host find each other by its job, and no rank is told of a contradiction."""
    mpi = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": uuid.uuid4().hex}
    jobs = []
    for rank, local in (("0", "1"), ("1", "0")):
        place = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_LOCAL_RANK": local}
        jobs.append(Job(tmp_path, PLACED, "--fake", **mpi, **place).start())
    ended = [job.communicate(timeout=60) for job in jobs]
    assert ended == [(b"0 2 (0, 1)\n", b""), (b"1 2 (0, 1)\n", b"")]


HOSTS = """
import numpy as np
from npusession.backends.fake.job.calls import Call
from npusession.backends.fake.job.joining import join
member = join(os.environ).member
with open("joined", "a") as file:
    file.write("here\\n")
while rank > 1 and not os.path.exists("ended"):
    time.sleep(0.02)
if rank > 1:
    call = Call("allreduce", "others", (2, 3), "op", 0, (("reduction", "sum"),))
    print(member.call(call, [np.array(rank)], 60)[0])
member.leave()
"""


def test_the_first_host_ends(tmp_path, port):
    """The launcher on rank 0's host waits for the ranks of other hosts, which meet there and can go on."""
    flags = ["--fake", "--nproc", 2, "--nnodes", 2, "--master-addr", "127.0.0.1", "--master-port", port]
    jobs = [Job(tmp_path, HOSTS, *flags, "--tee", "all", "--node-rank", node) for node in range(2)]
    first, second = (job.start() for job in jobs)
    until(lambda: len(lines(tmp_path / "joined")) == 4)
    # The launcher, its second process, and the hub.
    until(lambda: len(jobs[0].processes()) == 3)
    (tmp_path / "ended").touch()
    output, errors = second.communicate(timeout=60)
    assert (second.returncode, sorted(output.splitlines())) == (0, [b"[rank 2] 5", b"[rank 3] 5"]), errors
    assert (first.communicate(timeout=60)[1], first.returncode) == (b"", 0)
    assert jobs[0].processes() == jobs[1].processes() == []
