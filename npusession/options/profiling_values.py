"""The values that keys of ``profiling_options`` take, and the grammars of some."""

from __future__ import annotations

import re

from ..products import ALL_PRODUCTS, INFERENCE_SERIES, Product
from .kinds import Choice, Integer, Refused, Switch, Text, Value, text_of

_NEWER = ALL_PRODUCTS - INFERENCE_SERIES - {Product.ATLAS_TRAINING}

ON_OFF = Switch((Value("on", "on", "开启"), Value("off", "off", "关闭")))
TASK_LEVELS = Switch(
    (
        Value("on", "same as l1", "与 l1 相同"),
        Value("off", "off", "关闭"),
        Value("l0", "when operators are sent and run; little overhead", "算子下发耗时与执行耗时，开销较小"),
        Value("l1", "the same, and what the operators are", "在 l0 基础上再采集算子基本信息"),
    )
)
API_LEVELS = Switch(
    (
        Value("off", "off", "关闭"),
        Value("l0", "main phases", "主要阶段"),
        Value("l1", "finer phases", "更细粒度的阶段"),
    )
)
ACCESSES = Choice((Value("read", "reads", "读事件"), Value("write", "writes", "写事件")))
MAX_REGISTERS = 8
_REGISTER = re.compile(r"0[xX][0-9a-fA-F]{1,4}|[0-9]{1,4}")


class Metrics(Choice):
    """What AI Cores count: one of the words, or ``Custom:`` and registers."""

    def parse(self, value: object) -> str:
        """Read one of the words, or ``"Custom:0x49,0x8"``."""
        if not isinstance(value, (str, bytes)) or ":" not in text_of(value):
            return super().parse(value)
        text = text_of(value)
        prefix, _, registers = text.partition(":")
        if prefix != "Custom":
            raise Refused("registers follow the word Custom", fix=f'"Custom:{registers}"')
        numbers = registers.split(",")
        if len(numbers) > MAX_REGISTERS:
            raise Refused(f"{len(numbers)} registers, at most {MAX_REGISTERS} are allowed")
        for number in numbers:
            if not _REGISTER.fullmatch(number) or not 0x1 <= int(number, 0 if "x" in number.lower() else 10) <= 0x6E:
                raise Refused(f"register {number[:20]!r} is outside 0x1 to 0x6E")
        return text

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return f"{super().allowed}, or Custom: and at most {MAX_REGISTERS} registers from 0x1 to 0x6E joined by commas"

    @property
    def allowed_zh(self) -> str:
        """The same in Chinese."""
        return f"{super().allowed}，或 Custom: 后接最多 {MAX_REGISTERS} 个以英文逗号分隔的寄存器（0x1 到 0x6E）"


AIC_METRICS = Metrics(
    (
        Value("ArithmeticUtilization", "share of each kind of computation", "各种计算类指标占比"),
        Value("PipeUtilization", "time of computing and of moving units", "计算单元和搬运单元耗时占比"),
        Value("Memory", "share of instructions that read or write external memory", "外部内存读写类指令占比"),
        Value("MemoryL0", "share of instructions on the inner L0 memory", "内部 L0 内存读写类指令占比"),
        Value("MemoryUB", "share of instructions on the inner UB memory", "内部 UB 内存读写类指令占比"),
        Value("ResourceConflictRatio", "share of pipeline queue instructions", "流水线队列类指令占比"),
        Value("L2Cache", "hits and refills of the L2 cache", "L2 Cache 命中与缺失后重新分配次数", _NEWER),
        Value(
            "MemoryAccess",
            "bandwidth of the operators' memory access",
            "算子在核上访存的带宽数据量",
            _NEWER - {Product.ATLAS_350},
        ),
    )
)


def _read_storage_limit(text: str) -> str:
    if text.isascii() and text.isdigit():
        raise Refused("the unit is missing", fix=f'"{text}MB"')
    digits = text[:-2]
    if not (text.endswith("MB") and digits.isascii() and digits.isdigit() and 200 <= int(digits[:12]) <= 2**32 - 1):
        raise Refused("not a size from 200MB to 4294967295MB")
    return text


STORAGE_LIMIT = Text("200MB to 4294967295MB, with the unit", _read_storage_limit, zh="200MB 到 4294967295MB，须带单位")


def several(*words: str) -> Text:
    """Return the kind of text that joins some of the words by commas."""

    def read(text: str) -> str:
        for word in text.split(","):
            if word not in words:
                raise Refused(f"{word[:40]!r} is not one of the words")
        return text

    return Text(
        "one or more of {}, joined by commas".format(", ".join(words)),
        read,
        separator=",",
        zh="{} 中的一项或多项，以英文逗号分隔".format("、".join(words)),
    )


def hertz(minimum: int, maximum: int, remark: str = "", remark_zh: str = "") -> Integer:
    """Return the kind of a frequency."""
    return Integer(minimum, maximum, f"Hz {remark}".strip(), f"Hz{remark_zh}")
