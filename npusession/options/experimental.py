"""Experimental options: accelerated training, which computes in low precision up to a point of the training."""

from __future__ import annotations

import dataclasses
import math
import re
import struct
import typing

from .kinds import Refused, Text, Wire
from .model import TRAINING, Group, Option, Scope, Settings, problem
from .precision import PRECISION_MODE, PRECISION_MODE_V2
from .problems import BAD_VALUE, Problem, Rule

#: The first field of the mode, and the type that it computes in.
DTYPES = {"fast": "float16", "fast1": "bfloat16"}
#: Smallest, largest and default ratio of each trigger.
RATIOS = {"step": (0.2, 0.9, 0.9), "loss": (1.01, 1.5, 1.05)}
#: Precision modes under which the runtime accelerates; unset is one too.
_MODES = ("allow_fp32_to_fp16", "must_keep_origin_dtype")
_MODES_V2 = ("origin",)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?")
_MAX_STEP = 2**32 - 1


class Mode(typing.NamedTuple):
    """The three fields of ``experimental_accelerate_train_mode``."""

    kind: str
    trigger: str
    ratio: float


def float32(value: float) -> float:
    """Return ``value`` rounded to single precision, in which the runtime computes; infinite when too large."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def parse_mode(text: str) -> Mode:
    """Read ``type|trigger|ratio``, the ratio being optional; raises :class:`Refused`."""
    fields = text.split("|")
    if len(fields) > 3:
        raise Refused(f"{len(fields)} fields, at most three are allowed")
    kind, trigger, number = fields + [""] * (3 - len(fields))
    if kind not in DTYPES:
        raise Refused(f"{kind[:20]!r} is not a type of acceleration: fast (float16) or fast1 (bfloat16)")
    if trigger not in RATIOS:
        raise Refused(f"{trigger[:20]!r} is not a trigger: step or loss")
    low, high, default = RATIOS[trigger]
    if not number:
        return Mode(kind, trigger, default)
    if not _NUMBER.fullmatch(number):
        raise Refused(f"{number[:20]!r} is not a number")
    if not float32(low) <= float32(float(number)) <= float32(high):
        raise Refused(f"the ratio of a {trigger} trigger lies from {low} to {high}")
    return Mode(kind, trigger, float(number))


def _read_mode(text: str) -> str:
    parse_mode(text)
    return text


ACCELERATE = Option(
    "experimental_accelerate_train_mode",
    Text(
        "type|trigger|ratio: fast or fast1, step (0.2 to 0.9) or loss (1.01 to 1.5), such as fast|step|0.9", _read_mode
    ),
    "Train in low precision up to a share of the steps or a multiple of the target loss, then as given. "
    "TensorFlow 1.15 only.",
    "训练加速：按 step 或 loss 触发，先以低精度训练，之后恢复原始精度（仅 TensorFlow 1.15）。",
    scope=Scope.INIT,
    scenes=TRAINING,
)

NOTHING_TO_READ = Rule(
    "NPU403", "missing-companion", "Accelerated training reads its numbers from the environment at the first run."
)
PRECISION_TAKEN = Rule("NPU209", "conflict", "Accelerated training needs the graph's own precision, or fp32-to-fp16.")


def _precision_taken(settings: Settings) -> typing.Iterator[Problem]:
    if ACCELERATE.name not in settings:
        return
    for option, allowed in ((PRECISION_MODE, _MODES), (PRECISION_MODE_V2, _MODES_V2)):
        if settings.get(option.name, allowed[0]) not in allowed:
            yield problem(
                PRECISION_TAKEN,
                ACCELERATE,
                f"cannot be combined with {option.name}={settings[option.name]!r}",
                value=settings[ACCELERATE.name],
                allowed="{} left out, or {}".format(option.name, ", ".join(allowed)),
                fix=f"leave out {option.name}",
            )


GROUP = Group(
    "experimental",
    "Experimental options",
    "试验参数",
    (ACCELERATE,),
    (PRECISION_TAKEN, NOTHING_TO_READ),
    (_precision_taken,),
)


@dataclasses.dataclass(frozen=True)
class AcceleratedTraining:
    """Accelerated training: its mode, and the numbers that the runtime reads from the environment.

    Made by :meth:`by_step`, :meth:`by_loss` or :meth:`from_string`.
    Source: session configuration reference, experimental_accelerate_train_mode.
    """

    mode: str
    total_steps: int | None = None
    initial_step: int = 0
    target_loss: float | None = None
    initial_loss: float | None = None

    #: The options that the group stands for.
    NAMES: typing.ClassVar[tuple[str, ...]] = (ACCELERATE.name,)

    @classmethod
    def by_step(
        cls, total_steps: int, dtype: str = "float16", fraction: float = 0.9, initial_step: int = 0
    ) -> AcceleratedTraining:
        """Compute in low precision for a share of the training steps.

        Args:
            total_steps: steps of the whole training, 1 to 2**32 - 1.
            dtype: ``"float16"`` or ``"bfloat16"``.
            fraction: share of the steps in low precision, 0.2 to 0.9.
            initial_step: steps already made, when a training goes on from a checkpoint.
        """
        return cls(_write_mode(dtype, "step", fraction), total_steps=total_steps, initial_step=initial_step)

    @classmethod
    def by_loss(
        cls, target_loss: float, initial_loss: float, dtype: str = "float16", ratio: float = 1.05
    ) -> AcceleratedTraining:
        """Compute in low precision until the loss comes near its target.

        Args:
            target_loss: the loss that the training aims at.
            initial_loss: the loss before the first step; 0 never switches back.
            dtype: ``"float16"`` or ``"bfloat16"``.
            ratio: low precision ends when loss <= target_loss * ratio, 1.01 to 1.5.
        """
        return cls(_write_mode(dtype, "loss", ratio), target_loss=target_loss, initial_loss=initial_loss)

    @classmethod
    def from_string(
        cls,
        mode: str,
        *,
        total_steps: int | None = None,
        initial_step: int = 0,
        target_loss: float | None = None,
        initial_loss: float | None = None,
    ) -> AcceleratedTraining:
        """Take the option's own text, such as ``"fast|step|0.9"``, with the numbers that its trigger needs."""
        return cls(mode, total_steps, initial_step, target_loss, initial_loss)

    @property
    def trigger(self) -> str:
        """``"step"`` or ``"loss"``; raises :class:`Refused` when the mode is malformed."""
        return parse_mode(self.mode).trigger

    def to_options(self) -> dict[str, object]:
        """Return the option that this group stands for."""
        return {ACCELERATE.name: self.mode}

    def environment(self) -> dict[str, str]:
        """Return the variables that must be there before the first graph is compiled, in the runtime's spelling.

        What was not given is left out; it then has to be in the environment already.
        """
        if self.trigger == "step":
            start = None if self.total_steps is None else self.initial_step
            numbers: dict[str, float | None] = {"TOTAL_STEP": self.total_steps, "STEP_NOW": start}
        else:
            numbers = {"TARGET_LOSS": self.target_loss, "LOSS_NOW": self.initial_loss}
        return {name: str(number) for name, number in numbers.items() if number is not None}


def accelerate_problems(
    accelerate: AcceleratedTraining | None, environ: typing.Mapping[str, str] | None = None
) -> typing.Iterator[Problem]:
    """Check the numbers of accelerated training.

    Args:
        accelerate: the acceleration of a plan; its mode is checked with the other options.
        environ: the environment at the moment of opening, where numbers that were not given have to be; ``None``
            when that is still to come.
    """
    if accelerate is None:
        return
    faults = []
    for name, smallest in (("total_steps", 1), ("initial_step", 0)):
        value = getattr(accelerate, name)
        whole = isinstance(value, int) and not isinstance(value, bool) and smallest <= value <= _MAX_STEP
        if not whole and not (value is None and name == "total_steps"):
            faults.append((name, value, f"a whole number from {smallest} to {_MAX_STEP}"))
    for name in ("target_loss", "initial_loss"):
        value = getattr(accelerate, name)
        if value is not None and not (isinstance(value, (int, float)) and abs(float32(value)) < math.inf):
            faults.append((name, value, "a finite number in single precision"))
    for name, value, allowed in faults:
        yield problem(
            BAD_VALUE, f"AcceleratedTraining.{name}", "cannot be read by the runtime", value=value, allowed=allowed
        )
    if environ is None or faults:
        return
    names = ("TOTAL_STEP", "STEP_NOW") if accelerate.trigger == "step" else ("TARGET_LOSS", "LOSS_NOW")
    for name in names:
        if name not in accelerate.environment() and name not in environ:
            example = (
                "by_step(total_steps=...)"
                if accelerate.trigger == "step"
                else "by_loss(target_loss=..., initial_loss=...)"
            )
            yield problem(NOTHING_TO_READ, name, "not set", fix=f"accelerate=AcceleratedTraining.{example}")


def _write_mode(dtype: str, trigger: str, ratio: float) -> str:
    kinds = {name: kind for kind, name in DTYPES.items()}
    # An unknown type stays visible in the text, so that the check of the plan can name it.
    return f"{kinds.get(dtype, dtype)}|{trigger}|{ratio}"


def from_options(given: typing.Mapping[str, Wire]) -> AcceleratedTraining | None:
    """Return the acceleration that canonical options describe, without its numbers."""
    mode = given.get(ACCELERATE.name)
    return None if mode is None else AcceleratedTraining(str(mode))
