"""The parent of the ranks: starts them, takes their output, and ends the job at the first failure."""

from __future__ import annotations

import functools
import os
import selectors
import signal
import subprocess
import time

from ..environment import HUB_PROCESS
from . import processes
from .guard import PASSED_ON
from .job import Job, Rank
from .output import Output, Terminal

#: Exit code of a job that took too long, as of timeout(1).
TIMED_OUT = 124
#: Seconds within which a second signal is taken for an echo of the first: timeout(1), for one, sends two.
_ECHO = 0.5
#: Seconds between attempts to kill what is left, and after which they end: a process in a driver's call may not die.
_KILL_EVERY, _KILL_FOR = 0.05, 10.0
_READ = 1 << 16


class _Member:
    """A rank that was started."""

    def __init__(self, rank: Rank, pid: int, output: Output | None, reading: int | None) -> None:
        self.rank = rank
        self.pid = pid
        self.output = output
        #: The pipe that its output comes by, until that ends.
        self.reading = reading
        #: How it ended, once it has.
        self.status: int | None = None

    def __str__(self) -> str:
        return f"rank {self.rank.number} (device {self.rank.device}, process {self.pid})"


class Supervisor:
    """Runs a job to its end.

    Args:
        job: what to run.
        control: the end of a pipe that brings signals, a byte each, and that ends with the process that writes it.
    """

    def __init__(self, job: Job, control: int) -> None:
        self._job = job
        self._control = control
        self._members: list[_Member] = []
        self._terminal = Terminal()
        # epoll refuses regular files, which the output of a job often is.
        self._selector = selectors.PollSelector()
        #: Ranks that wait until the terminal has shown more.
        self._held: list[_Member] = []
        self._began = time.monotonic()
        self._times_out_at = None if job.timeout is None else self._began + job.timeout
        self._code = 0
        #: When the job was asked to end, when what is left of it is killed, and when that is given up.
        self._stopped_at: float | None = None
        self._kill_at: float | None = None
        self._give_up_at: float | None = None
        #: Ranks whose last lines tell why the job ended.
        self._blamed: list[_Member] = []
        #: Whether what ranks left behind was asked to end, whether all is over but for what the terminal still has to
        #: show, and whether that is not waited for.
        self._swept = self._all_ended = self._hurried = False

    def run(self) -> int:
        """Start the ranks and wait for them; returns the exit code of the job."""
        processes.adopt_orphans()
        wakeup, poke = os.pipe()
        os.set_blocking(wakeup, False)
        os.set_blocking(poke, False)
        signal.set_wakeup_fd(poke, warn_on_full_buffer=False)
        self._selector.register(wakeup, selectors.EVENT_READ, functools.partial(os.read, wakeup, _READ))
        self._selector.register(self._control, selectors.EVENT_READ, self._read_control)
        try:
            self._start()
            while self._is_running():
                self._turn()
            self._all_ended = True
            self._report()
            while self._terminal.next_descriptor is not None and not self._hurried:
                self._turn()
        finally:
            self._kill()
        return self._code

    def _start(self) -> None:
        environ = dict(os.environ)
        for rank in self._job.ranks:
            try:
                self._members.append(self._start_rank(rank, environ))
            except (OSError, subprocess.SubprocessError) as error:
                self._say(f"rank {rank.number} cannot be started: {error}")
                self._stop(signal.SIGTERM, 1)
                break

    def _start_rank(self, rank: Rank, environ: dict[str, str]) -> _Member:
        job = self._job
        output, reading, writing = None, None, None
        # A rank that alone has the terminal, and no log, keeps it: with colours, progress bars and a debugger.
        if job.log(rank) is not None or job.tee == "all" or not job.shown(rank):
            prefix = f"[rank {rank.number}] " if job.tee == "all" else None
            output = Output(self._terminal, job.shown(rank), prefix, job.log(rank))
            reading, writing = os.pipe()
            os.set_blocking(reading, False)
        try:
            with processes.bound_to(rank.cpus):
                process = subprocess.Popen(
                    job.command,
                    env=job.environment(rank, environ),
                    # The launcher's input can go to one of them only.
                    stdin=None if rank.number == 0 else subprocess.DEVNULL,
                    # One pipe for both, so that they stay in the order in which they were written.
                    stdout=writing,
                    stderr=writing,
                    start_new_session=True,
                    preexec_fn=processes.die_with_parent(),
                )
        finally:
            if writing is not None:
                os.close(writing)
        # It is waited for here, with all the others.
        process.returncode = 0
        member = _Member(rank, process.pid, output, reading)
        self._listen(member)
        return member

    def _listen(self, member: _Member) -> None:
        if member.reading is not None:
            self._selector.register(member.reading, selectors.EVENT_READ, functools.partial(self._read, member))

    def _is_running(self) -> bool:
        """Return whether anything of the job runs; what the ranks have left behind is asked to end."""
        if any(member.status is None for member in self._members):
            return not self._given_up()
        left = processes.descendants()
        if left and self._stopped_at is None and all(processes.name(pid) == HUB_PROCESS for pid in left):
            # Ranks of other hosts meet here, and may need it for longer.
            return True
        if left and not self._swept:
            self._swept = True
            self._kill_at = self._kill_at or time.monotonic() + self._job.grace
            self._times_out_at = None
            for pid in left:
                processes.send(pid, signal.SIGTERM)
        return bool(left) and not self._given_up()

    def _given_up(self) -> bool:
        return self._give_up_at is not None and time.monotonic() > self._give_up_at

    def _turn(self) -> None:
        """Wait for the next events, and do what they ask for."""
        if not self._terminal.full:
            while self._held:
                self._listen(self._held.pop())
        descriptor = self._terminal.next_descriptor
        if descriptor is not None:
            self._selector.register(descriptor, selectors.EVENT_WRITE, self._terminal.write)
        moments = [moment for moment in (self._times_out_at, self._kill_at) if moment is not None]
        events = self._selector.select(max(0.0, min(moments) - time.monotonic()) if moments else None)
        if descriptor is not None:
            self._selector.unregister(descriptor)
        for key, _ in events:
            key.data()
        if not self._all_ended:
            self._look_for_ends()
            self._watch_clock()

    def _look_for_ends(self) -> None:
        ended = processes.reap()
        failed = []
        for member in self._members:
            if member.pid in ended:
                member.status = ended[member.pid]
                if member.status != 0:
                    failed.append(member)
        if failed and self._stopped_at is None:
            # Of those that ended at the same moment, one that was killed is rather the cause than the consequence.
            failed.sort(key=lambda member: not os.WIFSIGNALED(member.status or 0))
            after = time.monotonic() - self._began
            for member in failed:
                self._say(f"{member} {processes.in_words(member.status or 0)} after {after:.1f} s")
            self._blamed = failed[:1]
            self._stop(signal.SIGTERM, processes.exit_code(failed[0].status or 0))

    def _watch_clock(self) -> None:
        now = time.monotonic()
        if self._times_out_at is not None and now >= self._times_out_at:
            self._blamed = [member for member in self._members if member.status is None]
            running = ", ".join(str(member.rank.number) for member in self._blamed)
            running = f"rank {running}" if running else "ranks of other hosts, which meet here"
            self._say(f"the job has taken {self._job.timeout:.10g} s, its timeout; still running: {running}")
            self._stop(signal.SIGTERM, TIMED_OUT)
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + _KILL_EVERY
            self._give_up_at = self._give_up_at or now + _KILL_FOR
            self._kill()

    def _stop(self, number: int, code: int) -> None:
        """Ask all ranks to end, with a signal. A second call kills them; the first decides on the job's exit code."""
        now = time.monotonic()
        if self._stopped_at is None:
            self._stopped_at, self._code = now, code
            self._kill_at, self._times_out_at = now + self._job.grace, None
            self._send(number)
        elif now - self._stopped_at > _ECHO:
            self._kill_at = now

    def _send(self, number: int) -> None:
        for member in self._members:
            # One that was waited for may have given its number to somebody else.
            if member.status is None:
                processes.send(member.pid, number, group=True)

    def _kill(self) -> None:
        self._send(signal.SIGKILL)
        for pid in processes.descendants():
            processes.send(pid, signal.SIGKILL)

    def _read_control(self) -> None:
        numbers = os.read(self._control, _READ)
        if not numbers:
            self._selector.unregister(self._control)
            self._hurried = True
            self._stop(signal.SIGTERM, 1)
        for number in numbers:
            if number in PASSED_ON:
                self._send(number)
            elif self._all_ended:
                self._hurried = True
            else:
                if self._stopped_at is None:
                    self._say(f"{processes.signal_name(number)}: stopping the ranks")
                self._stop(number, 128 + number)

    def _read(self, member: _Member) -> None:
        """Take in some output of a rank."""
        assert member.output is not None
        assert member.reading is not None
        data = os.read(member.reading, _READ)
        self._take(member, member.output, data)
        if not data or (member.output.shown and self._terminal.full):
            self._selector.unregister(member.reading)
            if data:
                self._held.append(member)
            else:
                os.close(member.reading)
                member.reading = None

    def _take(self, member: _Member, output: Output, data: bytes) -> None:
        error = output.feed(data)
        if error is not None:
            self._say(f"the log of rank {member.rank.number} takes no more: {error}")

    def _read_the_rest(self, member: _Member) -> None:
        # What writes to it and does not die must not be waited for.
        assert member.output is not None
        while member.reading is not None:
            try:
                data = os.read(member.reading, _READ)
            except BlockingIOError:
                break
            self._take(member, member.output, data)
            if not data:
                break

    def _report(self) -> None:
        """Show, when all have ended, what came last of the ranks that the end is blamed on."""
        for member in self._members:
            if member.output is not None:
                self._read_the_rest(member)
                member.output.close()
        for member in self._blamed:
            if member.output is None:
                continue
            lines = member.output.last_lines()
            lines = lines if len(self._blamed) == 1 else lines[-1:]
            path = self._job.log(member.rank)
            log = "" if path is None else f" (all of it: {path})"
            self._say(f"rank {member.rank.number} wrote {'at last:' if lines else 'nothing'}{log}")
            self._terminal.put(b"".join(b"  | " + line + b"\n" for line in lines), 2)
        left = processes.descendants()
        if left:
            self._say("these processes do not die: {}".format(", ".join(map(str, left))))

    def _say(self, text: str) -> None:
        self._terminal.put(f"npusession launch: {text}\n".encode("utf-8", "surrogateescape"), 2)
