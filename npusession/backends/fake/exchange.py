"""Collectives of a job of several processes: nodes that wait for the other ranks."""

from __future__ import annotations

import functools
import os
import typing
import weakref

from ..._tensorflow import tf1
from ...errors import CollectiveError
from ...options.recovery import HCCL_TIMEOUT
from . import groups
from .job.calls import Call
from .not_emulated import Output
from .python_nodes import telling
from .runtime import RUNTIME
from .verdicts import read

#: Seconds that a collective waits, where neither the option nor HCCL_EXEC_TIMEOUT says.
EXEC_SECONDS = 1836
_PASSING = "NpusessionExchange"
#: What each graph has of collectives, to tell where the graphs of ranks differ.
_listed: weakref.WeakKeyDictionary[typing.Any, list[str]] = weakref.WeakKeyDictionary()


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
    outputs: typing.Sequence[Output]
    options: typing.Mapping[str, typing.Any] = {}
    own: typing.Mapping[str, typing.Any] = {}


def together(collective: Collective) -> list[typing.Any]:
    """Add a collective that runs with the other ranks of the job.

    Returns:
        Its results, none for a send.
    """
    site = _Site(collective)
    dtypes = [_carried(dtype) for dtype, _ in collective.outputs]
    inputs = [*map(_carry, collective.inputs), *collective.own.values()]
    _register_gradient()
    # Gradients go through where the op around it has one; TensorFlow's own Python nodes have none.
    with tf1().get_default_graph().gradient_override_map({"PyFunc": _PASSING}):
        results = tf1().numpy_function(telling(site.run), inputs, dtypes, name=collective.op_type)
    if not collective.outputs:
        site.placed(results)
        return [results]
    site.placed(results[0].op)
    tensors = [tf1().cast(tensor, dtype) for tensor, (dtype, _) in zip(results, collective.outputs)]
    for tensor, (_, shape) in zip(tensors, collective.outputs):
        tensor.set_shape(shape)
    return tensors


class _Site:
    """One collective of a graph."""

    def __init__(self, collective: Collective) -> None:
        self._collective = collective
        self._name = collective.op_type
        self._listing: list[str] = []

    def placed(self, operation: typing.Any) -> None:
        """Note where in which graph it is."""
        self._name = operation.name
        self._listing = _listed.setdefault(operation.graph, [])
        self._listing.append(self._name)

    def run(self, *values: typing.Any) -> typing.Any:
        """Take part; called by TensorFlow."""
        collective, member = self._collective, RUNTIME.position.member
        if member is None:
            raise CollectiveError(
                f"{self._name} needs the other ranks of the job, which this process is not connected to: {_why_alone()}"
            )
        count = len(collective.inputs)
        own = tuple((name, value.tolist()) for name, value in zip(collective.own, values[count:]))
        call = self._call(own)
        arrays = list(values[:count])
        if len(call.members) == 1:
            # A group of one needs nobody, not even the hub.
            from .job.arithmetic import results

            arrays = results([(call, arrays)])[0]
        else:
            arrays = member.call(call, arrays, _seconds())
        if collective.kind == "receive":
            self._check_received(arrays[0])
        return arrays if collective.outputs else None

    def _call(self, own: tuple[tuple[str, typing.Any], ...]) -> Call:
        collective = self._collective
        try:
            members = groups.members(collective.group)
        except ValueError as error:
            raise CollectiveError(f"{self._name}: {error}") from None
        options = dict(collective.options)
        size = options.pop("rank_size", len(members))
        if size != len(members):
            raise CollectiveError(
                f"{self._name}: rank_size={size}, but the group {collective.group} has {len(members)} ranks"
            )
        name = self._name
        if "root_rank" in options:
            options["root"] = options.pop("root_rank")
        if collective.kind in ("send", "receive"):
            peers = options.get("dest_rank"), options.get("src_rank")
            own_rank = groups.get_rank_id(collective.group)
            source, to = (own_rank if peers[1] is None else peers[1]), (own_rank if peers[0] is None else peers[0])
            self._check_rank(max(source, to), members)
            name = f"tag {options['sr_tag']} from rank {members[source]} to rank {members[to]}"
            dtype = collective.inputs[0].dtype if collective.inputs else collective.outputs[0][0]
            members, options = (members[source], members[to]), {"dtype": tf1().as_dtype(dtype).base_dtype.name}
        elif collective.kind == "alltoallvc":
            # All ranks have the same matrix, and each its own place in it.
            matrix, own = own[0][1], ()
            options = {"counts": tuple(count for row in matrix for count in (row if isinstance(row, list) else [row]))}
        else:
            self._check_rank(options.get("root", 0), members)
        kind = "send" if collective.kind == "receive" else collective.kind
        return Call(kind, collective.group, members, name, 0, tuple(sorted(options.items())), own, tuple(self._listing))

    def _check_rank(self, rank: int, members: tuple[int, ...]) -> None:
        if rank >= len(members):
            raise CollectiveError(
                f"{self._name}: there is no rank {rank} in the group {self._collective.group}, "
                f"which has ranks 0 to {len(members) - 1}"
            )

    def _check_received(self, array: typing.Any) -> None:
        shape = tf1().TensorShape(self._collective.outputs[0][1])
        if not shape.is_compatible_with(array.shape):
            raise CollectiveError(f"{self._name}: expects the shape {shape}, and {list(array.shape)} was sent")


@functools.lru_cache(maxsize=None)
def _register_gradient() -> None:
    def passing(operation: typing.Any, *gradients: typing.Any) -> typing.Any:
        return gradients

    tf1().RegisterGradient(_PASSING)(passing)


def _carried(dtype: typing.Any) -> typing.Any:
    """Return the dtype in which values travel: NumPy has no bfloat16."""
    dtype = tf1().as_dtype(dtype).base_dtype
    return tf1().float32 if dtype == tf1().bfloat16 else dtype


def _carry(tensor: typing.Any) -> typing.Any:
    return tf1().cast(tensor, _carried(tensor.dtype))


def _why_alone() -> str:
    if not RUNTIME.initialized:
        return "the runtime is not initialised"
    if RUNTIME.startup.ignored:
        return "; ".join(RUNTIME.startup.ignored)
    return "the environment describes no cluster; start it with npusession launch --fake"


def _seconds() -> float:
    seconds = read(RUNTIME.parameters, HCCL_TIMEOUT)
    if not seconds:
        text = os.environ.get("HCCL_EXEC_TIMEOUT", "")
        seconds = int(text) if text.isascii() and text.isdigit() else 0
    return float(seconds or EXEC_SECONDS)
