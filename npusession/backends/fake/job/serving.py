"""The process that a job's hub lives in: rank 0 starts it, and any rank may end before it does."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys

from ....environment import HUB_PROCESS
from ....errors import CollectiveError
from . import address as addresses

# It is no child of rank 0, which may wait for all of its own.
_PROGRAM = f"""\
# {HUB_PROCESS}: the ranks of an emulated job meet here
import sys
sys.path[:] = filter(None, sys.path) # whatever is in the working directory
import json, os
if os.fork():
    os._exit(0)
given = json.loads(sys.stdin.readline())
sys.path[:] = given.pop("path")
from {__name__} import serve
serve(**given)
"""


_READY = b"ready\n"
#: Seconds that it may take to stop listening.
_CLOSING = 5.0


class Serving:
    """A hub that this process has started, and that others may need for longer.

    Args:
        address: where it listens.
        size: the number of ranks.
        secret: what ranks have to know.

    Raises:
        OSError: the address is in use or not this host's.
        CollectiveError: the process cannot be started.
    """

    def __init__(self, address: addresses.Address, size: int, secret: bytes) -> None:
        # Here, so that rank 0 can say what is wrong with the address.
        listening = addresses.listen(address)
        given = {
            "descriptor": listening.fileno(),
            "size": size,
            "secret": secret.hex(),
            "path": [os.path.abspath(folder) for folder in sys.path],
        }
        # By its end the hub knows that this process has ended, and this process that the hub has.
        self._line, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=theirs.fileno(),
                pass_fds=[listening.fileno()],
                # What a terminal sends is for the ranks.
                start_new_session=True,
            )
        finally:
            listening.close()
            theirs.close()
        with contextlib.suppress(OSError):
            self._line.sendall(json.dumps(given).encode() + b"\n")
        said = []
        with self._line.makefile("rb") as lines:
            for line in lines:
                if line == _READY:
                    break
                said.append(line.decode("utf-8", "replace"))
            else:
                self._line.close()
                text = "".join(said).strip()
                raise CollectiveError(f"rank 0 cannot start the process in which the ranks meet:\n{text}")
        process.wait()

    @property
    def alive(self) -> bool:
        """Whether it still is there."""
        self._line.setblocking(False)
        try:
            return bool(self._line.recv(1))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Stop listening; it ends when the ranks that are connected have left."""
        self._line.settimeout(_CLOSING)
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
            self._line.recv(1)
        self._line.close()

    def forked(self) -> None:
        """Close a forked child's copy of what tells that this process lives."""
        self._line.close()


def serve(descriptor: int, size: int, secret: str) -> None:
    """Serve a job, in a process of its own, until rank 0's process has ended and no other rank is connected."""
    from .hub import Hub

    # So that the launcher knows it, and no directory is held by it.
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as name:
        name.write(HUB_PROCESS)
    os.chdir("/")
    hub = Hub(socket.socket(fileno=descriptor), size, bytes.fromhex(secret))
    sys.stdout.buffer.write(_READY)
    sys.stdout.flush()
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nothing.fileno(), stream.fileno())
        sys.stdin.read()
        hub.close()
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    hub.wait()
