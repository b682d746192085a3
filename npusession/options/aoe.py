"""Tuning with AOE (Ascend Optimization Engine): of subgraphs, operators, or how gradients are split."""

from __future__ import annotations

import json
import typing

from .._compat import shallow
from ..products import Product
from .check_value import path_problems
from .kinds import Choice, Path, PathIs, Value
from .model import TRAINING, Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity
from .sidefiles import text_at

_PRODUCTS = frozenset({Product.ATLAS_A3, Product.ATLAS_A2, Product.ATLAS_TRAINING})
_SUBGRAPHS = "1"
_OPERATORS = "2"
#: What the feature switches in the side file need.
FEATURES = {"deeper_opat": _OPERATORS, "nonhomo_split": _SUBGRAPHS}

AOE_MODE = Option(
    "aoe_mode",
    Choice(
        (
            Value(
                _SUBGRAPHS, "subgraphs; not on Atlas A2 and A3", "子图调优，A2、A3 产品不支持",
                frozenset({Product.ATLAS_TRAINING}),
            ),
            Value(_OPERATORS, "operators", "算子调优"),
            Value("4", "how gradients are split between all-reduce operations", "梯度切分调优"),
        )
    ),
    "What AOE tunes.",
    "AOE 工具的调优模式。",
    scenes=TRAINING,
    products=_PRODUCTS,
    notes=(
        Note(
            "4 runs ahead to measure, and puts out a strategy for gradients that are added up in data parallel "
            "training; hand it to set_split_strategy_by_idx. A bad one leaves communication behind when the backward "
            "pass is over.",
            "取 4 时在实际环境预跑并搜索数据并行 allreduce 的切分策略，输出结果由 set_split_strategy_by_idx 设置；"
            "切分不合理会造成反向计算后的通信拖尾。",
        ),
        Note(
            "By hand: set_split_strategy_by_idx or set_split_strategy_by_size.",
            "也可用 set_split_strategy_by_idx 或 set_split_strategy_by_size 人工调优。",
        ),
    ),
    replaces=("AOE_MODE",),
)  # fmt: skip
WORK_PATH = Option(
    "work_path",
    Path(PathIs.DIRECTORY),
    "Directory for the configuration and the results of AOE.",
    "AOE 调优工作目录，存放调优配置文件和结果文件。",
    scenes=TRAINING,
    products=_PRODUCTS,
    defaults=(Default("./"),),
    notes=(
        Note(
            "It has to exist, on the host or in the container that trains, readable and writable for the user that was "
            "set at installation.",
            "需在启动训练的环境（容器或 Host）上提前创建，且安装时配置的运行用户具有读写权限。",
        ),
        Note(
            "A relative path counts from the directory that the command runs in.",
            "支持绝对路径或相对路径（相对执行命令行时的当前路径）。",
        ),
    ),
)
AOE_CONFIG_FILE = Option(
    "aoe_config_file",
    Path(PathIs.FILE),
    "File that limits tuning to some operators.",
    "指定待调优算子信息的配置文件（路径及文件名）。",
    scenes=TRAINING,
    products=_PRODUCTS,
    notes=(
        Note(
            "JSON with tune_ops_name (names in the compiled network, as profiling shows them) and tune_ops_type, each "
            "matched in full; what either names is tuned, fused operators of such a type included.",
            "JSON 格式：tune_ops_name（图编译后的节点名，可从 Profiling 数据获取）与 tune_ops_type，均为全字匹配；"
            "同时存在时取并集，包含该类型的融合算子也会调优。",
        ),
        Note(
            "tune_optimization_level: O1 for high performance, O2 (the default) for the normal mode.",
            "tune_optimization_level：O1 为高性能调优模式，O2（默认）为正常模式。",
        ),
        Note(
            "feature: deeper_opat tunes operators in depth and needs aoe_mode 2; nonhomo_split splits subgraphs "
            "unevenly and needs aoe_mode 1.",
            "feature：deeper_opat 为算子深度调优，aoe_mode 须为 2；nonhomo_split 为子图非均匀切分，aoe_mode 须为 1。",
        ),
    ),
    file_format="aoe_tuning",
)

AOE_OFF = Rule("NPU260", "no-effect", "Options of AOE have no effect while aoe_mode is not set.", Severity.WARNING)
FEATURE_MODE = Rule("NPU261", "conflict", "A feature of the AOE side file needs its own aoe_mode.")
BAD_MODE = Rule("NPU427", "bad-environment", "AOE_MODE in the environment is 1, 2 or 4, as aoe_mode is.")


def mode_of(settings: Settings) -> str:
    """Return the mode that AOE was asked to run in, empty for none: the option, else the environment's."""
    # The runtime asks the environment only when the option is absent.
    if settings.names(AOE_MODE):
        return str(settings.get(AOE_MODE.name, "refused"))
    return settings.environ.get(AOE_MODE.replaces[0], "")


def _environment(settings: Settings) -> typing.Iterator[Problem]:
    name = AOE_MODE.replaces[0]
    mode = settings.environ.get(name)
    if not mode or settings.names(AOE_MODE):
        return
    known = {choice.value: choice.products & AOE_MODE.products for choice in _choices()}
    if mode not in known:
        yield problem(BAD_MODE, name, "not a mode", value=mode, allowed=", ".join(map(str, known)), fix=f"unset {name}")
    elif settings.product is not None and settings.product not in known[mode]:
        yield problem(
            BAD_MODE,
            name,
            f"not supported on {settings.product.title}",
            value=mode,
            allowed=", ".join(str(value) for value, products in known.items() if settings.product in products),
            fix=f"unset {name}",
        )


def _choices() -> tuple[Value, ...]:
    kind = AOE_MODE.kind
    return kind.values if isinstance(kind, Choice) else ()


def _aoe_off(settings: Settings) -> typing.Iterator[Problem]:
    if mode_of(settings):
        return
    for option in (WORK_PATH, AOE_CONFIG_FILE):
        if option.name in settings:
            yield problem(
                AOE_OFF,
                option,
                f"has no effect without {AOE_MODE.name}",
                value=settings[option.name],
                fix=f'{AOE_MODE.name}="2", or leave out {option.name}',
            )


def _work_path_is_there(settings: Settings) -> typing.Iterator[Problem]:
    if mode_of(settings):
        # The runtime refuses a link here as it does for dumps.
        yield from path_problems(WORK_PATH, settings, links=False)


def _features(settings: Settings) -> typing.Iterator[Problem]:
    file, mode = settings.get(AOE_CONFIG_FILE.name), mode_of(settings)
    if file is None or not mode:
        return
    for feature in _features_in(file):
        needed = FEATURES.get(feature, mode)
        if needed != mode:
            yield problem(
                FEATURE_MODE,
                AOE_CONFIG_FILE,
                f"its feature {feature} needs {AOE_MODE.name} {needed}, not {mode}",
                value=file,
                fix=f'{AOE_MODE.name}="{needed}", or take {feature} out of the file',
            )


def _features_in(file: object) -> list[str]:
    """Return the features of a side file, which is given by its path or as a value."""
    features = getattr(file, "feature", None)
    if isinstance(file, str):
        try:
            loaded = json.loads(shallow(text_at(file) or "{}"))
        except ValueError:
            return []
        features = loaded.get("feature") if isinstance(loaded, dict) else None
    listed = features if isinstance(features, (list, tuple)) else [features]
    return [feature for feature in listed if isinstance(feature, str)]


GROUP = Group(
    "aoe",
    "AOE tuning",
    "AOE",
    (AOE_MODE, WORK_PATH, AOE_CONFIG_FILE),
    (AOE_OFF, FEATURE_MODE, BAD_MODE),
    (_environment, _aoe_off, _work_path_is_there, _features),
)
