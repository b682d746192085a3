"""The cluster that an environment describes, and everything that contradicts it."""

import dataclasses
import os
import pathlib
import time
import warnings

import pytest
from ranktables import CONTAINER, V10, V20, changed, text

from npusession import NpuSessionError, OptionsWarning, Severity
from npusession._schedulers import hosts
from npusession.hccl import RULES, Chief, Cluster, ClusterError, RankTable, Source

CHIEF = {
    "CM_CHIEF_IP": "192.0.2.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "16",
    "CM_WORKER_IP": "192.0.2.2", "ASCEND_DEVICE_ID": "3",
}  # fmt: skip
SLURM = {
    "SLURM_PROCID": "11", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "3", "SLURM_NODEID": "1",
    "SLURM_STEP_TASKS_PER_NODE": "8(x2)", "SLURM_STEP_NODELIST": "node[01-02]", "SLURM_STEP_ID": "0",
}  # fmt: skip
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "11", "OMPI_COMM_WORLD_SIZE": "16", "OMPI_COMM_WORLD_LOCAL_RANK": "3",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "8",
}  # fmt: skip
PMI = {"PMI_RANK": "11", "PMI_SIZE": "16", "MPI_LOCALRANKID": "3", "MPI_LOCALNRANKS": "8"}


@pytest.fixture
def table():
    """Two servers with eight devices each."""
    return RankTable.from_hosts({f"node_{n}": {d: f"192.0.2.{16 * n + d + 1}" for d in range(8)} for n in range(2)})


@pytest.fixture
def environ(table, tmp_path):
    """The environment of rank 11, which is device 3 of node_1."""
    path = table.write(tmp_path / "rank_table.json")
    return {"RANK_TABLE_FILE": path, "RANK_ID": "11", "RANK_SIZE": "16", "ASCEND_DEVICE_ID": "3"}


@pytest.fixture
def pods(table, tmp_path):
    """The same as a container table, in which each server is a pod; again rank 11."""
    path = table.convert("container").write(tmp_path / "hccl.json")
    return {"RANK_TABLE_FILE": path, "RANK_ID": "node_1", "RANK_SIZE": "16", "ASCEND_DEVICE_ID": "3"}


def quiet(environ, product=None):
    """Return the cluster, which must be there without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Cluster.from_environ(environ, product)


def test_rank_table(environ):
    """With a rank table everything is known before any device is initialised."""
    cluster = quiet(environ)
    assert (cluster.source, cluster.rank, cluster.size) == (Source.RANK_TABLE, 11, 16)
    assert (cluster.local_rank, cluster.local_size, cluster.device) == (3, 8, 3)
    assert cluster.servers == ("node_0", "node_1")
    assert cluster.entry.device_ip == "192.0.2.20"
    assert cluster.table == RankTable.read(environ["RANK_TABLE_FILE"])


def test_pods(pods):
    """In a container table RANK_ID is a pod, and the device tells which of its ranks this is."""
    cluster = quiet(pods)
    assert (cluster.rank, cluster.local_rank, cluster.local_size, cluster.device) == (11, 3, 8, 3)


def test_pods_count_devices_anew(tmp_path):
    """In a container devices are counted from 0, whatever their physical ids are."""
    instance = CONTAINER["group_list"][0]["instance_list"][0]
    devices = [{**device, "device_id": str(6 + n)} for n, device in enumerate(instance["devices"])]
    path = tmp_path / "hccl.json"
    path.write_text(text(changed(CONTAINER, "group_list", 0, "instance_list", 0, "devices", to=devices)), "utf-8")
    base = {"RANK_TABLE_FILE": str(path), "RANK_ID": "npu2p", "RANK_SIZE": "2", "ASCEND_DEVICE_ID": "1"}
    assert quiet(base).rank == 1
    cluster = quiet({**base, "ASCEND_VISIBLE_DEVICES": "Ascend910-6,Ascend910-7"})
    assert (cluster.rank, cluster.device, cluster.entry.device_id) == (1, 1, 7)
    assert Cluster.check_environ({**base, "ASCEND_DEVICE_ID": "4"}).errors[0].code == "NPU443"


def test_chief():
    """CM_* variables tell the size; ranks are counted by HCCL, so they are not known before."""
    cluster = quiet(CHIEF, "atlas-training")
    assert (cluster.source, cluster.rank, cluster.size, cluster.device) == (Source.CHIEF, None, 16, 3)
    assert cluster.chief == Chief("192.0.2.1", 6000, 0, "192.0.2.2")
    alone = quiet({**CHIEF, "CM_WORKER_SIZE": "1"})
    assert (alone.rank, alone.size, alone.local_rank, alone.local_size) == (0, 1, 0, 1)


@pytest.mark.parametrize(("variables", "source"), [(OPEN_MPI, Source.MPI), (PMI, Source.MPI), (SLURM, Source.SLURM)])
def test_started(variables, source):
    """Slurm and MPI tell ranks, which HCCL has yet to be told; the warning says so."""
    with pytest.warns(OptionsWarning, match="NPU454"):
        cluster = Cluster.from_environ(variables)
    assert (cluster.source, cluster.rank, cluster.size) == (source, 11, 16)
    assert (cluster.local_rank, cluster.local_size, cluster.device) == (3, 8, 3)
    assert cluster.servers == (("node01", "node02") if source is Source.SLURM else ())
    with pytest.raises(ValueError, match="HCCL does not"):
        cluster.to_environ()
    told = dataclasses.replace(cluster, chief=Chief("192.0.2.1", 6000, 0, "192.0.2.2"))
    assert quiet(told.to_environ()).size == 16


def test_hub_of_one_host():
    """On one host the local rank is the rank, as HCCL counts, in whatever order MPI has started the processes."""
    told = {"NPUSESSION_FAKE_HUB": "this-host", "RANK_ID": "1", "RANK_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    cluster = quiet({**told, **OPEN_MPI, "LOCAL_RANK": "2", "ASCEND_DEVICE_ID": "2"})
    assert (cluster.source, cluster.local_rank, cluster.local_size, cluster.device) == (Source.HUB, 1, 3, 2)


def test_started_with_a_table(environ):
    """A rank that Slurm or MPI tells is taken where a table is there and RANK_ID is not."""
    del environ["RANK_ID"]
    with pytest.warns(OptionsWarning, match="OMPI_COMM_WORLD_RANK is taken for it"):
        cluster = Cluster.from_environ({**environ, **OPEN_MPI})
    assert (cluster.source, cluster.rank) == (Source.RANK_TABLE, 11)
    assert quiet(cluster.to_environ()) == cluster


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"RANK_SIZE": "1", "RANK_ID": "0"},
        {"RANK_TABLE_FILE": "", "RANK_SIZE": "1"},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "16", "ENVIRONMENT": "BATCH"},
        {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
        {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "16"},
        {"TF_CONFIG": '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}'},
    ],
)
def test_alone(variables):
    """Where nothing describes several ranks the process is rank 0 of 1, on the device that the environment names."""
    cluster = quiet({**variables, "DEVICE_ID": "5"})
    assert cluster == Cluster(Source.SINGLE, device=5)
    assert quiet(variables).device == 0


@pytest.mark.parametrize(
    ("variables", "source"),
    [
        ({**OPEN_MPI, **SLURM, "SLURM_PROCID": "0"}, Source.MPI),
        ({**PMI, **SLURM}, Source.MPI),
        ({**CHIEF, **SLURM}, Source.CHIEF),
    ],
)
def test_precedence(variables, source):
    """CM_* goes before what started the process, and mpirun before the Slurm job that it runs in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Cluster.from_environ(variables).source is source


def test_every_rank(table, tmp_path):
    """The variables of each rank lead back to that rank, for a launcher."""
    for version in ("1.0", "container"):
        path = table.convert(version).write(tmp_path / version)
        cluster = Cluster.from_table(table.convert(version), path)
        clusters = [cluster.for_rank(rank) for rank in range(16)]
        assert [quiet(one.to_environ()) for one in clusters] == clusters
        assert [one.to_environ()["ASCEND_DEVICE_ID"] for one in clusters] == [str(n % 8) for n in range(16)]
    with pytest.raises(ValueError, match="ranks 0 to 15, not 16"):
        cluster.for_rank(16)
    with pytest.raises(ValueError, match="only a rank table"):
        Cluster(Source.SINGLE).for_rank(0)
    assert quiet(CHIEF).to_environ() == CHIEF
    assert Cluster(Source.SINGLE, device=2).to_environ() == {"ASCEND_DEVICE_ID": "2"}


#: By a short name: what is changed in the environment of rank 11 (None: unset), and the error's code and variable.
WRONG = {
    "chief beside table": (CHIEF, "NPU441", "RANK_TABLE_FILE"),
    "no such file": ({"RANK_TABLE_FILE": "/no/such/file"}, "NPU442", "RANK_TABLE_FILE"),
    "a directory": ({"RANK_TABLE_FILE": "/"}, "NPU442", "RANK_TABLE_FILE"),
    "no RANK_ID": ({"RANK_ID": None}, "NPU443", "RANK_ID"),
    "rank beyond the table": ({"RANK_ID": "16"}, "NPU443", "RANK_ID"),
    "rank a name": ({"RANK_ID": "node_1"}, "NPU443", "RANK_ID"),
    "another size": ({"RANK_SIZE": "8"}, "NPU444", "RANK_SIZE"),
    "size a word": ({"RANK_SIZE": "all"}, "NPU444", "RANK_SIZE"),
    "size without table": ({"RANK_TABLE_FILE": None}, "NPU445", "RANK_SIZE"),
    "device not visible": ({"ASCEND_RT_VISIBLE_DEVICES": "0,1,2"}, "NPU449", "ASCEND_RT_VISIBLE_DEVICES"),
    "device not in the container": ({"ASCEND_VISIBLE_DEVICES": "4-7"}, "NPU449", "ASCEND_VISIBLE_DEVICES"),
    "physical id for an index": ({"ASCEND_RT_VISIBLE_DEVICES": "3"}, "NPU449", "ASCEND_DEVICE_ID"),
    "list with a blank": ({"ASCEND_RT_VISIBLE_DEVICES": "1,2, 3"}, "NPU449", "ASCEND_RT_VISIBLE_DEVICES"),
    "another device": ({"ASCEND_DEVICE_ID": "4"}, "NPU450", "ASCEND_DEVICE_ID"),
    "another DEVICE_ID": ({"ASCEND_DEVICE_ID": None, "DEVICE_ID": "4"}, "NPU450", "DEVICE_ID"),
    "another of the visible": (
        {"ASCEND_RT_VISIBLE_DEVICES": "2,3", "ASCEND_DEVICE_ID": "0"}, "NPU450", "ASCEND_DEVICE_ID"
    ),
    "no device id": ({"ASCEND_DEVICE_ID": "x"}, "NPU401", "ASCEND_DEVICE_ID"),
    "short timeout": ({"HCCL_CONNECT_TIMEOUT": "119"}, "NPU451", "HCCL_CONNECT_TIMEOUT"),
    "long timeout": ({"HCCL_CONNECT_TIMEOUT": "7201"}, "NPU451", "HCCL_CONNECT_TIMEOUT"),
    "timeout in words": ({"HCCL_CONNECT_TIMEOUT": "2 min"}, "NPU451", "HCCL_CONNECT_TIMEOUT"),
    "base port": ({"HCCL_IF_BASE_PORT": "65521"}, "NPU451", "HCCL_IF_BASE_PORT"),
    "ports that overlap": (
        {"HCCL_HOST_SOCKET_PORT_RANGE": "60000-60050,60050"}, "NPU451", "HCCL_HOST_SOCKET_PORT_RANGE"
    ),
    "ports out of range": ({"HCCL_NPU_SOCKET_PORT_RANGE": "0-10"}, "NPU451", "HCCL_NPU_SOCKET_PORT_RANGE"),
    "ports in words": ({"HCCL_NPU_SOCKET_PORT_RANGE": "any"}, "NPU451", "HCCL_NPU_SOCKET_PORT_RANGE"),
    "family": ({"HCCL_SOCKET_FAMILY": "IPv4"}, "NPU451", "HCCL_SOCKET_FAMILY"),
    "interface": ({"HCCL_IF_IP": "eth0"}, "NPU451", "HCCL_IF_IP"),
    "TF_CONFIG no JSON": ({"TF_CONFIG": "{"}, "NPU452", "TF_CONFIG"),
    "TF_CONFIG task": ({"TF_CONFIG": '{"task": "worker"}'}, "NPU452", "TF_CONFIG"),
    "TF_CONFIG ps": ({"TF_CONFIG": '{"task": {"type": "ps", "index": 0}}'}, "NPU452", "TF_CONFIG"),
    "TF_CONFIG evaluator": ({"TF_CONFIG": '{"task": {"type": "evaluator"}}'}, "NPU452", "TF_CONFIG"),
    "other rank of MPI": ({**OPEN_MPI, "OMPI_COMM_WORLD_RANK": "10"}, "NPU453", "RANK_ID"),
    "other rank of Slurm": ({**SLURM, "SLURM_PROCID": "10"}, "NPU453", "RANK_ID"),
}  # fmt: skip


def altered(environ, changes):
    """Return an environment with some variables set or, for ``None``, unset."""
    return {name: value for name, value in {**environ, **changes}.items() if value is not None}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, environ):
    """Each contradiction is an error before anything starts, with the variable and what to change."""
    changes, code, variable = WRONG[name]
    wrong = altered(environ, changes)
    found = [problem for problem in Cluster.check_environ(wrong).errors if problem.code == code]
    assert [problem.option for problem in found] == [variable]
    assert found[0].fix or found[0].allowed
    with pytest.raises(ClusterError, match=code) as caught:
        Cluster.from_environ(wrong)
    assert isinstance(caught.value, (NpuSessionError, ValueError))
    assert "in the environment of the cluster" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "code", "variable"),
    [
        ({"CM_CHIEF_IP": None}, "NPU446", "CM_CHIEF_IP"),
        ({"CM_WORKER_SIZE": None}, "NPU446", "CM_WORKER_SIZE"),
        ({"CM_CHIEF_PORT": "65521"}, "NPU447", "CM_CHIEF_PORT"),
        ({"CM_WORKER_SIZE": "32769"}, "NPU447", "CM_WORKER_SIZE"),
        ({"CM_CHIEF_DEVICE": "first"}, "NPU447", "CM_CHIEF_DEVICE"),
        ({"CM_CHIEF_IP": "master"}, "NPU447", "CM_CHIEF_IP"),
        ({"CM_WORKER_IP": "0.0.0.0"}, "NPU447", "CM_WORKER_IP"),
        ({"RANK_ID": "0"}, "NPU441", "CM_CHIEF_IP"),
        ({"RANK_SIZE": "16"}, "NPU441", "CM_CHIEF_IP"),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "17"}, "NPU453", "CM_WORKER_SIZE"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "4,5"}, "NPU449", "ASCEND_DEVICE_ID"),
    ],
)
def test_wrong_chief(changes, code, variable):
    """The CM_* variables are there all together, each in its range, and without RANK_ID and RANK_SIZE."""
    found = Cluster.check_environ(altered(CHIEF, changes)).errors
    assert (code, variable) in {(problem.code, problem.option) for problem in found}


def test_chief_and_fewer_processes():
    """One process on each server may start the others, so fewer than the ranks are no contradiction."""
    assert list(Cluster.check_environ({**CHIEF, **SLURM, "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"})) == []
    unnamed = altered(CHIEF, {"ASCEND_DEVICE_ID": None})
    assert [problem.code for problem in Cluster.check_environ(unnamed).warnings] == ["NPU450"]


def test_chief_products():
    """CM_* variables are for two product series only."""
    assert not Cluster.check_environ(CHIEF, "A2")
    assert [problem.code for problem in Cluster.check_environ(CHIEF, "A3").errors] == ["NPU448"]


def test_broken_table(environ, tmp_path):
    """A table that HCCL would refuse is told with its first fault, and how to see the others."""
    path = tmp_path / "broken.json"
    path.write_text(text(changed(V10, "status", to="initializing")), "utf-8")
    (problem,) = Cluster.check_environ({**environ, "RANK_TABLE_FILE": str(path)}).errors
    assert problem.code == "NPU442"
    assert "broken.json:2:13" in problem.message
    assert problem.fix == f"npusession ranktable check {path}"
    path.write_text(text(V10)[:-5], "utf-8")
    assert "NPU601" in Cluster.check_environ({**environ, "RANK_TABLE_FILE": str(path)}).errors[0].message


def test_product_of_a_table(environ):
    """The table is checked for the product at hand."""
    assert not Cluster.check_environ(environ, "910")
    assert "NPU628" in Cluster.check_environ(environ, "Ascend950PR").errors[0].message


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"RANK_SIZE": None}, ["NPU444"]),
        ({"RANK_ID": "011"}, []),
        ({"CM_CHIEF_IP": ""}, []),
        ({"ASCEND_DEVICE_ID": None}, ["NPU450"]),
        ({"DEVICE_ID": "5"}, ["NPU450"]),
        ({"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}}'}, ["NPU452"]),
        ({**SLURM, "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}, []),
        ({"ASCEND_RT_VISIBLE_DEVICES": "3", "ASCEND_DEVICE_ID": "0"}, []),
        ({"ASCEND_VISIBLE_DEVICES": "3"}, []),
        ({"ASCEND_VISIBLE_DEVICES": "0-7", "ASCEND_RT_VISIBLE_DEVICES": "2,3", "ASCEND_DEVICE_ID": "1"}, []),
        ({"OMPI_COMM_WORLD_RANK": "x"}, ["NPU453"]),
        ({"OMPI_COMM_WORLD_RANK": "3"}, ["NPU453"]),
        ({"PMI_RANK": "16", "PMI_SIZE": "16"}, ["NPU453"]),
        ({"HCCL_CONNECT_TIMEOUT": "120", "HCCL_HOST_SOCKET_PORT_RANGE": "60000,60050-60100"}, []),
    ],
)
def test_lived_with(changes, codes, environ):
    """What works, though not as one may think, is a warning; what is right is none."""
    report = Cluster.check_environ(altered(environ, changes))
    assert [problem.code for problem in report] == codes
    assert not report.errors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptionsWarning)
        assert Cluster.from_environ(altered(environ, changes)).rank == 11


def test_network_layers(tmp_path):
    """A table of version 2.0 tells ranks and servers like any other."""
    path = tmp_path / "rank_table.json"
    path.write_text(text(V20), "utf-8")
    cluster = quiet({"RANK_TABLE_FILE": str(path), "RANK_ID": "1", "RANK_SIZE": "2", "ASCEND_DEVICE_ID": "1"})
    assert (cluster.rank, cluster.local_rank, cluster.local_size, cluster.servers) == (1, 1, 2, ("rack0-server0",))


def test_this_process(environ, monkeypatch):
    """Without an argument the environment of the process is read."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert Cluster.from_environ().rank == 11
    assert not Cluster.check_environ()


class Answers:
    """What HCCL would answer."""

    def __init__(self, *answers):
        self.get_rank_id, self.get_rank_size, self.get_local_rank_id, self.get_local_rank_size = (
            lambda answer=answer: answer for answer in answers
        )


def test_verify(environ):
    """After initialisation HCCL's own answers are compared, and each that differs is told."""
    cluster = quiet(environ)
    assert list(cluster.verify(Answers(11, 16, 3, 8))) == []
    report = cluster.verify(Answers(0, 1, 0, 1))
    assert [(problem.code, problem.option, problem.value) for problem in report.errors] == [
        ("NPU455", "get_rank_id", 0),
        ("NPU455", "get_rank_size", 1),
        ("NPU455", "get_local_rank_id", 0),
        ("NPU455", "get_local_rank_size", 1),
    ]
    assert list(quiet(CHIEF).verify(Answers(5, 16, 5, 8))) == []


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("node1", ["node1"]),
        ("node[01-03,7],login", ["node01", "node02", "node03", "node7", "login"]),
        ("rack[1-2]n[0-1]", ["rack1n0", "rack1n1", "rack2n0", "rack2n1"]),
        ("a,b-c", ["a", "b-c"]),
        ("node[098-101]", ["node098", "node099", "node100", "node101"]),
        ("", []),
    ],
)
def test_slurm_hosts(listed, names):
    """Slurm's short form of host names is written out."""
    assert hosts(listed) == names


def test_read_once(environ, monkeypatch):
    """A large table is read once while nothing changes it, however often it is asked for, and anew when it changed."""
    reads = []
    read = RankTable.read.__func__
    monkeypatch.setattr(RankTable, "read", classmethod(lambda cls, path: (reads.append(path), read(cls, path))[1]))
    path = pathlib.Path(environ["RANK_TABLE_FILE"])
    for seconds in (1000, 500):
        os.utime(str(path), (time.time() - seconds,) * 2)
        assert Cluster.from_environ(environ) == Cluster.from_environ(environ)
        assert not Cluster.check_environ(environ)
    assert len(reads) == 2
    # A change of the same size, at a time that tells nothing.
    path.write_text(path.read_text("utf-8").replace("node_1", "node_2"), "utf-8")
    assert Cluster.from_environ(environ).servers == ("node_0", "node_2")
    path.write_text(path.read_text("utf-8").replace("node_2", "node_3"), "utf-8")
    assert Cluster.from_environ(environ).servers == ("node_0", "node_3")


def test_every_rule_has_a_test():
    """No rule of cluster environments goes unproven."""
    tested = {code for _, code, _ in WRONG.values()} - {"NPU401"}
    elsewhere = {"NPU446", "NPU447", "NPU448", "NPU454", "NPU455"}
    assert tested | elsewhere == {code for code in RULES if code.startswith("NPU4")}
    assert RULES["NPU454"].severity is Severity.WARNING
