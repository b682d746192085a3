"""Where the hub of a job is, and sockets to it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import sys
import time
import typing
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from ....environment import FAKE_HUB, THIS_HOST

#: Variables that tell jobs on one host apart.
_IDENTITY = ("JOB_ID", "RANK_TABLE_FILE", "RANK_SIZE", "CM_WORKER_SIZE")
_RETRY_SECONDS = 0.05

#: What a socket binds to: host and port, or the name of a socket that only this host sees.
Address = typing.Union[typing.Tuple[str, int], str]


def address_in(environ: typing.Mapping[str, str]) -> Address:
    """Return the address of the job that a process belongs to.

    It is what NPUSESSION_FAKE_HUB says, else CM_CHIEF_IP and CM_CHIEF_PORT, else a name that only processes of the same
    user on the same host know, made of the variables that describe the job.

    Raises:
        ValueError: the address cannot be read, or none is given where hosts have no such names.
    """
    if environ.get(FAKE_HUB, THIS_HOST) not in ("", THIS_HOST):
        return _parse(FAKE_HUB, environ[FAKE_HUB])
    if environ.get("CM_CHIEF_IP") and environ.get("CM_CHIEF_PORT"):
        return _parse("CM_CHIEF_IP:CM_CHIEF_PORT", "{CM_CHIEF_IP}:{CM_CHIEF_PORT}".format(**environ))
    if sys.platform != "linux":
        raise ValueError(f"the ranks of an emulated job need an address to meet at: set {FAKE_HUB}=127.0.0.1:PORT")
    identity = [environ.get(name, "") for name in _IDENTITY]
    return "\0npusession-{}-{}".format(os.getuid(), hashlib.sha256("\n".join(identity).encode()).hexdigest()[:16])


def shown(address: Address) -> str:
    """Return an address as a user knows it."""
    return f"this host's {address[1:]}" if isinstance(address, str) else "{}:{}".format(*address)


def listen(address: Address) -> socket.socket:
    """Return a socket that ranks connect to.

    Raises:
        OSError: the address is in use or not this host's.
    """
    listening = _socket(address)
    try:
        if not isinstance(address, str):
            # A job may start at the port that one before it has just left.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except BaseException:
        listening.close()
        raise
    return listening


def accept(connected: socket.socket, secret: bytes) -> Connection:
    """Take in somebody who has connected, and who has to know the secret.

    Raises:
        EOFError: nobody is there any more.
        OSError: likewise.
        AuthenticationError: it does not know the secret.
    """
    connection = _connection(connected)
    try:
        deliver_challenge(connection, secret)
        answer_challenge(connection, secret)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(address: Address, secret: bytes, timeout: float) -> Connection:
    """Connect to the hub, which may not be there yet.

    Args:
        address: where it will be.
        secret: what both sides know.
        timeout: seconds to wait for it.

    Raises:
        TimeoutError: nobody listened in time.
        OSError: the address cannot be reached at all.
    """
    deadline = time.monotonic() + timeout
    while True:
        connecting = _socket(address)
        try:
            connecting.connect(address)
            connection = _connection(connecting)
            answer_challenge(connection, secret)
            deliver_challenge(connection, secret)
            return connection
        except (EOFError, ConnectionError) as error:
            connecting.close()
            if time.monotonic() > deadline:
                raise TimeoutError(f"nobody answers at {shown(address)}: {error}") from None
        except BaseException:
            connecting.close()
            raise
        time.sleep(_RETRY_SECONDS)


def close(listening: socket.socket) -> None:
    """Close a listening socket, and wake the thread that waits in accept."""
    with contextlib.suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def in_use(error: OSError) -> bool:
    """Tell whether an address could not be had because somebody else has it."""
    return error.errno == errno.EADDRINUSE


def _parse(source: str, text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{source}={text!r} is no address; write host:port, such as 127.0.0.1:29500")
    return host.strip("[]"), int(port)


def _socket(address: Address) -> socket.socket:
    if isinstance(address, str):
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    return socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)


def _connection(connected: socket.socket) -> Connection:
    if connected.family != socket.AF_UNIX:
        # Small messages go at once.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(connected.detach())
