"""When the runtime leaves the low precision of accelerated training. It computes in single precision."""

from __future__ import annotations

import math

from .native_numbers import float32


def step_limit(total: int, ratio: float, loop: int) -> int:
    """Return the number of steps made from which on the runtime is back in the original precision.

    Args:
        total: steps of the whole training, TOTAL_STEP.
        ratio: share of them in low precision.
        loop: steps in one run; the last run is always one in the original precision.
    """
    return min(math.floor(float32(float32(total) * float32(ratio))), total - loop)


def loss_limit(target: float, ratio: float) -> float:
    """Return the loss that is low enough for the original precision.

    Args:
        target: the loss that the training aims at, TARGET_LOSS.
        ratio: multiple of it.
    """
    return float32(float32(target) * float32(ratio))


def loss_reaches(loss: float, limit: float) -> bool:
    """Tell whether a loss is low enough; 0.0 stands for no loss at all, and NaN is never low enough."""
    return loss != 0 and float32(loss) <= limit
