"""Which ranks a launcher starts and what they are told; what cannot be started is refused before anything runs."""

import contextlib
import json
import os
import pathlib
import re
import socket
import sys

import pytest
from jobs import Job

from npusession.launch import affinity, devices, network
from npusession.launch.job import LaunchError, Request
from npusession.launch.planning import plan

CLUSTER = ("RANK_", "CM_", "NPUSESSION")


@pytest.fixture
def planned(tmp_path):
    """Plan a job; returns it and what each of its ranks is told of the cluster."""
    (tmp_path / "train.py").touch()

    def make(environ=None, **request):
        environ = environ or {}
        job = plan(Request(str(tmp_path / "train.py"), **request), environ)
        told = [
            {name: value for name, value in job.environment(rank, environ).items() if name.startswith(CLUSTER)}
            for rank in job.ranks
        ]
        return job, told

    return make


@pytest.fixture
def table(tmp_path):
    """The path of a rank table of two servers with two devices each."""
    servers = [
        {
            "server_id": f"198.51.100.{number}",
            "device": [
                {"device_id": str(device), "device_ip": f"192.0.2.{rank}", "rank_id": str(rank)}
                for device, rank in ((0, 2 * number), (1, 2 * number + 1))
            ],
        }
        for number in range(2)
    ]
    content = {"status": "completed", "version": "1.0", "server_count": "2", "server_list": servers}
    path = tmp_path / "table.json"
    path.write_text(json.dumps(content), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("4-5,1", (4, 5, 1)), (" 2 , 0 - 1 ", (2, 0, 1))],
)
def test_devices(text, expected):
    """Devices are numbers and ranges, in the order in which they are written."""
    assert devices.parse(text) == expected


@pytest.mark.parametrize("text", ["", "a", "0,", "1-", "-1", "3-1", "0,0", "0-3,2", "0;1", "0 1", "٣"])
def test_no_devices(text):
    """A list of devices that is malformed, runs backwards or has one twice is refused."""
    with pytest.raises(LaunchError, match="--devices"):
        devices.parse(text)


def test_devices_of_the_host(planned, monkeypatch):
    """Without numbers, each device of the host gets a process; devices that it does not have are refused."""
    monkeypatch.setattr(os, "listdir", lambda path: ["davinci1", "davinci10", "davinci2", "davinci_manager", "null"])
    job, _ = planned(fake=True)
    assert [rank.device for rank in job.ranks] == [1, 2, 10]
    with pytest.raises(LaunchError, match=r"device 0, 3 is not there: this host has 1, 2, 10"):
        planned(devices="0-3")


def test_visible_devices(planned, table, monkeypatch):
    """Devices have the host's own numbers; a process is told which of those that it sees is its own."""
    environ = {"ASCEND_RT_VISIBLE_DEVICES": "5,4,1,0"}
    for request, physical, counted in (
        ({"devices": "4-5", "fake": True}, [4, 5], ["1", "0"]),
        ({"nproc": 2, "fake": True}, [5, 4], ["0", "1"]),
        ({"rank_table": table, "node_rank": 1}, [0, 1], ["3", "2"]),
    ):
        job, _ = planned(environ, **request)
        assert [rank.device for rank in job.ranks] == physical
        assert [rank.environ["ASCEND_DEVICE_ID"] for rank in job.ranks] == counted
    with pytest.raises(LaunchError, match="device 2 is not visible: only 5,4,1,0 is"):
        planned(environ, devices="1-2", fake=True)
    with pytest.raises(LaunchError, match="--nproc 5, but only 5,4,1,0 is"):
        planned(environ, nproc=5, fake=True)
    port = network.free_port()
    _, told = planned(environ, devices="4-5", nnodes=1, master_addr="127.0.0.1", master_port=port)
    assert told[0]["CM_CHIEF_DEVICE"] == "1"
    job, _ = planned({**environ, **ENGINES["srun"][0]}, fake=True, master_addr="127.0.0.1", master_port=port)
    assert [(rank.device, rank.environ["ASCEND_DEVICE_ID"]) for rank in job.ranks] == [(4, "1")]
    monkeypatch.setattr("npusession.launch.devices.of_this_host", lambda: [1, 4, 6])
    assert [rank.device for rank in planned(environ, fake=True)[0].ranks] == [1, 4]


def test_one_process(planned):
    """A single process gets a device, and no description of a cluster beyond rank 0 of 1."""
    job, told = planned(devices="3")
    assert told == [{"RANK_ID": "0", "RANK_SIZE": "1"}]
    assert job.ranks[0].environ["ASCEND_DEVICE_ID"] == job.ranks[0].environ["DEVICE_ID"] == "3"


def test_fake(planned):
    """An emulated job meets at a port of its own, under a name of its own."""
    (first, told), (second, others) = planned(nproc=2, fake=True), planned({"NPUSESSION_BACKEND": "fake"}, nproc=2)
    hub = told[0]["NPUSESSION_FAKE_HUB"]
    assert told == [
        {"RANK_ID": str(rank), "RANK_SIZE": "2", "NPUSESSION_BACKEND": "fake", "NPUSESSION_FAKE_HUB": hub}
        for rank in range(2)
    ]
    assert hub.startswith("127.0.0.1:")
    assert others[0]["NPUSESSION_BACKEND"] == "fake"
    assert hub != others[0]["NPUSESSION_FAKE_HUB"]
    assert first.environ["JOB_ID"] != second.environ["JOB_ID"]
    assert planned({"JOB_ID": "10087"}, nproc=1)[0].environ["JOB_ID"] == "10087"


def test_fake_on_several_hosts(planned):
    """On several hosts, ranks are numbered through, and all hosts find the same name and meeting point."""
    common = {"nproc": 2, "nnodes": 2, "master_addr": "127.0.0.1", "master_port": network.free_port(), "fake": True}
    (first, _), (second, told) = planned(node_rank=0, **common), planned(node_rank=1, **common)
    assert [rank.number for job in (first, second) for rank in job.ranks] == [0, 1, 2, 3]
    assert [rank.environ["LOCAL_RANK"] for rank in second.ranks] == ["0", "1"]
    assert told[1]["RANK_ID"] == "3"
    assert first.environ == second.environ


def test_address_instead_of_table(planned):
    """With node 0's address, HCCL counts the ranks itself: it gets CM_* and none of RANK_*."""
    port = network.free_port()
    _, told = planned({"RANK_SIZE": ""}, devices="4-5", nnodes=1, master_addr="127.0.0.1", master_port=port)
    expected = {
        "CM_CHIEF_IP": "127.0.0.1",
        "CM_CHIEF_PORT": str(port),
        "CM_CHIEF_DEVICE": "4",
        "CM_WORKER_SIZE": "2",
        "CM_WORKER_IP": "127.0.0.1",
    }
    assert told == [expected, expected]


def test_address_refused_by_product(planned, monkeypatch):
    """On products that need a rank table, an address is refused."""
    from npusession import Product

    monkeypatch.setattr("npusession.products.detect", lambda: Product.ATLAS_A3)
    with pytest.raises(LaunchError, match="--rank-table"):
        planned(nproc=2, master_addr="127.0.0.1", master_port=network.free_port())


def test_rank_table(planned, table):
    """With a rank table, ranks and devices are those of this host's server."""
    job, told = planned(rank_table=table, node_rank=1)
    assert told == [{"RANK_ID": rank, "RANK_SIZE": "4", "RANK_TABLE_FILE": table} for rank in ("2", "3")]
    assert job.environ["JOB_ID"] == planned(rank_table=table, node_rank=0)[0].environ["JOB_ID"]
    with pytest.raises(LaunchError, match="leave out --devices"):
        planned(rank_table=table, node_rank=1, devices="2-3")
    with pytest.raises(LaunchError, match=r"say with --node-rank .*0: 198\.51\.100\.0, 1: 198\.51\.100\.1"):
        planned(rank_table=table)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (('"rank_id": "3"', '"rank_id": "2"'), "rank"),
        (("}]}]}", "},]}]}"), r"table\.json:1:\d+: .*comma"),
        (('"version"', '"ver'), "JSON"),
    ],
)
def test_broken_rank_table(planned, table, tmp_path, damage, words):
    """A broken rank table is refused, with its place."""
    path = tmp_path / "table.json"
    path.write_text(path.read_text("utf-8").replace(*damage), "utf-8")
    with pytest.raises(LaunchError, match=words):
        planned(rank_table=table, node_rank=0)


def test_rank_table_that_is_not_there(planned):
    """A rank table that is not there is named."""
    with pytest.raises(LaunchError, match=r"no/table.json cannot be read: No such file"):
        planned(rank_table="no/table.json")


def test_rank_table_of_containers(planned, tmp_path):
    """In the tables of containers, RANK_ID is the pod's name."""
    devices = [{"device_id": str(number), "device_ip": f"192.0.2.{number}"} for number in range(2)]
    instances = [{"pod_name": socket.gethostname(), "server_id": "198.51.100.1", "devices": devices}]
    groups = [{"group_name": "worker", "device_count": "2", "instance_count": "1", "instance_list": instances}]
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"status": "completed", "group_count": "1", "group_list": groups}), "utf-8")
    job, told = planned(rank_table=str(path))
    assert {rank["RANK_ID"] for rank in told} == {socket.gethostname()}
    assert [rank.device for rank in job.ranks] == [0, 1]


def test_rank_table_that_is_made(planned, tmp_path, monkeypatch):
    """On one host a rank table is made of the addresses of its devices, if the product allows them together."""
    from npusession import Product

    monkeypatch.setattr("npusession.hccl.ranktable.device_addresses", lambda ids: {i: f"192.0.2.{i}" for i in ids})
    job, told = planned(devices="4-5", log_dir=str(tmp_path / "logs"))
    assert json.loads(job.rank_table)["server_list"][0]["device"][1]["device_ip"] == "192.0.2.5"
    assert os.path.dirname(told[0]["RANK_TABLE_FILE"]) == str(tmp_path / "logs")
    assert {name: told[1][name] for name in ("RANK_ID", "RANK_SIZE")} == {"RANK_ID": "1", "RANK_SIZE": "2"}
    monkeypatch.setattr("npusession.products.detect", lambda: Product.ATLAS_TRAINING)
    with pytest.raises(LaunchError, match="0-3"):
        planned(devices="3-4")


def test_rank_table_of_all_devices(planned, monkeypatch):
    """A rank table that is made for all devices of the host has those that are there, whatever their numbers."""
    monkeypatch.setattr("npusession.hccl.ranktable.device_addresses", lambda ids: {i: f"192.0.2.{i}" for i in ids})
    monkeypatch.setattr("npusession.launch.devices.of_this_host", lambda: [2, 3])
    job, _ = planned()
    made = json.loads(job.rank_table)["server_list"][0]["device"]
    assert [device["device_id"] for device in made] == ["2", "3"]
    assert [rank.environ["ASCEND_DEVICE_ID"] for rank in job.ranks] == ["2", "3"]


def test_no_addresses(planned, monkeypatch):
    """Where devices tell no addresses, the message shows the ways out; the A2 and A3 series need none."""
    from npusession import Product

    with pytest.raises(LaunchError, match=r"(?s)hccn.conf.*--rank-table.*--fake"):
        planned(nproc=2)
    monkeypatch.setattr("npusession.products.detect", lambda: Product.ATLAS_A2)
    assert len(json.loads(planned(nproc=2)[0].rank_table)["server_list"][0]["device"]) == 2


def test_rank_table_of_this_host(planned, table, tmp_path):
    """A host finds itself in a rank table by its name or address."""
    content = json.loads((tmp_path / "table.json").read_text("utf-8"))
    content["server_list"][1]["server_id"] = socket.gethostname()
    (tmp_path / "table.json").write_text(json.dumps(content), "utf-8")
    assert [rank.number for rank in planned(rank_table=table)[0].ranks] == [2, 3]


SLURM = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": "5", "SLURM_LOCALID": "1"}
SLURM_SIZE = {"SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_TASKS_PER_NODE": "4(x2)", "SLURM_NODEID": "1"}
ENGINES = {
    "srun": ({**SLURM, **SLURM_SIZE, "SLURM_NTASKS": "16"}, 5, 8, "1"),
    "srun, few variables": ({"SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1"}, 5, 8, "1"),
    "mpirun": (
        {
            "OMPI_COMM_WORLD_RANK": "3",
            "OMPI_COMM_WORLD_SIZE": "4",
            "OMPI_COMM_WORLD_LOCAL_RANK": "2",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
            "SLURM_PROCID": "0",
            "SLURM_NTASKS": "4",
        },
        3,
        4,
        "2",
    ),
    "mpiexec": (
        {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2", "SLURM_PROCID": "0"},
        1,
        2,
        "1",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_engine(planned, engine):
    """Under srun, mpirun and mpiexec only the rank of this process is started, on the device of its place."""
    environ, rank, size, local = ENGINES[engine]
    job, told = planned(environ, fake=True, master_addr="127.0.0.1", master_port=29500)
    (only,) = job.ranks
    assert (only.number, only.device) == (rank, int(local))
    assert told[0]["RANK_SIZE"] == str(size)
    assert told[0]["NPUSESSION_FAKE_HUB"] == "127.0.0.1:29500"
    assert only.environ["LOCAL_RANK"] == local
    with pytest.raises(LaunchError, match="devices"):
        planned(environ, fake=True, devices="0", master_addr="127.0.0.1", master_port=29500)


def test_engine_on_one_host(planned):
    """On one host, the engine's name of the job is enough for an emulated one."""
    environ = {**ENGINES["mpirun"][0], "PMIX_NAMESPACE": "job-1"}
    job, told = planned(environ, fake=True, devices="4-7")
    assert told[0]["NPUSESSION_FAKE_HUB"] == "this-host"
    assert job.ranks[0].device == 6
    assert job.environ["JOB_ID"] != planned({**environ, "PMIX_NAMESPACE": "job-2"}, fake=True)[0].environ["JOB_ID"]


def test_engine_with_table(planned, table):
    """Under an engine, a rank finds its device in the rank table."""
    environ = {**SLURM, "SLURM_PROCID": "2", "SLURM_LOCALID": "0", "SLURM_STEP_NUM_TASKS": "4"}
    job, told = planned(environ, rank_table=table)
    assert told == [{"RANK_ID": "2", "RANK_SIZE": "4", "RANK_TABLE_FILE": table}]
    assert job.ranks[0].device == 0
    with pytest.raises(LaunchError, match=r"runs 8 ranks, but .* lists 4"):
        planned({**environ, "SLURM_STEP_NUM_TASKS": "8"}, rank_table=table)


def test_launcher_for_a_host_under_slurm(planned):
    """With one task for each host, the launcher starts all ranks of its host if it is told so."""
    common = {"nproc": 2, "nnodes": 2, "master_addr": "127.0.0.1", "master_port": 29500, "fake": True}
    environ = {**SLURM, "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}
    assert [rank.number for rank in planned(environ, node_rank=1, **common)[0].ranks] == [2, 3]
    batch = {"SLURM_JOB_ID": "77", "SLURM_PROCID": "0", "SLURM_NTASKS": "2", "ENVIRONMENT": "BATCH"}
    assert len(planned(batch, nproc=2, fake=True)[0].ranks) == 2
    assert len(planned({**SLURM, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, nproc=2, fake=True)[0].ranks) == 2


HOSTS = {"nnodes": 2, "nproc": 1}
REFUSED = {
    "both": ({"devices": "0", "nproc": 1}, {}, "--devices and --nproc"),
    "how many": ({"fake": True}, {}, "--nproc"),
    "no node": ({**HOSTS, "fake": True}, {}, "--node-rank"),
    "node too high": ({**HOSTS, "node_rank": 2, "fake": True}, {}, "0 to 1"),
    "node of one": ({"nproc": 1, "node_rank": 1}, {}, "0 to 0"),
    "no address": ({**HOSTS, "node_rank": 0, "master_port": 1, "fake": True}, {}, "--master-addr"),
    "no port": ({"nproc": 2, "nnodes": 1, "master_addr": "127.0.0.1"}, {}, "--master-port is missing"),
    "no table": ({**HOSTS, "node_rank": 0}, {"JOB_ID": "1"}, "--rank-table"),
    "nothing shared": ({**HOSTS, "node_rank": 0}, {}, "--master-addr"),
    "unknown host": ({"nproc": 2, "master_addr": "no.invalid", "master_port": 1}, {}, "cannot be found"),
    "other host": ({"nproc": 2, "master_addr": "192.0.2.1", "master_port": 29500}, {}, "no address of this host"),
    "port alone": ({"nproc": 2, "master_port": 29500}, {}, "--master-addr is missing"),
    "high port": ({"nproc": 2, "master_addr": "127.0.0.1", "master_port": 65530}, {}, "65520"),
    "table set": ({"nproc": 2, "fake": True}, {"RANK_TABLE_FILE": "x"}, "unset RANK_TABLE_FILE"),
    "rank set": ({"nproc": 2, "fake": True}, {"RANK_ID": "0", "RANK_SIZE": "2"}, "unset RANK_ID$"),
    "size set": ({"nproc": 2, "fake": True}, {"RANK_SIZE": "8"}, "RANK_SIZE=8"),
    "chief set": ({"nproc": 2, "fake": True}, {"CM_CHIEF_IP": "h", "CM_WORKER_SIZE": "2"}, "unset CM_CHIEF_IP CM_W"),
    "device set": ({"nproc": 1}, {"ASCEND_DEVICE_ID": "3"}, "ASCEND_DEVICE_ID=3"),
    "no number": ({"nproc": 2, "fake": True}, {"SLURM_PROCID": "x"}, "SLURM_PROCID: 'x' is no number"),
    "no size": ({"fake": True}, {"OMPI_COMM_WORLD_RANK": "1"}, "OMPI_COMM_WORLD_SIZE"),
    "beyond size": ({"fake": True}, {"PMI_RANK": "2", "PMI_SIZE": "2"}, "0 to 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(planned, case):
    """Flags that contradict each other, are incomplete or do not fit the environment are refused."""
    request, environ, words = REFUSED[case]
    with pytest.raises(LaunchError, match=words):
        planned(environ, **request)


def test_port_in_use(planned):
    """A port that somebody else listens at is refused on the host that would need it, and on no other."""
    with contextlib.closing(socket.socket()) as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen(1)
        common = {"nproc": 2, "nnodes": 2, "master_addr": "127.0.0.1", "master_port": busy.getsockname()[1]}
        for fake in (True, False):
            with pytest.raises(LaunchError, match="is in use"):
                planned(node_rank=0, fake=fake, **common)
            planned(node_rank=1, fake=fake, **common)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--nproc", "0"], "--nproc"),
        (["--master-port", "70000"], "--master-port"),
        (["--timeout", "0"], "--timeout"),
        (["--devices", "0,0"], "device 0 is there twice"),
        (["--nproc", "1", "--log-dir", "/dev/null"], "--log-dir /dev/null"),
        (["--nproc", "1", "nothing.py"], "no script nothing.py"),
        (["--nproc", "1", "-m", "nothing.at.all"], "no module nothing.at.all"),
        (["--nproc", "1", "--bad"], "--bad"),
    ],
)
def test_refused_on_the_command_line(tmp_path, flags, words):
    """What cannot be started ends with code 2 and the flag's name, and no script has run."""
    job = Job(tmp_path, "open('started', 'w')", *flags)
    code, _, errors = job.run()
    assert code == 2
    assert words in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "started").exists()


def test_arguments_of_the_script(tmp_path):
    """What follows the script's name is the script's, the launcher's own flags and -- included."""
    words = ["--nproc", "7", "--", "-h", "", "a b", "--fake=1", "é"]
    code, output, _ = Job(tmp_path, "print(sys.argv[1:])", "--nproc", 1, arguments=words).run()
    assert code == 0
    assert output.decode("utf-8", "replace").count("'") == 2 * len(words)
    assert output.startswith(b"['--nproc', '7', '--', '-h', '', 'a b', '--fake=1', ")


def test_module(tmp_path):
    """With -m, a module is run as python -m does, with its own arguments."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "train.py").write_text("import sys; print(__name__, sys.argv[1:])")
    job = Job(tmp_path, "", PYTHONPATH=os.pathsep.join([str(tmp_path), *map(os.path.abspath, sys.path)]))
    command = [*job.command[:4], "--nproc", "1", "-m", "package.train", "--nproc", "2"]
    assert job.run(command) == (0, b"__main__ ['--nproc', '2']\n", "")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="binds processes")
def test_bound(tmp_path):
    """With --cpu-bind each rank has processors of its own; more ranks than processors are refused."""
    count = len(os.sched_getaffinity(0))
    job = Job(tmp_path, "print(*os.sched_getaffinity(0))", "--fake", "--nproc", count, "--cpu-bind", "--tee", "all")
    code, output, _ = job.run()
    assert code == 0
    assert sorted(int(line.split()[2]) for line in output.splitlines()) == sorted(os.sched_getaffinity(0))
    assert "processors" in Job(tmp_path, "", "--fake", "--nproc", count + 1, "--cpu-bind").run()[2]


def cores(*numbers):
    return [[number] for number in numbers]


@pytest.mark.parametrize(
    ("nodes", "count", "expected"),
    [
        ([cores(0, 1, 2, 3)], 2, [(0, 1), (2, 3)]),
        # Threads of one core stay together.
        ([[[0, 4], [1, 5], [2, 6], [3, 7]]], 2, [(0, 1, 4, 5), (2, 3, 6, 7)]),
        ([[[0, 1]]], 2, [(0,), (1,)]),
        # A block lies within one NUMA node.
        ([cores(0, 1, 2), cores(3, 4, 5, 6)], 2, [(0, 1, 2), (3, 4, 5, 6)]),
        ([cores(0, 1), cores(2, 3), cores(4, 5)], 4, [(0, 1), (2, 3), (4,), (5,)]),
        # Fewer blocks than nodes share whole nodes.
        ([cores(0), cores(1), cores(2), cores(3)], 2, [(0, 1), (2, 3)]),
        ([cores(0, 1, 2, 3, 4)], 2, [(0, 1), (2, 3, 4)]),
    ],
)
def test_blocks(nodes, count, expected):
    """Processors are divided by NUMA nodes and cores."""
    assert affinity.divide(nodes, count) == expected


def test_blocks_by_device(planned, monkeypatch):
    """The block of a device does not depend on the other devices of the job."""
    monkeypatch.setattr("npusession.launch.devices.of_this_host", lambda: [0, 1, 2, 3])
    monkeypatch.setattr("npusession.launch.affinity.blocks", lambda count: [(number,) for number in range(count)])
    job, _ = planned(devices="2,3", fake=True, cpu_bind=True)
    assert [rank.cpus for rank in job.ranks] == [(2,), (3,)]


PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "launch.md"


@pytest.mark.parametrize("block", range(4))
def test_page(tmp_path, block):
    """The commands of the page about launching do what it says."""
    text = PAGE.read_text("utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    commands = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    assert len(commands) == 4
    (tmp_path / "train.py").write_text(script, "utf-8")
    job = Job(tmp_path, "", PYTHONPATH=os.pathsep.join(map(os.path.abspath, sys.path)))
    head = f'set -e; npusession() {{ "{sys.executable}" -m npusession "$@"; }}\n'
    code, output, errors = job.run(
        ["bash", "-c", head + commands[block].replace("29500", str(network.free_port()))], cwd=str(tmp_path)
    )
    assert (code, errors) == (0, "")
    ranks = sorted(re.findall(rb"rank (\d) of \d device", output))
    assert ranks == [[b"0", b"0", b"1", b"2", b"3", b"3"], [b"0", b"1"], [b"0"], [b"0", b"1"]][block]
