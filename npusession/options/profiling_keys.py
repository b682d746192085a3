"""The keys of ``profiling_options``, as data."""

from __future__ import annotations

import re

from ..products import ALL_PRODUCTS, Product
from .kinds import Choice, Integer, Path, PathIs, Refused, Switch, Text, Value
from .model import TRAINING, Default, Option, Status

_NOT_INFERENCE_SERIES = ALL_PRODUCTS - {Product.ATLAS_INFERENCE}
_NEWER = ALL_PRODUCTS - {Product.ATLAS_INFERENCE, Product.ATLAS_TRAINING}
_ON_OFF = (Value("on", "on"), Value("off", "off"))
_LEVELS = (
    Value("on", "same as l1"),
    Value("off", "off"),
    Value("l0", "when operators are sent and run; little overhead"),
    Value("l1", "the same, and what the operators are"),
)
_METRICS = (
    Value("ArithmeticUtilization", "share of each kind of computation"),
    Value("PipeUtilization", "time of computing and of moving units"),
    Value("Memory", "share of instructions that read or write external memory"),
    Value("MemoryL0", "share of instructions on the inner L0 memory"),
    Value("MemoryUB", "share of instructions on the inner UB memory"),
    Value("ResourceConflictRatio", "share of pipeline queue instructions"),
    Value("L2Cache", "hits and refills of the L2 cache", products=_NEWER),
    Value("MemoryAccess", "bandwidth of the operators' memory access", products=_NEWER - {Product.ATLAS_350}),
)
MAX_REGISTERS = 8
_METRICS_GRAMMAR = "{}, or Custom: and at most {} registers from 0x1 to 0x6E joined by commas".format(
    ", ".join(str(metric.value) for metric in _METRICS), MAX_REGISTERS
)
_REGISTER = re.compile(r"0[xX][0-9a-fA-F]{1,4}|[0-9]{1,4}")


def _read_metrics(text: str) -> str:
    prefix, colon, registers = text.partition(":")
    if not colon:
        return Choice(_METRICS).parse(text)
    if prefix != "Custom":
        raise Refused("registers follow the word Custom", fix=f'"Custom:{registers}"')
    numbers = registers.split(",")
    if len(numbers) > MAX_REGISTERS:
        raise Refused(f"{len(numbers)} registers, at most {MAX_REGISTERS} are allowed")
    for number in numbers:
        if not _REGISTER.fullmatch(number) or not 0x1 <= int(number, 0 if "x" in number.lower() else 10) <= 0x6E:
            raise Refused(f"register {number!r} is outside 0x1 to 0x6E")
    return text


def _read_storage_limit(text: str) -> str:
    if text.isascii() and text.isdigit():
        raise Refused("the unit is missing", fix=f'"{text}MB"')
    digits = text[:-2]
    if not (text.endswith("MB") and digits.isascii() and digits.isdigit() and 200 <= int(digits[:12]) <= 2**32 - 1):
        raise Refused("not a size from 200MB to 4294967295MB")
    return text


def _several(*words: str) -> Text:
    def read(text: str) -> str:
        for word in text.split(","):
            if word not in words:
                raise Refused(f"{word!r} is not one of the words")
        return text

    return Text("one or more of {}, joined by commas".format(", ".join(words)), read, separator=",")


def _hertz(minimum: int, maximum: int) -> Integer:
    return Integer(minimum, maximum, "Hz")


KEYS = (
    Option("output", Path(PathIs.CREATED), "Directory of the results; goes before ASCEND_WORK_PATH.",
           "采集结果保存路径，优先级高于 ASCEND_WORK_PATH。"),
    Option("storage_limit", Text("200MB to 4294967295MB, with the unit", _read_storage_limit),
           "Space that results may take before the oldest are deleted.", "落盘目录允许存放的最大文件容量。"),
    Option("training_trace", Switch(_ON_OFF), "Iteration trace: forward, backward, gradient aggregation.",
           "采集迭代轨迹数据。", scenes=TRAINING),
    Option("task_trace", Switch(_LEVELS), "When operators are sent and run; the same switch as task_time.",
           "采集算子下发耗时和执行耗时（同 task_time）。", defaults=(Default("on"),)),
    Option("task_time", Switch(_LEVELS), "When operators are sent and run.",
           "采集算子下发耗时和执行耗时。", defaults=(Default("on"),)),
    Option("ge_api", Switch((Value("off", "off"), Value("l0", "main phases"), Value("l1", "finer phases"))),
           "Scheduling of operators of dynamic shape on the host.", "采集动态 shape 算子在 Host 调度阶段的耗时。",
           defaults=(Default("off"),)),
    Option("hccl", Switch(_ON_OFF), "Communication data.", "控制通信数据采集。", defaults=(Default("off"),),
           status=Status.DEPRECATED,
           instead="use task_time"),
    Option("aicpu", Switch(_ON_OFF), "Details of AI CPU operators.", "采集 AI CPU 算子的详细信息。",
           defaults=(Default("off"),)),
    Option("fp_point", Text("an operator's name, or empty to have it found"), "First operator of the forward pass.",
           "迭代轨迹正向算子的开始位置。"),
    Option("bp_point", Text("an operator's name, or empty to have it found"), "Last operator of the backward pass.",
           "迭代轨迹反向算子的结束位置。"),
    Option("aic_metrics", Text(_METRICS_GRAMMAR, _read_metrics),
           "What is counted on the AI Cores.", "AI Core 性能指标采集项。", defaults=(Default("PipeUtilization"),)),
    Option("l2", Switch(_ON_OFF), "Hits of the L2 cache, on newer products of the TLB too.",
           "采集 L2 Cache（及 TLB）命中率。", defaults=(Default("off"),)),
    Option("msproftx", Switch(_ON_OFF), "Data that the user's program and the framework report.",
           "采集用户和上层框架程序输出的性能数据。", defaults=(Default("off"),)),
    Option("runtime_api", Switch(_ON_OFF), "Calls of the runtime's API, such as copies between host and device.",
           "采集 runtime API 性能数据。", defaults=(Default("off"),)),
    # Atlas 350 samples QoS and SoC up to 10000 Hz and caps the rest at 100 by itself.
    Option("sys_hardware_mem_freq", Integer(1, 10000, "Hz (over 100: Atlas 350 only)"),
           "Sampling of memory, QoS, cache and SoC bandwidth.", "片上内存、QoS、三级缓存、SoC 带宽等的采集频率。"),
    Option("llc_profiling", Choice((Value("read", "reads"), Value("write", "writes"))),
           "Which accesses of the last level cache are counted.", "LLC 采集事件。", defaults=(Default("read"),)),
    Option("sys_io_sampling_freq", _hertz(1, 100), "Sampling of NIC, RoCE or UB bandwidth.",
           "NIC、ROCE、UB 带宽数据采集频率。", products=_NOT_INFERENCE_SERIES),
    Option("sys_interconnection_freq", _hertz(1, 50), "Sampling of HCCS, PCIe, SIO and UB bandwidth between chips.",
           "HCCS、PCIe、SIO、UB 等片间带宽数据采集频率。"),
    Option("dvpp_freq", _hertz(1, 100), "Sampling of the image and video units (DVPP).", "DVPP 采集频率。"),
    Option("instr_profiling", Switch(_ON_OFF), "Bandwidth and latency of AI Core and AI Vector.",
           "AI Core 和 AI Vector 的带宽和延时采集开关。", defaults=(Default("off"),),
           products=frozenset({Product.ATLAS_350})),
    Option("instr_profiling_freq", _hertz(300, 30000),
           "Sampling of bandwidth and latency of AI Core and AI Vector; excludes the operator traces.",
           "AI Core 和 AI Vector 带宽和延时的采集频率，与算子类采集互斥。",
           products=frozenset({Product.ATLAS_A2, Product.ATLAS_A3})),
    Option("host_sys", _several("cpu", "mem", "disk", "network", "osrt"),
           "What is sampled of this process on the host.", "Host 侧（进程级）性能数据采集项。"),
    Option("host_sys_usage", _several("cpu", "mem"), "What is sampled of the host and all its processes.",
           "采集 Host 侧系统及所有进程的 CPU 和内存数据。"),
    Option("host_sys_usage_freq", _hertz(1, 50), "Sampling of the host and all its processes.",
           "Host 侧系统和所有进程数据的采集频率。", defaults=(Default(50),)),
)  # fmt: skip

BY_NAME = {key.name: key for key in KEYS}
#: What instr_profiling_freq cannot be combined with.
EXCLUDED_BY_INSTR_PROFILING_FREQ = (
    "training_trace", "task_trace", "hccl", "aicpu", "fp_point", "bp_point", "aic_metrics", "l2", "task_time",
    "runtime_api",
)  # fmt: skip
