"""Options that point at a side file: given as a typed value, or as the path of a file to be read and checked."""

from __future__ import annotations

import typing

from .kinds import PathIs, path_fault
from .model import Option, Settings, problem
from .problems import BAD_PATH, BROKEN_FILE, Problem

if typing.TYPE_CHECKING:
    from ..configfiles import ConfigFile


def typed_value(option: Option, value: object) -> ConfigFile | None:
    """Return ``value`` if it is a side file of the option's format, as a value and not as a path."""
    if not option.file_format or isinstance(value, (str, bytes, int, float)):
        return None
    # Imported here: most plans have no side file.
    from ..configfiles import FORMATS

    return value if isinstance(value, FORMATS[option.file_format]) else None


def value_faults(option: Option, value: ConfigFile, settings: Settings) -> typing.Iterator[Problem]:
    """Check a side file that is given as a value."""
    for found in value.check(settings.product):
        yield _at(option, found, "")


def file_problems(options: typing.Mapping[str, Option], settings: Settings) -> typing.Iterator[Problem]:
    """Read and check every side file that is there, at the moment of use only."""
    if not settings.host:
        return
    for name, path in settings.items():
        option = options.get(name)
        if option is None or not option.file_format or not isinstance(path, str):
            continue
        fault = path_fault(path, PathIs.FILE)
        if fault:
            yield problem(BAD_PATH, option, fault, value=path, allowed=option.kind.allowed)
            continue
        from ..configfiles import FORMATS, ConfigFileError

        try:
            value = FORMATS[option.file_format].read(path)
        except ConfigFileError as error:
            yield problem(BROKEN_FILE, option, str(error), value=path, why=option.source)
        except OSError as error:
            # It went, or its rights changed, since it was looked at.
            yield problem(BAD_PATH, option, error.strerror or str(error), value=path, allowed=option.kind.allowed)
        else:
            for found in value.check(settings.product):
                yield _at(option, found, path)


def _at(option: Option, found: Problem, path: str) -> Problem:
    """Return a problem of a side file as one of the option, the place in the file being part of its name."""
    shown = f"{option.name}[{found.option}]"
    message = f"{path}: {found.message}" if path else found.message
    return found._replace(option=shown, message=message, why=f"{found.why} ({option.source})")
