"""Where a training is, as far as its session or system knows."""

from __future__ import annotations

import operator
import typing

from ..options.performance import ITERATIONS_PER_LOOP
from .acceleration import Acceleration

if typing.TYPE_CHECKING:
    from ..record.recording import SessionRecord
    from ..session import NpuSession

_MOST = 2**32 - 1


class TrainingState:
    """What is known of one training.

    Making it sets the variables that the runtime reads, :meth:`close` takes them back.

    Args:
        plan: what is trained.
        record: where its steps are noted, if anywhere.

    Attributes:
        loop: training steps in one run.
        looped: whether the graph was made to make that many.
        acceleration: accelerated training, ``None`` without it.
        step: training steps made so far.
        initial: steps that were made before this training began or went on.
        loss: the loss that was reported last, ``None`` before the first one.
        losses: how many losses were reported.
        interrupted: whether Ctrl-C ended the last loop.
        record: where its steps are noted, ``None`` without a record.
    """

    def __init__(self, plan: NpuSession, record: SessionRecord | None = None) -> None:
        self.record = record
        self.loop = int(typing.cast(int, plan.options.get(ITERATIONS_PER_LOOP.name, 1)))
        self.looped = False
        self.acceleration = None if plan.accelerate is None else Acceleration(plan.accelerate, self.loop, record)
        self.initial = 0 if self.by_step is None else int(self.by_step.now or 0)
        self.step = self.initial
        self.loss: float | None = None
        self.losses = 0
        self.interrupted = False

    @property
    def by_step(self) -> Acceleration | None:
        """The acceleration if it goes by the step."""
        return self.acceleration if self.acceleration is not None and self.acceleration.trigger == "step" else None

    @property
    def phase(self) -> str | None:
        """Precision of the run to come, ``"low"`` or ``"original"``; ``None`` without acceleration."""
        return None if self.acceleration is None else "original" if self.acceleration.passed else "low"

    @property
    def first(self) -> int:
        """Steps made before the loop that begins now.

        A loop by itself counts from the beginning. Under acceleration by step the number must never fall back, so
        that each loop goes on where the last one ended.
        """
        return self.initial if self.by_step is None else self.step

    def go_on_from(self, step: int) -> None:
        """Take a number of steps from a checkpoint."""
        self.report(step=step)
        self.initial = self.step

    def report(self, step: typing.Any = None, loss: typing.Any = None) -> None:
        """Take in how far the training is; see :meth:`npusession.RunningSession.report`."""
        # Both are read before either counts.
        step = None if step is None else _whole(step)
        loss = None if loss is None else _real(loss)
        if step is not None:
            self.step = step
            if self.acceleration is not None:
                self.acceleration.tell_step(step)
        if loss is not None:
            self.loss = loss
            self.losses += 1
            if self.acceleration is not None:
                self.acceleration.tell_loss(loss)

    def close(self) -> None:
        """Take the variables back; a second call does nothing."""
        if self.acceleration is not None:
            self.acceleration.restore()


def _whole(step: typing.Any) -> int:
    try:
        # Arrays of one number are what a fetch gives.
        number = operator.index(step.item() if hasattr(step, "item") else step)
    except (TypeError, ValueError):
        raise TypeError(f"step={step!r}: the number of steps made is one whole number") from None
    if not 0 <= number <= _MOST:
        raise ValueError(f"step={number}: the runtime counts steps from 0 to {_MOST}")
    return number


def _real(loss: typing.Any) -> float:
    try:
        return float(loss.item() if hasattr(loss, "item") else loss)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"loss={loss!r}: a loss is one number") from None
