"""Arguments that are handed on to TensorFlow: which of them a plan decides, and which it does not go with."""

from __future__ import annotations

import typing

from ..errors import OptionsError
from ..options.model import problem
from ..options.performance import ITERATIONS_PER_LOOP, LOOP_DIVIDES
from ..options.problems import Problem

if typing.TYPE_CHECKING:
    from ..session import NpuSession

#: Arguments that are numbers of training steps after which something is done between two runs.
_INTERVALS = (
    "save_checkpoint_steps", "save_checkpoints_steps", "save_summaries_steps", "save_summary_steps",
    "log_step_count_steps",
)  # fmt: skip


def check(plan: NpuSession, keywords: typing.Mapping[str, typing.Any], decided: typing.Mapping[str, str]) -> None:
    """See that the arguments go with a plan.

    Args:
        plan: the plan.
        keywords: the arguments.
        decided: what is not the caller's to say, each with where it comes from.

    Raises:
        TypeError: an argument is the plan's.
        OptionsError: iterations_per_loop does not divide a number of steps.
    """
    for name, why in decided.items():
        if name in keywords:
            raise TypeError(f"{name}={keywords[name]!r} cannot be given here: {why}")
    loop = plan.options.get(ITERATIONS_PER_LOOP.name, 1)
    assert isinstance(loop, int)
    problems = split_runs(loop, keywords)
    if problems:
        raise OptionsError(problems)


def split_runs(loop: int, arguments: typing.Mapping[str, typing.Any]) -> list[Problem]:
    """Return the problems with arguments that have something done within a run of several steps.

    Args:
        loop: steps per run.
        arguments: values by name; those that are no intervals are passed over.
    """
    problems = []
    for name in _INTERVALS:
        steps = arguments.get(name)
        if isinstance(steps, int) and steps > 0 and steps % loop:
            below, above = steps // loop * loop, (steps // loop + 1) * loop
            message = f"{steps} steps are no whole number of runs, with {ITERATIONS_PER_LOOP.name}={loop}"
            fix = f"{name}={above}" if below == 0 else f"{name}={below} or {above}"
            problems.append(problem(LOOP_DIVIDES, name, message, value=steps, fix=fix))
    return problems
