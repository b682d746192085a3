"""Context managers of TensorFlow under the failure policy."""

from __future__ import annotations

import contextlib
import typing

from .._cleanup import Cleanup

_NOTHING: typing.ContextManager[object] = contextlib.nullcontext()


@contextlib.contextmanager
def entered(
    manager: typing.Any, name: str, leaving: typing.ContextManager[object] = _NOTHING
) -> typing.Iterator[typing.Any]:
    """Enter a context manager; what its body raised goes before what leaving it raises.

    Args:
        manager: the context manager. It may end the body's exception, as monitored sessions do at the end of input.
        name: what leaving it does, for the log.
        leaving: what is around leaving it.
    """
    value = manager.__enter__()
    try:
        yield value
    except BaseException as error:
        cause: BaseException = error
        ended: list[object] = []
        cleanup = Cleanup()
        cleanup.add(name, lambda: ended.append(_leave(manager, cause, leaving)))
        cleanup.run(cause)
        if not any(ended):
            raise
    else:
        _leave(manager, None, leaving)


def _leave(manager: typing.Any, error: BaseException | None, leaving: typing.ContextManager[object]) -> object:
    with leaving:
        if error is None:
            return manager.__exit__(None, None, None)
        try:
            return manager.__exit__(type(error), error, error.__traceback__)
        except BaseException as raised:
            # Some raise once more what they were told of.
            if raised is error:
                return False
            raise
