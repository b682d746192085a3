"""Experimental options of compiling, as data, and the rules between them."""

from __future__ import annotations

import typing

from .check_value import path_problems
from .dynamic_shape import COMPILE_DYNAMIC_MODE
from .experimental_notes import MAY_CHANGE
from .kinds import Choice, Path, PathIs, Value
from .model import TRAINING, Default, Note, Option, Settings, problem
from .problems import Problem, Rule

#: Set to run operators of a dynamic shape in several streams.
STREAMS_VARIABLE = "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM"
_RECOMMENDATION = Note("For large recommendation networks only.", "仅限大型推荐类网络使用。")

GRAPH_COMPILER_CACHE_DIR = Option(
    "graph_compiler_cache_dir",
    Path(PathIs.DIRECTORY),
    "Directory of the cache of compiled graphs; left out, there is no such cache.",
    "图编译磁盘缓存目录，配置后缓存功能生效。",
    notes=(
        Note(
            "Results of compiling are kept on the disk and loaded at later runs, which saves the time of compiling.",
            "将图编译结果持久化到磁盘，再次运行时直接加载，减少编译时长。",
        ),
        Note("The directory has to exist, or compiling fails.", "目录必须已存在，否则编译失败。"),
        Note(
            "The directory decides which files are used: those found there are loaded, those missing are saved.",
            "按此参数确定缓存文件：存在则直接加载，不存在则保存。",
        ),
        Note(
            "Delete the files by hand when the graph changed: they are of no use for another graph.",
            "图变化后原缓存不可用，须手动删除后重新编译生成。",
        ),
        Note(
            "Delete them after an upgrade as well; a cache need not fit another version.",
            "缓存不保证跨版本兼容，升级后须清理并重新编译。",
        ),
        Note("Not for models with resource operators.", "暂不支持带资源类算子的模型。"),
        MAY_CHANGE,
    ),
    run_config="experimental_config.graph_compiler_cache_dir",
)
JIT_COMPILE = Option(
    "jit_compile",
    Choice(
        (
            Value(
                "auto",
                "static shapes: compile; dynamic shapes: take operators that are compiled already, else compile",
                "静态 shape 在线编译；动态 shape 优先用已编译的算子二进制，找不到再编译",
            ),
            Value(
                "true",
                "compile, fused and optimised for the graph: runs fastest",
                "在线编译，按图信息融合优化，运行性能更优",
            ),
            Value(
                "false",
                "take operators that are compiled already, else compile: compiles fastest",
                "优先用已编译的算子二进制，找不到再编译，编译性能更优",
            ),
        )
    ),
    "Whether operators are compiled with the model, or taken as they come compiled.",
    "模型编译时优先在线编译算子，还是优先使用已编译好的算子二进制。",
    defaults=(Default("auto"),),
    notes=(_RECOMMENDATION, MAY_CHANGE),
)
SHAPE_GENERALIZATION_MODE = Option(
    "shape_generalization_mode",
    Choice(
        (
            Value("STRICT", "not at all: the shapes of the step at hand", "不泛化，直接用当前迭代的 shape"),
            Value(
                "FULL",
                "when a shape changes from one step to the next, all of its axes become -1",
                "两次迭代间 shape 变化时，所有轴泛化为 -1",
            ),
            Value(
                "ADAPTIVE",
                "only the axes that change become -1; each new one means compiling again",
                "仅将变化的轴泛化为 -1；新增泛化轴会触发重新编译",
            ),
        )
    ),
    "How input shapes are generalised when operators are compiled with the model.",
    "在线编译算子（jit_compile 为 true）时，输入 shape 的泛化模式。",
    defaults=(Default("STRICT"),),
    notes=(
        Note('Counts when jit_compile is "true".', "在 jit_compile 为 true 时生效。"),
        Note(
            "Does not count with compile_dynamic_mode, which makes all shapes -1 at the first step.",
            "compile_dynamic_mode 为 True 时首次迭代即泛化所有输入 shape，本参数不生效。",
        ),
        MAY_CHANGE,
    ),
)
AUTO_MULTISTREAM_PARALLEL_MODE = Option(
    "auto_multistream_parallel_mode",
    Choice((Value("cv", "Cube and Vector operators run side by side", "Cube 算子与 Vector 算子并行执行"),)),
    "Graphs of static shape: whether Cube and Vector operators run at the same time; left out, they do not.",
    "静态 shape 图中是否并行执行 Cube 算子与 Vector 算子以提升性能；默认不开启。",
    scenes=TRAINING,
    notes=(
        Note("For the training of recommendation networks only.", "仅限推荐类网络的训练场景使用。"),
        Note(
            "Not together with several streams for dynamic shapes, ENABLE_DYNAMIC_SHAPE_MULTI_STREAM.",
            "不能与多流并发执行功能（环境变量 ENABLE_DYNAMIC_SHAPE_MULTI_STREAM）同时启用。",
        ),
        MAY_CHANGE,
    ),
)

NEEDS_COMPILING = Rule(
    "NPU233", "missing-companion", 'Shapes are generalised when operators are compiled, with jit_compile "true".'
)
GENERALISED_ALREADY = Rule("NPU234", "no-effect", "compile_dynamic_mode generalises every shape by itself.")
TWO_PARALLELS = Rule(
    "NPU404",
    "conflict",
    "Cube and Vector operators side by side, and several streams for dynamic shapes, exclude each other.",
)


def _generalization(settings: Settings) -> typing.Iterator[Problem]:
    mode = settings.get(SHAPE_GENERALIZATION_MODE.name)
    if mode is None:
        return
    # STRICT is what holds anyway.
    if mode != "STRICT" and settings.get(JIT_COMPILE.name) != "true" and JIT_COMPILE.name not in settings.refused:
        yield problem(
            NEEDS_COMPILING,
            SHAPE_GENERALIZATION_MODE,
            f'given, but {JIT_COMPILE.name} is not "true"',
            value=mode,
            fix=f'{JIT_COMPILE.name}="true"',
        )
    if settings.get(COMPILE_DYNAMIC_MODE.name) is True:
        yield problem(
            GENERALISED_ALREADY,
            SHAPE_GENERALIZATION_MODE,
            f"does not count beside {COMPILE_DYNAMIC_MODE.name}=True",
            value=mode,
            fix=f"leave out {SHAPE_GENERALIZATION_MODE.name} or {COMPILE_DYNAMIC_MODE.name}",
        )


def _parallels(settings: Settings) -> typing.Iterator[Problem]:
    streams = settings.environ.get(STREAMS_VARIABLE, "")
    if AUTO_MULTISTREAM_PARALLEL_MODE.name in settings and streams.strip() not in ("", "0"):
        yield problem(
            TWO_PARALLELS,
            AUTO_MULTISTREAM_PARALLEL_MODE,
            f"given, and {STREAMS_VARIABLE} is set to {streams!r}",
            value=settings[AUTO_MULTISTREAM_PARALLEL_MODE.name],
            fix=f"unset {STREAMS_VARIABLE}, or leave out {AUTO_MULTISTREAM_PARALLEL_MODE.name}",
        )


def _directory(settings: Settings) -> typing.Iterator[Problem]:
    return path_problems(GRAPH_COMPILER_CACHE_DIR, settings)


RULES = (NEEDS_COMPILING, GENERALISED_ALREADY, TWO_PARALLELS)
CHECKS = (_generalization, _parallels, _directory)
