"""Running a job that was planned."""

from __future__ import annotations

import contextlib
import os
import tempfile

from .guard import guarded
from .job import Job, LaunchError
from .supervise import Supervisor


def run(job: Job) -> int:
    """Run a job to its end.

    It belongs into the main thread of a process that has no other thread, which it forks.

    Returns:
        0 when all ranks did, else the code of the first rank that failed (128 and the number of a signal), 124 after
        the timeout, 128 and the signal's number when the job was ended by a signal.

    Raises:
        LaunchError: logs or the rank table cannot be written; nothing was started.
    """
    if job.log_dir is not None:
        _check_directory(job.log_dir)
    if job.rank_table is None:
        return guarded(lambda control: Supervisor(job, control).run())
    path = job.environ["RANK_TABLE_FILE"]
    try:
        # Only as a new file: others may write to a directory for temporary ones.
        with open(path, "x", encoding="utf-8") as file:
            file.write(job.rank_table)
    except OSError as error:
        raise LaunchError(f"the rank table {path} cannot be written: {error.strerror}") from error
    # Beside the logs it is one more record of the job.
    keep = job.log_dir is not None

    def work(control: int) -> int:
        try:
            return Supervisor(job, control).run()
        finally:
            if not keep:
                _remove(path)

    try:
        return guarded(work)
    finally:
        if not keep:
            _remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def _check_directory(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise LaunchError(f"--log-dir {path}: logs cannot be written there ({error.strerror})") from error
