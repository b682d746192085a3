"""Loops over training steps."""

from __future__ import annotations

import contextlib
import itertools
import time
import typing
import weakref

from .interrupts import deferred
from .loops import check_looped
from .progress import progress_of

if typing.TYPE_CHECKING:
    from ..opening import Opening
    from .state import TrainingState


class Ran(typing.NamedTuple):
    """What ``run_for`` did.

    Attributes:
        steps: training steps made.
        seconds: how long it took.
        results: what the last run returned, ``None`` when there was none.
    """

    steps: int
    seconds: float
    results: typing.Any


def steps(
    opening: Opening,
    total: int | None = None,
    *,
    initial: int | None = None,
    progress: bool = True,
    interruptible: bool = False,
) -> typing.Iterator[int]:
    """Count training steps; see :meth:`npusession.RunningSession.steps`."""
    training = opening.training
    planned = training.by_step.total_steps if training.by_step is not None else None
    if total is None:
        total = planned
    if total is None:
        raise ValueError("how many steps? s.steps(1000), or accelerate=AcceleratedTraining.by_step(total_steps=1000)")
    if planned is not None and total != planned:
        raise ValueError(f"steps({total}) contradicts total_steps={planned} of the plan's accelerated training")
    first = initial if initial is not None else training.first
    if not 0 <= first <= total:
        begin = f"the training is at step {first}" if initial is None else f"initial={initial}"
        raise ValueError(f"{begin}, which lies outside 0 to {total}")
    _check_loops(opening, first, total)
    return _started(opening, _count(training, first, total, None, progress, interruptible))


def run_for(
    opening: Opening,
    run: typing.Callable[[], typing.Any],
    *,
    steps: int | None,
    seconds: float | None,
    progress: bool,
    interruptible: bool,
) -> Ran:
    """Run the same thing again and again; see :meth:`npusession.RunningSession.run_for`."""
    training = opening.training
    first, last = training.step, None if training.by_step is None else training.by_step.total_steps
    if steps is not None and steps < 0:
        raise ValueError(f"steps={steps}: a number of steps is not negative")
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"seconds={seconds}: a duration is not negative")
    if steps is not None:
        if last is not None and first + steps > last:
            raise ValueError(
                f"{steps} steps after the {first} that were made are more than total_steps={last} of the plan's "
                "accelerated training"
            )
        last = first + steps
    if last is None and seconds is None:
        raise ValueError("for how long? s.run_for(train_op, steps=1000), or seconds=60, or both")
    if last is not None:
        _check_loops(opening, first, last)
    results, begin = None, time.monotonic()
    deadline = None if seconds is None else begin + seconds
    for _ in _started(opening, _count(training, first, last, deadline, progress, interruptible)):
        results = run()
    return Ran(training.step - first, time.monotonic() - begin, results)


def _check_loops(opening: Opening, first: int, total: int) -> None:
    """See that whole runs make the steps, and that the graph was told how many there are in one."""
    loop = opening.training.loop
    if loop == 1:
        return
    fits, over = divmod(total - first, loop)
    if over:
        below, above = first + fits * loop, first + (fits + 1) * loop
        raise ValueError(
            f"steps {first} to {total} are no whole number of runs, with iterations_per_loop={loop} steps in each; "
            f"the totals that fit are {below} and {above}"
        )
    if not opening.training.looped:
        check_looped(opening.session.graph, loop, "s.loop(train_op)")


def _started(opening: Opening, loop: typing.Generator[int, None, None]) -> typing.Iterator[int]:
    """Have a loop that somebody keeps, and with it its handler of Ctrl-C, end with its session; record its steps."""
    if opening.record is not None:
        loop = opening.record.steps(opening.training, loop)
    known = weakref.ref(loop)

    def ending() -> typing.Callable[[], None] | None:
        kept = known()
        return None if kept is None else kept.close

    opening.at_close(ending)
    return loop


def _count(
    training: TrainingState, first: int, total: int | None, deadline: float | None, shown: bool, interruptible: bool
) -> typing.Generator[int, None, None]:
    loop, tell = training.loop, None if training.by_step is None else training.by_step.tell_step
    training.interrupted = False
    with contextlib.ExitStack() as stack:
        wished = stack.enter_context(deferred(shown)) if interruptible else _never
        advance = stack.enter_context(progress_of(training, first, total, shown))
        for step in itertools.count(first, loop) if total is None else range(first, total, loop):
            if deadline is not None and time.monotonic() >= deadline:
                break
            training.step = step
            if tell is not None:
                tell(step)
            yield step
            training.step = step + loop
            advance(loop)
            if interruptible and wished():
                training.interrupted = True
                break


def _never() -> bool:
    return False
