"""Jobs of small scripts, started with the launcher, and whether anything of them is left."""

import contextlib
import os
import subprocess
import sys
import textwrap
import time
import uuid

MARK = "LAUNCH_TEST_MARK"
#: Variables of launchers and clusters, which the host of the tests may have.
PLACES = ("RANK", "CM_", "ASCEND_", "DEVICE_ID", "JOB_ID", "LOCAL_", "SLURM_", "OMPI_", "PMI", "NPUSESSION", "MPI_")
PRELUDE = """
import os, signal, subprocess, sys, time
os.chdir(os.path.dirname(sys.argv[0]))
rank = int(os.environ.get("RANK_ID", "0"))
"""


class Job:
    """A script and the launcher that runs it.

    All processes that come from it, the launcher's included, bear a mark in their environment.
    """

    def __init__(self, directory, body, *flags, arguments=(), **variables):
        self.mark = uuid.uuid4().hex
        self.script = directory / "script.py"
        self.script.write_text(PRELUDE + textwrap.dedent(body), "utf-8")
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith(PLACES)}
        self.environ.update({MARK: self.mark, **variables})
        self.command = [sys.executable, "-m", "npusession", "launch", *map(str, flags), str(self.script), *arguments]

    def start(self, command=None, **keywords):
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
        return subprocess.Popen(command or self.command, env=self.environ, **keywords)

    def run(self, command=None, data=None, **keywords):
        """Run it to its end; returns exit code, output and error output."""
        if data is not None:
            keywords["stdin"] = subprocess.PIPE
        process = self.start(command, **keywords)
        output, errors = process.communicate(data, timeout=120)
        return process.returncode, output, errors.decode("utf-8", "replace")

    def processes(self):
        """Return the living processes with the mark."""
        return marked(self.mark)


def marked(mark):
    """Return the living processes with a mark in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"{MARK}={mark}\0".encode() in file.read():
                    found.append(int(name))
    return found


def command(pid):
    """Return the command that a process shows, nothing when it has ended."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def child(pid):
    """Return the only child of a process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == pid:
                    found.append(int(name))
    (only,) = found
    return only


def until(condition, seconds=60):
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def lines(path):
    """Return the lines of a file that may not be there yet."""
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []
