"""The words of the command's output, in English and in Chinese."""

from __future__ import annotations

import typing

from ..options import TABLE, Option, Scene
from ..options.kinds import Choice, IntChoice, Value
from ..options.model import Status
from ..options.variables import VARIABLES
from ..products import ALL_PRODUCTS, Product

#: English word to Chinese.
_CHINESE = {
    "name": "名称",
    "field": "字段",
    "values": "取值",
    "default": "默认值",
    "scope": "读取时机",
    "scenes": "使用场景",
    "products": "支持产品",
    "summary": "说明",
    "status": "状态",
    "instead": "替代方式",
    "notes": "注意",
    "environment": "环境变量",
    "side file": "配置文件",
    "source": "出处",
    "since": "起始版本",
    "group": "分组",
    "all": "全部",
    "training": "训练",
    "inference": "在线推理",
    "init": "初始化时（进程内一次）",
    "session": "每个 session",
    "current": "有效",
    "deprecated": "后续废弃",
    "legacy": "历史参数",
    "reserved": "参考文档未列出",
    "counts when not given": "未配置时生效",
    "goes before the option": "优先于该参数",
    "value": "值",
    "origin": "来源",
    "problems": "问题",
    "given": "已配置",
    "unset": "未设置",
    "none": "无",
    "leave it out": "不配置",
    "leave it out, and use op_debug_config for debugging": "不配置，调试时使用 op_debug_config",
    "leave it out; give inputs of dynamic shape through set_graph_exec_config": (
        "不配置，动态 shape 输入使用 set_graph_exec_config"
    ),
    "leave it out; memory is taken as it is needed": "不配置，系统按实际内存大小动态申请",
    "leave it out; precision_mode_v2 sets the precision": "不配置，精度由 precision_mode_v2 设置",
    'use aoe_mode: "2" for operators, "1" for subgraphs': '使用 aoe_mode："2" 为算子调优，"1" 为子图调优',
    "use op_precision_mode": "使用 op_precision_mode",
    "use task_time": "使用 task_time",
    "before": "优先于",
    "a key of profiling_options": "profiling_options 的键",
    "session configuration reference": "session 配置参数说明",
    "sess.run session configuration (earlier releases)": "sess.run 模式下 session 配置参数（历史版本）",
    "measured on the runtime": "运行时实测",
}
_VARIABLES = {variable.text: variable.text_zh for variable in VARIABLES}


class Words:
    """Text in one language.

    Args:
        language: ``"en"`` or ``"zh"``.
    """

    def __init__(self, language: str) -> None:
        self.chinese = language == "zh"

    def __call__(self, word: str) -> str:
        """Return a fixed word, in Chinese if it has one."""
        return (_CHINESE.get(word) or _VARIABLES.get(word, word)) if self.chinese else word

    def summary(self, item: Option | Value) -> str:
        """Return what an option or a value does."""
        return (item.summary_zh or item.summary) if self.chinese else item.summary

    def allowed(self, option: Option) -> str:
        """Return the allowed values in words."""
        return option.kind.allowed_zh if self.chinese else option.kind.allowed

    def notes(self, option: Option) -> list[str]:
        """Return the remarks on an option."""
        return [note.text_zh if self.chinese else note.text for note in option.notes]

    def place(self, option: Option) -> str:
        """Return where an option, or a key within one, is given."""
        if option in TABLE.values():
            return f"parameter_map[...].{option.field}"
        return self("a key of profiling_options")

    def source(self, option: Option) -> str:
        """Return the page and section of the reference that describe an option."""
        page, _, section = option.source.partition(", section ")
        return f"{self(page)}，“{section}”" if self.chinese and section else self(option.source)

    def products(self, products: typing.AbstractSet[Product]) -> str:
        """Return the names of some product families, in the order of the reference."""
        if products == ALL_PRODUCTS:
            return self("all")
        return ", ".join(product.title if self.chinese else product.value for product in Product if product in products)

    def scenes(self, scenes: typing.AbstractSet[Scene]) -> str:
        """Return the names of some scenes."""
        return ", ".join(self(scene.value) for scene in Scene if scene in scenes)

    def status(self, status: Status) -> str:
        """Return the name of a status."""
        return self(status.value)


def values_of(option: Option) -> tuple[Value, ...]:
    """Return the values of an option that is a choice, none for others."""
    return option.kind.values if isinstance(option.kind, (Choice, IntChoice)) else ()


def as_json(option: Option, group: str) -> dict[str, typing.Any]:
    """Return all that the table knows of an option, as data."""
    return {
        "name": option.name,
        "group": group,
        "field": option.field,
        "allowed": option.kind.allowed,
        "allowed_zh": option.kind.allowed_zh,
        "values": [
            {
                "value": value.value,
                "summary": value.summary,
                "summary_zh": value.summary_zh,
                "products": _sorted(value.products),
            }
            for value in values_of(option)
        ],
        "defaults": [
            {
                "value": default.value,
                "scenes": [scene.value for scene in Scene if scene in default.scenes],
                "products": _sorted(default.products),
            }
            for default in option.defaults
        ],
        "scope": option.scope.value,
        "scenes": [scene.value for scene in Scene if scene in option.scenes],
        "products": _sorted(option.products),
        "status": option.status.value,
        "instead": option.instead,
        "since": option.since,
        "summary": option.summary,
        "summary_zh": option.summary_zh,
        "notes": [note.text for note in option.notes],
        "notes_zh": [note.text_zh for note in option.notes],
        "environment": {"replaces": list(option.replaces), "yields_to": list(option.yields_to)},
        "side_file": option.file_format,
        "source": option.source,
    }


def _sorted(products: typing.AbstractSet[Product]) -> list[str]:
    return [product.value for product in Product if product in products]
