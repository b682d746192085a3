"""An optimizer with loss scaling."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import loss_scaling
from npusession.backends.fake.gen_ops.float_status import finite as all_finite
from npusession.backends.fake.loss_scaling import GradsAndVars

from ...hccl import hccl_ops
from .npu_loss_scale_manager import FixedLossScaleManager

#: The name by which scripts fetch whether a step was free of overflows.
_FINITE = "overflow_status_reduce_all"


class NPULossScaleOptimizer(loss_scaling.LossScaleOptimizer):
    """Scales the loss of an optimizer, and leaves out steps that overflow.

    Args:
        opt: the optimizer.
        loss_scale_manager: chooses the factor.
        is_distributed: whether an overflow on one rank leaves the step out on all.
    """

    def __init__(self, opt: typing.Any, loss_scale_manager: typing.Any, is_distributed: bool = False) -> None:
        super().__init__(opt, loss_scale_manager)
        self._is_distributed = is_distributed
        self._name = "NPULossScaleOptimizer"

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: typing.Any = None, name: str | None = None
    ) -> typing.Any:
        """Return the operation of a step, which leaves variables as they are after an overflow, and adapts the factor.

        The device notes an overflow anywhere in the step; here it is a gradient that is not finite.
        """
        grads_and_vars = list(grads_and_vars)
        if self._checks_overflow():
            with tf1().name_scope(self._name):
                finite = all_finite(grad for grad, _ in grads_and_vars)
                if self._is_distributed:
                    overflows = hccl_ops.allreduce(1 - tf1().cast(finite, tf1().int32), "sum", fusion=0)
                    finite = tf1().equal(overflows, 0)
            finite = tf1().identity(finite, name=_FINITE)
        else:
            finite = tf1().constant(True)
        return loss_scaling.apply_if(
            finite, lambda: self._opt.apply_gradients(grads_and_vars, global_step, name), self._loss_scale_manager
        )

    def _checks_overflow(self) -> bool:
        if isinstance(self._loss_scale_manager, FixedLossScaleManager):
            return self._loss_scale_manager.get_enable_overflow_check()
        return True
