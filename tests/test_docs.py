"""What the documents show, runs."""

import pathlib
import re
import subprocess
import sys

import pytest
from processes import environment, run

from npusession.hccl import RankTable
from npusession.record import Record

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example(code, tmp_path):
    """Every piece of Python in the documents runs as it stands, on the fake backend."""
    pytest.importorskip("tensorflow", reason="the examples run sessions")
    code, _, errors = run(code, session=False, NPUSESSION_BACKEND="fake")
    assert code == 0, errors


def test_result_of_the_readme():
    """The README's example finds the minimum, on rank 0 of 1."""
    pytest.importorskip("tensorflow", reason="the examples run sessions")
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGES[0].read_text("utf-8"), re.M | re.S)
    assert run(example, session=False, NPUSESSION_BACKEND="fake")[1].strip() == "fake 0 1 0.0000"


def test_commands():
    """Every make target that the README names exists."""
    named = set(re.findall(r"make ([a-z]+)", PAGES[0].read_text("utf-8")))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert {"demo", "test", "check"} <= named <= targets


#: Written for the adapter, as scripts are that the README's commands are for.
TRAIN = """
import argparse, os
from npu_bridge.npu_init import *
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
epochs = parser.parse_args().epochs
tf1 = tf.compat.v1
graph = tf.Graph()
with graph.as_default():
    rank = tf1.constant(int(os.environ["RANK_ID"]))
with tf1.Session(graph=graph, config=npu_config_proto(tf1.ConfigProto())) as sess:
    for _ in range(epochs):
        print("rank", sess.run(rank), "of", os.environ["RANK_SIZE"])
"""
#: What each command of the README says.
COMMANDS = {
    "npusession run train.py --epochs 1": "rank 0 of 1",
    "npusession launch --fake --nproc 4 train.py": "rank 0 of 4",
    "npusession options precision_mode_v2": "mixed_bfloat16",
    "npusession ranktable check hccl.json": "hccl.json",
    "npusession report run.jsonl": "run.html",
}


def test_all_commands():
    """Every command of npusession in the README is one that is run here."""
    shown = re.findall(r"^ {4}(npusession .*)|`(npusession [^`]* [^`]*)`", PAGES[0].read_text("utf-8"), re.M)
    assert {first or second for first, second in shown} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command, tmp_path):
    """A command of the README does what it is there for."""
    if " train.py" in command:
        pytest.importorskip("tensorflow", reason="the script runs a session")
    if " report " in command:
        pytest.importorskip("matplotlib", reason="the page has pictures")
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    RankTable.single_server(2, device_ips={0: "192.0.2.1", 1: "192.0.2.2"}).write(tmp_path / "hccl.json")
    record = Record(str(tmp_path / "run.jsonl"))
    record.begin(backend="fake", device=0, rank=0, rank_size=1, scene="training", options={}, warnings=[])
    record.end(None)
    words, environ = [sys.executable, "-m", *command.split()], environment("JOB_ID", "RANK", path=[ROOT])
    done = subprocess.run(words, cwd=str(tmp_path), env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert COMMANDS[command] in done.stdout + done.stderr


def test_links():
    """Every relative link in the documents leads to a file."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
