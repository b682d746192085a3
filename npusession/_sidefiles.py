"""Side files that are given as values: written for the life of a session, and removed after it."""

from __future__ import annotations

import os
import typing

from .options.kinds import Wire

if typing.TYPE_CHECKING:
    from .configfiles import ConfigFile
    from .session import NpuSession


def write_side_files(plan: NpuSession) -> tuple[NpuSession, typing.Callable[[], None]]:
    """Write the side files of a plan.

    Returns:
        The plan with their paths in the place of the values, and what removes them again.

    Raises:
        OSError: they cannot be written; nothing of them is left.
    """
    files: dict[str, ConfigFile] = {
        name: typing.cast(typing.Any, value)
        for name, value in plan.options.items()
        if not isinstance(value, (bool, int, str))
    }
    if not files:
        return plan, lambda: None
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="npusession-")
    try:
        paths: dict[str, Wire] = {
            name: value.write(os.path.join(folder, name + value.suffix)) for name, value in files.items()
        }
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return plan.with_paths(paths), lambda: shutil.rmtree(folder)
