"""One TensorFlow session as the emulated device sees it."""

from __future__ import annotations

import os
import typing

from ..._tensorflow import tf1
from ...errors import NpuAbortError
from ...options import OPTIMIZER_NAME
from ...options.basic import SESSION_DEVICE_ID
from ...options.experimental import ACCELERATE
from ...options.performance import ITERATIONS_PER_LOOP
from ...options.precision import PRECISION_MODE, PRECISION_MODE_V2
from ...proto import value_of
from . import verdicts
from .acceleration import Acceleration, Unreadable
from .artefacts import Artefacts
from .rounding import Precision, Rounding
from .runtime import RUNTIME
from .verdicts import Aborted, Parameters, Rejected, read


class DeviceSession:
    """What the emulation knows of one session.

    Args:
        config: the session's ConfigProto, with its NpuOptimizer entry.
    """

    def __init__(self, config: typing.Any) -> None:
        self.number = RUNTIME.number()
        entries = config.graph_options.rewrite_options.custom_optimizers
        entry = next(entry for entry in entries if entry.name == OPTIMIZER_NAME)
        self.parameters: Parameters = {name: value_of(attr) for name, attr in entry.parameter_map.items()}
        #: What its runs leave on disk, ``None`` before the first.
        self.artefacts: Artefacts | None = None
        self._acceleration: Acceleration | None = None
        self._precision = Precision(self.parameters)
        self._judged = False
        self._generation = 0
        self._runs = 0
        RUNTIME.trip("open")
        RUNTIME.record("open", self.number)

    @property
    def on_device(self) -> bool:
        """Whether its graphs go to the device at all."""
        return verdicts.off_line(self.parameters)

    @property
    def rounding(self) -> Rounding:
        """How matrix operators compute in the run that follows, where low precision is simulated."""
        acceleration = self._acceleration
        low = next(filter(None, acceleration.low_modes)) if acceleration is not None and acceleration.low else None
        return self._precision.rounding(low)

    def before_run(self, *, lifecycle_only: bool) -> None:
        """Do what the runtime does before a run: judge the options, initialise, switch the precision.

        Args:
            lifecycle_only: whether the run holds nothing but initialize and shutdown ops.

        Raises:
            NpuAbortError: the real process would have died of the options.
            tf.errors.InternalError: the options are refused, or the runtime was finalised since the last run.
        """
        self._judge()
        if lifecycle_only or not self.on_device:
            return
        if self._generation and not (RUNTIME.initialized and RUNTIME.generation == self._generation):
            raise _internal("the runtime was finalised after this session's last run")
        if not RUNTIME.initialized:
            RUNTIME.initialize(self, by_op=False)
        if not self._generation:
            self._load()
        elif self._acceleration is not None and self._acceleration.before_run(os.environ):
            RUNTIME.record("precision", self.number, f"run {self._runs}: original")
        RUNTIME.trip("run")
        RUNTIME.record("run", self.number, str(self._runs))
        self._runs += 1

    def close(self) -> None:
        """Note that the session closed."""
        RUNTIME.closed(self)

    def _judge(self) -> None:
        if self._judged:
            return
        try:
            verdicts.judge(self.parameters)
        except Aborted as fault:
            raise NpuAbortError(f"the real process would abort here: {fault}") from None
        except Rejected as fault:
            raise _internal(str(fault)) from None
        self._judged = True

    def _load(self) -> None:
        """Compile the first graph: everything that is settled then."""
        mode = read(self.parameters, ACCELERATE)
        if mode:
            loop = read(self.parameters, ITERATIONS_PER_LOOP) or 1
            modes = read(self.parameters, PRECISION_MODE), read(self.parameters, PRECISION_MODE_V2)
            acceleration = Acceleration(mode, modes, loop)
            try:
                acceleration.start(os.environ)
            except Unreadable as fault:
                raise _internal(str(fault)) from None
            low = next(mode for mode in acceleration.low_modes if mode)
            RUNTIME.record("precision", self.number, f"run 0: {low}")
            self._acceleration = acceleration
        device = (
            read(self.parameters, SESSION_DEVICE_ID) if SESSION_DEVICE_ID.name in self.parameters else RUNTIME.device
        )
        self.artefacts = Artefacts(self.parameters, self.number, device)
        self._generation = RUNTIME.generation
        RUNTIME.graph_loaded(self)


def _internal(message: str) -> Exception:
    return typing.cast(Exception, tf1().errors.InternalError(None, None, message))
