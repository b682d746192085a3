"""What the runtime does to a session's options without a word, said aloud."""

from __future__ import annotations

import os
import typing
import warnings

from ..._site import stacklevel
from ...environment import DEVICE_VARIABLES
from ...errors import IgnoredOptionsWarning, OptionsError
from ...options import Problem
from ...parameters import check_parameters
from ...proto import check_config, unset
from .verdicts import Parameters, on_device

if typing.TYPE_CHECKING:
    from .runtime import FakeRuntime

#: What the adapter's estimator writes into every configuration, though the runtime reads it no more.
_ESTIMATORS: Parameters = {"enable_reduce_precision": ("b", False), "min_group_size": ("b", True)}


def report(runtime: FakeRuntime, number: int, config: typing.Any, parameters: Parameters) -> None:
    """Check the options that the runtime took, and report what is an error by the reference all the same.

    Args:
        runtime: takes one ``ignored`` event for each.
        number: the session's.
        config: the session's ConfigProto.
        parameters: its options, those of all NpuOptimizer entries together.

    Raises:
        OptionsError: there are errors, and the runtime's settings are strict.
    """
    for name in unset(config) if on_device(parameters) else ():
        runtime.record("note", number, f"rewrite_options.{name} is left at its default; the reference asks for OFF")
    report_problems(runtime, number, check(runtime, config, parameters))


def report_problems(runtime: FakeRuntime, number: int, found: typing.Sequence[Problem], where: str = "") -> None:
    """Report problems of a session, or of no session yet, as :func:`report` does; ``where`` is put behind each."""
    if not found:
        return
    for problem in found:
        runtime.record("ignored", number, f"{problem.code} {problem.option}: {problem.message}{where}")
    if runtime.settings.strict:
        raise OptionsError(found)
    warn("the real runtime would take these options, and say nothing of it:", map(str, found))


def check(runtime: FakeRuntime, config: typing.Any, parameters: Parameters) -> tuple[Problem, ...]:
    """Return the errors in a session's configuration, by the reference; the arguments are those of :func:`report`."""
    return (*check_config(config).errors, *_errors(parameters, runtime))


def warn(head: str, lines: typing.Iterable[str]) -> None:
    """Give one warning, at the user's line."""
    warnings.warn("\n".join((head, *lines)), IgnoredOptionsWarning, stacklevel=stacklevel())


def _errors(parameters: Parameters, runtime: FakeRuntime) -> tuple[Problem, ...]:
    environ = dict(os.environ)
    for name in DEVICE_VARIABLES:
        # What comes of two devices is an event of its own.
        environ.pop(name, None)
    # No user gave these, so that no user can leave them out.
    passed_over = _ESTIMATORS if _ESTIMATORS.items() <= parameters.items() else {}
    triples = [(name, field, value) for name, (field, value) in sorted(parameters.items()) if name not in passed_over]
    return check_parameters(triples, product=runtime.settings.product, environ=environ).errors
