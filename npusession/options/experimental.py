"""Experimental options: accelerated training, which computes in low precision up to a point of the training.

The experimental options of compiling are in :mod:`.experimental_compiling`.
"""

from __future__ import annotations

import typing

from . import experimental_compiling
from .experimental_notes import ACCELERATE_NOTES
from .kinds import Refused, Text
from .model import TRAINING, Group, Option, Scope, Settings, problem
from .native_numbers import float32, fraction
from .precision import PRECISION_MODE, PRECISION_MODE_V2
from .problems import Problem, Rule

#: The first field of the mode, and the type that it computes in.
DTYPES = {"fast": "float16", "fast1": "bfloat16"}
#: Smallest, largest and default ratio of each trigger.
RATIOS = {"step": (0.2, 0.9, 0.9), "loss": (1.01, 1.5, 1.05)}
#: Precision modes under which the runtime accelerates; unset is one too.
_MODES = ("allow_fp32_to_fp16", "must_keep_origin_dtype")
_MODES_V2 = ("origin",)


class Mode(typing.NamedTuple):
    """The three fields of ``experimental_accelerate_train_mode``."""

    kind: str
    trigger: str
    ratio: float


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
    ratio = fraction(number)
    if ratio is None:
        raise Refused(f"{number[:20]!r} is not a number")
    if not float32(low) <= float32(ratio) <= float32(high):
        raise Refused(f"the ratio of a {trigger} trigger lies from {low} to {high}")
    return Mode(kind, trigger, ratio)


def _read_mode(text: str) -> str:
    parse_mode(text)
    return text


ACCELERATE = Option(
    "experimental_accelerate_train_mode",
    Text(
        "type|trigger|ratio: fast or fast1, step (0.2 to 0.9) or loss (1.01 to 1.5), such as fast|step|0.9",
        _read_mode,
        zh="类型|触发方式|占比：fast 或 fast1，step（0.2 到 0.9）或 loss（1.01 到 1.5），如 fast|step|0.9",
    ),
    "Train in low precision up to a share of the steps or a multiple of the target loss, then as given. "
    "TensorFlow 1.15 only.",
    "训练加速：按 step 或 loss 触发，先以低精度训练，之后恢复原始精度（仅 TensorFlow 1.15）。",
    scope=Scope.INIT,
    scenes=TRAINING,
    notes=ACCELERATE_NOTES,
    run_config="experimental_config.accelerate_train_mode",
)

NOTHING_TO_READ = Rule(
    "NPU403", "missing-companion", "Accelerated training reads its numbers from the environment at the first run."
)
NOBODY_READS = Rule(
    "NPU290", "no-effect", "Accelerated training goes by step or by loss, and fetches a tensor with the train op."
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
    (
        experimental_compiling.GRAPH_COMPILER_CACHE_DIR,
        experimental_compiling.JIT_COMPILE,
        experimental_compiling.SHAPE_GENERALIZATION_MODE,
        ACCELERATE,
        experimental_compiling.AUTO_MULTISTREAM_PARALLEL_MODE,
    ),
    (PRECISION_TAKEN, NOBODY_READS, NOTHING_TO_READ, *experimental_compiling.RULES),
    (_precision_taken, *experimental_compiling.CHECKS),
)
