"""The failure policy, written once: every step runs, in order, and the body's own exception wins."""

from __future__ import annotations

import typing

from ._compat import add_note
from ._text import shorten


def _log(text: str, error: BaseException) -> None:
    # Imported when something fails: it takes as long to import as a good part of this package.
    import logging

    logging.getLogger("npusession").error(text, exc_info=error)


class Cleanup:
    """Steps that undo what was done, run last in, first out.

    * Every step runs, whatever the others do.
    * While something has failed already, further failures are logged and leave that first failure alone.
    * Otherwise the first failing step's exception is raised, with the later ones in its ``cleanup_errors`` and as
      notes. An interrupt during clean-up goes before ordinary failures.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, typing.Callable[[], object]]] = []

    def add(self, name: str, step: typing.Callable[[], object]) -> None:
        """Add a step, to be run before those that are there."""
        self._steps.append((name, step))

    def run(self, cause: BaseException | None = None) -> None:
        """Run and forget all steps.

        Args:
            cause: the exception because of which it ends, ``None`` when all went well.

        Raises:
            BaseException: what the first failing step raised, if ``cause`` is ``None``.
        """
        failures: list[BaseException] = []
        while self._steps:
            name, step = self._steps.pop()
            try:
                step()
            except BaseException as error:
                found = (error, *getattr(error, "cleanup_errors", ()))
                failures.extend(found)
                if cause is not None:
                    for one in found:
                        _log(f"failed to {name}, after {shorten(cause)}: {shorten(one)}", one)
        if failures and cause is None:
            failures.sort(key=lambda error: isinstance(error, Exception))
            first, others = failures[0], tuple(failures[1:])
            first.cleanup_errors = others  # type: ignore[attr-defined]
            for other in others:
                _log(f"while cleaning up also: {shorten(other)}", other)
                add_note(first, f"while cleaning up also: {shorten(other)}")
            raise first
