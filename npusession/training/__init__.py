"""Training loops: counting steps, telling the runtime where the training is, showing progress."""

from .steps import steps

__all__ = ["steps"]
