"""Accelerated training as it goes: what the runtime is told, and what it makes of it."""

from __future__ import annotations

import math
import typing
import warnings

from .._site import stacklevel
from ..environment import Layer, original
from ..errors import TrainingWarning
from ..options import AcceleratedTraining
from ..options.accelerate import VARIABLES
from ..options.experimental import DTYPES, parse_mode
from ..options.switching import loss_limit, loss_reaches, step_limit

if typing.TYPE_CHECKING:
    from ..record.recording import SessionRecord

#: Losses in a row above the first one after which they count as growing.
GROWING = 10


class Acceleration:
    """What the runtime knows of an accelerated training: the ``acceleration`` of an open session.

    It sets the runtime's variables until :meth:`restore`. The runtime looks at them before each run, and the first
    run of a session is in low precision in any case.

    Attributes:
        trigger: ``"step"`` or ``"loss"``.
        dtype: type of the low precision, ``"float16"`` or ``"bfloat16"``.
        now: what the runtime was told last: the number of steps made, or the loss. ``None`` when it is not known.
        passed: whether it has been told a number that ends the low precision; it never comes back.
        told: whether it has been told anything since the session opened.
    """

    def __init__(self, group: AcceleratedTraining, loop: int, record: SessionRecord | None = None) -> None:
        self._record = record
        mode = parse_mode(group.mode)
        self.trigger = mode.trigger
        self.dtype = DTYPES[mode.kind]
        end, now = VARIABLES[mode.trigger]
        environ, values = original(), group.environment()
        values.update({name: environ[name] for name in (end, now) if name in environ and name not in values})
        self._loop = loop
        read: typing.Callable[[str | None], float | None] = _whole if mode.trigger == "step" else _real
        self._end = read(values.get(end))
        self._limit: float | None = None
        if self._end is not None and mode.trigger == "step":
            self._limit = step_limit(int(self._end), mode.ratio, loop)
        elif self._end is not None:
            self._limit = loss_limit(self._end, mode.ratio)
        self._turning = math.inf if self._limit is None else self._limit
        self.now = read(values.get(now))
        self.passed = self._reaches(self.now)
        self.told = False
        self._start = self.now or None
        self._above = 0
        self._warned: set[str] = set()
        self._layer = Layer(values)
        self._export = self._layer.counter(now) if now in self._layer else _ignore
        self._look_ahead(mode.ratio)

    @property
    def total_steps(self) -> int | None:
        """Steps of the whole training, TOTAL_STEP; ``None`` by loss, or when it cannot be read."""
        return None if self._end is None or self.trigger == "loss" else int(self._end)

    @property
    def switches_at(self) -> float | None:
        """Where the original precision comes back: steps made, or the loss that is low enough.

        By step it is the number that the runtime will see, counted in loops from where the training is; ``None`` when
        the end of the training is not known.
        """
        if self._limit is None or self.trigger == "loss" or self.now is None or self.now >= self._limit:
            return self._limit
        return self.now + math.ceil((self._limit - self.now) / self._loop) * self._loop

    @property
    def phase(self) -> str:
        """Precision of the run to come: :attr:`dtype`, and once the switching point has passed ``"original"``."""
        return "original" if self.passed else self.dtype

    def tell_step(self, step: int) -> None:
        """Tell the runtime the number of steps made; does nothing when it goes by the loss."""
        # Made for every step, so that each test here costs something.
        if self.trigger == "step":
            self._export(step)
            self.now = step
            self.told = True
            if step >= self._turning:
                self._turned(step)

    def tell_loss(self, loss: float) -> None:
        """Tell the runtime the loss; does nothing when it goes by the step."""
        if self.trigger == "loss":
            self._export(loss)
            self.now, self.told = loss, True
            if not self.passed:
                self.passed = self._reaches(loss)
                self._look_at(loss)

    def restore(self) -> None:
        """Take the variables back."""
        self._layer.restore()

    def __repr__(self) -> str:
        told = f"{self.trigger} {self.now}"
        return f"<Acceleration: {self.phase}, {told}, original precision from {self.trigger} {self.switches_at}>"

    def _turned(self, step: int) -> None:
        self.passed = True
        if self._end is not None and step > self._end:
            self._warn(
                "beyond",
                f"step {step} lies beyond total_steps={self._end}. The runtime chose its switching point for "
                f"{self._end} steps, has gone back to the original precision and stays there; a plan with the true "
                "total keeps the low precision for longer.",
            )

    def _reaches(self, now: float | None) -> bool:
        if now is None or self._limit is None:
            return False
        return now >= self._limit if self.trigger == "step" else loss_reaches(now, self._limit)

    def _look_ahead(self, ratio: float) -> None:
        """Warn of what will happen otherwise than the numbers suggest."""
        if self._limit is None or self._end is None:
            return
        if self.trigger == "step":
            share, now = step_limit(int(self._end), ratio, 0), self.now or 0
            point = now if self.passed else self.switches_at
            if self._loop > 1 and now < share and point != share:
                self._warn(
                    "loop",
                    f"with {self._loop} steps in a run the runtime never sees step {share}, which is {ratio:g} of "
                    f"{self._end}: it goes back to the original precision at step {point}.",
                )
        elif self.passed:
            self._warn(
                "first",
                f"the initial loss {self.now} is low enough already (<= {self._limit:g}): the runtime makes one run in "
                f"{self.dtype} and then goes back to the original precision.",
            )
        elif self._limit <= 0:
            self._warn(
                "target",
                f"the target loss {self._end:g} is not positive: the runtime goes back to the original precision when "
                f"the loss is <= {self._limit:g}, and never at 0.0.",
            )

    def _look_at(self, loss: float) -> None:
        """Warn of a loss that the runtime takes otherwise than one may think."""
        if math.isnan(loss):
            self._warn(
                "nan",
                f"the loss is NaN, which is never low enough: the runtime stays in {self.dtype} as long as it is.",
            )
        elif loss == 0:
            self._warn(
                "zero",
                f"the loss is 0.0, which the runtime takes for no loss at all: it stays in {self.dtype}.",
            )
        elif loss < 0 and self.passed:
            self._warn(
                "negative",
                f"the loss {loss:g} is negative, and so low enough (<= {self._limit:g}): the runtime goes back to the "
                "original precision with the next run.",
            )
        if self._start is None:
            self._start = loss or None
        elif loss > self._start:
            self._above += 1
            if self._above == GROWING:
                self._warn(
                    "growing",
                    f"the loss grows: {GROWING} losses in a row are above {self._start:g}, the first one, the last of "
                    f"them {loss:g}. The runtime stays in {self.dtype} until the loss is <= {self._limit:g}.",
                )
        else:
            self._above = 0

    def _warn(self, kind: str, text: str) -> None:
        """Warn once per session."""
        if kind not in self._warned:
            self._warned.add(kind)
            if self._record is not None:
                self._record.warning(text)
            warnings.warn(text, TrainingWarning, stacklevel=stacklevel())


def _whole(text: str | None) -> int | None:
    """Return the number in a variable, ``None`` where the runtime reads none."""
    digits = "" if text is None else text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _real(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _ignore(number: float) -> None:
    pass
