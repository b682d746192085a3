"""The hub of a job: it matches the calls of all ranks, computes, and says who is missing."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import typing
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection

from . import address as addresses
from .calls import Arrays, Call, disagreement, graphs_shown, ranks_shown

#: Seconds after which ranks that all wait for different things are told so.
PATIENCE = 20.0


#: What ranks are ordered by: their number, or the server's address and the device where HCCL counts them.
Identity = typing.Tuple[int, ...]


def shown(identity: Identity) -> str:
    """Return how a process is called that is no rank yet."""
    return f"rank {identity[0]}" if len(identity) == 1 else f"the rank of device {identity[-1]}"


class _Rank:
    """One rank's connection.

    Attributes:
        rank: its number, -1 before it has joined.
    """

    def __init__(self, connection: Connection) -> None:
        self.rank = -1
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, number: int, outcome: str, value: object) -> None:
        """Answer a request; a rank that is gone is noticed by its own thread."""
        try:
            with self._lock:
                self._connection.send((number, outcome, value))
        except OSError:
            pass


class _Waiting(typing.NamedTuple):
    """A rank's call that is not complete."""

    number: int
    call: Call
    arrays: Arrays
    since: float


class Hub:
    """Serves one job.

    Args:
        listening: the socket that ranks connect to.
        size: the number of ranks.
        secret: what ranks have to know.
    """

    def __init__(self, listening: socket.socket, size: int, secret: bytes) -> None:
        self._size = size
        self._secret = secret
        self._lock = threading.Lock()
        #: Who is connected; somebody has left when it says so.
        self._connected: set[_Rank] = set()
        self._left = threading.Condition(self._lock)
        #: Who wants to join, and the ranks of the present generation; all join together.
        self._joining: dict[Identity, tuple[_Rank, int]] = {}
        self._joined: dict[int, _Rank] = {}
        self._identities: tuple[Identity, ...] = ()
        #: Why ranks of this generation are no longer there.
        self._gone: dict[int, str] = {}
        self._waiting: dict[tuple[str, str, int], dict[int, _Waiting]] = {}
        self._listening = listening
        threading.Thread(target=self._accept, name="npusession-hub", daemon=True).start()

    def close(self) -> None:
        """Take in nobody else; the ranks that have joined go on."""
        addresses.close(self._listening)
        with self._lock:
            for peer, number in self._joining.values():
                peer.send(number, "error", "rank 0 is gone: its process has ended before all ranks were there")
            self._joining.clear()

    def wait(self) -> None:
        """Wait until nobody is connected."""
        with self._left:
            self._left.wait_for(lambda: not self._connected)

    def _accept(self) -> None:
        # When it is closed, this ends.
        with contextlib.suppress(OSError):
            while True:
                connected, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connected,), name="npusession-hub-rank", daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        try:
            connection = addresses.accept(connected, self._secret)
        except (AuthenticationError, EOFError, OSError):
            return
        peer = _Rank(connection)
        with self._lock:
            self._connected.add(peer)
        try:
            while True:
                number, request, value = connection.recv()
                if request == "join":
                    self._join(peer, number, *value)
                    # Wholly there before arrays come: threads that unpickle them while another one loads NumPy fail.
                    from . import arithmetic  # noqa: F401
                elif request == "call":
                    self._call(number, peer.rank, *value)
                elif request == "overdue":
                    self._overdue(*value)
                elif request == "missing":
                    peer.send(number, "done", self._missing())
                else:
                    self._leave(peer, "has shut its system down")
                    return
        except (EOFError, OSError):
            self._leave(peer, "is gone: its process has ended")
        finally:
            connection.close()
            with self._left:
                self._connected.remove(peer)
                self._left.notify()

    def _join(self, peer: _Rank, number: int, identity: Identity, size: int, process: int) -> None:
        with self._lock:
            wrong = ""
            if size != self._size:
                wrong = f"{shown(identity)} says that the job has {size} ranks, rank 0 says {self._size}"
            elif identity in self._joining or identity in self._present():
                wrong = f"there are two processes of {shown(identity)}; process {process} is the later one"
            if wrong:
                peer.send(number, "error", wrong)
                return
            self._joining[identity] = peer, number
            if len(self._joining) < self._size:
                return
            joining, self._joining = self._joining, {}
            self._identities = tuple(sorted(joining))
            self._joined = {rank: joining[each][0] for rank, each in enumerate(self._identities)}
            for rank, joined in self._joined.items():
                joined.rank = rank
            self._gone.clear()
            self._waiting.clear()
        for waiting, its_number in joining.values():
            waiting.send(its_number, "done", (waiting.rank, self._identities))

    def _missing(self) -> str:
        """Say who is waited for: the numbers of the ranks, or how many devices where HCCL would count them."""
        with self._lock:
            came = sorted(self._joining)
        if all(len(identity) == 1 for identity in came):
            return f"{ranks_shown({*range(self._size)} - {rank for (rank,) in came})} did not come"
        return f"only {len(came)} came, of devices {', '.join(str(identity[-1]) for identity in came)}"

    def _present(self) -> set[Identity]:
        return {identity for rank, identity in enumerate(self._identities) if rank not in self._gone}

    def _leave(self, peer: _Rank, reason: str) -> None:
        with self._lock:
            self._joining = {each: waiting for each, waiting in self._joining.items() if waiting[0] is not peer}
            rank = peer.rank
            if self._joined.get(rank) is not peer or rank in self._gone:
                return
            self._gone[rank] = reason
            lost = [key for key, calls in self._waiting.items() if rank in next(iter(calls.values())).call.members]
            for key in lost:
                self._fail(key, f"rank {rank} {reason}")

    def _call(self, number: int, rank: int, call: Call, arrays: Arrays) -> None:
        with self._lock:
            calls = self._waiting.setdefault(call.key, {})
            calls[rank] = _Waiting(number, call, arrays, time.monotonic())
            gone = [each for each in call.members if each in self._gone]
            wrong = disagreement({each: (waiting.call, waiting.arrays) for each, waiting in calls.items()})
            if gone:
                self._fail(call.key, f"rank {gone[0]} {self._gone[gone[0]]}")
            elif wrong:
                self._fail(call.key, f"the ranks disagree: {wrong}")
            if gone or wrong or set(calls) < set(call.members):
                return
            del self._waiting[call.key]
        from .arithmetic import results

        ordered = [calls[each] for each in call.members]
        try:
            outcomes: typing.Sequence[object] = results([(each.call, each.arrays) for each in ordered])
            outcome = "done"
        except ValueError as error:
            outcomes, outcome = [f"{call.kind} {call.name!r}: {error}"] * len(ordered), "error"
        for member, waiting, value in zip(call.members, ordered, outcomes):
            self._joined[member].send(waiting.number, outcome, value)

    def _overdue(self, key: tuple[str, str, int], patience: float) -> None:
        """Answer a rank that has waited long: fail its call when its time is up, or when it can never be complete.

        Args:
            key: what the call is known by.
            patience: seconds after which ranks that all wait for different things are told so; 0 when time is up.
        """
        with self._lock:
            calls = self._waiting.get(key)
            if not calls:
                return
            members = next(iter(calls.values())).call.members
            missing = [rank for rank in members if rank not in calls]
            elsewhere = {rank: self._call_of(rank) for rank in missing}
            now = time.monotonic()
            stuck = all(other is not None and now - other.since > patience for other in elsewhere.values())
            if patience and not stuck:
                return
            texts = [f"{ranks_shown(calls)} called it, {ranks_shown(missing)} did not"]
            others = {rank: other for rank, other in elsewhere.items() if other is not None}
            texts += [f"rank {rank} waits in {other.call.kind} {other.call.name!r}" for rank, other in others.items()]
            graphs = {rank: waiting.call.graph for rank, waiting in (*calls.items(), *others.items())}
            reason = "; ".join(filter(None, [*texts, graphs_shown(graphs)]))
            # What they wait for will not be complete either.
            for stuck_key in {key, *(other.call.key for other in others.values())}:
                self._fail(stuck_key, reason if stuck_key == key else f"{key[1]!r} cannot be complete: {reason}")

    def _call_of(self, rank: int) -> _Waiting | None:
        """Return what a rank waits for, ``None`` when it waits for nothing."""
        return next((calls[rank] for calls in self._waiting.values() if rank in calls), None)

    def _fail(self, key: tuple[str, str, int], reason: str) -> None:
        for rank, waiting in self._waiting.pop(key).items():
            text = f"{waiting.call.kind} {waiting.call.name!r} in group {waiting.call.group}: {reason}"
            self._joined[rank].send(waiting.number, "error", text)
