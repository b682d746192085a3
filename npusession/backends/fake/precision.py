"""Low precision, really computed: what goes through matrix operators is rounded while a session's mode says so.

Off unless the setting ``simulate_precision`` is on. Before a graph is run for the first time, the float32 tensors
that go into matrix operators and come out of them are led through a rounding that a switch turns on,

    where(switch is float16, float32(float16(x)), where(switch is bfloat16, float32(bfloat16(x)), x))

The switch is a placeholder with a default of off; each run feeds what its session's precision mode is at that moment.
Off, the very tensor goes through, so that arithmetic is float32 to the last bit. Products are summed up in float32,
as on the device.

Matrix operators inside functions, which is what conditions and loops of version 2 are, are left out; a warning names
them. The setting counts for graphs that are run for the first time with it: TensorFlow does not let operators change
that a session has run.
"""

from __future__ import annotations

import contextlib
import threading
import typing
import warnings

from ..._tensorflow import tf1
from ...errors import FakeBackendWarning
from .rounding import Rounding
from .runtime import RUNTIME

if typing.TYPE_CHECKING:
    from .device import DeviceSession

SCOPE = "npusession_precision"
#: Operators that the device's matrix unit computes.
MATRIX = frozenset(
    {
        "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
        "Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "Einsum", "MatMul",
    }
)  # fmt: skip
_ATTRIBUTE = "_npusession_rounding"
_LOCK = threading.RLock()

#: What the switches say.
_OFF = 0
_CODES = {"float16": 1, "bfloat16": 2}


def is_rounding(operation: typing.Any) -> bool:
    """Tell whether an operator belongs to the simulation, not to the user's graph."""
    return bool(operation.name.startswith(SCOPE + "/"))


def prepare(graph: typing.Any) -> None:
    """Put the switches into what is new in a graph, before it is run.

    Does nothing unless the simulation is on.
    """
    if not RUNTIME.settings.simulate_precision:
        return
    with _LOCK:
        switches = getattr(graph, _ATTRIBUTE, None)
        if switches is None:
            switches = _Switches()
            setattr(graph, _ATTRIBUTE, switches)
        switches.extend(graph)


def simulate(
    graph: typing.Any,
    device: DeviceSession,
    fetches: typing.Sequence[typing.Any],
    feeds: typing.Mapping[typing.Any, typing.Any],
) -> tuple[typing.Sequence[typing.Any], typing.Mapping[typing.Any, typing.Any]]:
    """Return what to fetch and to feed, so that a run is made in its session's precision."""
    if not RUNTIME.settings.simulate_precision:
        return fetches, feeds
    switches: _Switches | None = getattr(graph, _ATTRIBUTE, None)
    return (fetches, feeds) if switches is None else switches.turned(device.rounding, fetches, feeds)


class _Switches:
    """The switches of one graph, and what they round."""

    def __init__(self) -> None:
        self._version = -1
        self._seen: set[str] = set()
        #: By kind, ``inputs`` or ``outputs``, and type of operator: the switch, and whether it says each of the types.
        self._switches: dict[tuple[str, str], tuple[typing.Any, dict[str, typing.Any]]] = {}
        #: Rounded tensors, by the tensor's name, the switch and the condition or loop that they are in.
        self._rounded: dict[tuple[str, str, str, object], typing.Any] = {}

    def extend(self, graph: typing.Any) -> None:
        if graph.version == self._version:
            return
        new = [item for item in graph.get_operations() if item.name not in self._seen and not is_rounding(item)]
        self._seen.update(item.name for item in new)
        with _open(graph):
            for operation in new:
                self._lead(operation)
                if operation.type in MATRIX:
                    # For who fetches it.
                    for tensor in filter(_is_float32, operation.outputs):
                        self._round(tensor, "outputs", operation)
        self._version = graph.version
        _warn_of_functions(graph, new)

    def turned(
        self,
        rounding: Rounding,
        fetches: typing.Sequence[typing.Any],
        feeds: typing.Mapping[typing.Any, typing.Any],
    ) -> tuple[typing.Sequence[typing.Any], typing.Mapping[typing.Any, typing.Any]]:
        import numpy

        fed = dict(feeds)
        dtypes = {"inputs": rounding.inputs, "outputs": rounding.outputs}
        for (kind, operator), (switch, _) in self._switches.items():
            dtype = dtypes[kind]
            if dtype is not None and operator not in rounding.kept:
                # From TensorFlow 2 on, feeds are keyed by references.
                fed[switch.ref() if hasattr(switch, "ref") else switch] = numpy.asarray(_CODES[dtype], "int32")
        if rounding.outputs is not None:
            fetches = [self._rounded.get((item.name, "outputs", item.op.type, None), item) for item in fetches]
        return fetches, fed

    def _lead(self, operation: typing.Any) -> None:
        for position, tensor in enumerate(operation.inputs):
            if not _is_float32(tensor):
                continue
            if tensor.op.type in MATRIX:
                tensor = self._round(tensor, "outputs", tensor.op)
            if operation.type in MATRIX:
                tensor = self._round(tensor, "inputs", operation)
            if tensor is not operation.inputs[position]:
                operation._update_input(position, tensor)

    def _round(self, tensor: typing.Any, kind: str, operation: typing.Any) -> typing.Any:
        """Return what goes into an operator, or comes out of it, rounded; in the operator's condition or loop."""
        which, context = (kind, operation.type), operation._get_control_flow_context()
        key = (tensor.name, *which, context)
        if key not in self._rounded:
            if which not in self._switches:
                switch = tf1().placeholder_with_default(_OFF, (), name=f"{operation.type}_{kind}")
                tests = {dtype: tf1().equal(switch, code) for dtype, code in _CODES.items()}
                self._switches[which] = switch, tests
            with _inside(context):
                value = tensor
                for dtype, chosen in self._switches[which][1].items():
                    low = tf1().cast(tf1().cast(tensor, dtype), tf1().float32)
                    value = tf1().where_v2(chosen, low, value)
            value.set_shape(tensor.shape)
            self._rounded[key] = value
        return self._rounded[key]


@contextlib.contextmanager
def _open(graph: typing.Any) -> typing.Iterator[None]:
    """Let operators be added to a graph, outside of whatever the caller is in the middle of."""
    finalized = graph.finalized
    if finalized:
        # A session hook or a MonitoredSession finalises a graph before it is first run.
        graph._unsafe_unfinalize()
    try:
        with graph.as_default(), graph.control_dependencies(None), graph.device(None), graph.name_scope(SCOPE + "/"):
            yield
    finally:
        if finalized:
            graph.finalize()


@contextlib.contextmanager
def _inside(context: typing.Any) -> typing.Iterator[None]:
    """Add operators to a condition or loop of version 1, ``None`` for outside of all."""
    if context is None:
        yield
        return
    context.Enter()
    try:
        yield
    finally:
        context.Exit()


def _is_float32(tensor: typing.Any) -> bool:
    return bool(tensor.dtype == tf1().float32)


def _warn_of_functions(graph: typing.Any, new: typing.Sequence[typing.Any]) -> None:
    functions = (
        {function.signature.name: function for function in graph.as_graph_def().library.function}
        if any(attribute.func.name for item in new for attribute in item.node_def.attr.values())
        else {}
    )
    names = [name for name, body in functions.items() if any(node.op in MATRIX for node in body.node_def)]
    if names:
        warnings.warn(
            "simulate_precision: matrix operators inside functions stay in float32: {}".format(
                ", ".join(sorted(names))
            ),
            FakeBackendWarning,
            stacklevel=2,
        )
