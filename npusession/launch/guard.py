"""The process that the user sees: it hands signals on to the one that watches the ranks, and outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
import typing

from . import processes

#: Signals that end the job.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Signals that are handed on to the ranks, whatever they mean to them (a checkpoint, a dump of the stack).
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2)


def guarded(work: typing.Callable[[int], int]) -> int:
    """Do some work in a child, such that nothing which comes from it is left when it ends or dies.

    Args:
        work: what the child does; it returns its exit code. Its argument is the reading end of a pipe that brings the
            signals which this process gets, a byte each, and that ends when this process dies.

    Returns:
        The exit code of the work; 128 and the number of the signal that ended it.
    """
    others = set(processes.descendants())
    processes.adopt_orphans()
    # One that is ignored stays so: nohup, and the background of a script, mean it.
    numbers = [number for number in (*STOPPING, *PASSED_ON) if signal.getsignal(number) is not signal.SIG_IGN]
    handlers = {number: signal.signal(number, _nothing) for number in (*numbers, signal.SIGCHLD)}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _child(work, reading, writing, mask)
        os.close(reading)
        status = _wait(child, writing, handlers)
        os.close(writing)
        if os.WIFSIGNALED(status):
            _kill_all(others)
            sys.stderr.write(f"npusession launch: the process that watched the ranks {processes.in_words(status)}, ")
            sys.stderr.write("and all ranks were killed\n")
        return processes.exit_code(status)
    finally:
        # In this order, so that a signal that came at the very end meets a handler that does nothing.
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    # Not SIG_IGN, which ranks would inherit.
    pass


def _child(
    work: typing.Callable[[int], int], reading: int, writing: int, mask: typing.Iterable[int]
) -> typing.NoReturn:
    code = 1
    try:
        os.close(writing)
        # Away from the terminal's signals, and from those to the process group: each comes once, by the pipe.
        os.setsid()
        processes.rename(f"ranks of process {os.getppid()}")
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = work(reading)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # Never back into the caller's stack, which belongs to the parent.
        os._exit(code)


def _wait(child: int, writing: int, numbers: typing.Collection[int]) -> int:
    while True:
        number = signal.sigwait(numbers)
        if number == signal.SIGCHLD:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid == child:
                return status
        else:
            with contextlib.suppress(BrokenPipeError):
                os.write(writing, bytes([number]))


def _kill_all(others: typing.Container[int]) -> None:
    # A process in a driver's call cannot be killed before that returns; it is not waited for without end.
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = processes.descendants(others)
        if not left:
            break
        for pid in left:
            processes.send(pid, signal.SIGKILL)
        time.sleep(0.01)
