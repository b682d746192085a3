"""Guards: context managers that assert that a block leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import typing
from pathlib import Path

from ..backends.fake.runtime import RUNTIME
from ..system import runtime

#: pytest's own, and what libraries under TensorFlow set at moments of their own.
_PASSED_OVER = ("PYTEST_", "KMP_")
#: Seconds that a thread may take to end after the block.
_GRACE = 2.0


@contextlib.contextmanager
def unchanged_environment() -> typing.Iterator[None]:
    """Assert that the block leaves the environment as it was.

    Raises:
        AssertionError: names each variable that was added, removed or changed.
    """
    before, loaded = environment(), "tensorflow" in sys.modules
    yield
    # TensorFlow sets variables of its own when it is imported.
    if loaded or "tensorflow" not in sys.modules:
        _check("the environment was changed", differences(before, environment()))


@contextlib.contextmanager
def unchanged_threads() -> typing.Iterator[None]:
    """Assert that the threads that the block starts end with it, or within two seconds after.

    Raises:
        AssertionError: names each thread that goes on.
    """
    before = set(threading.enumerate())
    yield
    # A progress bar's monitor lives as long as the process.
    started = [t for t in threading.enumerate() if t not in before and type(t).__name__ != "TMonitor"]
    for thread in started:
        thread.join(_GRACE)
    _check("threads go on", [f"{thread!r}" for thread in started if thread.is_alive()])


@contextlib.contextmanager
def unchanged_files() -> typing.Iterator[None]:
    """Assert that the block leaves no new file in the working directory, and no temporary one.

    Temporary files of the block go to a directory of their own, which has to be empty at the end.

    Raises:
        AssertionError: names each file and directory that was left.
    """
    directory, before = Path.cwd(), set(os.listdir())
    saved, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="unchanged-files-") as private:
        tempfile.tempdir = os.environ["TMPDIR"] = private
        try:
            yield
        finally:
            tempfile.tempdir = saved
            os.environ.pop("TMPDIR")
            if variable is not None:
                os.environ["TMPDIR"] = variable
        left = [str(directory / name) for name in sorted(set(os.listdir(str(directory))) - before)]
        left += [str(path) for path in sorted(Path(private).rglob("*"))]
    _check("files were left", left)


@contextlib.contextmanager
def unchanged_sessions() -> typing.Iterator[None]:
    """Assert that the block closes the sessions that it opens.

    Sessions and systems of npusession are seen on every backend, bare TensorFlow sessions on the fake one.

    Raises:
        AssertionError: names each session, with the line that opened it.
    """
    before = open_sessions()
    yield
    _check("sessions were left open", [line for line in open_sessions() if line not in before])


def environment() -> dict[str, str]:
    """Return the environment as guards look at it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_PASSED_OVER)}


def differences(before: typing.Mapping[str, str], after: typing.Mapping[str, str]) -> list[str]:
    """Say what is different between two environments, a line for each variable."""
    lines = [f"{name} was removed (it was {before[name]!r})" for name in sorted(set(before) - set(after))]
    lines += [f"{name} was added: {after[name]!r}" for name in sorted(set(after) - set(before))]
    both = sorted(set(before) & set(after))
    lines += [f"{name} is {after[name]!r}, was {before[name]!r}" for name in both if before[name] != after[name]]
    return lines


def open_sessions() -> list[str]:
    """Say which sessions and systems are open, a line for each, with the line that opened it."""
    sessions = [session for session in RUNTIME.sessions if not session.closed]
    lines = [f"session {session.number} is open, made at {session.site}" for session in sessions]
    made = {session.site for session in sessions}
    return lines + [f"what was opened at {user.site} is open" for user in runtime.users if user.site not in made]


def _check(what: str, left: typing.Sequence[str]) -> None:
    if left:
        raise AssertionError(f"{what}:\n" + "\n".join(f"  {line}" for line in left))
