"""Writing a file in one piece."""

from __future__ import annotations

import contextlib
import errno
import os
import stat


def write_whole(path: str, data: bytes, overwrite: bool) -> str:
    """Write ``data`` to ``path`` so that the file is there complete or not at all, and return the path.

    A file that is overwritten keeps its permissions, and a symbolic link goes on pointing at it.

    Raises:
        FileExistsError: something is there and ``overwrite`` is not set.
        OSError: the file cannot be written.
    """
    if not overwrite and os.path.lexists(path):
        raise _exists(path)
    target = os.path.realpath(path) if overwrite else path
    # Not made by tempfile, whose files only their owner may read.
    temporary = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            with contextlib.suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(temporary, target)
        else:
            _name(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    return path


def _name(temporary: str, target: str) -> None:
    """Give a finished file a name that is free."""
    try:
        # Fails when somebody made the file meanwhile, which replacing would not notice.
        os.link(temporary, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        # A file system without hard links.
        if os.path.lexists(target):
            raise _exists(target) from None
        os.replace(temporary, target)


def _exists(path: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
