"""The loop over training steps."""

from __future__ import annotations

import typing

from .progress import progress_of

if typing.TYPE_CHECKING:
    from ..running import Opening


def steps(
    opening: Opening, total: int | None = None, *, initial: int | None = None, progress: bool | None = None
) -> typing.Iterator[int]:
    """Yield the number of steps made so far, from ``initial`` to ``total - 1``, and keep the runtime informed.

    Under accelerated training by step, STEP_NOW is set to that number before the loop's body runs, so that each run
    sees the steps made before it.

    Args:
        opening: the open session.
        total: steps of the whole training; by default the plan's.
        initial: steps already made, by default the plan's, else 0.
        progress: ``True`` for a progress bar on a terminal and log lines elsewhere, ``False`` for neither; by default
            the bar on a terminal and log lines elsewhere.

    Raises:
        ValueError: no total is known, or it contradicts the plan's, or ``initial`` lies outside it.
    """
    plan = opening.plan.accelerate
    planned = None if plan is None else plan.total_steps
    if total is None:
        total = planned
    if total is None:
        raise ValueError("how many steps? s.steps(1000), or accelerate=AcceleratedTraining.by_step(total_steps=1000)")
    if planned is not None and total != planned:
        raise ValueError(f"steps({total}) contradicts total_steps={planned} of the plan's accelerated training")
    first = initial if initial is not None else (plan.initial_step or 0) if plan is not None else 0
    if not 0 <= first <= total:
        raise ValueError(f"initial={first} lies outside 0 to {total}")
    return _count(opening, first, total, progress is not False)


def _count(opening: Opening, first: int, total: int, shown: bool) -> typing.Iterator[int]:
    numbers = opening.numbers
    export = numbers.counter("STEP_NOW") if numbers is not None and "STEP_NOW" in numbers else _ignore
    with progress_of(first, total, shown) as advance:
        for step in range(first, total):
            export(step)
            yield step
            advance()


def _ignore(step: int) -> None:
    pass
