"""The one place that every collective op of a graph goes through.

A process that is alone is rank 0 of 1, which gets back what it gave.
"""

from __future__ import annotations

import os
import typing

from ..._tensorflow import tf1
from . import not_emulated

WORLD = "hccl_world_group"
#: Longest name of a group.
LONGEST_NAME = 127


class Collective(typing.NamedTuple):
    """A collective as one rank asks for it.

    Attributes:
        op_type: type of the op, as in ``HcomAllReduce``.
        kind: ``allreduce``, ``allgather``, ``broadcast``, ``reduce``, ``reduce_scatter``, ``send``, ``receive``,
            ``alltoallv`` or ``alltoallvc``.
        group: name of the group.
        inputs: the rank's tensors.
        outputs: dtype and shape of each result, ``None`` for an unknown shape.
        options: what must be the same on all ranks: ``reduction``, ``root_rank``, ``rank_size``, ``sr_tag`` and so on.
        own: what may differ between them: tensors of counts and displacements, by name.
    """

    op_type: str
    kind: str
    group: str
    inputs: typing.Sequence[typing.Any]
    outputs: typing.Sequence[not_emulated.Output]
    options: typing.Mapping[str, typing.Any] = {}
    own: typing.Mapping[str, typing.Any] = {}


def world_size() -> int:
    """Return the number of ranks that the environment names: RANK_SIZE, else CM_WORKER_SIZE, else 1.

    Raises:
        ValueError: both are set, or it is no positive number.
    """
    names = [name for name in ("RANK_SIZE", "CM_WORKER_SIZE") if name in os.environ]
    if len(names) == 2:
        raise ValueError("RANK_SIZE and CM_WORKER_SIZE are both set; a cluster is described by one of them")
    if not names:
        return 1
    value = os.environ[names[0]]
    if not (value.isascii() and value.isdigit() and int(value)):
        raise ValueError(f"{names[0]}={value!r} is no positive number")
    return int(value)


def build(collective: Collective) -> list[typing.Any]:
    """Add a collective to the graph.

    Returns:
        Its results, for a send its operation. Running them raises InvalidArgumentError where the call names more ranks
        than the group has, and :class:`~npusession.errors.NotEmulatedError` where the environment describes several.

    Raises:
        ValueError: the environment's description of the ranks is wrong.
    """
    size = world_size()
    if size > 1:
        why = f"needs all {size} ranks of the job, which this process is not connected to"
        inputs = [*collective.inputs, *collective.own.values()]
        return not_emulated.node(collective.op_type, why, inputs, collective.outputs)
    return _alone(collective)


def _alone(collective: Collective) -> list[typing.Any]:
    """Return what a rank that is alone in its group gets."""
    options = collective.options
    beyond = [
        f"{name}={options[name]}"
        for name, most in (("rank_size", 1), ("root_rank", 0), ("rank", 0), ("dest_rank", -1), ("src_rank", -1))
        if name in options and not (options[name] <= most)
    ]
    if beyond:
        return _fail(
            collective, f"{collective.op_type}: {', '.join(beyond)}, but this process is rank 0 of 1; start all ranks"
        )
    if collective.kind in ("alltoallv", "alltoallvc"):
        return [_to_itself(collective)]
    return list(collective.inputs)


def _fail(collective: Collective, message: str) -> list[typing.Any]:
    """Return results that raise InvalidArgumentError when they are run."""
    with tf1().control_dependencies([tf1().Assert(tf1().constant(False), [message])]):
        if not collective.outputs:
            return [tf1().no_op()]
        return [
            tf1().placeholder_with_default(tf1().zeros(_known(shape), dtype), shape)
            for dtype, shape in collective.outputs
        ]


def _known(shape: typing.Any) -> list[int]:
    dimensions = tf1().TensorShape(shape)
    return [] if dimensions.ndims is None else [length or 0 for length in dimensions.as_list()]


def _to_itself(collective: Collective) -> typing.Any:
    """Return the part of the data that the rank sends to itself, at the place where it wants it."""
    data = tf1().reshape(collective.inputs[0], [-1])
    own = {name: tf1().reshape(tensor, [-1])[0] for name, tensor in collective.own.items()}
    if collective.kind == "alltoallvc":
        return data[: own["send_count_matrix"]]
    start = own["send_displacements"]
    sent = data[start : start + own["send_counts"]]
    with tf1().control_dependencies(
        [tf1().assert_equal(own["send_counts"], own["recv_counts"], message="a rank receives what it sends itself")]
    ):
        return tf1().pad(sent, [[own["recv_displacements"], 0]])
