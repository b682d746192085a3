"""A rank's side of a job."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import threading
import time
import typing
import weakref
from multiprocessing.connection import Connection

from ....errors import CollectiveError
from . import address as addresses
from . import hub
from .calls import Arrays, Call
from .serving import Serving


class Job(typing.NamedTuple):
    """What a rank knows of its job.

    Attributes:
        identity: what orders the ranks: this one's number, or its server's address and its device, for HCCL to count.
        size: the number of ranks, at least 2.
        address: where the hub is.
        secret: what tells this job's processes from others that come to the same address.
        serves: whether this process starts the hub.
    """

    identity: hub.Identity
    size: int
    address: addresses.Address
    secret: bytes
    serves: bool


#: The hub that this process has started, and for which job; it outlives initialisations.
_served: tuple[Job, Serving] | None = None
#: The connections of this process.
_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


class Member:
    """One rank that has joined its job, until it leaves.

    Args:
        job: the job.
        timeout: seconds to wait for all other ranks.

    Attributes:
        rank: this rank, from 0.
        size: the number of ranks.
        identities: what the ranks were ordered by.

    Raises:
        CollectiveError: they did not come in time, or contradict each other.
    """

    def __init__(self, job: Job, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        who = hub.shown(job.identity)
        self.size = job.size
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._answers: dict[int, concurrent.futures.Future[typing.Any]] = {}
        self._runs: dict[tuple[str, str], int] = {}
        if job.serves:
            _serve(job)
        try:
            self._connection = addresses.connect(job.address, job.secret, timeout)
        except OSError as error:
            fix = "Start rank 0 within HCCL_CONNECT_TIMEOUT seconds: the ranks meet at its address."
            raise CollectiveError(f"{who} of {job.size} cannot reach rank 0: {error}. {fix}") from None
        _connections.add(self._connection)
        self._listener = threading.Thread(target=self._listen, name="npusession-rank", daemon=True)
        self._listener.start()
        try:
            answer = self._ask("join", (job.identity, job.size, os.getpid()))
            concurrent.futures.wait([answer], max(0, deadline - time.monotonic()))
            missing = "" if answer.done() else self._missing()
            # It may have come while that was asked.
            if not answer.done():
                raise CollectiveError(
                    f"{who} waited {timeout:g} s at {addresses.shown(job.address)}, but not all of the "
                    f"{job.size} ranks came: {missing}. Start all of them within HCCL_CONNECT_TIMEOUT seconds."
                )
            self.rank, self.identities = answer.result()
        except BaseException:
            self.leave()
            raise

    def _missing(self) -> str:
        try:
            return typing.cast(str, self._ask("missing", None).result(hub.PATIENCE))
        except concurrent.futures.TimeoutError:
            return _SILENT

    def call(self, call: Call, arrays: Arrays, timeout: float) -> Arrays:
        """Take part in a collective, and wait for the others.

        Args:
            call: what is called; its number is filled in here.
            arrays: this rank's tensors.
            timeout: seconds to wait.

        Returns:
            What this rank gets out of it.

        Raises:
            CollectiveError: the ranks disagree, one is gone, or one did not come in time; it names them.
        """
        with self._lock:
            run = self._runs.get(call.key[:2], 0)
            self._runs[call.key[:2]] = run + 1
        call = call._replace(number=run)
        answer = self._ask("call", (call, arrays))
        deadline = time.monotonic() + timeout
        final = False
        while True:
            try:
                return typing.cast(
                    Arrays, answer.result(min(hub.PATIENCE * 1.5, max(0.0, deadline - time.monotonic())))
                )
            except concurrent.futures.TimeoutError:
                if final:
                    raise CollectiveError(f"{call.kind} {call.name!r}: {_SILENT}") from None
                final = time.monotonic() >= deadline
                self._ask("overdue", (call.key, 0 if final else hub.PATIENCE))
                if final:
                    # For the answer that says who is missing.
                    deadline += hub.PATIENCE

    def leave(self) -> None:
        """Take leave of the other ranks; harmless when the hub is gone."""
        self._ask("leave", None)
        # The hub hangs up, which ends the thread that reads; closing under its hands would not.
        self._listener.join(_HANGING_UP)

    def _ask(self, request: str, value: object) -> concurrent.futures.Future[typing.Any]:
        answer: concurrent.futures.Future[typing.Any] = concurrent.futures.Future()
        with self._lock:
            number = next(self._numbers)
            self._answers[number] = answer
            try:
                self._connection.send((number, request, value))
            except OSError:
                answer.set_exception(CollectiveError(_LOST))
        return answer

    def _listen(self) -> None:
        while True:
            try:
                number, outcome, value = self._connection.recv()
            except (EOFError, OSError):
                break
            answer = self._answers.pop(number)
            if outcome == "done":
                answer.set_result(value)
            else:
                answer.set_exception(CollectiveError(value))
        with self._lock:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(CollectiveError(_LOST))
        self._connection.close()


#: Seconds that the hub may take to hang up.
_HANGING_UP = 5.0
_LOST = "the connection to the job's hub, on the host of rank 0, has ended; that host's ranks were killed or are gone"
_SILENT = "the job's hub, on the host of rank 0, does not answer"


def _serve(job: Job) -> None:
    global _served
    if _served is not None:
        if _served[0] == job and _served[1].alive:
            return
        unserve()
    try:
        _served = job, Serving(job.address, job.size, job.secret)
    except OSError as error:
        if not addresses.in_use(error):
            raise CollectiveError(f"rank 0 cannot listen at {addresses.shown(job.address)}: {error}") from None
        raise CollectiveError(
            f"another process listens at {addresses.shown(job.address)}. Is this job running already, or has "
            "another one the same JOB_ID? Give each job a JOB_ID of its own."
        ) from None


def unserve() -> None:
    """Let nobody else join the job whose hub this process has started; ranks that have joined go on."""
    global _served
    if _served is not None:
        _served[1].close()
        _served = None


def _forked() -> None:
    # A copy would hide from the hub that the rank has ended.
    global _served
    for connection in _connections:
        connection.close()
    if _served is not None:
        _served[1].forked()
        _served = None


os.register_at_fork(after_in_child=_forked)
