"""Optimizers that average gradients over all ranks, and scale the loss."""

from __future__ import annotations

import os
import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import loss_scaling
from npusession.backends.fake.collectives import world_size
from npusession.backends.fake.gen_ops.float_status import finite
from npusession.backends.fake.keras import keras
from npusession.backends.fake.loss_scaling import GradsAndVars

from ...hccl import hccl_ops
from .npu_common import NPUBasics


def allreduce(tensor: typing.Any, average: bool = True) -> typing.Any:
    """Return the average of a tensor over all ranks, or the sum.

    The values of IndexedSlices are gathered from all ranks, and so are their indices.

    Raises:
        AttributeError: the environment has no ``JOB_ID``, without which the adapter does not count the ranks.
    """
    NPUBasics("").size()
    return npu_allreduce(tensor, "mean" if average else "sum")


def reduce(
    tensor: typing.Any, root_rank: int, average: bool = True, fusion: int = 0, fusion_id: int = -1
) -> typing.Any:
    """As :func:`allreduce`, for one rank; which one this process is, DEVICE_ID says, as for the adapter.

    Raises:
        AttributeError: the environment has no ``JOB_ID``.
        ValueError: DEVICE_ID is not set, or negative.
    """
    NPUBasics("").size()
    if isinstance(tensor, tf1().IndexedSlices):
        return allreduce(tensor, average)
    rank = _rank()
    summed = hccl_ops.reduce(tensor, "sum", root_rank, fusion, fusion_id)
    return summed / tf1().cast(world_size(), tensor.dtype) if average and root_rank == rank else summed


class _Wrapper(tf1().train.Optimizer):  # type: ignore[misc]
    """An optimizer that leaves its variables to another one."""

    def __init__(self, optimizer: typing.Any, name: str) -> None:
        super().__init__(use_locking=False, name=name)
        self._wrapped = optimizer

    def get_slot(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Return a slot of the optimizer."""
        return self._wrapped.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Return the names of the optimizer's slots."""
        return self._wrapped.get_slot_names(*args, **kwargs)

    def variables(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Return the optimizer's variables."""
        return self._wrapped.variables(*args, **kwargs)


class NPUOptimizer(_Wrapper):
    """Averages gradients over all ranks and scales the loss, each when asked.

    Args:
        opt: the optimizer that computes and applies gradients.
        loss_scale_manager: chooses the factor of the loss.
        is_distributed: whether gradients are averaged.
        is_loss_scale: whether the loss is scaled, and steps that overflow are left out.
        is_tailing_optimization: whether overflow is looked for before the last gradient is averaged.
        name: name of the optimizer.

    Raises:
        ValueError: the loss is to be scaled without a manager.
    """

    def __init__(
        self,
        opt: typing.Any,
        loss_scale_manager: typing.Any = None,
        is_distributed: bool = False,
        is_loss_scale: bool = False,
        is_tailing_optimization: bool = False,
        name: str | None = None,
    ) -> None:
        if is_loss_scale and loss_scale_manager is None:
            raise ValueError("is_loss_scale=True needs a loss_scale_manager")
        super().__init__(opt, name or f"NPUOptimizer{type(opt).__name__}")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed
        self._is_loss_scale = is_loss_scale
        self._is_tailing_optimization = is_tailing_optimization
        self._is_overall_finite: typing.Any = None

    def compute_gradients(
        self,
        loss: typing.Any,
        var_list: typing.Any = None,
        gate_gradients: int = tf1().train.Optimizer.GATE_OP,
        aggregation_method: typing.Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: typing.Any = None,
    ) -> list[tuple[typing.Any, typing.Any]]:
        """Return the gradients, scaled and averaged as asked."""
        scale = self._loss_scale_manager.get_loss_scale() if self._is_loss_scale else None
        gradients = self._opt.compute_gradients(
            loss if scale is None else loss_scaling.scaled(loss, scale),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if self._is_distributed:
            if self._is_loss_scale and self._is_tailing_optimization:
                self._look_for_overflow(gradients)
            gradients = _averaged(gradients, self._name + "_Allreduce")
        return gradients if scale is None else loss_scaling.unscaled(gradients, scale)

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: typing.Any = None, name: str | None = None
    ) -> typing.Any:
        """Return the operation of a step, which an overflow leaves out where the loss is scaled."""
        grads_and_vars = list(grads_and_vars)
        if not self._is_loss_scale:
            return self._opt.apply_gradients(grads_and_vars, global_step, name)
        if not self._is_tailing_optimization or self._is_overall_finite is None:
            self._look_for_overflow(grads_and_vars)
        return loss_scaling.apply_if(
            self._is_overall_finite,
            lambda: self._opt.apply_gradients(grads_and_vars, global_step, name),
            self._loss_scale_manager,
        )

    def _look_for_overflow(self, grads_and_vars: GradsAndVars) -> None:
        result = finite(grad for grad, _ in grads_and_vars)
        if self._is_distributed:
            overflows = hccl_ops.allreduce(1 - tf1().cast(result, tf1().int32), "sum", fusion=0)
            result = tf1().equal(overflows, 0)
        self._is_overall_finite = result


class NPUDistributedOptimizer(_Wrapper):
    """Averages gradients over all ranks.

    Args:
        optimizer: the optimizer that computes and applies gradients.
        is_weight_update_sharding: whether each rank updates a part of the weights, and sends it to the others.
        name: name of the optimizer.
    """

    def __init__(self, optimizer: typing.Any, is_weight_update_sharding: bool = False, name: str | None = None) -> None:
        super().__init__(optimizer, name or f"Distributed{type(optimizer).__name__}")
        self._optimizer = optimizer
        self._is_weight_update_sharding = is_weight_update_sharding

    def compute_gradients(self, *args: typing.Any, **kwargs: typing.Any) -> list[tuple[typing.Any, typing.Any]]:
        """Return the averaged gradients.

        Raises:
            ValueError: the update is to be shared by more ranks than there are gradients.
        """
        gradients = self._optimizer.compute_gradients(*args, **kwargs)
        size = world_size()
        if size == 1:
            return typing.cast("list[tuple[typing.Any, typing.Any]]", gradients)
        if not self._is_weight_update_sharding:
            return _averaged(gradients, self._name + "_Allreduce")
        if size > len(gradients):
            raise ValueError(f"{len(gradients)} gradients cannot be shared by {size} ranks")
        from . import util

        _rank()
        util.add_grads_and_vars(gradients, size)
        with tf1().name_scope(self._name + "_Reduce_Weight_Update_Sharding"):
            return [
                (
                    None
                    if grad is None
                    else reduce(grad, util.get_gid_by_grad(grad), True, 2, util.get_gid_by_grad(grad)),
                    variable,
                )
                for grad, variable in gradients
            ]

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: typing.Any = None, name: str | None = None
    ) -> typing.Any:
        """Return the operation of a step."""
        if world_size() == 1 or not self._is_weight_update_sharding:
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        from . import util

        rank = _rank()
        roots = [(grad, variable, util.get_gid_by_weight(variable)) for grad, variable in grads_and_vars]
        own = [(grad, variable) for grad, variable, root in roots if root == rank]
        done = [self._optimizer.apply_gradients(own, global_step, name)]
        with tf1().name_scope(self._name + "_Broadcast_Weight_Update_Sharding"):
            for _, variable, root in roots:
                # One after the other, so that all ranks agree on the order.
                with tf1().control_dependencies(done):
                    (received,) = hccl_ops.broadcast([variable], root, 0)
                    done = [*done, tf1().assign(variable, received)]
        return tf1().group(*done, *(grad for grad, _, root in roots if root not in (rank, -1)))


class KerasDistributeOptimizer(keras().optimizers.Optimizer):  # type: ignore[misc]
    """Averages the gradients of a Keras optimizer over all ranks.

    Args:
        optimizer: the optimizer, of Keras 2.
        name: name of this one.

    Raises:
        TypeError: the optimizer is none of Keras 2.
    """

    def __init__(self, optimizer: typing.Any, name: str = "NpuKerasOptimizer", **kwargs: typing.Any) -> None:
        if not hasattr(optimizer, "get_gradients"):
            raise TypeError(
                f"{optimizer!r} is no optimizer of Keras 2. TensorFlow 2.16 and later come with Keras 3, which has no "
                "sessions; TensorFlow 1.15 and 2.6.5, which the adapter is for, come with Keras 2"
            )
        super().__init__(name, **kwargs)
        self._optimizer = optimizer
        get_gradients = optimizer.get_gradients

        def averaged(loss: typing.Any, params: typing.Any) -> list[typing.Any]:
            return _averaged_if_many(get_gradients(loss, params), name + "_Allreduce")

        optimizer.get_gradients = averaged

    def get_updates(self, loss: typing.Any, params: typing.Any) -> typing.Any:
        """Return the operations of a step."""
        return self._optimizer.get_updates(loss, params)

    def apply_gradients(self, grads_and_vars: GradsAndVars, name: str | None = None) -> typing.Any:
        """Return the operation that applies gradients."""
        return self._optimizer.apply_gradients(grads_and_vars, name)

    def get_config(self) -> dict[str, typing.Any]:
        """Return the configuration, with the optimizer itself."""
        return {**super().get_config(), "optimizer": self._optimizer}

    def _compute_gradients(
        self, loss: typing.Any, var_list: typing.Any, *rest: typing.Any, **more: typing.Any
    ) -> object:
        gradients = self._optimizer._compute_gradients(loss, var_list, *rest, **more)
        return _averaged(gradients, self._name + "_Allreduce") if world_size() > 1 else gradients


def npu_distributed_optimizer_wrapper(optimizer: typing.Any) -> typing.Any:
    """Make an optimizer of TensorFlow or Keras average its gradients over all ranks.

    Args:
        optimizer: it is changed; or the name of one of Keras.

    Returns:
        The optimizer.
    """
    if isinstance(optimizer, str):
        optimizer = keras().optimizers.get(optimizer)
    prefix = "Npu_Distributed_optimizer"
    for method, scope, pairs in (
        ("compute_gradients", "_Allreduce", True),
        ("get_gradients", "_get_grads_Allreduce", False),
        ("_compute_gradients", "_compute_grads_Allreduce", True),
    ):
        if hasattr(optimizer, method):
            setattr(optimizer, method, _averaging(getattr(optimizer, method), prefix + scope, pairs=pairs))
    return optimizer


def npu_allreduce(
    values: typing.Any,
    reduction: str = "mean",
    fusion: int = 1,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> typing.Any:
    """Return the reduction of a tensor, or of each of a list of tensors, over all ranks.

    Args:
        values: tensors or IndexedSlices; the values and indices of the latter are gathered.
        reduction: ``"mean"``, or one of :func:`npu_bridge.hccl.hccl_ops.allreduce`.
        fusion: as there.
        fusion_id: as there.
        group: name of the group.
    """
    if isinstance(values, (list, tuple)):
        return [npu_allreduce(value, reduction, fusion, fusion_id, group) for value in values]
    size = world_size()
    mean = reduction == "mean"
    if isinstance(values, tf1().IndexedSlices):
        gathered = hccl_ops.allgather(values.values, size, group)
        indices = hccl_ops.allgather(values.indices, size, group)
        if mean:
            gathered = tf1().div(gathered, tf1().cast(size, gathered.dtype))
        return tf1().IndexedSlices(gathered, indices, dense_shape=values.dense_shape)
    reduced = hccl_ops.allreduce(values, "sum" if mean else reduction, fusion, fusion_id, group)
    return tf1().div(reduced, tf1().cast(size, reduced.dtype)) if mean else reduced


def _averaged(gradients: GradsAndVars, scope: str) -> list[tuple[typing.Any, typing.Any]]:
    with tf1().name_scope(scope):
        return [(None if grad is None else allreduce(grad), variable) for grad, variable in gradients]


def _averaged_if_many(gradients: typing.Sequence[typing.Any], scope: str) -> list[typing.Any]:
    if world_size() == 1:
        return list(gradients)
    with tf1().name_scope(scope):
        return [None if grad is None else allreduce(grad) for grad in gradients]


def _averaging(method: typing.Callable[..., typing.Any], scope: str, *, pairs: bool) -> typing.Callable[..., object]:
    def averaging(*args: typing.Any, **kwargs: typing.Any) -> object:
        gradients = method(*args, **kwargs)
        if not pairs:
            return _averaged_if_many(gradients, scope)
        return _averaged(gradients, scope) if world_size() > 1 else gradients

    return averaging


def _rank() -> int:
    value = os.environ.get("DEVICE_ID", "")
    if not value.isdigit():
        raise ValueError(f"DEVICE_ID={value!r}: sharing the update of weights needs this rank's number there")
    return int(value)
