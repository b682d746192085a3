"""Which process holds a device of the emulated host: as on the real one, one process per device.

A claim is a socket in Linux's abstract namespace. The kernel releases it however the process ends, it leaves no file,
and it tells who holds it. Where there is no such namespace, devices are not claimed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import struct
import sys

#: Names the emulated host. Processes on hosts of different names share no device.
VARIABLE = "NPUSESSION_FAKE_HOST"
#: Processes that may ask for the holder in all; nobody takes their calls.
_BACKLOG = 128
_CREDENTIALS = struct.Struct("3i")


class Held(Exception):
    """Another process holds the device."""


class Claim:
    """This process's hold on one device.

    Args:
        device: logical id of the device.

    Raises:
        Held: another process has it; says which.
    """

    def __init__(self, device: int) -> None:
        self._socket: socket.socket | None = None
        if not sys.platform.startswith("linux"):
            return
        # An address has room for a hundred bytes.
        host = hashlib.sha256(os.fsencode(os.environ.get(VARIABLE, ""))).hexdigest()[:16]
        address = f"\0npusession/{os.getuid()}/{host}/{device}".encode()
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            bound.bind(address)
            bound.listen(_BACKLOG)
        except OSError as error:
            bound.close()
            if error.errno == errno.EADDRINUSE:
                raise Held(f"device {device} is held by {_holder(address)}") from None
            # A sandbox without sockets: no claim can be made, and none found.
            return
        self._socket = bound

    def release(self) -> None:
        """Give the device back; in a forked child, close the child's copy, which leaves the parent's alone."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _holder(address: bytes) -> str:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.setblocking(False)
        caller.connect(address)
        credentials = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return f"process {_CREDENTIALS.unpack(credentials)[0]}"
    return "another process"
