"""One TensorFlow session as the emulated device sees it."""

from __future__ import annotations

import os
import typing

from ..._site import caller
from ...options import OPTIMIZER_NAME
from ...options.basic import SESSION_DEVICE_ID
from ...options.experimental import ACCELERATE
from ...options.model import Option, Scene
from ...options.performance import ITERATIONS_PER_LOOP
from ...options.precision import PRECISION_MODE, PRECISION_MODE_V2
from ...options.table import TABLE
from ...proto import value_of
from . import silence, verdicts
from .acceleration import Acceleration, Unreadable
from .artefacts import Artefacts
from .faults import internal
from .rounding import Precision, Rounding
from .runtime import RUNTIME, Kept
from .verdict_reading import given, int32
from .verdicts import Aborted, Parameters, Rejected, read

_GRAPH_EXEC_TIMEOUT = TABLE["graph_exec_timeout"]


class DeviceSession:
    """What the emulation knows of one session.

    Args:
        config: the session's ConfigProto, with its NpuOptimizer entry.

    Attributes:
        number: counts the sessions of the process, from 1.
        parameters: its options, those of all NpuOptimizer entries together.
        site: the user's line that made it.
        runs: how many runs it made on the device.
        closed: whether it was closed.
        artefacts: what its runs leave on disk, ``None`` before the first and once it is closed.
    """

    def __init__(self, config: typing.Any) -> None:
        RUNTIME.faults.trip("session")
        self.number = RUNTIME.number()
        self.site = caller()
        self.runs = 0
        self.closed = False
        self._pid = os.getpid()
        self._config = config
        self._entries = _entries(config)
        # Of an option in several entries the last one counts.
        self.parameters: Parameters = {name: value for entry in self._entries for name, value in entry.items()}
        self.artefacts: Artefacts | None = None
        self._acceleration: Acceleration | None = None
        self._precision = Precision(self.parameters)
        self._judged = self._reported = self._looped = False
        self._generation = 0
        RUNTIME.sessions.append(self)
        RUNTIME.record("open", self.number)

    @property
    def on_device(self) -> bool:
        """Whether its graphs go to the device at all."""
        return verdicts.on_device(self.parameters)

    @property
    def device(self) -> int:
        """Logical id of the device that its graphs run on."""
        if given(self.parameters, SESSION_DEVICE_ID):
            return int32(read(self.parameters, SESSION_DEVICE_ID))
        return RUNTIME.device

    @property
    def effective(self) -> Parameters:
        """Its options, with those that earlier sessions left in the process where it gives none."""
        return {**{name: kept.value for name, kept in RUNTIME.kept.items()}, **self.parameters}

    @property
    def timeout(self) -> float | None:
        """Seconds that a run may take, ``None`` for any time."""
        milliseconds: typing.Any = _GRAPH_EXEC_TIMEOUT.default(Scene.TRAINING)
        if given(self.parameters, _GRAPH_EXEC_TIMEOUT):
            milliseconds = read(self.parameters, _GRAPH_EXEC_TIMEOUT)
        return milliseconds / 1000 if milliseconds > 0 else None

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
            OptionsError: the runtime ignores some of the options, and the settings are strict.
            ForkedError: this process is a fork of the one that initialised.
            tf.errors.InternalError: the options are refused, or the runtime was finalised since the last run.
        """
        RUNTIME.check_process(self._pid)
        self._judge()
        if lifecycle_only or not self.on_device:
            self._report_ignored()
            return
        if self._generation and not (RUNTIME.initialized and RUNTIME.generation == self._generation):
            raise internal("the runtime was finalised after this session's last run")
        if not RUNTIME.initialized:
            RUNTIME.initialize(self, by_op=False)
            if not RUNTIME.initialized:
                raise internal(f"the runtime is not initialised ({RUNTIME.events[-1].detail})")
        if not self._generation:
            self._load()
        elif self._acceleration is not None and self._acceleration.before_run(os.environ):
            RUNTIME.record("precision", self.number, f"run {self.runs}: original")
        self._report_ignored()
        RUNTIME.faults.trip("run", self.timeout)
        RUNTIME.record("run", self.number, str(self.runs))
        self.runs += 1

    def before_loop(self, steps: int) -> None:
        """Report, once, a run of several steps whose number is not that of the option, which nothing asks."""
        option = read(self.parameters, ITERATIONS_PER_LOOP) if given(self.parameters, ITERATIONS_PER_LOOP) else 1
        if self._looped or steps == option:
            return
        self._looped = True
        found = f"{ITERATIONS_PER_LOOP.name}: the graph's loop makes {steps} steps a run, and the option says {option}"
        RUNTIME.record("ignored", self.number, found)
        silence.warn("the real runtime would take this, and say nothing of it:", [f"  {found}"])

    def close(self) -> None:
        """Note that the session closed."""
        self.closed = True
        # The runtime remembers its sessions; what they ran need not stay with them.
        self.artefacts = None
        RUNTIME.closed(self)

    def _judge(self) -> None:
        """Read the options as the runtime does, once it has taken them never again."""
        if self._judged:
            return
        self._report_leaks()
        try:
            for parameters in self._entries:
                verdicts.judge(parameters, self._keep)
        except Aborted as fault:
            raise RUNTIME.died(self._explained(fault)) from None
        except Rejected as fault:
            raise internal(self._explained(fault)) from None
        self._overwrite_device()
        self._judged = True

    def _explained(self, fault: Exception) -> str:
        """Return what the runtime says, with what the reference says of the options beside."""
        return "\n".join([str(fault), *map(str, silence.check(RUNTIME, self._config, self.parameters))])

    def _keep(self, option: Option) -> None:
        """Leave an option to the rest of the process."""
        RUNTIME.kept[option.name] = Kept((option.field, read(self.parameters, option)), self.number)

    def _report_leaks(self) -> None:
        leaks = [
            f"{name}={kept.value[1]!r} of session {kept.session} holds for session {self.number} too, which has none"
            for name, kept in RUNTIME.kept.items()
            if name not in self.parameters and kept.session != self.number
        ]
        for leak in leaks:
            RUNTIME.record("leak", self.number, leak)
        if leaks:
            head = "the real runtime keeps options for the whole process, and says nothing of it:"
            silence.warn(head, (f"  {leak}" for leak in leaks))

    def _report_ignored(self) -> None:
        """Report, once, what the runtime took without a word, now that it took it."""
        if not self._reported:
            silence.report(RUNTIME, self.number, self._config, self.parameters)
            self._reported = True

    def _overwrite_device(self) -> None:
        """Put the session's device in the place of the one that an earlier session gave, as native code does."""
        device = self.device if given(self.parameters, SESSION_DEVICE_ID) else -1
        for other in RUNTIME.sessions:
            if other.runs and not other.closed and other is not self and RUNTIME.session_device not in (-1, device):
                now = f"it is {device}" if device >= 0 else "there is none"
                before = f"session_device_id is one value in the process: after {RUNTIME.session_device} {now}"
                RUNTIME.record("leak", self.number, before)
                break
        RUNTIME.session_device = device

    def _load(self) -> None:
        """Compile the first graph: everything that is settled then."""
        self._open_device()
        if read(self.parameters, ACCELERATE):
            self._accelerate()
        self.artefacts = Artefacts(self.parameters, self.number, self.device)
        self._precision = Precision(self.effective)
        self._generation = RUNTIME.generation
        RUNTIME.graph_loaded(self)

    def _open_device(self) -> None:
        if self.device >= RUNTIME.settings.devices:
            raise internal(RUNTIME.no_device(self.device))
        RUNTIME.claim(self.device)
        if self.device != RUNTIME.device:
            source = "which the environment names" if RUNTIME.startup.named else "since the environment names none"
            besides = f"runs on {self.device}; {RUNTIME.device} is initialised besides, {source}"
            RUNTIME.record("device", self.number, besides)

    def _accelerate(self) -> None:
        effective = self.effective
        loop = read(effective, ITERATIONS_PER_LOOP) or 1
        modes = read(effective, PRECISION_MODE), read(effective, PRECISION_MODE_V2)
        acceleration = Acceleration(read(effective, ACCELERATE), modes, loop)
        try:
            acceleration.start(os.environ)
        except Unreadable as fault:
            raise internal(str(fault)) from None
        low = next(mode for mode in acceleration.low_modes if mode)
        RUNTIME.record("precision", self.number, f"run 0: {low}")
        self._acceleration = acceleration


def _entries(config: typing.Any) -> list[Parameters]:
    """Return the options of each NpuOptimizer entry, with which the runtime reads one after the other."""
    return [
        {name: value_of(attr) for name, attr in entry.parameter_map.items()}
        for entry in config.graph_options.rewrite_options.custom_optimizers
        if entry.name == OPTIMIZER_NAME
    ]
