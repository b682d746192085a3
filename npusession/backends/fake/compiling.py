"""What compiling graphs leaves behind: descriptions of kernels, and the fusions that took place.

Nothing is compiled here, so that there are no binaries and no sources of kernels; what is written tells of the
operators that the graph really has, and of the patterns in it that the graph compiler fuses.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import typing

from ...configfiles import FusionSwitch, OpDebugConfig
from ...options.comparison import FUSION_SWITCH_FILE
from ...options.debugging import DEBUG_DIR, EXPORT_COMPILE_STAT, OP_DEBUG_CONFIG
from ...options.deprecated import OP_DEBUG_LEVEL
from ...products import Product
from .models import Model
from .places import collect_path, type_name, work_path
from .runtime import RUNTIME
from .verdicts import Parameters, read

#: Operators that no kernel is compiled for: data, variables, control flow, and what the host does.
_NO_KERNEL = frozenset(
    {
        "Assert", "Assign", "AssignVariableOp", "Const", "ControlTrigger", "Enter", "Exit", "Identity", "IdentityN",
        "IteratorGetNext", "LoopCond", "Merge", "NextIteration", "NoOp", "Placeholder", "PlaceholderWithDefault",
        "Print", "PyFunc", "ReadVariableOp", "Shape", "Size", "StopGradient", "Switch", "TemporaryVariable",
        "VarHandleOp", "VarIsInitializedOp", "Variable", "VariableV2",
    }
)  # fmt: skip
#: Words in the file of op_debug_config that keep kernels.
_KEEPING = frozenset({"oom", "dump_cce", "dump_loc", "check_flag"})
_CUBE = frozenset({"BatchMatMul", "BatchMatMulV2", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MatMul"})
_WRITTEN_AT_EXIT, _WRITTEN_AT_ONCE = 1, 2

_GRAPH, _BUFFER = "graph_fusion", "ub_fusion"
_NORMALISED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
#: Fusion passes by kind and name, and what they fuse: types of an operator, and of one that takes its output.
_PASSES: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (_GRAPH, "MatMulBiasAddFusionPass", ("MatMul",), ("BiasAdd", "Add", "AddV2")),
    (_GRAPH, "ConvBatchnormFusionPass", ("Conv2D", "DepthwiseConv2dNative"), _NORMALISED),
    (_GRAPH, "SoftmaxFusionPass", ("Softmax",), ()),
    (_BUFFER, "TbeConvReluFusionPass", ("Conv2D",), ("Relu", "Relu6", "LeakyRelu")),
    (_BUFFER, "TbeMatmulElemwiseFusionPass", ("MatMul",), ("Relu", "Mul", "Sigmoid", "Tanh")),
    (
        _BUFFER,
        "TbeEltwiseFusionPass",
        ("Add", "AddV2", "Mul", "Sub", "RealDiv"),
        ("Add", "AddV2", "Mul", "Sub", "Relu"),
    ),
)


class CompileFiles:
    """What one session leaves behind when its graphs are compiled.

    Args:
        parameters: the session's options.
        session: number of the session.
    """

    def __init__(self, parameters: Parameters, session: int) -> None:
        self._session = session
        self._kernels = _kernel_directory(parameters)
        self._only = _only(parameters)
        self._when = _when(parameters)
        self._result = _result_path()
        self._off = _off(parameters)

    @classmethod
    def of(cls, parameters: Parameters, session: int) -> CompileFiles | None:
        """Return what the options ask for, ``None`` when they ask for nothing."""
        files = cls(parameters, session)
        return files if files._kernels is not None or files._when else None

    def compiled(self, model: Model) -> None:
        """Take in a model that is compiled now."""
        if self._kernels is not None:
            self._write_kernels(self._kernels, model)
        if not self._when:
            return
        passes: dict[str, dict[str, dict[str, str]]] = {_GRAPH: {}, _BUFFER: {}}
        for kind, name, counts in _fusions(model, self._off):
            passes[kind][name] = counts
        if RUNTIME.settings.product is Product.ATLAS_350:
            del passes[_BUFFER]
        result = _FusionResult.at(self._result)
        result.content[f"session_and_graph_id_{self._session}_{model.number}"] = passes
        if self._when == _WRITTEN_AT_ONCE:
            result()

    def _write_kernels(self, directory: str, model: Model) -> None:
        by_type: dict[str, typing.Any] = {}
        for operation in model.operations:
            wanted = self._only is None or not self._only.isdisjoint((operation.name, operation.type.lower()))
            if operation.type not in _NO_KERNEL and wanted:
                by_type.setdefault(operation.type, operation)
        for kind, operation in by_type.items():
            description = _description(operation)
            path = os.path.join(directory, description["kernelName"] + ".json")
            os.makedirs(directory, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"opType": kind, **description}, file, indent=4)


#: What this process has written, by path; a runtime that is initialised again adds to it.
_WRITTEN: dict[str, dict[str, typing.Any]] = {}


class _FusionResult:
    """A file of fusions, written when it is called, at the latest once the runtime is finalised."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.content = dict(_WRITTEN.get(path, {}))

    @classmethod
    def at(cls, path: str) -> _FusionResult:
        for waiting in RUNTIME.finishing:
            if isinstance(waiting, cls) and waiting.path == path:
                return waiting
        result = cls(path)
        RUNTIME.finishing.append(result)
        return result

    def __call__(self) -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.content, file, indent=4)
        _WRITTEN[self.path] = self.content


def _when(parameters: Parameters) -> int:
    """Return when fusions are written, 0 for never.

    The runtime writes them by default; here the option or ASCEND_WORK_PATH has to ask for it.
    """
    if EXPORT_COMPILE_STAT.name in parameters:
        form = read(parameters, EXPORT_COMPILE_STAT)
        return form if form in (_WRITTEN_AT_EXIT, _WRITTEN_AT_ONCE) else 0
    return _WRITTEN_AT_EXIT if work_path() is not None else 0


def _result_path() -> str:
    work = work_path()
    directory = os.getcwd() if work is None else os.path.join(os.path.abspath(work), "FE", str(os.getpid()))
    return os.path.join(directory, "fusion_result.json")


def _kernel_directory(parameters: Parameters) -> str | None:
    """Return where descriptions of kernels go, ``None`` when they are not kept."""
    level = read(parameters, OP_DEBUG_LEVEL)
    kept = (
        level in (1, 2, 3, 4)
        or not _KEEPING.isdisjoint(_debug_config(parameters).words)
        or (OP_DEBUG_LEVEL.name in parameters and level == 0 and collect_path() is not None)
    )
    root = read(parameters, DEBUG_DIR) or work_path() or os.getcwd()
    return os.path.join(root, "kernel_meta") if kept else None


def _debug_config(parameters: Parameters) -> OpDebugConfig:
    path = read(parameters, OP_DEBUG_CONFIG)
    try:
        return OpDebugConfig.read(path) if path else OpDebugConfig()
    except (OSError, ValueError):
        # What the compiler makes of such a file is not known.
        return OpDebugConfig()


def _only(parameters: Parameters) -> frozenset[str] | None:
    """Return names of operators, and types in small letters, that the list of the debug file limits kernels to."""
    operators = _debug_config(parameters).operators
    if not operators:
        return None
    return frozenset(name.partition("::")[2].lower() if "::" in name else name for name in operators)


def _off(parameters: Parameters) -> dict[str, typing.Callable[[str], bool]]:
    """Return for each kind of fusion whether a pass is turned off."""
    path = read(parameters, FUSION_SWITCH_FILE)
    try:
        switches = FusionSwitch.read(path) if path else FusionSwitch()
    except (OSError, ValueError):
        switches = FusionSwitch()

    def off(words: typing.Any) -> typing.Callable[[str], bool]:
        table = dict(words)
        return lambda name: table.get(name, table.get("ALL", "on")) == "off"

    return {_GRAPH: off(switches.graph_fusion), _BUFFER: off(switches.ub_fusion)}


def _fusions(
    model: Model, off: typing.Mapping[str, typing.Callable[[str], bool]]
) -> typing.Iterator[tuple[str, str, dict[str, str]]]:
    pairs = collections.Counter(
        (tensor.op.type, operation.type) for operation in model.operations for tensor in operation.inputs
    )
    types = collections.Counter(operation.type for operation in model.operations)
    for kind, name, first, second in _PASSES:
        if off[kind](name):
            continue
        count = sum(pairs[a, b] for a in first for b in second) if second else sum(types[a] for a in first)
        if count:
            counts = {"effect_times": str(count), "match_times": str(count)}
            yield kind, name, counts if kind == _GRAPH else {**counts, "repository_hit_times": "0"}


def _description(operation: typing.Any) -> dict[str, typing.Any]:
    tensors = {
        kind: [
            {"dtype": type_name(tensor.dtype.base_dtype.name), "format": "ND", "shape": _shape(tensor)}
            for tensor in items
        ]
        for kind, items in (("inputs", operation.inputs), ("outputs", operation.outputs))
    }
    key = json.dumps([operation.type, tensors], sort_keys=True)
    name = f"te_{operation.type.lower()}_{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    dynamic = any(-1 in tensor["shape"] or tensor["shape"] == [-2] for items in tensors.values() for tensor in items)
    return {
        "binFileName": name,
        "binFileSuffix": ".o",
        "blockDim": -1 if dynamic else 1,
        "coreType": "AiCore" if operation.type in _CUBE else "VectorCore",
        "kernelName": name,
        "magic": "RT_DEV_BINARY_MAGIC_ELF",
        "opParaSize": 0,
        "parameters": [0] * (len(operation.inputs) + len(operation.outputs)),
        "supportInfo": tensors,
        "workspace": {"num": 0, "size": [], "type": []},
    }


def _shape(tensor: typing.Any) -> list[int]:
    """Return a shape as the compiler writes it: -1 for a dimension that is not known, [-2] for none known."""
    if tensor.shape.rank is None:
        return [-2]
    return [-1 if size is None else int(size) for size in tensor.shape.as_list()]
