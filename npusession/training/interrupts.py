"""Ctrl-C that ends a loop between two steps, so that a checkpoint can be saved."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import typing

_NOTE = b"\nthe loop ends after this step; Ctrl-C once more interrupts it at once\n"


@contextlib.contextmanager
def deferred(note: bool) -> typing.Iterator[typing.Callable[[], bool]]:
    """Take Ctrl-C as a wish to end; yields the function that tells whether there was one.

    A second one goes to the handler that was there before, which raises KeyboardInterrupt as a rule.

    Args:
        note: whether to say on the terminal what comes of it.

    Raises:
        RuntimeError: this is not the main thread, to which signals go, or the handler is not Python's.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("interruptible=True works in the main thread only, where Python handles signals")
    before = signal.getsignal(signal.SIGINT)
    if before is None:
        raise RuntimeError("the handler of SIGINT was not set from Python and could not be put back afterwards")
    wished = False

    def wish(number: int, frame: object) -> None:
        nonlocal wished
        wished = True
        signal.signal(signal.SIGINT, before)
        if note:
            # Past Python's buffer, in the middle of whose writing the signal may have come.
            os.write(2, _NOTE)

    signal.signal(signal.SIGINT, wish)
    try:
        yield lambda: wished
    finally:
        # What somebody else has set meanwhile is theirs.
        if signal.getsignal(signal.SIGINT) is wish:
            signal.signal(signal.SIGINT, before)
