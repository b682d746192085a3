"""Addresses and ports that a job needs, asked for before it starts."""

from __future__ import annotations

import contextlib
import errno
import os
import socket

from .job import LaunchError


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as asking:
        asking.bind(("127.0.0.1", 0))
        port: int = asking.getsockname()[1]
    return port


def resolve(host: str) -> str:
    """Return the address of a host.

    Raises:
        LaunchError: it has none.
    """
    try:
        address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0]
    except (OSError, UnicodeError) as error:
        raise LaunchError(f"--master-addr {host}: the address cannot be found ({error}); give node 0's own") from error
    return str(address)


def check_listening(host: str, port: int) -> None:
    """Refuse an address at which this host cannot listen.

    Raises:
        LaunchError: the port is in use, needs rights, or the address is another host's.
    """
    with contextlib.closing(_socket(host)) as asking:
        # A port that a job has just left is free for the next.
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asking.bind((host, port))
            asking.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise LaunchError(f"port {port} of {host} is in use; give a free one with --master-port") from error
            if error.errno == errno.EADDRNOTAVAIL:
                raise LaunchError(
                    f"{host} is no address of this host, but node 0 has to listen there: "
                    "give node 0's address with --master-addr, or this node's number with --node-rank"
                ) from error
            reason = os.strerror(error.errno or 0)
            raise LaunchError(f"node 0 cannot listen at {host}, port {port}: {reason}") from error


def own_address(towards: str, port: int) -> str:
    """Return the address of this host that another one would be reached from; nothing is sent.

    Raises:
        LaunchError: there is no way to it.
    """
    with contextlib.closing(_socket(towards, socket.SOCK_DGRAM)) as asking:
        try:
            asking.connect((towards, port or 9))
        except OSError as error:
            raise LaunchError(f"--master-addr {towards} cannot be reached from this host: {error.strerror}") from error
        return str(asking.getsockname()[0])


def is_own(address: str) -> bool:
    """Return whether an address, or a host name, is this host's."""
    if address == socket.gethostname():
        return True
    try:
        with contextlib.closing(_socket(address, socket.SOCK_DGRAM)) as asking:
            asking.bind((address, 0))
    except OSError:
        return False
    return True


def joined(host: str, port: int) -> str:
    """Return ``host:port``, with brackets where the host has colons itself."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _socket(host: str, kind: int = socket.SOCK_STREAM) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
