"""The shell script of ``npusession launch --dry-run`` does what the launcher does."""

import signal

import pytest
from jobs import Job, lines, until


def scripted(tmp_path, body, *flags):
    job = Job(tmp_path, body, *flags)
    code, script, errors = job.run([*job.command[:4], "--dry-run", *job.command[4:], "it's", "$HOME"])
    assert (code, errors) == (0, "")
    (tmp_path / "job.sh").write_bytes(script)
    return job, ["bash", str(tmp_path / "job.sh")]


@pytest.mark.parametrize("tee", ["first", "all", "none"])
def test_dry_run(tmp_path, tee):
    """The script of --dry-run starts what the launcher starts, with the same environment, arguments and logs."""
    body = "print(sys.argv[1:], {name: value for name, value in sorted(os.environ.items()) if 'RANK' in name})"
    job, command = scripted(tmp_path, body, "--fake", "--nproc", 2, "--tee", tee, "--log-dir", tmp_path / "my logs")
    code, output, errors = job.run(command)
    assert (code, errors) == (0, "")
    ranks = [(tmp_path / "my logs" / f"rank-{rank}.log").read_bytes() for rank in range(2)]
    told = "{{'LOCAL_RANK': '{0}', 'RANK_ID': '{0}', 'RANK_SIZE': '2'}}"
    assert ranks == [f"[\"it's\", '$HOME'] {told.format(rank)}\n".encode() for rank in range(2)]
    expected = {"first": ranks[:1], "all": [b"[rank %d] " % rank + ranks[rank] for rank in range(2)], "none": []}
    assert sorted(output.splitlines(True)) == expected[tee]
    assert job.processes() == []


def test_failure_in_a_dry_run(tmp_path):
    """In the script, too, the first failure stops the others, and is shown and returned."""
    job, command = scripted(tmp_path, "rank == 1 and sys.exit('no data'); time.sleep(300)", "--fake", "--nproc", 3)
    code, _, errors = job.run(command)
    assert code == 1
    assert errors.endswith("rank 1 ended with code 1:\nno data\n")
    until(lambda: job.processes() == [])


@pytest.mark.parametrize("ending", ["signal", "timeout"])
def test_end_of_a_dry_run(tmp_path, ending):
    """The script stops its ranks when it gets a signal and when the time is over, and kills those that do not stop."""
    body = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open("ready", "a") as file:
        file.write("here\\n")
    time.sleep(300)
    """
    flags = ["--timeout", 2] if ending == "timeout" else []
    job, command = scripted(tmp_path, body, "--fake", "--nproc", 2, "--grace", 0.5, *flags)
    process = job.start(command)
    if ending == "signal":
        until(lambda: len(lines(tmp_path / "ready")) == 2)
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == {"signal": 143, "timeout": 124}[ending]
    until(lambda: job.processes() == [])
