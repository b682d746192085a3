"""What data-parallel training is made of: equal variables, averaged gradients, averaged metrics."""

from __future__ import annotations

import os
import typing

from .._tensorflow import tf1
from ..environment import Layer
from ._environ_rules import SIZE, report
from ._place import Where, known_rank, place_of
from ._tensors import moved_dtypes, need_graph
from .cluster import ClusterError
from .collectives import allreduce, broadcast
from .lifecycle import opened

if typing.TYPE_CHECKING:
    from ..backends import Backend

#: Where the adapter's optimizers read the number of ranks.
_SIZES = ("RANK_SIZE", "CM_WORKER_SIZE")
#: Without it they find no number of ranks at all.
_JOB = "JOB_ID"


def mean(values: typing.Any, *, group: Where = None) -> typing.Any:
    """Return the average of a tensor, or of each tensor of a dict or list, over all ranks of a group.

    Made for metrics: ``hccl.mean({"loss": loss, "accuracy": accuracy})``. Gradients go through it.

    Args:
        values: tensors of floats, or nested dicts, lists and tuples of them; all ranks have the same.
        group: the group; by default all ranks.

    Raises:
        NotInitializedError, GraphRequiredError, ValueError: as for :func:`hccl.allreduce`.
        TypeError: a tensor is none of floats that HCCL takes.
    """
    place = place_of("mean", group)
    need_graph(place.call)

    def average(value: typing.Any) -> typing.Any:
        tensor = tf1().convert_to_tensor(value)
        if not tensor.dtype.is_floating:
            raise TypeError(
                f"hccl.mean: {tensor.name} is {tensor.dtype.base_dtype.name}, of which averages are not; "
                "tf.cast(x, tf.float32) before it"
            )
        return allreduce(tensor, "sum", group=group, fusion=0) / tf1().cast(place.size, tensor.dtype.base_dtype)

    return tf1().nest.map_structure(average, values)


def broadcast_variables(root: int = 0, variables: typing.Sequence[typing.Any] | None = None) -> typing.Any:
    """Return an operation that gives every rank the values that variables have on one rank.

    It is run once, after variables were initialised or restored::

        s.run([tf.global_variables_initializer()])
        s.run(hccl.broadcast_variables())

    :class:`hccl.BroadcastVariablesHook` does it for monitored sessions and estimators.

    Args:
        root: the rank whose values they are.
        variables: the variables, the same on all ranks; by default all global ones, so that the slots of optimizers,
            moving averages and the global step are among them.

    Raises:
        NotInitializedError: HCCL is not initialised.
        GraphRequiredError: TensorFlow executes eagerly.
        TypeError: a variable has a dtype that HCCL does not take.
        ValueError: there is no such rank.
    """
    place = place_of("broadcast_variables", None)
    need_graph(place.call)
    root = known_rank(place, "root", root)
    given = tf1().global_variables() if variables is None else list(variables)
    boolean, allowed = "bool", moved_dtypes(place.placement.product)
    strange = [
        f"{variable.name} ({variable.dtype.base_dtype.name})"
        for variable in given
        if variable.dtype.base_dtype.name not in (*allowed, boolean)
    ]
    if strange:
        raise TypeError(
            "hccl.broadcast_variables: HCCL does not take {}; leave them out: variables=[...]".format(
                ", ".join(strange)
            )
        )
    if place.alone:
        return tf1().no_op(name="broadcast_variables")
    assigned = []
    with tf1().name_scope("broadcast_variables"):
        # One op for each: the device takes lists of one dtype only.
        for variable in given:
            value = tf1().convert_to_tensor(variable)
            dtype = value.dtype.base_dtype
            sent = tf1().cast(value, tf1().uint8) if dtype.name == boolean else value
            received = broadcast(sent, root)
            assigned.append(variable.assign(tf1().cast(received, dtype)))
        return tf1().group(*assigned)


def distributed_optimizer(optimizer: typing.Any) -> typing.Any:
    """Return an optimizer that averages gradients over all ranks before it applies them.

    Args:
        optimizer: a ``tf.compat.v1.train.Optimizer``, or one of Keras 2.

    Raises:
        NotInitializedError: HCCL is not initialised.
        TypeError: it is no such optimizer.
        ClusterError: the adapter, which reads RANK_SIZE or CM_WORKER_SIZE, would count other ranks than HCCL, and
            average nothing.
    """
    placement, backend = opened("distributed_optimizer(...)")
    plain = isinstance(optimizer, tf1().train.Optimizer)
    if not plain and not hasattr(optimizer, "get_gradients"):
        raise TypeError(
            f"hccl.distributed_optimizer: {optimizer!r} is no optimizer of tf.compat.v1.train, and none of Keras 2 "
            "(Keras 3 has no sessions)"
        )
    name = next((variable for variable in _SIZES if variable in os.environ), _SIZES[0])
    counted = os.environ.get(name, "1")
    if counted != str(placement.size):
        message = f"the adapter averages over {counted} ranks by it, and HCCL has {placement.size}"
        raise ClusterError(
            [report(SIZE, name, message, os.environ.get(name), fix=f"export {name}={placement.size} before the start")]
        )
    if placement.size > 1:
        _read_job(backend)
    adapter = backend.npu_optimizer
    return (adapter.NPUDistributedOptimizer if plain else adapter.KerasDistributeOptimizer)(optimizer)


def _read_job(backend: Backend) -> None:
    """Have the adapter read its job, which it does once, and where there is no JOB_ID finds none for good."""
    # Any value will do: only NPUEstimator insists that it was set.
    layer = Layer({_JOB: os.environ.get(_JOB) or "npusession"})
    try:
        backend.load("estimator.npu.npu_common").NPUBasics("")
    finally:
        layer.restore()
