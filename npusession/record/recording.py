"""The record of a session that opens, runs and closes."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import typing

from .._version import __version__
from ..environment import device_in, original
from ..products import detect
from .writer import Record

if typing.TYPE_CHECKING:
    from ..session import NpuSession
    from ..training.state import TrainingState


class SessionRecord(Record):
    """The record that a plan asks for.

    Args:
        plan: what is opened; its ``record`` names the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, plan: NpuSession) -> None:
        assert plan.record is not None
        self._plan = plan
        self._environ = original()
        self._rank = _whole(self._environ.get("RANK_ID"))
        #: What was being handled already, and so is no reason for an end.
        self._handled = sys.exc_info()[1]
        self._begun = False
        #: Whether a loop over steps is under way, which adds its steps itself.
        self.looping = False
        #: The last run, and how many losses were known before it: its own may be reported after it.
        self._last: tuple[TrainingState, int, float, float, float | None, int, str | None] | None = None
        self._lock = threading.Lock()
        super().__init__(plan.record, self._rank or 0)

    def ready(self, backend: str) -> None:
        """Begin the section: the plan was found to fit this host, and its backend is there."""
        product = self._plan.product or (detect() if backend == "npu" else None)
        warnings = [str(warning).strip() for warning in self._plan.check().warnings]
        self._begin(backend, None if product is None else product.value, warnings)
        self.stage("check the plan, load the backend", self.started, time.perf_counter())

    @contextlib.contextmanager
    def timed(self, name: str) -> typing.Iterator[None]:
        """Add what is done within as a stage, even if it fails."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stage(name, started, time.perf_counter())

    def steps(
        self, training: TrainingState, loop: typing.Generator[int, None, None]
    ) -> typing.Generator[int, None, None]:
        """Yield what a loop over steps yields, and add each step that is done."""
        clock, add = time.perf_counter, self.step
        self._settle()
        outer, self.looping = self.looping, True
        try:
            with contextlib.closing(loop):
                for step in loop:
                    phase, known = training.phase, training.losses
                    started = clock()
                    yield step
                    # A loss from an earlier step is not this one's.
                    add(step, started, clock(), training.loss if training.losses != known else None, phase)
        finally:
            self.looping = outer

    def run(
        self,
        training: TrainingState,
        step: int,
        started: float,
        ended: float,
        loss: float | None,
        known: int,
        phase: str | None,
    ) -> None:
        """Add a run that no loop counts, with the loss that it gave, or that is reported before the next one.

        Args:
            training: whose step it was.
            step: number of steps made before it.
            started: when it began, by ``time.perf_counter``.
            ended: when it was done.
            loss: its loss, if it is known.
            known: how many losses were reported before it.
            phase: the precision phase, as for :meth:`step`.
        """
        with self._lock:
            self._settle()
            self._last = training, step, started, ended, loss, known, phase

    def _settle(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            training, step, started, ended, loss, known, phase = last
            if loss is None and training.losses != known:
                loss = training.loss
            self.step(step, started, ended, loss, phase)

    def end(self, error: BaseException | None = None) -> None:
        """End the section; what is being handled now, in an ``except`` or a ``finally``, counts as its error."""
        if not self._begun:
            self._begin(self._plan.backend, None, [])
        self._settle()
        handled = sys.exc_info()[1]
        super().end(error if error is not None or handled is self._handled else handled)

    def _begin(self, backend: str | None, product: str | None, warnings: list[str]) -> None:
        plan, environ = self._plan, self._environ
        device = device_in(environ)
        self._begun = True
        self.begin(
            version=__version__,
            backend=backend,
            scene=plan.scene.value,
            product=product,
            device=plan.device if plan.device is not None else device[1] if device is not None else 0,
            rank=self._rank if self._rank is not None else None if environ.get("CM_CHIEF_IP") else 0,
            rank_size=_whole(environ.get("RANK_SIZE")) or _whole(environ.get("CM_WORKER_SIZE")) or 1,
            options=dict(plan.options),
            warnings=warnings,
            total_steps=plan.accelerate.total_steps if plan.accelerate is not None else None,
        )


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
