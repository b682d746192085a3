"""Configurations of estimators: RunConfig, and the adapter's NPURunConfig."""

from __future__ import annotations

import os
import typing

from .._tensorflow import tf1
from ..backends import load
from ..environment import original
from ..errors import LifecycleError, OptionsError
from ..options import OPTIMIZER_NAME, TABLE
from ..options.kinds import Wire
from ..options.model import problem
from ..options.problems import Page, Rule
from ..system import runtime
from .arguments import check

if typing.TYPE_CHECKING:
    from ..session import NpuSession

NO_KEYWORD = Rule(
    "NPU307", "no-keyword", "NPURunConfig has a keyword for each option that it carries.", source=Page.RUNTIME.value
)
GEARS_IN_PART = Rule(
    "NPU308",
    "no-keyword",
    "NPUEstimator takes the options of DynamicInputConfig all together or none of them.",
    source=Page.RUNTIME.value,
)
RULES = (NO_KEYWORD, GEARS_IN_PART)

_DECIDED = {"session_config": "it is made from the plan, which takes a ConfigProto to extend as its config="}
#: The class of each keyword that is an object.
_CLASSES = {
    "dump_config": "DumpConfig", "profiling_config": "ProfilingConfig", "memory_config": "MemoryConfig",
    "experimental_config": "ExperimentalConfig", "dynamic_input_config": "DynamicInputConfig",
    "graph_memory_optimize_config": "GraphMemoryOptimizeConfig",
}  # fmt: skip
_GEARS = "dynamic_input_config"
#: Of insert_op_file NPUEstimator makes no bytes, though its field holds bytes.
_BYTES = "insert_op_file"

#: Keywords by name, those of an object in a mapping of their own.
Tree = typing.Dict[str, typing.Any]


def run_config(plan: NpuSession, keywords: dict[str, typing.Any]) -> typing.Any:
    """Make a RunConfig; see :meth:`npusession.NpuSession.run_config`."""
    check(plan, keywords, _DECIDED)
    return _estimators().RunConfig(session_config=plan.config_proto(), **_of_rank(keywords))


def npu_run_config(plan: NpuSession, keywords: dict[str, typing.Any]) -> typing.Any:
    """Make an NPURunConfig; see :meth:`npusession.NpuSession.npu_run_config`."""
    own = {option.run_config.partition(".")[0] for option in TABLE.values()} - {""}
    check(plan, keywords, {**dict.fromkeys(own, "options are given to the plan, under their own names"), **_DECIDED})
    tree = _tree(plan.options)
    _estimators()
    module = load(plan.backend).load("estimator.npu.npu_config")
    made = {name: _made(module, name, value) for name, value in tree.items()}
    return module.NPURunConfig(session_config=_without_options(plan.config_proto()), **made, **_of_rank(keywords))


def _of_rank(keywords: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Give ranks above 0 a model directory of their own: an Estimator saves and restores on each, at its own pace."""
    known = original().get("RANK_ID", "")
    rank = runtime.placement.rank if runtime.is_open and runtime.placement is not None else known
    folder = keywords.get("model_dir")
    if folder is None or not str(rank).isdigit() or int(rank) == 0:
        return keywords
    return {**keywords, "model_dir": f"{os.fspath(folder)}.rank{int(rank)}"}


def _tree(options: typing.Mapping[str, Wire]) -> Tree:
    """Return the keywords that options are, or tell of those that cannot be given."""
    problems = []
    tree: Tree = {}
    for name, value in options.items():
        *objects, keyword = TABLE[name].run_config.split(".") if name in TABLE else [""]
        if not keyword:
            fix = "leave it out, or use a plain Estimator with run_config()"
            problems.append(problem(NO_KEYWORD, name, "NPURunConfig has no keyword for it", value=value, fix=fix))
            continue
        inner = tree
        for part in objects:
            inner = inner.setdefault(part, {})
        inner[keyword] = value.encode("utf-8") if keyword == _BYTES and isinstance(value, str) else value
    gears = {name: option for name, option in TABLE.items() if option.run_config.startswith(_GEARS + ".")}
    missing = [name for name in gears if name not in options]
    if _GEARS in tree and missing:
        message = "without {} NPUEstimator drops the others as well".format(" and ".join(missing))
        fix = "give {}".format(" and ".join(f"{name} ({gears[name].kind.allowed})" for name in missing))
        problems.append(problem(GEARS_IN_PART, _GEARS, message, fix=fix))
    if problems:
        raise OptionsError(problems)
    return tree


def _without_options(config: typing.Any) -> typing.Any:
    """Take out the entry that carries options: NPUEstimator adds one of its own, and does not look for another."""
    optimizers = config.graph_options.rewrite_options.custom_optimizers
    kept = [entry for entry in optimizers if entry.name != OPTIMIZER_NAME]
    del optimizers[:]
    optimizers.extend(kept)
    return config


def _made(module: typing.Any, name: str, value: typing.Any) -> typing.Any:
    if not isinstance(value, dict):
        return value
    return getattr(module, _CLASSES[name])(**{inner: _made(module, inner, given) for inner, given in value.items()})


def _estimators() -> typing.Any:
    estimators = getattr(tf1(), "estimator", None)
    if estimators is None:
        raise LifecycleError(
            f"TensorFlow {tf1().__version__} has no tf.estimator, which went with 2.16. Use TensorFlow 1.15 or 2.6.5, "
            "the releases that the adapter is made for."
        )
    return estimators
