"""Jobs run to their end, whatever comes: exit codes, failures, signals, and nothing left behind."""

import contextlib
import os
import signal
import sys
import time

import pytest
from jobs import Job, child, command, lines, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

#: Ranks say that they are there, and stay.
STAY = """
with open(sys.argv[0] + ".ready", "a") as file:
    file.write("%d\\n" % rank)
time.sleep(300)
"""
#: Each rank has a child that has left its session and ignores what asks it to end.
CHILDREN = """
code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('child', flush=True); time.sleep(300)"
child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
"""


def ready(job, count):
    until(lambda: len(lines(job.script.with_name("script.py.ready"))) == count)


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        ("sys.exit(0)", 0, ""),
        ("sys.exit(rank and 3)", 3, "rank 1 (device 1, process "),
        ("rank and os.kill(os.getpid(), signal.SIGSEGV)", 139, "was ended by SIGSEGV"),
        ("rank and os.abort()", 134, "was ended by SIGABRT"),
    ],
)
def test_exit_code(tmp_path, end, code, words):
    """The exit code of a job is 0, or that of the rank that failed."""
    result = Job(tmp_path, end, "--fake", "--nproc", 2).run()
    assert result[0] == code, result
    assert words in result[2]


def test_first_failure(tmp_path):
    """The first rank that fails stops the others, and its last lines are shown with its rank, code and time."""
    body = """
    if rank == 2:
        print("one\\ntwo")
        raise RuntimeError("no data")
    time.sleep(300)
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 4)
    code, _, errors = job.run()
    assert code == 1
    assert "rank 2 (device 2, process " in errors
    assert "exit code 1 after " in errors
    report = errors[errors.index("rank 2 wrote at last:") :].splitlines()
    assert report[1:3] == ["  | one", "  | two"]
    assert report[-1] == "  | RuntimeError: no data"
    assert job.processes() == []


def test_rank_that_does_not_stop(tmp_path):
    """A rank that ignores SIGTERM is killed when the grace period is over."""
    body = """
    if rank:
        while not os.path.exists("ignoring"):
            time.sleep(0.01)
        sys.exit(9)
    signal.signal(signal.SIGTERM, lambda *_: print("asked", flush=True))
    open("ignoring", "w").close()
    while True:
        time.sleep(300)
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 2, "--grace", 0.5)
    code, output, _ = job.run()
    assert (code, output) == (9, b"asked\n")
    assert job.processes() == []


def test_time_to_clean_up(tmp_path):
    """A rank that is asked to end has the grace period for what it has to finish."""
    body = """
    def finish(*_):
        time.sleep(0.5)
        print("saved", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, finish)
    if rank == 0:
        open("handled", "w").close()
    while rank and not os.path.exists("handled"):
        time.sleep(0.01)
    if rank:
        sys.exit(4)
    time.sleep(300)
    """
    code, output, _ = Job(tmp_path, body, "--fake", "--nproc", 2, "--grace", 60).run()
    assert (code, output) == (4, b"saved\n")


@pytest.mark.parametrize(("end", "code"), [("", 0), ("sys.exit(rank and 3)", 3)])
def test_children_of_ranks(tmp_path, end, code):
    """What ranks leave behind ends with the job, even if it has detached itself and ignores SIGTERM."""
    job = Job(tmp_path, CHILDREN + end, "--fake", "--nproc", 2, "--grace", 0.5)
    assert job.run()[0] == code
    assert job.processes() == []


def test_children_that_end_by_themselves(tmp_path):
    """A helper process that needs a moment after its rank has ended gets it."""
    code = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); sys.stdin.read(); open('done', 'w').close()"
    body = f"""
    subprocess.Popen([sys.executable, "-c", {code!r}], stdin=subprocess.PIPE)
    time.sleep(0.5)
    """
    assert Job(tmp_path, body, "--nproc", 1, "--grace", 60).run()[0] == 0
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_the_launcher(tmp_path, number):
    """Ctrl-C, SIGTERM and SIGHUP reach every rank and its children, and end the job with 128 and their number."""
    body = f"""
    def note(number, frame):
        with open(sys.argv[0] + ".got", "a") as file:
            file.write("%d %d\\n" % (rank, number))
        sys.exit(0)
    signal.signal({int(number)}, note)
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 2, "--grace", 0.5)
    job.script.write_text(job.script.read_text("utf-8") + CHILDREN + STAY, "utf-8")
    process = job.start()
    ready(job, 2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert signal.Signals(number).name in errors.decode()
    got = lines(job.script.with_name("script.py.got"))
    assert sorted(got) == [f"0 {int(number)}", f"1 {int(number)}"]
    assert job.processes() == []


def test_second_signal(tmp_path):
    """Whoever presses Ctrl-C again need not wait for the grace period."""
    job = Job(tmp_path, "signal.signal(2, signal.SIG_IGN)" + STAY, "--fake", "--nproc", 2, "--grace", 1000)
    process = job.start()
    ready(job, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert job.processes() == []


def test_ctrl_c_on_a_terminal(tmp_path):
    """Ctrl-C on a terminal, which signals the whole process group, is one signal to the ranks."""
    body = """
    def note(number, frame):
        with open(sys.argv[0] + ".got", "a") as file:
            file.write("%d\\n" % rank)
    signal.signal(2, note)
    signal.signal(15, lambda *_: sys.exit(0))
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 2, "--grace", 0.5)
    job.script.write_text(job.script.read_text("utf-8") + STAY, "utf-8")
    process = job.start(start_new_session=True)
    ready(job, 2)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert sorted(lines(job.script.with_name("script.py.got"))) == ["0", "1"]


def test_signals_for_the_ranks(tmp_path):
    """SIGUSR1 and SIGUSR2 are handed on, and the job goes on."""
    body = """
    got = []
    signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
    with open(sys.argv[0] + ".ready", "a") as file:
        file.write("%d\\n" % rank)
    while not got:
        time.sleep(0.01)
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 2)
    process = job.start()
    ready(job, 2)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_ignored_signal(tmp_path):
    """Under nohup, a job outlives its terminal."""
    job = Job(tmp_path, STAY.replace("300", "1"), "--nproc", 1)
    process = job.start(["nohup", *job.command])
    ready(job, 1)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_launcher_killed(tmp_path):
    """When the launcher is killed, its ranks and their children end."""
    job = Job(tmp_path, CHILDREN + STAY, "--fake", "--nproc", 2, "--grace", 0.5)
    process = job.start()
    ready(job, 2)
    assert len(job.processes()) == 6
    process.kill()
    until(lambda: job.processes() == [])
    process.communicate()


def test_watcher_killed(tmp_path):
    """When the process that watches the ranks is killed, the launcher ends them and their children, and says so."""
    job = Job(tmp_path, CHILDREN + STAY, "--fake", "--nproc", 2)
    process = job.start()
    ready(job, 2)
    os.kill(child(process.pid), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 137
    assert "SIGKILL" in errors.decode()
    assert job.processes() == []


def test_both_killed(tmp_path):
    """When both are killed at one moment, the kernel ends the ranks."""
    job = Job(tmp_path, STAY, "--fake", "--nproc", 2)
    process = job.start()
    ready(job, 2)
    pids = [process.pid, child(process.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: job.processes() == [])
    process.communicate()


def test_killed_by_name(tmp_path):
    """Killing all processes whose command shows the launcher or the script leaves nothing."""
    job = Job(tmp_path, CHILDREN + STAY, "--fake", "--nproc", 2, "--grace", 0.5)
    process = job.start()
    ready(job, 2)
    for pid in job.processes():
        if "npusession launch" in command(pid) or str(job.script) in command(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    until(lambda: job.processes() == [])
    process.communicate()


def test_timeout(tmp_path):
    """A job that takes too long is stopped; the last line of each rank shows where it was."""
    body = "print('step', rank, flush=True)" + STAY
    job = Job(tmp_path, body, "--fake", "--nproc", 2, "--timeout", 3)
    code, _, errors = job.run()
    assert code == 124
    assert "still running: rank 0, 1" in errors
    assert "  | step 1" in errors
    assert job.processes() == []


def test_rank_that_cannot_be_started(tmp_path):
    """A rank that cannot be started stops those that were."""
    (tmp_path / "logs" / "rank-1.log").mkdir(parents=True)
    job = Job(tmp_path, STAY, "--fake", "--nproc", 2, "--log-dir", tmp_path / "logs")
    code, _, errors = job.run()
    assert code == 1
    assert "rank 1 cannot be started" in errors
    assert job.processes() == []


def test_no_tensorflow(tmp_path):
    """The launcher imports no TensorFlow."""
    code = (
        "import sys; sys.argv[1:] = ['launch', '--nproc', '1', '-m', 'this']; from npusession.cli import main\n"
        "try: main()\nfinally: assert not {'tensorflow', 'numpy', 'npu_bridge'} & set(sys.modules)"
    )
    assert Job(tmp_path, "").run([sys.executable, "-c", code])[0] == 0
