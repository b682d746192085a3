"""Options of gears: sets of dimensions that are compiled in advance, one of which each input has to fit."""

from __future__ import annotations

import typing

from ..products import Product
from .kinds import IntChoice, Value
from .memory import EXTERNAL_WEIGHT
from .model import INFERENCE, Default, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity
from .shapes import DYNAMIC, Gears, Shapes, parse_gears, parse_shapes

#: The most gears on all products but Atlas 350, which takes :data:`~.shapes.MAX_GEARS`.
USUAL_GEARS = 100

INPUT_SHAPE = Option(
    "input_shape",
    Shapes(),
    "Shapes of the inputs by name; -1 marks the dimensions that dynamic_dims gives.",
    "各输入的名称与 shape；-1 表示该维度由 dynamic_dims 分档给出。",
    scenes=INFERENCE,
    notes=(
        Note(
            "Inputs stand in the alphabetical order of the names of the graph's data nodes.",
            "输入须按实际 data 节点名的字母顺序排列。",
        ),
        Note(
            "Only dataset inputs or only placeholders can be dynamic: give all inputs of that sort, and no other.",
            "dataset 与 placeholder 输入只能有一种为动态，此时仅填写该种的所有输入。",
        ),
        Note("A scalar's shape is written 0.", "标量填写为 0。"),
        Note("The shapes must be valid for the network.", "设置的 shape 范围必须有效。"),
        Note(
            "Names are letters, digits and underscores; others, and blanks, end the process.",
            "输入名只能由字母、数字、下划线组成；其他字符或空格会使进程终止。",
        ),
    ),
    run_config="dynamic_input_config.input_shape",
)
DYNAMIC_DIMS = Option(
    "dynamic_dims",
    Gears(),
    "The gears: for each the dimensions that stand for the -1 in input_shape, in the same order.",
    "各档位的维度值，与 input_shape 中的 -1 依次对应；档位之间以英文分号分隔。",
    scenes=INFERENCE,
    notes=(
        Note(
            "Every gear has as many dimensions as input_shape has -1; otherwise the run ends with an error.",
            "每档的维度个数须等于 input_shape 中 -1 的个数，不匹配则报错退出。",
        ),
        Note(
            "2 to 100 gears on Atlas A3, A2, the inference series and the training series.",
            "Atlas A3、A2、推理系列、训练系列产品：2 到 100 档。",
        ),
        Note("2 to 256 gears on Atlas 350.", "Atlas 350 加速卡：2 到 256 档。"),
    ),
    run_config="dynamic_input_config.dynamic_dims",
)
DYNAMIC_NODE_TYPE = Option(
    "dynamic_node_type",
    IntChoice(
        (
            Value(0, "the inputs from a dataset", "dataset 输入"),
            Value(1, "the placeholders", "placeholder 输入"),
        )
    ),
    "Which inputs are dynamic.",
    "动态输入的节点类型。",
    scenes=INFERENCE,
    notes=(Note("Not both at once.", "不支持两种输入同时为动态。"),),
    run_config="dynamic_input_config.dynamic_node_type",
)
COMPILE_HYBRID_MODE = Option(
    "compile_hybrid_mode",
    IntChoice(
        (
            Value(0, "off", "关闭"),
            Value(
                1,
                "a graph of gears and a dynamic one; inputs outside of the gears run on the latter",
                "同时编译分档图和动态 shape 图，输入不在分档范围内时用后者执行",
            ),
        )
    ),
    "Whether inputs that fit no gear are run on a graph of dynamic shape.",
    "动态分档与动态 shape 混合编译执行。",
    scenes=INFERENCE,
    defaults=(Default(0, INFERENCE),),
    notes=(
        Note(
            "Needs input_shape, dynamic_dims and dynamic_node_type, which must be 1 (placeholders).",
            "须与 input_shape、dynamic_dims、dynamic_node_type 同时使用，且 dynamic_node_type 仅支持 1。",
        ),
        Note(
            "1 turns external_weight on when it is not, so that both graphs share the files of the weights.",
            "取 1 时若未开启 external_weight，系统会自动开启，使权重文件共享以节省内存。",
        ),
    ),
    run_config="dynamic_input_config.compile_hybrid_mode",
)
#: The three options that make gears, each of no use without the others.
GEARS = (INPUT_SHAPE, DYNAMIC_DIMS, DYNAMIC_NODE_TYPE)

GEARS_TOGETHER = Rule(
    "NPU211",
    "missing-companion",
    "input_shape, dynamic_dims and dynamic_node_type come together; the runtime aborts over one that is missing.",
)
GEARS_FIT = Rule("NPU212", "conflict", "Every gear has one dimension for each -1 in input_shape.")
TOO_MANY_GEARS = Rule("NPU213", "wrong-product", "More than 100 gears are for Atlas 350 only.")
INPUT_ORDER = Rule(
    "NPU214",
    "bad-value",
    "The inputs in input_shape stand in the alphabetical order of the data nodes' names.",
    Severity.WARNING,
)
HYBRID_NEEDS_GEARS = Rule(
    "NPU215", "missing-companion", "compile_hybrid_mode needs gears, and placeholders as the dynamic inputs."
)
HYBRID_SHARES_WEIGHTS = Rule(
    "NPU216", "conflict", "compile_hybrid_mode turns external_weight on by itself.", Severity.WARNING
)


def _gears_together(settings: Settings) -> typing.Iterator[Problem]:
    given = [option for option in GEARS if option.name in settings]
    if not given:
        return
    missing = " and ".join(option.name for option in GEARS if not settings.names(option))
    for option in given if missing else ():
        yield problem(
            GEARS_TOGETHER,
            option,
            f"given without {missing}",
            value=settings[option.name],
            fix=f"give {missing} too, or leave out all three",
        )


def _gears(settings: Settings) -> typing.Iterator[Problem]:
    dims = settings.get(DYNAMIC_DIMS.name)
    if not isinstance(dims, str):
        return
    gears = parse_gears(dims)
    if len(gears) > USUAL_GEARS and settings.product is not Product.ATLAS_350:
        known = settings.product is not None
        yield problem(
            TOO_MANY_GEARS,
            DYNAMIC_DIMS,
            f"{len(gears)} gears",
            value=dims,
            allowed=f"at most {USUAL_GEARS} gears, 256 on {Product.ATLAS_350.title}",
            fix="use fewer gears" if known else "name the product: product=...",
            severity=Severity.ERROR if known else Severity.WARNING,
        )
    shapes = settings.get(INPUT_SHAPE.name)
    if not isinstance(shapes, str):
        return
    wanted = sum(shape.dims.count(DYNAMIC) for shape in parse_shapes(shapes))
    if wanted != len(gears[0]):
        yield problem(
            GEARS_FIT,
            DYNAMIC_DIMS,
            f"gears of {len(gears[0])} dimensions, but {INPUT_SHAPE.name} has -1 in {wanted} places",
            value=dims,
            allowed=f"{wanted} numbers per gear",
        )


def _input_order(settings: Settings) -> typing.Iterator[Problem]:
    shapes = settings.get(INPUT_SHAPE.name)
    names = [shape.name for shape in parse_shapes(shapes)] if isinstance(shapes, str) else []
    if names != sorted(names):
        yield problem(
            INPUT_ORDER,
            INPUT_SHAPE,
            "the inputs are not in alphabetical order",
            value=shapes,
            fix="{}, and {} in the same order".format(", ".join(sorted(names)), DYNAMIC_DIMS.name),
        )


def _hybrid(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(COMPILE_HYBRID_MODE.name) != 1:
        return
    missing = [option.name for option in GEARS if not settings.names(option)]
    node_type = settings.get(DYNAMIC_NODE_TYPE.name)
    if missing or node_type == 0:
        yield problem(
            HYBRID_NEEDS_GEARS,
            COMPILE_HYBRID_MODE,
            "on without {}".format(" and ".join(missing))
            if missing
            else f"on with {DYNAMIC_NODE_TYPE.name}={node_type}",
            value=1,
            allowed=f"{INPUT_SHAPE.name}, {DYNAMIC_DIMS.name} and {DYNAMIC_NODE_TYPE.name}=1 beside it",
            fix=f"give them, or {COMPILE_HYBRID_MODE.name}=0",
        )
    if settings.get(EXTERNAL_WEIGHT.name) is False:
        yield problem(
            HYBRID_SHARES_WEIGHTS,
            EXTERNAL_WEIGHT,
            f"turned on all the same, by {COMPILE_HYBRID_MODE.name}=1",
            value=False,
            fix=f"leave out {EXTERNAL_WEIGHT.name}",
        )


OPTIONS = (*GEARS, COMPILE_HYBRID_MODE)
RULES = (GEARS_TOGETHER, GEARS_FIT, TOO_MANY_GEARS, INPUT_ORDER, HYBRID_NEEDS_GEARS, HYBRID_SHARES_WEIGHTS)
CHECKS = (_gears_together, _gears, _input_order, _hybrid)
