"""Environment variables that count beside the options: what they decide, and the rules about them.

Those that stand in for one option, or go before it, are told by that option. What is right for those of a cluster, the
cluster itself knows (``hccl.Cluster.check_environ``).
"""

from __future__ import annotations

import typing

from ..environment import CHIEF_VARIABLES, RANK_VARIABLES
from ..products import BF16_PRODUCTS
from .model import Scene, Settings, problem
from .problems import Page, Problem, Rule, Severity

_PAGE = Page.VARIABLES.value
HF32 = "ENABLE_HF32_EXECUTION"
GRAPH_PATH, GRAPH_SWITCH = "DUMP_GRAPH_PATH", "DUMP_GE_GRAPH"
COLLECT_PATH = "NPU_COLLECT_PATH"


class Variable(typing.NamedTuple):
    """An environment variable that the runtime reads, and what it decides."""

    name: str
    text: str
    text_zh: str


_BY_TABLE = (
    "the cluster by its rank table, never together with CM_CHIEF_IP",
    "由 rank table 描述集群，不能与 CM_CHIEF_IP 同时设置",
)
_BY_CHIEF = (
    "a cluster without a rank table, never together with RANK_*",
    "不使用 rank table 的集群，不能与 RANK_* 同时设置",
)
VARIABLES = (
    Variable(
        HF32,
        "whether Conv and MatMul compute float32 as HF32; op_precision_mode by name goes before it, by type after it",
        "Conv、MatMul 类算子是否以 HF32 计算 FP32；op_precision_mode 按节点名的配置优先于它，按类型的配置在它之后",
    ),
    Variable(
        GRAPH_PATH,
        f"where {GRAPH_SWITCH} writes graphs; {COLLECT_PATH} goes before it, ASCEND_WORK_PATH after it",
        f"{GRAPH_SWITCH} 图文件的保存路径；优先级低于 {COLLECT_PATH}，高于 ASCEND_WORK_PATH",
    ),
    Variable(
        COLLECT_PATH,
        "where files about failures go, before ASCEND_WORK_PATH; enable_exception_dump counts as 1",
        "故障信息的保存路径，优先于 ASCEND_WORK_PATH；enable_exception_dump 按 1 处理",
    ),
    Variable(
        "ASCEND_WORK_PATH",
        "where files go that have no place of their own; debug_dir and the output of profiling go before it",
        "未单独指定路径的文件的保存位置；debug_dir 与 Profiling 的 output 优先于它",
    ),
    *(Variable(name, *_BY_TABLE) for name in RANK_VARIABLES),
    *(Variable(name, *_BY_CHIEF) for name in CHIEF_VARIABLES),
)

HF32_IDLE = Rule(
    "NPU408",
    "bad-environment",
    "HF32 is switched by 0 or 1, where operators compute in float32.",
    Severity.WARNING,
    _PAGE,
)
GRAPHS_ELSEWHERE = Rule(
    "NPU409",
    "bad-environment",
    "DUMP_GRAPH_PATH counts for dumped graphs, after NPU_COLLECT_PATH.",
    Severity.WARNING,
    _PAGE,
)


def _hf32(settings: Settings) -> typing.Iterator[Problem]:
    value = settings.environ.get(HF32, "")
    if not value:
        return
    if value not in ("0", "1"):
        yield problem(HF32_IDLE, HF32, "neither on nor off", value=value, allowed="0 or 1", fix=f"unset {HF32}")
    elif settings.product is not None and settings.product not in BF16_PRODUCTS:
        message = f"there is no HF32 on {settings.product.title}"
        yield problem(HF32_IDLE, HF32, message, value=value, fix=f"unset {HF32}")
    elif (
        value == "1"
        and settings.scene is Scene.INFERENCE
        and not {"precision_mode", "precision_mode_v2"} & set(settings)
    ):
        yield problem(
            HF32_IDLE,
            HF32,
            "of no use while online inference computes in float16, as it does by default",
            value=value,
            fix='precision_mode_v2="origin"',
        )


def _graph_path(settings: Settings) -> typing.Iterator[Problem]:
    path = settings.environ.get(GRAPH_PATH)
    if not path:
        return
    if settings.environ.get(COLLECT_PATH):
        message = f"does not count, {COLLECT_PATH} goes before it"
        yield problem(GRAPHS_ELSEWHERE, GRAPH_PATH, message, value=path, fix=f"unset {COLLECT_PATH} or {GRAPH_PATH}")
    elif not settings.environ.get(GRAPH_SWITCH):
        message = f"nothing is written without {GRAPH_SWITCH}"
        yield problem(GRAPHS_ELSEWHERE, GRAPH_PATH, message, value=path, fix=f"export {GRAPH_SWITCH}=2")


RULES = (HF32_IDLE, GRAPHS_ELSEWHERE)


def _variables(settings: Settings) -> typing.Iterator[Problem]:
    if settings.environ:
        for check in (_hf32, _graph_path):
            yield from check(settings)


CHECKS = (_variables,)
