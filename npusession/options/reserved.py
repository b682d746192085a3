"""Options that the runtime reads and the reference leaves out; only what it refuses is checked here."""

from __future__ import annotations

import typing

from .aoe import AOE_MODE, mode_of
from .kinds import Choice, Flag, Integer, Kind, Text, Value
from .model import Default, Group, Option, Settings, Status, problem
from .problems import Page, Problem, Rule, Severity

_INT64 = Integer(-(2**63), 2**63 - 1)
_ANY = Text("text, which is passed on as it is", zh="文本，原样传递")
_ON_OFF = Flag()


def _reserved(
    name: str, kind: Kind, summary: str, summary_zh: str, *defaults: Default, run_config: str = "="
) -> Option:
    return Option(
        name, kind, summary, summary_zh, page=Page.RUNTIME, defaults=defaults, status=Status.RESERVED,
        run_config=run_config,
    )  # fmt: skip


JOB = _reserved(
    "job", _ANY, "The process's part in a cluster; ps keeps everything on the CPU.",
    "进程在集群中的角色；取 ps 时全部在 CPU 上执行。", Default("localhost"),
    run_config="",
)  # fmt: skip
ENABLE_COMPRESS_WEIGHT = _reserved(
    "enable_compress_weight", _ON_OFF, "Whether weights are compressed.", "是否压缩权重。", Default(False)
)
COMPRESS_WEIGHT_CONF = _reserved(
    "compress_weight_conf", _ANY, "File that names the operators whose weights are compressed.", "权重压缩配置文件。"
)
DISTRIBUTE_CONFIG = _reserved(
    "distribute_config", _ANY, "Configuration of tuning on several devices; read while AOE is on.",
    "多设备调优配置，仅在开启 AOE 时读取。",
)  # fmt: skip
GRAPH_SLICE = _reserved(
    "graph_slice",
    # The only one of these that the runtime looks at.
    Choice(
        (
            Value("auto", "slices found by the system", "由系统自动切分"),
            Value("manual", "slices marked in the script", "由脚本指定切分"),
        )
    ),
    "How graphs are cut into slices to save memory.",
    "图切分方式，用于节省内存。",
    run_config="experimental_config.graph_memory_optimize_config.graph_slice",
)

_PLAIN = (
    _reserved("HCCL_algorithm", _ANY, "Algorithm of collective communication.", "集合通信算法。"),
    _reserved("device_type", _ANY, "Kind of device to compile for.", "编译所针对的设备类型。",
              Default("default_device_type")),
    _reserved("enable_graph_parallel", _ON_OFF, "Whether graphs are cut for several devices.", "是否开启图的并行切分。",
              Default(False), run_config="experimental_config.enable_graph_parallel"),
    _reserved("experimental_logical_device_cluster_deploy_mode", _ANY, "How logical devices are deployed in a cluster.",
              "逻辑设备集群的部署模式。", Default("LB"),
              run_config="experimental_config.logical_device_cluster_deploy_mode"),
    _reserved("experimental_logical_device_id", _ANY, "Logical devices to deploy to.",
              "部署所用的逻辑设备 ID。", run_config="experimental_config.logical_device_id"),
    _reserved("experimental_model_deploy_devicelist", _ANY, "Devices that a model is deployed to.",
              "模型部署的设备列表。", run_config="experimental_config.model_deploy_devicelist"),
    _reserved("experimental_model_deploy_mode", _ANY, "How a model is deployed.", "模型部署模式。",
              run_config="experimental_config.model_deploy_mode"),
    _reserved("graph_exec_timeout", _INT64, "Time that a graph may run, in ms.", "图执行的超时时间，单位 ms。",
              Default(600000), run_config=""),
    _reserved("graph_parallel_option_path", _ANY, "File with the options of cutting graphs.",
              "图并行切分的配置文件。", run_config="experimental_config.graph_parallel_option_path"),
    _reserved("hcom_multi_mode", _ON_OFF, "Whether collective communication takes several modes.",
              "集合通信多模式开关。",
              Default(False)),
    _reserved("insert_op_file", _ANY, "File with operators to insert, such as preprocessing.",
              "插入算子（如预处理）的配置文件。"),
    _reserved("lower_functional_ops", _ON_OFF, "Whether functional control flow is lowered.",
              "是否展开函数式控制流算子。",
              Default(False), run_config=""),
    _reserved("memory_optimization_policy", _ANY, "What memory is optimised for.", "内存优化策略。",
              run_config="memory_config.memory_optimization_policy"),
    _reserved("oo_level", _ANY, "How much graphs are optimised.", "图编译优化级别。", Default("O3")),
    _reserved("optimization_switch", _ANY, "Switches of single optimisations.", "单项优化的开关。"),
    _reserved("resource_config_path", _ANY, "File with the resources of a deployment.", "部署资源的配置文件。",
              run_config="experimental_config.resource_config_path"),
    _reserved("soc_config", _ANY, "SoC version to compile for.", "编译所针对的 SoC 版本。"),
    _reserved("task_index", _INT64, "The process's number within its part of the cluster.", "进程在所属角色中的编号。",
              Default(0), run_config=""),
    _reserved("topo_sorting_mode", _INT64, "Order in which graphs are walked through.", "图的拓扑排序方式。"),
)  # fmt: skip

PARAMETER_SERVER = Rule(
    "NPU280",
    "no-effect",
    "With job=ps nothing is checked, and everything runs on the CPU.",
    Severity.WARNING,
    Page.RUNTIME.value,
)
TWO_COMPRESSIONS = Rule(
    "NPU281",
    "conflict",
    "enable_compress_weight and compress_weight_conf exclude each other; the runtime aborts.",
    source=Page.RUNTIME.value,
)
NOT_TUNING = Rule(
    "NPU282", "no-effect", "distribute_config is read while AOE is on.", Severity.WARNING, Page.RUNTIME.value
)


def _parameter_server(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(JOB.name) == "ps":
        yield problem(
            PARAMETER_SERVER, JOB, "keeps the whole graph on the CPU", value="ps", fix=f"leave out {JOB.name}"
        )


def _two_compressions(settings: Settings) -> typing.Iterator[Problem]:
    if ENABLE_COMPRESS_WEIGHT.name in settings and COMPRESS_WEIGHT_CONF.name in settings:
        yield problem(
            TWO_COMPRESSIONS,
            ENABLE_COMPRESS_WEIGHT,
            f"given together with {COMPRESS_WEIGHT_CONF.name}",
            value=settings[ENABLE_COMPRESS_WEIGHT.name],
            fix=f"leave out {ENABLE_COMPRESS_WEIGHT.name}",
        )


def _not_tuning(settings: Settings) -> typing.Iterator[Problem]:
    if DISTRIBUTE_CONFIG.name in settings and not mode_of(settings):
        yield problem(
            NOT_TUNING,
            DISTRIBUTE_CONFIG,
            f"has no effect without {AOE_MODE.name}",
            value=settings[DISTRIBUTE_CONFIG.name],
            fix=f"leave out {DISTRIBUTE_CONFIG.name}",
        )


GROUP = Group(
    "reserved",
    "Not described",
    "参考文档未列出",
    tuple(
        sorted(
            (JOB, ENABLE_COMPRESS_WEIGHT, COMPRESS_WEIGHT_CONF, DISTRIBUTE_CONFIG, GRAPH_SLICE, *_PLAIN),
            key=lambda option: option.name.lower(),
        )
    ),
    (PARAMETER_SERVER, TWO_COMPRESSIONS, NOT_TUNING),
    (_parameter_server, _two_compressions, _not_tuning),
)
