"""What Linux offers so that no process of a job is left behind; elsewhere these do less, as each says."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import typing

_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
# Loaded here, since nothing may be loaded between fork and exec.
_libc = ctypes.CDLL(None, use_errno=True) if _LINUX else None


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent dies, however they detached themselves; only on Linux."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> typing.Callable[[], None]:
    """Return a function for a child of this process to call: it is killed when this process dies; only on Linux.

    It is called between fork and exec. This process has one thread then, so that no lock can be held by another.
    """
    parent = os.getpid()

    def bind() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return bind


@contextlib.contextmanager
def bound_to(cpus: typing.Iterable[int] | None) -> typing.Iterator[None]:
    """Let processes that are started meanwhile run on these processors only, from their first instruction on."""
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def rename(title: str) -> None:
    """Show this process under another name, so that what kills by the command's name spares it; only on Linux."""
    if _libc is None:
        return
    data = title.encode("ascii")
    _libc.prctl(_PR_SET_NAME, data, 0, 0, 0)
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # Where the kernel finds the command line (see proc(5)); Python made a copy of it for itself when it started.
        begin, end = int(fields[45]), int(fields[46])
        if 0 < begin < end:
            ctypes.memset(begin, 0, end - begin)
            ctypes.memmove(begin, data, min(len(data), end - begin - 1))


def descendants(others: typing.Container[int] = ()) -> list[int]:
    """Return the processes that come from this one and have not ended, oldest first; empty where there is no /proc.

    Args:
        others: children to leave out, with all that come from them.
    """
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    with open(f"/proc/{name}/stat", "rb") as file:
                        state, parent = file.read().rpartition(b")")[2].split()[:2]
                    # The dead ones wait for their parent only.
                    if state not in (b"Z", b"X"):
                        children.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [child for parent in level for child in children.get(parent, ()) if child not in others]
        found += level
    return found


def name(pid: int) -> str:
    """Return the name that a process shows, nothing when it has ended or there is no /proc."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    return ""


def send(pid: int, number: int, group: bool = False) -> bool:
    """Send a signal to a process, or to its process group; return whether there was anyone to get it."""
    try:
        (os.killpg if group else os.kill)(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def reap() -> dict[int, int]:
    """Collect the children that have ended: their wait statuses by process id."""
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            ended[pid] = status
    return ended


def exit_code(status: int) -> int:
    """Return the code of a wait status as a shell tells it: 128 and the signal's number for a signal."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def in_words(status: int) -> str:
    """Return how a process ended, for messages."""
    if not os.WIFSIGNALED(status):
        return f"ended with exit code {os.WEXITSTATUS(status)}"
    return f"was ended by {signal_name(os.WTERMSIG(status))}" + (" with a core dump" if os.WCOREDUMP(status) else "")


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGTERM."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
