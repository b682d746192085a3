"""How the factor of the loss changes."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake.loss_scaling import LossScaleManager

#: About the largest float32.
_LARGEST = 3.4e38


class FixedLossScaleManager(LossScaleManager):
    """A factor that stays.

    Args:
        loss_scale: the factor, at least 1.
        enable_overflow_check: whether a step with an overflow is left out.

    Raises:
        ValueError: the factor is less than 1.
    """

    def __init__(self, loss_scale: float, enable_overflow_check: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"loss_scale={loss_scale}; it must be at least 1")
        self._loss_scale = tf1().convert_to_tensor(loss_scale, dtype=tf1().float32, name="loss_scale")
        self._enable_overflow_check = enable_overflow_check

    def get_loss_scale(self) -> typing.Any:
        """Return the factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: typing.Any) -> typing.Any:
        """Return an operation that does nothing."""
        return tf1().no_op()

    def get_enable_overflow_check(self) -> bool:
        """Return whether a step with an overflow is left out."""
        return self._enable_overflow_check


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows while all goes well, and shrinks after overflows.

    Args:
        init_loss_scale: the factor of the first step.
        incr_every_n_steps: so many steps in a row without overflow raise it.
        decr_every_n_nan_or_inf: so many steps with an overflow, not necessarily in a row, lower it.
        incr_ratio: by which it is multiplied to raise it; it stays where the result would leave float32.
        decr_ratio: by which it is multiplied to lower it, not below 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = tf1().Variable(
            float(init_loss_scale), trainable=False, name="loss_scale", dtype=tf1().float32
        )
        self._num_good_steps = tf1().Variable(0, trainable=False, name="good_steps", dtype=tf1().int32)
        self._num_bad_steps = tf1().Variable(0, trainable=False, name="bad_steps", dtype=tf1().int32)

    def get_loss_scale(self) -> typing.Any:
        """Return the factor, a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: typing.Any) -> typing.Any:
        """Return the operation that counts a step, and changes the factor when it is time."""

        def after_success() -> typing.Any:
            return tf1().cond(
                self._num_good_steps + 1 >= self._incr_every_n_steps,
                increase,
                lambda: tf1().group(tf1().assign_add(self._num_good_steps, 1)),
            )

        def after_overflow() -> typing.Any:
            return tf1().cond(
                self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
                lambda: self._change(tf1().maximum(1.0, self._loss_scale * self._decr_ratio)),
                lambda: tf1().group(tf1().assign_add(self._num_bad_steps, 1), tf1().assign(self._num_good_steps, 0)),
            )

        def increase() -> typing.Any:
            raised = self._loss_scale * self._incr_ratio
            return self._change(tf1().where(self._loss_scale < _LARGEST / self._incr_ratio, raised, self._loss_scale))

        return tf1().cond(finite_grads, after_success, after_overflow)

    def _change(self, scale: typing.Any) -> typing.Any:
        return tf1().group(
            tf1().assign(self._loss_scale, scale),
            tf1().assign(self._num_good_steps, 0),
            tf1().assign(self._num_bad_steps, 0),
        )
