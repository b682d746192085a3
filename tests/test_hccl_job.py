"""Several ranks work together over npusession.hccl: emulated jobs that the launcher starts."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("tensorflow", reason="collectives are ops of TensorFlow")

PROGRAM = pathlib.Path(__file__).parent / "hccl_program.py"
PRELUDE = """
import tensorflow as tf
from npusession import NpuSession, hccl
plan = NpuSession.for_training(backend="fake")
graph = tf.Graph()
def say(*words):
    print("says", hccl.rank(), *words, flush=True)
"""


def launch(script, ranks):
    """Run a program on all ranks of a job; gives the exit code, what they say, and all that they wrote."""
    command = [sys.executable, "-m", "npusession", "launch", "--fake", "--nproc", str(ranks), "--tee", "all"]
    done = subprocess.run([*command, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    output = done.stdout.decode("utf-8", "replace")
    return done.returncode, sorted(line[line.index("says") :] for line in output.splitlines() if "says" in line), output


def test_several_ranks():
    """Three ranks compute, group by group and session by session, what the program says for any number of them."""
    code, said, output = launch(PROGRAM, 3)
    assert (code, said) == (0, [f"says rank {rank} of 3 is content" for rank in range(3)]), output


def test_refused_on_every_rank(tmp_path):
    """A wrong argument is refused on the ranks that gave it before the others wait for them."""
    script = tmp_path / "job.py"
    body = """
    with hccl.init(plan), graph.as_default():
        calls = {
            "root": lambda: hccl.broadcast([1.0], root=2),
            "group": lambda: hccl.group("g", [1 - hccl.rank()]).__enter__(),
            "self": lambda: hccl.send([1.0], hccl.rank()),
            "parts": lambda: hccl.reduce_scatter([1.0, 2.0, 3.0]),
            "counts": lambda: hccl.alltoallv([1.0], [1], [0], [1], [0]),
        }
        for name, call in sorted(calls.items()):
            try:
                call()
            except (TypeError, ValueError) as error:
                say(name, str(error).replace("\\n", " "))
        with hccl.group("own", [hccl.rank()]) as own, plan.replace(graph=graph) as s:
            say("sum", s.run(hccl.allreduce([1.0 + hccl.rank()], group=own))[0], own.rank, own.size)
    """
    script.write_text(PRELUDE + textwrap.dedent(body))
    code, said, output = launch(script, 2)
    assert code == 0, output
    for rank in (0, 1):
        lines = [line for line in said if line.startswith(f"says {rank} ")]
        assert [line.split()[2] for line in lines] == ["counts", "group", "parts", "root", "self", "sum"]
        text = "\n".join(lines)
        assert "one number for each of 2 ranks" in text
        assert f"this process is rank {rank}, and only ranks of a group make it" in text
        assert "the first axis has 3, which 2 ranks cannot share" in text
        assert "root=2; there are ranks 0 to 1" in text
        assert "is this very rank" in text
        assert lines[-1] == f"says {rank} sum {1.0 + rank} 0 1"


def test_ranks_that_nobody_knows(tmp_path):
    """A rank that is not initialised does not train as 0 of 1: its job ends with the error."""
    script = tmp_path / "job.py"
    script.write_text(PRELUDE + "say('alone')")
    code, said, output = launch(script, 2)
    assert code == 1
    assert not [line for line in said if line.startswith(("says 0", "says 1"))]
    assert "NotInitializedError: hccl.rank() needs HCCL, which is not initialised" in output
