"""Accelerated training as a typed group: its mode, and the numbers that the runtime reads from the environment."""

from __future__ import annotations

import dataclasses
import math
import typing

from .._text import shorten
from .accelerate_environment import unreadable
from .experimental import ACCELERATE, DTYPES, NOBODY_READS, parse_mode
from .kinds import Integer, Refused, Wire, text_of
from .model import problem
from .native_numbers import float32
from .problems import BAD_VALUE, Problem

_MAX_STEP = 2**32 - 1
_KINDS = {name: kind for kind, name in DTYPES.items()}
#: What each trigger reads: the variables for the end of the training and for where it is.
VARIABLES = {"step": ("TOTAL_STEP", "STEP_NOW"), "loss": ("TARGET_LOSS", "LOSS_NOW")}
#: Arguments that have a meaning under one of the triggers only.
_ARGUMENTS = {"step": ("total_steps", "initial_step", "step"), "loss": ("target_loss", "initial_loss", "loss")}


@dataclasses.dataclass(frozen=True)
class AcceleratedTraining:
    """Accelerated training: its mode, and the numbers that the runtime reads from the environment.

    Made by :meth:`by_step`, :meth:`by_loss` or :meth:`from_string`. Numbers may come as the text of command line
    flags; all of it is checked when the plan is made, together with the options.

    ``step``, ``loss`` and ``train_op`` are tensors, variables and operations of the graph, or their names; a plan keeps
    the names. Each run that makes the train op run fetches the tensor as well, and the run after it sees its value.
    Source: session configuration reference, experimental_accelerate_train_mode.
    """

    mode: str
    total_steps: int | None = None
    initial_step: int | None = 0
    target_loss: float | None = None
    initial_loss: float | None = None
    step: typing.Any = None
    loss: typing.Any = None
    train_op: typing.Any = None

    #: The options that the group stands for.
    NAMES: typing.ClassVar[tuple[str, ...]] = (ACCELERATE.name,)

    @classmethod
    def by_step(
        cls,
        total_steps: int,
        dtype: str = "float16",
        fraction: float = 0.9,
        initial_step: int | None = 0,
        *,
        step: typing.Any = None,
        train_op: typing.Any = None,
    ) -> AcceleratedTraining:
        """Compute in low precision for a share of the training steps.

        Args:
            total_steps: steps of the whole training, 1 to 2**32 - 1.
            dtype: ``"float16"`` or ``"bfloat16"``.
            fraction: share of the steps in low precision, 0.2 to 0.9.
            initial_step: steps already made, when a training goes on from a checkpoint.
            step: what counts the steps made, such as the global step; of a variable the value after the train op
                counts.
            train_op: the operation of a training step. Without ``step`` each run of it counts as one step, or as
                iterations_per_loop of them.
        """
        mode = _write_mode(dtype, "step", fraction)
        return cls(mode, total_steps=total_steps, initial_step=initial_step, step=step, train_op=train_op)

    @classmethod
    def by_loss(
        cls,
        target_loss: float,
        initial_loss: float,
        dtype: str = "float16",
        ratio: float = 1.05,
        *,
        loss: typing.Any = None,
        train_op: typing.Any = None,
    ) -> AcceleratedTraining:
        """Compute in low precision until the loss comes near its target.

        Args:
            target_loss: the loss that the training aims at.
            initial_loss: the loss before the first step; 0 never switches back.
            dtype: ``"float16"`` or ``"bfloat16"``.
            ratio: low precision ends when loss <= target_loss * ratio, 1.01 to 1.5.
            loss: the loss of a training step, one number.
            train_op: the operation of a training step.
        """
        mode = _write_mode(dtype, "loss", ratio)
        return cls(mode, target_loss=target_loss, initial_loss=initial_loss, loss=loss, train_op=train_op)

    @classmethod
    def from_string(
        cls,
        mode: str,
        *,
        total_steps: int | None = None,
        initial_step: int | None = 0,
        target_loss: float | None = None,
        initial_loss: float | None = None,
        step: typing.Any = None,
        loss: typing.Any = None,
        train_op: typing.Any = None,
    ) -> AcceleratedTraining:
        """Take the option's own text, such as ``"fast|step|0.9"``, with the numbers that its trigger needs.

        What only the other trigger reads is refused when the plan is made.
        """
        return cls(mode, total_steps, initial_step, target_loss, initial_loss, step, loss, train_op)

    @classmethod
    def from_options(cls, given: typing.Mapping[str, Wire]) -> AcceleratedTraining | None:
        """Return the acceleration that canonical options describe, without its numbers."""
        mode = given.get(ACCELERATE.name)
        return None if mode is None else cls(str(mode))

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

    def missing(self, environ: typing.Mapping[str, str]) -> typing.Iterator[Problem]:
        """Check, when a session opens, that the environment has the numbers that were not given."""
        yield from unreadable(self.mode, {**environ, **self.environment()})


def read_group(given: AcceleratedTraining) -> tuple[AcceleratedTraining, list[Problem]]:
    """Read the numbers and names of a group as it was given; the mode is read with the other options.

    Returns:
        The group with plain numbers and names, those that cannot be read left out, and what is wrong with them.
    """
    problems = []
    numbers: dict[str, typing.Any] = {}
    readers: dict[str, tuple[typing.Callable[[object], object], str]] = {
        "total_steps": (Integer(1, _MAX_STEP).parse, f"a whole number from 1 to {_MAX_STEP}"),
        "initial_step": (Integer(0, _MAX_STEP).parse, f"a whole number from 0 to {_MAX_STEP}"),
        "target_loss": (_finite, "a finite number in single precision"),
        "initial_loss": (_finite, "a finite number in single precision"),
        "step": (_name, "a tensor or variable of the graph, or its name"),
        "loss": (_name, "a tensor of the graph, or its name"),
        "train_op": (_operation_name, "an operation of the graph, or its name"),
    }
    for name, (read, allowed) in readers.items():
        value = getattr(given, name)
        numbers[name] = 0 if name == "initial_step" else None
        if value is None:
            continue
        try:
            numbers[name] = read(value)
        except Refused as refused:
            shown = f"AcceleratedTraining.{name}"
            problems.append(problem(BAD_VALUE, shown, str(refused), value=value, allowed=allowed))
    group = dataclasses.replace(given, **numbers)
    total, initial = group.total_steps, group.initial_step or 0
    if total is not None and initial > total:
        shown = "AcceleratedTraining.initial_step"
        problems.append(
            problem(BAD_VALUE, shown, "beyond the training's end", value=initial, allowed=f"0 to total_steps={total}")
        )
    return group, problems


def unread(group: AcceleratedTraining) -> typing.Iterator[Problem]:
    """Name what nobody will read: what belongs to the other trigger, and tensors that no run would fetch."""
    trigger = group.trigger
    other = "loss" if trigger == "step" else "step"
    for name in _ARGUMENTS[other]:
        value = getattr(group, name)
        if value is not None and (name, value) != ("initial_step", 0):
            yield problem(
                NOBODY_READS,
                f"AcceleratedTraining.{name}",
                f"the mode goes by the {trigger}",
                value=value,
                fix=f"leave it out, or a mode that goes by the {other}, such as fast|{other}",
            )
    tensor = getattr(group, trigger)
    if tensor is not None and group.train_op is None:
        yield problem(
            NOBODY_READS,
            f"AcceleratedTraining.{trigger}",
            "no train op is named with it",
            value=tensor,
            fix=f"{trigger}=..., train_op=..., where train_op is what the training runs",
        )
    if trigger == "loss" and tensor is None and group.train_op is not None:
        yield problem(
            NOBODY_READS,
            "AcceleratedTraining.train_op",
            "no loss is named with it",
            value=group.train_op,
            fix="loss=..., train_op=...",
        )


def _name(value: object) -> str:
    """Return the name of a tensor, a variable or an operation."""
    try:
        name = text_of(value if isinstance(value, (str, bytes)) else value.name)  # type: ignore[attr-defined]
    except Exception:
        raise Refused("no part of a graph", wrong_type=True) from None
    if not name:
        raise Refused("an empty name")
    return name


def _operation_name(value: object) -> str:
    """Return the name of an operation, or of that which makes a tensor or assigns to a variable."""
    try:
        operation = getattr(value, "op", value)
    except Exception:
        raise Refused("no part of a graph", wrong_type=True) from None
    return _name(operation)


def _finite(value: object) -> float:
    if isinstance(value, bool):
        raise Refused("a bool where a number belongs", wrong_type=True)
    try:
        number = float(text_of(value) if isinstance(value, (str, bytes)) else value)  # type: ignore[arg-type]
    except Exception:
        raise Refused("not a number") from None
    # Not true of nan either.
    if not abs(float32(number)) < math.inf:
        raise Refused("not a finite number in single precision")
    return number


def _write_mode(dtype: object, trigger: str, ratio: object) -> str:
    # What is no type or number stays visible in the text, so that the check of the plan can name it.
    kind = _KINDS.get(dtype) if type(dtype) is str else None
    if isinstance(ratio, (str, bool)):
        number = str(ratio) if type(ratio) in (str, bool) else shorten(ratio)
    else:
        try:
            number = repr(float(ratio))  # type: ignore[arg-type]
        except Exception:
            number = shorten(ratio)
    return f"{kind or (dtype if type(dtype) is str else shorten(dtype))}|{trigger}|{number}"
