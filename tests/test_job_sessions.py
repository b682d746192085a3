"""Sessions of an emulated job: real collectives between the processes that the launcher starts."""

import subprocess
import sys
import textwrap

import pytest

from npusession.record import read

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

PRELUDE = """
import os, sys, warnings
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
from npusession import CollectiveError, NpuSession
from npusession.backends.fake import importing
from npusession.backends.fake.job import hub
importing.enable()
from npu_bridge.hccl import hccl_ops
from hccl.manage.api import create_group, get_local_rank_size, get_rank_id, get_rank_size
tf1 = tf.compat.v1
graph = tf.Graph()
rank, size = int(os.environ["RANK_ID"]), int(os.environ["RANK_SIZE"])
plan = NpuSession.for_training(graph=graph, backend="fake")
def say(*words):
    print(*words, flush=True)
"""


def launch(tmp_path, body, *flags, ranks=2):
    """Run a program on all ranks of a job; gives the exit code and the lines that they printed, sorted."""
    script = tmp_path / "job.py"
    script.write_text(PRELUDE + textwrap.dedent(body))
    command = [sys.executable, "-m", "npusession", "launch", "--fake", "--nproc", str(ranks), "--tee", "all"]
    done = subprocess.run(
        [*command, *flags, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    return done.returncode, sorted(done.stdout.splitlines())


def test_collectives(tmp_path):
    """Every collective gives each rank what HCCL gives it, in groups too, and allreduce has its gradient."""
    code, lines = launch(
        tmp_path,
        """
        with graph.as_default():
            x = tf1.constant([[float(rank + 1), 2.0]])
            half = tf1.cast(x, tf1.bfloat16)
            total = hccl_ops.allreduce(x, "sum")
            fetches = {
                "sum": total,
                "max": hccl_ops.allreduce(x, "max", fusion=0),
                "bfloat16": tf1.cast(hccl_ops.allreduce(half, "sum"), tf1.float32),
                "gradient": tf1.gradients(total * total, x)[0],
                "gather": hccl_ops.allgather(x, size),
                "broadcast": hccl_ops.broadcast([x], 1)[0],
                "scatter": hccl_ops.reduce_scatter(tf1.constant([1.0, 2.0]) * (rank + 1), "sum", size),
                "alltoall": hccl_ops.all_to_all_v([10 * rank, 10 * rank + 1], [1, 1], [0, 1], [1, 1], [0, 1]),
                "many": tf1.add_n([hccl_ops.allreduce(x * i, "sum") for i in range(20)]),
            }
            if rank == 0:
                sent = hccl_ops.send(x, 7, 1)
            else:
                fetches["received"] = hccl_ops.receive([1, 2], tf1.float32, 7, 0)
        with plan as s:
            assert (s.rank_id, s.rank_size) == (rank, size) == (get_rank_id(), get_rank_size())
            assert get_local_rank_size() == size
            create_group("mine", 1, [rank])
            with graph.as_default():
                fetches["alone"] = hccl_ops.allreduce(x, "sum", group="mine")
            values = s.run([fetches, sent] if rank == 0 else [fetches])[0]
        say(rank, {name: values[name].tolist() for name in sorted(values)})
        """,
    )
    assert code == 0, lines
    shared = {
        "sum": [[3.0, 4.0]],
        "max": [[2.0, 2.0]],
        "bfloat16": [[3.0, 4.0]],
        "gradient": [[12.0, 16.0]],
        "gather": [[1.0, 2.0], [2.0, 2.0]],
        "broadcast": [[2.0, 2.0]],
        "many": [[570.0, 760.0]],
    }
    own = [
        {"scatter": [3.0], "alltoall": [0, 10], "alone": [[1.0, 2.0]]},
        {"scatter": [6.0], "alltoall": [1, 11], "alone": [[2.0, 2.0]], "received": [[1.0, 2.0]]},
    ]
    values = {int(line.split()[2]): line for line in lines if "{" in line}
    for rank in range(2):
        expected = {**shared, **own[rank]}
        assert values[rank].partition("{")[2] == str({name: expected[name] for name in sorted(expected)})[1:]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ('hccl_ops.allreduce(tf1.zeros(2 + rank), "sum")', ["float32[2]", "float32[3]"]),
        ('hccl_ops.allreduce(tf1.zeros(2), "sum" if rank else "max")', ["reduction=sum", "reduction=max"]),
        ("hccl_ops.broadcast([tf1.zeros(2)], 5)", ["there is no rank 5"]),
        ("hccl_ops.allgather(tf1.zeros(2), 3)", ["rank_size=3", "has 2 ranks"]),
        ('hccl_ops.allreduce(tf1.zeros(2), "sum", group="none")', ["there is no group 'none'"]),
        (
            'hccl_ops.allreduce(tf1.zeros(2), "sum") if not rank else hccl_ops.allgather(tf1.zeros(2), size)',
            ["different graphs", "only rank 1 has"],
        ),
    ],
)
def test_mistakes(tmp_path, build, words):
    """Ranks that call different things, or what cannot be, get an error that says what, and none of them hangs."""
    code, lines = launch(
        tmp_path,
        f"""
        hub.PATIENCE = 1.0
        with graph.as_default():
            result = {build}
        try:
            with plan as s:
                s.run(result)
        except CollectiveError as error:
            say(rank, error)
        """,
    )
    assert code == 0, lines
    errors = [line for line in lines if "Hcom" in line]
    assert len(errors) == 2, lines
    for line in errors:
        for word in words:
            assert word in line


def test_a_rank_that_dies(tmp_path):
    """When a rank is killed, the others do not hang, and the job ends with its signal."""
    code, lines = launch(
        tmp_path,
        """
        import signal
        with graph.as_default():
            total = hccl_ops.allreduce(tf1.zeros(2), "sum")
        with plan as s:
            s.run(total)
            if rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            s.run(total)
        """,
    )
    assert code == 128 + 9, lines


def test_again_and_again(tmp_path):
    """A job can close its sessions and open others; ranks meet again each time."""
    code, lines = launch(
        tmp_path,
        """
        with graph.as_default():
            total = hccl_ops.allreduce(tf1.constant(1.0), "sum")
        for _ in range(3):
            with plan as s:
                say(rank, s.run(total))
        """,
        ranks=3,
    )
    assert code == 0, lines
    assert len([line for line in lines if line.endswith("3.0")]) == 9, lines


def test_records(tmp_path):
    """Each rank of a job writes a record of its own, beside that of rank 0."""
    code, lines = launch(
        tmp_path,
        f"""
        with graph.as_default():
            nothing = tf1.no_op()
        with plan.replace(record={str(tmp_path / "run.jsonl")!r}) as s:
            s.run_for(nothing, steps=rank + 1)
        """,
    )
    assert code == 0, lines
    for rank, name in enumerate(("run.jsonl", "run.rank1.jsonl")):
        (section,) = read(tmp_path / name)
        assert (section.about["rank"], section.about["rank_size"], len(section.steps)) == (rank, 2, rank + 1)


WRITERS = """
folder = sys.argv[1]
tf1.disable_eager_execution()
with graph.as_default():
    step = tf1.train.get_or_create_global_step()
    weight = tf1.get_variable("weight", initializer=0.0)
    mean = hccl_ops.allreduce(weight, "sum") / size
    with tf1.control_dependencies([mean]):
        train_op = tf1.group(tf1.assign_add(weight, 1.0), tf1.assign_add(step, 1))
"""


def writers(tmp_path, body):
    folder = tmp_path / "model"
    script = tmp_path / "training.py"
    script.write_text(PRELUDE + WRITERS + textwrap.dedent(body))
    command = [sys.executable, "-m", "npusession", "launch", "--fake", "--nproc", "2", "--tee", "all"]
    done = subprocess.run(
        [*command, str(script), str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout
    return folder, sorted(done.stdout.splitlines())


def test_monitored_session(tmp_path):
    """Of a job's monitored sessions rank 0's alone writes, and every rank restores what it wrote."""
    folder, lines = writers(
        tmp_path,
        """
        saved = []
        write = tf1.train.Saver.save
        tf1.train.Saver.save = lambda self, *given, **named: (saved.append(1), write(self, *given, **named))[1]
        for last in (4, 6):
            hooks = [tf1.train.StopAtStepHook(last_step=last)]
            with plan.monitored(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2) as session:
                first = session.run(step)
                while not session.should_stop():
                    session.run(train_op)
            say(rank, first, "saves", bool(saved))
            graph._unsafe_unfinalize()
        """,
    )
    assert [line.split("] ")[-1] for line in lines if "saves" in line] == [
        "0 0 saves True", "0 4 saves True", "1 0 saves False", "1 4 saves False"
    ]  # fmt: skip
    assert (folder / "model.ckpt-6.index").exists()


def test_supervisor(tmp_path):
    """Of a job's supervisors rank 0's alone writes, and every rank restores what it wrote."""
    folder, lines = writers(
        tmp_path,
        """
        for last in (4, 6):
            with plan.supervisor(folder, global_step=step) as (supervisor, session):
                first = session.run(step)
                for _ in range(first, last):
                    session.run(train_op)
                if rank == 0:
                    supervisor.saver.save(session, supervisor.save_path, global_step=last)
                session.run(mean)
            say(rank, first, "writes", bool(supervisor._logdir))
            graph._unsafe_unfinalize()
        """,
    )
    assert [line.split("] ")[-1] for line in lines if "writes" in line] == [
        "0 0 writes True", "0 4 writes True", "1 0 writes False", "1 4 writes False"
    ]  # fmt: skip
    assert (folder / "model.ckpt-6.index").exists()
