"""The one place that every collective op of a graph goes through.

A process that is alone is rank 0 of 1, which gets back what it gave.
"""

from __future__ import annotations

import os
import typing

from ..._tensorflow import tf1
from .exchange import Collective, together

#: Threads of a session in a job.
_THREADS = 64
#: Longest name of a group.
LONGEST_NAME = 127


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


def make_room(config: typing.Any) -> None:
    """Let a session of a job wait in many collectives at once.

    Each that waits for other ranks keeps a thread. Were there fewer threads than collectives that do not depend on each
    other, ranks that begin with different ones would wait for ever.
    """
    try:
        alone = world_size() == 1
    except ValueError:
        # Collectives say it, if there are any.
        alone = True
    if not alone:
        config.use_per_session_threads = True
        config.inter_op_parallelism_threads = max(config.inter_op_parallelism_threads, _THREADS)


def build(collective: Collective) -> list[typing.Any]:
    """Add a collective to the graph.

    Returns:
        Its results, none for a send. Running them raises InvalidArgumentError where a process that is alone names more
        ranks, and :class:`~npusession.errors.CollectiveError` where the ranks of a job cannot complete it.

    Raises:
        ValueError: the environment's description of the ranks is wrong.
    """
    return together(collective) if world_size() > 1 else _alone(collective)


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
