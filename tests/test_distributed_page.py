"""The commands of docs/distributed.md do here what the page says.

What needs devices runs with a driver that only tells addresses, and with a script that prints what it is told; servers
are network namespaces.
"""

import ast
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest
from jobs import Job

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "distributed.md").read_text("utf-8")
TOLD = """
import json, os
names = ("RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "CM_CHIEF_IP", "CM_WORKER_IP", "CM_WORKER_SIZE", "ASCEND_DEVICE_ID")
print(json.dumps({name: os.environ[name] for name in names if name in os.environ}))
"""
#: What stands in for an engine: as many processes on one host, told what the engine tells them.
SRUN = """
for rank in 0 1; do
    SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_STEP_NUM_TASKS=2 SLURM_NODEID=0 \\
        SLURM_STEP_TASKS_PER_NODE=2 "${@:2}" &
done
wait
"""
MPIRUN = """
for rank in 2 3; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=$((rank - 2)) \\
        OMPI_COMM_WORLD_LOCAL_SIZE=2 "${@:3}" &
done
wait
"""
STAND_INS = {
    "npusession": f'exec "{sys.executable}" -m npusession "$@"',
    "hccn_tool": 'echo "ipaddr:192.0.2.1$2"',
    "srun": SRUN,
    "mpirun": MPIRUN,
}


def blocks(language, section):
    """Return the blocks of a section that are written in a language."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def commands(section):
    """Return the commands of a section, each with the host that it is for, on two devices instead of eight."""
    found = [line.partition("  # on ") for block in blocks("sh", section) for line in block.splitlines()]
    smaller = (("0-7", "0-1"), ("per-node=8", "per-node=2"), ("-n 16", "-n 4"))
    texts = []
    for text, _, host in found:
        for whole, part in smaller:
            text = text.replace(whole, part)
        texts.append((text, host))
    return texts


class Site:
    """A directory with the page's files, and hosts to run its commands on."""

    def __init__(self, folder, script=TOLD):
        self.folder = folder
        self.job = Job(folder, "", PYTHONPATH=os.pathsep.join(map(os.path.abspath, sys.path)))
        (folder / "bin").mkdir()
        for name, body in STAND_INS.items():
            (folder / "bin" / name).write_text(f"#!/bin/bash\n{body}\n", "utf-8")
            (folder / "bin" / name).chmod(0o755)
        self.job.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
        (folder / "train.py").write_text(script, "utf-8")
        for server in (1, 2):
            lines = [f"address_{device}=192.0.2.{10 * server + device}" for device in range(2)]
            (folder / f"hccn-{server}.conf").write_text("\n".join(lines), "utf-8")

    def run(self, script, host=""):
        """Run a script on the host of an address, or on this one; returns its output."""
        command = ["bash", "-ec", script]
        if host[:1].isdigit():
            setup = f"ip link set lo up; ip addr add {host}/32 dev lo; ip route add 10.0.0.0/24 dev lo src {host}\n"
            command = [*isolated(), "bash", "-ec", setup + script]
        code, output, errors = self.job.run(command, cwd=str(self.folder))
        assert code == 0, errors
        return output.decode("utf-8")

    def told(self, script, host=""):
        """Return what the first rank of a host is told."""
        return json.loads(self.run(script, host).splitlines()[0])


def isolated():
    """Return the command that runs another one in a network namespace, which cannot be had everywhere."""
    command = ["unshare", "--net", "--mount"] + (["--user", "--map-root-user"] if os.getuid() else [])
    if not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("network namespaces need unshare of util-linux and ip of iproute2")
    done = subprocess.run([*command, "ip", "link", "set", "lo", "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        pytest.skip("no network namespaces here: {}".format(done.stdout.decode("utf-8", "replace").strip()))
    return command


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_laptop():
    """The example trains to the same loss on four ranks as on one."""
    pytest.importorskip("tensorflow", reason="the example trains")
    pytest.importorskip("sklearn", reason="the example's data is scikit-learn's")
    shown = re.findall(r"\$ npusession (.*)\n(.*)\n", *blocks("console", "On a laptop"))
    losses = []
    for command, line in shown:
        done = subprocess.run(
            [sys.executable, "-m", "npusession", *command.split()],
            cwd=str(ROOT), capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        pattern = r"(\d) ranks on fake: loss ([0-9.]+), accuracy ([0-9.]+)"
        ranks, loss, accuracy = re.fullmatch(pattern, done.stdout.splitlines()[-1]).groups()
        # Another TensorFlow may round otherwise.
        assert (ranks, float(loss)) == (line.split()[0], pytest.approx(float(line.split()[5][:-1]), abs=1e-3))
        assert float(accuracy) > 0.95
        losses.append(float(loss))
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_two_hosts(tmp_path):
    """Two hosts in network namespaces of their own train one model."""
    pytest.importorskip("tensorflow", reason="the example trains")
    (train,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    (script,) = blocks("sh", "On a laptop")
    site = Site(tmp_path, train)
    site.job.environ.update({"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"})
    head = "mount -t tmpfs none /run\ntrap 'kill $(jobs -p)' ERR\n"
    code, output, errors = site.job.run([*isolated(), "bash", "-ec", head + script], cwd=str(tmp_path))
    if (code and "veth" in errors) or "device type" in errors:
        pytest.skip(f"no veth devices here: {errors.strip()}")
    assert code == 0, errors
    lines = sorted(line for line in output.decode("utf-8").splitlines() if re.search(r"\] \d 4 ", line))
    assert [line.split()[1:4] for line in lines] == [[f"{rank}]", str(rank), "4"] for rank in range(4)]
    assert len({line.split()[4] for line in lines}) == 1
    assert site.job.processes() == []


def test_one_server(site):
    """On one server a rank table is made from what the driver says."""
    ((command, _),) = commands("On one server")
    told = site.told(command)
    assert (told["RANK_ID"], told["RANK_SIZE"], told["ASCEND_DEVICE_ID"]) == ("0", "2", "0")
    assert not os.path.exists(told["RANK_TABLE_FILE"])


def test_several_servers(site):
    """On several servers a table, or the first server's address, tells each rank its place."""
    make, check, *launches = commands("On several servers")
    site.run(make[0])
    assert "no errors" in site.run(check[0])
    tables, chiefs = launches[:2], launches[2:]
    for rank, (command, host) in zip(("0", "2"), tables):
        table = str(site.folder / "table.json")
        expected = {"RANK_ID": rank, "RANK_SIZE": "4", "RANK_TABLE_FILE": table, "ASCEND_DEVICE_ID": "0"}
        assert site.told(command, host) == expected
    for command, host in chiefs:
        assert site.told(command, host) == {
            "CM_CHIEF_IP": "10.0.0.1", "CM_WORKER_IP": host, "CM_WORKER_SIZE": "4", "ASCEND_DEVICE_ID": "0"
        }  # fmt: skip


def test_super_pods(site):
    """The table of super pods is right, and each of its servers starts its ranks."""
    (table,) = blocks("json", "In super pods")
    (site.folder / "pods.json").write_text(table, "utf-8")
    check, *launches = commands("In super pods")
    assert "no errors, no warnings" in site.run(check[0])
    assert [site.told(command)["RANK_ID"] for command, _ in launches] == ["0", "2"]


def test_containers(site):
    """A pod finds itself in the platform's table, and its RANK_ID is its name."""
    (line,) = blocks("yaml", "In containers")
    words = ast.literal_eval(line.partition(":")[2].strip())
    path = site.folder / "hccl.json"
    pods = [
        {"pod_name": name, "server_id": f"198.51.100.{n}", "devices": [{"device_id": "0", "device_ip": f"192.0.2.{n}"}]}
        for n, name in enumerate((socket.gethostname(), "other-pod"), 1)
    ]
    groups = [{"group_name": "worker", "device_count": "2", "instance_count": "2", "instance_list": pods}]
    path.write_text(json.dumps({"status": "completed", "group_count": "1", "group_list": groups}), "utf-8")
    words[words.index("/user/serverid/devindex/config/hccl.json")] = str(path)
    told = site.told(" ".join(words))
    assert (told["RANK_ID"], told["RANK_SIZE"], told["ASCEND_DEVICE_ID"]) == (socket.gethostname(), "2", "0")


def test_engines(site):
    """Under Slurm and MPI each launcher starts the rank that the engine gave it."""
    site.run(commands("On several servers")[0][0])
    slurm, mpi = commands("Under Slurm and MPI")
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = [json.loads(line) for line in site.run("HEAD=127.0.0.1\n" + slurm[0].replace("6000", port)).splitlines()]
    assert sorted(rank["ASCEND_DEVICE_ID"] for rank in told) == ["0", "1"]
    assert {(rank["CM_CHIEF_IP"], rank["CM_WORKER_SIZE"]) for rank in told} == {("127.0.0.1", "2")}
    told = [json.loads(line) for line in site.run(mpi[0]).splitlines()]
    assert sorted((rank["RANK_ID"], rank["ASCEND_DEVICE_ID"]) for rank in told) == [("2", "0"), ("3", "1")]
