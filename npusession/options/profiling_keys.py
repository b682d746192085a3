"""The keys of ``profiling_options``, as data."""

from __future__ import annotations

import functools

from ..products import ALL_PRODUCTS, INFERENCE_SERIES, Product
from .kinds import Path, PathIs, Text
from .model import TRAINING, Default, Note, Option, Scope, Status
from .profiling_values import (
    ACCESSES,
    AIC_METRICS,
    API_LEVELS,
    ON_OFF,
    STORAGE_LIMIT,
    TASK_LEVELS,
    hertz,
    several,
)

#: The highest frequency of sys_hardware_mem_freq, and the one that all products but Atlas 350 stop at.
MEM_FREQ_MAX, MEM_FREQ_USUAL = 10000, 100
#: What instr_profiling_freq cannot be combined with.
EXCLUDED_BY_INSTR_PROFILING_FREQ = (
    "training_trace", "task_trace", "hccl", "aicpu", "fp_point", "bp_point", "aic_metrics", "l2", "task_time",
    "runtime_api",
)  # fmt: skip
_OFF = (Default("off"),)
_TRACE_BOTH = Note(
    "A training that is profiled with this on has to have training_trace on too.",
    "采集训练数据时，本项为 on 的同时 training_trace 也必须为 on。",
)
_POINT = Text("an operator's name, or empty to have it found", zh="算子名，或为空以自动识别")
_POINTS = (
    Note(
        "Found by the system except on dynamic shapes, where it has to be given.",
        "动态 shape 以外的场景自动配置；动态 shape 场景需手动设置。",
    ),
    Note(
        "The name can be found in a .pbtxt file that tf.io.write_graph saves.",
        "名称可由 tf.io.write_graph 保存的 .pbtxt 文件获取。",
    ),
)
_L2_CACHE = Note(
    "For hits of AI Core on Atlas A2, A3 and 350 take aic_metrics=L2Cache.",
    "A2、A3 产品和 Atlas 350 加速卡分析 AI Core 命中 L2 次数时建议用 aic_metrics=L2Cache。",
)

#: Read with the option that holds them.
_key = functools.partial(Option, scope=Scope.INIT)

KEYS = (
    _key("output", Path(PathIs.CREATED), "Directory of the results; goes before ASCEND_WORK_PATH.",
           "采集结果保存路径，优先级高于 ASCEND_WORK_PATH。", replaces=("ASCEND_WORK_PATH",),
           notes=(Note("Made when it is not there; a relative path counts from where the command runs.",
                       "无需提前创建；支持绝对路径或相对路径（相对执行命令行时的当前路径）。"),
                  Note(r"Without special characters: \n, \f, \r, \b, \t, \v, \u007F.",
                       r"路径中不能包含特殊字符：\n、\f、\r、\b、\t、\v、\u007F。"))),
    _key("storage_limit", STORAGE_LIMIT, "Space that results may take before the oldest are deleted.",
           "落盘目录允许存放的最大文件容量，超出时老化删除最早的文件。",
           notes=(Note("Old files also go when the disk has 20 MB or less left.",
                       "磁盘剩余空间不足 20MB 时同样老化删除。"),
                  Note("Left out, nothing is written when less than 20 MB are free.",
                       "未配置时，若采集前可用空间小于 20MB 则不落盘。"))),
    _key("training_trace", ON_OFF, "Iteration trace: forward, backward, gradient aggregation.", "采集迭代轨迹数据。",
           scenes=TRAINING, defaults=_OFF,
           notes=(Note("Has to be on for data of fp_point and bp_point.", "采集正向和反向算子数据时必须为 on。"),
                  Note("Not for online inference.", "在线推理不支持。"))),
    _key("task_trace", TASK_LEVELS, "When operators are sent and run; the same switch as task_time.",
           "采集算子下发耗时和执行耗时（同 task_time）。", defaults=(Default("on"),),
           notes=(_TRACE_BOTH, Note("Results: task_time, op_summary, op_statistic.",
                                    "结果见 task_time、op_summary、op_statistic 等文件。"))),
    _key("task_time", TASK_LEVELS, "When operators are sent and run.", "采集算子下发耗时和执行耗时。",
           defaults=(Default("on"),),
           notes=(_TRACE_BOTH, Note("Results: task_time, op_summary, op_statistic.",
                                    "结果见 task_time、op_summary、op_statistic 等文件。"))),
    _key("ge_api", API_LEVELS, "Scheduling of operators of dynamic shape on the host.",
           "采集动态 shape 算子在 Host 调度阶段的耗时。", defaults=_OFF),
    _key("hccl", ON_OFF, "Communication data.", "控制通信数据采集。", defaults=_OFF, status=Status.DEPRECATED,
           instead="use task_time"),
    _key("aicpu", ON_OFF, "Details of AI CPU operators: when they run and copy.",
           "采集 AI CPU 算子的执行时间、数据拷贝时间等信息。", defaults=_OFF),
    _key("fp_point", _POINT, "First operator of the forward pass.",
           "迭代轨迹正向算子的开始位置。", defaults=(Default(""),), notes=_POINTS),
    _key("bp_point", _POINT, "Last operator of the backward pass.",
           "迭代轨迹反向算子的结束位置。", defaults=(Default(""),), notes=_POINTS),
    _key("aic_metrics", AIC_METRICS, "What is counted on the AI Cores.", "AI Core 性能指标采集项。",
           defaults=(Default("PipeUtilization"),),
           notes=(Note("L2Cache is not for the Atlas inference and training series; MemoryAccess neither, nor for "
                       "Atlas 350.",
                       "L2Cache 不支持 Atlas 推理、训练系列产品；MemoryAccess 还不支持 Atlas 350 加速卡。"),
                  Note("Or Custom: and registers of your own, such as Custom:0x49,0x8: at most 8, from 0x1 to 0x6E, in "
                       "decimal or hexadecimal.",
                       "也可自定义寄存器，如 Custom:0x49,0x8：最多 8 个，范围 0x1 到 0x6E，支持十六进制或十进制。"))),
    _key("l2", ON_OFF, "Hits of the L2 cache.", "采集 L2 Cache 命中率。", defaults=_OFF,
           notes=(Note("On Atlas A2, A3 and 350 also those of the TLB.",
                       "A2、A3 产品和 Atlas 350 加速卡还采集 TLB 页表缓存命中率。"),
                  _L2_CACHE)),
    _key("msproftx", ON_OFF, "Data that the user's program and the framework report.",
           "采集用户和上层框架程序输出的性能数据。", defaults=_OFF,
           notes=(Note("The program has to call the mstx (better) or msproftx API.",
                       "需先在程序中添加 mstx（推荐）或 msproftx API。"),)),
    _key("runtime_api", ON_OFF, "Calls of the runtime's API, such as copies between and on devices.",
           "采集 runtime API 性能数据，如 Host、Device 间及 Device 间的内存复制时延。", defaults=_OFF),
    # Atlas 350 samples QoS and SoC up to 10000 Hz and caps the rest at 100 by itself.
    _key("sys_hardware_mem_freq",
           hertz(1, MEM_FREQ_MAX, "(over 100: Atlas 350 only)", "（大于 100 仅限 Atlas 350 加速卡）"),
           "Sampling of on-chip memory, QoS, LLC, accelerator and SoC bandwidth, and memory of components.",
           "片上内存、QoS、LLC、加速器、SoC 带宽及组件内存占用的采集频率。",
           notes=(Note("Over 100 Hz counts for QoS and SoC on Atlas 350; the rest stops at 100.",
                       "大于 100 仅对 Atlas 350 加速卡的 QoS 和 SoC 有效，其他采集项按 100 采集。"),
                  Note("What is collected differs between products.", "不同产品的采集内容略有差异。"),
                  Note("glibc before 2.34 may fail here for its bug 19329; a newer one helps.",
                       "glibc 低于 2.34 时采集 memory 数据可能触发其 Bug 19329，可升级 glibc。"),
                  Note("On Atlas 200I/500 A2, A2 and A3 do not raise it after a run, or SoC data may be lost.",
                       "Atlas 200I/500 A2、A2、A3 产品采集结束后不建议增大频率，否则可能丢失 SoC 传输带宽数据。"))),
    _key("llc_profiling", ACCESSES, "Which accesses of the last level cache are counted.", "LLC 采集事件。",
           defaults=(Default("read"),)),
    _key("sys_io_sampling_freq", hertz(1, 100), "Sampling of NIC, RoCE or UB bandwidth.",
           "NIC、ROCE、UB 带宽数据采集频率。", products=ALL_PRODUCTS - INFERENCE_SERIES,
           notes=(Note("NIC and RoCE on Atlas A2 and A3, UB on Atlas 350.",
                       "A2、A3 产品采集 NIC、ROCE；Atlas 350 加速卡采集 UB。"),)),
    _key("sys_interconnection_freq", hertz(1, 50), "Sampling of bandwidth between chips.",
           "HCCS、CCU、SIO、PCIe、UB 及片间传输带宽的采集频率。",
           notes=(Note("HCCS and PCIe on the Atlas training series; transfer between chips too on A2; SIO too on A3.",
                       "Atlas 训练系列：HCCS、PCIe；A2 另有片间传输带宽；A3 再加 SIO。"),
                  Note("PCIe, transfer between chips, CCU, SIO and UB on Atlas 350.",
                       "Atlas 350 加速卡：PCIe、片间传输带宽、CCU、SIO、UB。"))),
    _key("dvpp_freq", hertz(1, 100), "Sampling of the image and video units (DVPP).", "DVPP 采集频率。"),
    _key("instr_profiling", ON_OFF, "Bandwidth and latency of AI Core and AI Vector.",
           "AI Core 和 AI Vector 的带宽和延时采集开关。", defaults=_OFF, products=frozenset({Product.ATLAS_350}),
           notes=(Note("On Atlas A2 and A3 instr_profiling_freq does this; the Atlas training series has neither.",
                       "A2、A3 产品改用 instr_profiling_freq；Atlas 训练系列产品均不支持。"),
                  Note("The last piece of instructions may count too long; msprof op is more exact.",
                       "可能因最后一段指令统计超长而不准确，建议使用 msprof op。"))),
    _key("instr_profiling_freq", hertz(300, 30000),
           "Sampling of bandwidth and latency of AI Core and AI Vector.", "AI Core 和 AI Vector 带宽和延时的采集频率。",
           products=frozenset({Product.ATLAS_A2, Product.ATLAS_A3}),
           notes=(Note("Given, it switches the collection on.", "配置即开启采集。"),
                  Note("Not together with {}.".format(", ".join(EXCLUDED_BY_INSTR_PROFILING_FREQ)),
                       "与 {} 互斥。".format("、".join(EXCLUDED_BY_INSTR_PROFILING_FREQ))),
                  Note("On Atlas 350 instr_profiling does this.", "Atlas 350 加速卡改用 instr_profiling。"))),
    _key("host_sys", several("cpu", "mem", "disk", "network", "osrt"), "What is sampled of this process on the host.",
           "Host 侧性能数据采集项。",
           notes=(Note("cpu, mem, disk and osrt (system and pthread calls) are the process's; network is the whole "
                       "system's.",
                       "cpu、mem、disk、osrt（syscall 与 pthreadcall）为进程级别；network 为系统级别。"),
                  Note("disk needs iotop, osrt needs perf and ltrace.",
                       "disk 依赖 iotop，osrt 依赖 perf 和 ltrace。"))),
    _key("host_sys_usage", several("cpu", "mem"), "What is sampled of the host and all its processes.",
           "采集 Host 侧系统及所有进程的 CPU 和内存数据。"),
    _key("host_sys_usage_freq", hertz(1, 50), "Sampling of the host and all its processes.",
           "Host 侧系统和所有进程数据的采集频率。", defaults=(Default(50),)),
)  # fmt: skip

BY_NAME = {key.name: key for key in KEYS}
