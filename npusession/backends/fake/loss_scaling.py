"""Loss scaling, as TensorFlow 1.15 has it in ``tf.contrib.mixed_precision``, which later versions lack.

The loss is multiplied by a factor before its gradients are taken, and the gradients are divided by it, so that small
ones are not lost in float16. A step whose gradients are not finite is left out.
"""

from __future__ import annotations

import abc
import typing

from ..._tensorflow import tf1

#: What optimizers take, be it a list or ``zip(gradients, variables)``; what they give is a list.
GradsAndVars = typing.Iterable[typing.Tuple[typing.Any, typing.Any]]


class LossScaleManager(abc.ABC):
    """Chooses the factor."""

    @abc.abstractmethod
    def get_loss_scale(self) -> typing.Any:
        """Return the factor, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: typing.Any) -> typing.Any:
        """Return the operation that adapts the factor after a step.

        Args:
            finite_grads: bool scalar, whether all gradients of the step were finite.
        """


def scaled(loss: typing.Any, scale: typing.Any) -> typing.Any:
    """Return a loss, or what a function returns as the loss, times the factor."""
    value = loss() if callable(loss) else loss
    return value * tf1().cast(scale, value.dtype.base_dtype)


def unscaled(grads_and_vars: GradsAndVars, scale: typing.Any) -> list[tuple[typing.Any, typing.Any]]:
    """Return the gradients divided by the factor."""
    inverse = tf1().reciprocal(scale)
    return [(None if grad is None else _times(grad, inverse), variable) for grad, variable in grads_and_vars]


def apply_if(finite_grads: typing.Any, apply: typing.Callable[[], typing.Any], manager: LossScaleManager) -> typing.Any:
    """Return the operation that applies gradients if they are finite, and lets the manager adapt the factor."""
    update = tf1().cond(finite_grads, lambda: tf1().group(apply()), tf1().no_op)
    return tf1().group(update, manager.update_loss_scale(finite_grads))


def _times(gradient: typing.Any, factor: typing.Any) -> typing.Any:
    if isinstance(gradient, tf1().IndexedSlices):
        return tf1().IndexedSlices(_times(gradient.values, factor), gradient.indices, gradient.dense_shape)
    return gradient * tf1().cast(factor, gradient.dtype.base_dtype)


class LossScaleOptimizer(tf1().train.Optimizer):  # type: ignore[misc]
    """Scales the loss of an optimizer.

    Args:
        opt: the optimizer.
        loss_scale_manager: chooses the factor.
    """

    def __init__(self, opt: typing.Any, loss_scale_manager: typing.Any) -> None:
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def __getattr__(self, attr: str) -> typing.Any:
        if attr == "_opt":
            raise AttributeError(attr)
        return getattr(self._opt, attr)

    def compute_gradients(
        self,
        loss: typing.Any,
        var_list: typing.Any = None,
        gate_gradients: int = tf1().train.Optimizer.GATE_OP,
        aggregation_method: typing.Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: typing.Any = None,
    ) -> list[tuple[typing.Any, typing.Any]]:
        """Return the gradients of the scaled loss, divided by the factor."""
        scale = self._loss_scale_manager.get_loss_scale()
        gradients = self._opt.compute_gradients(
            scaled(loss, scale),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return unscaled(gradients, scale)
