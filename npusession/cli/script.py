"""Running a script in this process as ``python script.py`` would."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
import typing

#: Frames of code in here are no news to whoever reads a script's traceback.
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Outcome(typing.NamedTuple):
    """How a script ended.

    Attributes:
        code: the exit code that Python gives the process.
        error: the exception that ended it, ``None`` for its end or ``sys.exit``.
    """

    code: int
    error: BaseException | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return isinstance(self.error, KeyboardInterrupt)


def run(script: str, arguments: typing.Sequence[str]) -> Outcome:
    """Run a script as ``__main__``, with its own ``sys.argv`` and ``sys.path[0]``.

    What ends it is handled as Python does: a traceback by ``sys.excepthook``, the message of ``sys.exit`` on the error
    output. Frames of npusession are left out of the traceback.
    """
    sys.argv[:] = [script, *arguments]
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    # As Python 3.9 and later name it.
    path = os.path.abspath(script) if sys.version_info >= (3, 9) else script
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path,
        **({} if sys.version_info >= (3, 14) else {"__annotations__": {}}),
        __cached__=None,
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
        __builtins__=sys.modules["builtins"],
    )
    sys.modules["__main__"] = main
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, main.__dict__)
    except SystemExit as error:
        return Outcome(_exit_code(error.code))
    except BaseException as error:
        _strip(error, set())
        sys.excepthook(type(error), error, error.__traceback__)
        return Outcome(1, error)
    return Outcome(0)


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _strip(error: BaseException, seen: set[int]) -> None:
    """Take the frames of npusession out of the tracebacks of an exception and of those before it."""
    seen.add(id(error))
    error.__traceback__ = _without_ours(error.__traceback__)
    for before in (error.__cause__, error.__context__):
        if before is not None and id(before) not in seen:
            _strip(before, seen)


def _without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    if traceback is None:
        return None
    rest = _without_ours(traceback.tb_next)
    if os.path.abspath(traceback.tb_frame.f_code.co_filename).startswith(_OURS):
        return rest
    return types.TracebackType(rest, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)
