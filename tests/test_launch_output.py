"""What ranks write: all of it in their logs, in whole lines on the terminal, whatever the bytes are."""

import hashlib
import os
import pty
import re
import signal
import sys

import pytest
from jobs import Job, until

from npusession.launch.output import Output, Prefixed, Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

NOISE = """
import hashlib, random
noise = random.Random(rank)
digest = hashlib.sha256()
for number in range(300):
    block = bytes(noise.randrange(256) for _ in range(64)) * noise.randrange(1, 2000)
    digest.update(block)
    (sys.stdout if number % 2 else sys.stderr).buffer.write(block)
    (sys.stdout if number % 2 else sys.stderr).flush()
with open("digest-%d" % rank, "w") as file:
    file.write(digest.hexdigest())
"""


def test_logs_are_complete(tmp_path):
    """Each rank's log has every byte of its output and error output, in the order in which they were written."""
    logs = tmp_path / "logs"
    code, output, errors = Job(tmp_path, NOISE, "--fake", "--nproc", 3, "--log-dir", logs).run()
    assert (code, errors) == (0, "")
    assert sorted(path.name for path in logs.iterdir()) == ["rank-0.log", "rank-1.log", "rank-2.log"]
    for rank in range(3):
        content = (logs / f"rank-{rank}.log").read_bytes()
        assert hashlib.sha256(content).hexdigest() == (tmp_path / f"digest-{rank}").read_text()
    assert output == (logs / "rank-0.log").read_bytes()


def test_logs_are_added_to(tmp_path):
    """A job that is started again adds to the logs of the one before."""
    job = Job(tmp_path, "print(sys.argv[1:])", "--nproc", 1, "--log-dir", tmp_path / "a" / "b", "--tee", "none")
    for words in (["one"], ["two", "--nproc"]):
        assert job.run([*job.command, *words]) == (0, b"", "")
    assert (tmp_path / "a" / "b" / "rank-0.log").read_text() == "['one']\n['two', '--nproc']\n"


def test_output_of_a_killed_rank(tmp_path):
    """What a rank had printed when it was killed is in its log, and shown."""
    body = "print('almost'); rank and os.kill(os.getpid(), 9); time.sleep(300)"
    code, _, errors = Job(tmp_path, body, "--fake", "--nproc", 2, "--log-dir", tmp_path).run()
    assert code == 137
    assert (tmp_path / "rank-1.log").read_text() == "almost\n"
    assert f"rank 1 wrote at last: (all of it: {tmp_path}/rank-1.log)\n  | almost\n" in errors


def test_all_on_the_terminal(tmp_path):
    """With --tee all, whole lines of all ranks come with their rank, also when they are written in pieces."""
    body = """
    for number in range(200):
        os.write(1, b"line %d" % number)
        os.write(2, b" of %d" % rank + b"\\xff" * 3000 + b"\\n")
    os.write(1, b"end")
    """
    code, output, _ = Job(tmp_path, body, "--fake", "--nproc", 4, "--tee", "all").run()
    assert code == 0
    found = output.split(b"\n")[:-1]
    for rank in range(4):
        mine = [line for line in found if line.startswith(b"[rank %d] " % rank)]
        expected = [b"[rank %d] line %d of %d" % (rank, number, rank) + b"\xff" * 3000 for number in range(200)]
        assert mine == [*expected, b"[rank %d] end" % rank]


def test_separate_streams(tmp_path):
    """Without logs, the first rank's output and error output stay apart, as without the launcher."""
    body = "print('result'); print('note', file=sys.stderr); rank and print('other')"
    assert Job(tmp_path, body, "--fake", "--nproc", 2).run() == (0, b"result\n", "note\n")


def test_terminal(tmp_path):
    """Without logs, the first rank has the terminal, and draws its progress bars there."""
    ours, theirs = pty.openpty()
    process = Job(tmp_path, "print(sys.stdout.isatty(), rank)", "--fake", "--nproc", 2).start(stdout=theirs)
    assert process.wait(60) == 0
    os.close(theirs)
    assert os.read(ours, 100) == b"True 0\r\n"
    os.close(ours)
    process.communicate()


def test_input(tmp_path):
    """Rank 0 reads the launcher's input; the others find an empty one."""
    body = "print(rank, sys.stdin.buffer.read())"
    result = Job(tmp_path, body, "--fake", "--nproc", 2, "--tee", "all").run(data=b"yes\xff")
    assert sorted(result[1].splitlines()) == [b"[rank 0] 0 b'yes\\xff'", b"[rank 1] 1 b''"]


def test_nobody_reads_any_more(tmp_path):
    """A job goes on when the reader of its output goes away, and its logs are complete."""
    body = """
    print("begun")
    while not os.path.exists("gone"):
        time.sleep(0.01)
    for number in range(1000):
        print("x" * 1000)
    """
    job = Job(tmp_path, body, "--nproc", 1, "--log-dir", tmp_path)
    process = job.start()
    assert process.stdout.readline() == b"begun\n"
    process.stdout.close()
    (tmp_path / "gone").touch()
    assert process.wait(60) == 0
    process.stderr.close()
    assert (tmp_path / "rank-0.log").stat().st_size == 6 + 1001 * 1000


def test_slow_reader(tmp_path):
    """A terminal that stands still holds up what it shows, and neither failures nor signals."""
    body = """
    if rank:
        while not os.path.exists("much"):
            time.sleep(0.01)
        sys.exit(5)
    for number in range(1000):
        os.write(1, b"x" * 65536 + b"\\n")
        number == 10 and open("much", "w").close()
    """
    job = Job(tmp_path, body, "--fake", "--nproc", 2, "--tee", "all", "--grace", 0.5)
    process = job.start()
    until((tmp_path / "much").exists)
    # The launcher and the process that watches the ranks are left, since not all is written.
    until(lambda: len(job.processes()) == 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 5
    process.communicate()
    assert job.processes() == []


def test_log_that_takes_no_more(tmp_path):
    """A full disk does not end a job; it is said once, and the terminal goes on."""
    (tmp_path / "rank-0.log").symlink_to("/dev/full")
    body = "for number in range(3): print(number); time.sleep(0.1)"
    code, output, errors = Job(tmp_path, body, "--nproc", 1, "--log-dir", tmp_path).run()
    assert (code, output) == (0, b"0\n1\n2\n")
    assert errors.count("the log of rank 0 takes no more") == 1


def test_progress_bar_in_lines(monkeypatch):
    """Among prefixed lines, a progress bar is its last state, and one state every five seconds meanwhile."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    lines = Prefixed(b"> ")
    assert lines.feed(b"begin\r\n") == b"> begin\n"
    assert [lines.feed(b"\r%d%%" % number) for number in range(50)] == [b""] * 50
    now[0] = 6.0
    assert lines.feed(b"\r50%") == b"> 50%\n"
    assert lines.feed(b"\r51%") + lines.feed(b"\r52%") == b""
    assert lines.feed(b"\n") == b"> 52%\n"
    assert lines.feed(b"half") == b""
    assert lines.feed(b" a line\r") == b""
    assert lines.feed(b"\nrest") == b"> half a line\n"
    assert lines.end() == b"> rest\n"
    assert lines.end() == b""


def test_endless_line():
    """A line without end is shown in pieces instead of being gathered."""
    lines = Prefixed(b"> ")
    shown = b"".join(lines.feed(b"x" * 1000) for _ in range(1000)) + lines.end()
    assert re.sub(rb"> |\n", b"", shown) == b"x" * 1000000
    assert shown.count(b"\n") < 20


def test_last_lines():
    """The last lines of a rank are those that a terminal would show."""
    output = Output(Terminal(), False, None, None)
    assert output.last_lines() == []
    output.feed(b"".join(b"%d\n" % number for number in range(10000)) + b"\r1%\r2%\r3%\r\nend\n")
    assert len(output.last_lines()) == 20
    assert output.last_lines()[-3:] == [b"9999", b"3%", b"end"]
