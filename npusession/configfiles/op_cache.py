"""How large the cache of compiled operators may grow (op_cache.ini in the cache's directory)."""

from __future__ import annotations

import dataclasses
import re
import typing

from ..options.problems import Problem, Rule
from ..products import Product
from ._rules import BAD_NAME, BAD_NUMBER, TWICE, check_names, name_fault, report
from ._values import Settings, number_of, pairs_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._source import Source

SECTION = "op_compiler_cache"
SIZE, RATIO = "max_op_cache_size", "remain_cache_size_ratio"
#: The size that turns ageing off.
NO_AGEING = -1
_INT32_MAX = 2**31 - 1

HALF = Rule("NPU540", "no-effect", "The file counts only when both of its numbers are there and valid.")


@dataclasses.dataclass(frozen=True)
class OpCache(ConfigFile):
    """Limits of the operator cache. They hold for everybody who uses the same cache directory.

    Args:
        max_op_cache_size: space that the cache of one processor may take, in MB; 500 by default. Files that nobody used
            for half an hour go when it is exceeded; -1 keeps them for ever. ``None`` leaves the number out.
        remain_cache_size_ratio: percentage of the space that is kept when files go, 1 to 100; 50 by default. ``None``
            leaves the number out.
        others: further keys of the file with their values, a mapping or pairs; the runtime keeps the versions there
            that the cache was made with. None by default.

    Both numbers must be valid for the file to count; what it sets goes before ASCEND_MAX_OP_CACHE_SIZE and
    ASCEND_REMAIN_CACHE_SIZE_RATIO in the environment.

    ::

        OpCache(2000, 80).write("/data/cache/op_cache.ini")

    The runtime makes this file itself when it is not there. To change one that is, read it and replace the numbers, so
    that ``others`` stay: ``dataclasses.replace(OpCache.read(path), max_op_cache_size=2000)``.
    Source: session configuration reference, 算子编译与图编译.

    Raises:
        TypeError: a number is neither whole nor ``None``, or ``others`` is neither a mapping nor pairs of text.
    """

    max_op_cache_size: int | None = 500
    remain_cache_size_ratio: int | None = 50
    others: Settings = ()

    format: typing.ClassVar[str] = "op_cache"
    suffix: typing.ClassVar[str] = ".ini"
    rules: typing.ClassVar[tuple[Rule, ...]] = (HALF,)
    _sets_by_default: typing.ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_op_cache_size", number_of(self.max_op_cache_size))
        object.__setattr__(self, "remain_cache_size_ratio", number_of(self.remain_cache_size_ratio))
        object.__setattr__(self, "others", pairs_of(self.others))

    @classmethod
    def _parse(cls, source: Source) -> OpCache:
        entries = source.sections((SECTION,)).get(SECTION)
        if entries is None:
            raise source.error(len(source.text), "the end of the text, without a section", f"[{SECTION}]")
        numbers: dict[str, int] = {}
        others = []
        for entry in entries.values():
            if entry.key not in (SIZE, RATIO):
                others.append((entry.key, entry.value))
            elif re.fullmatch("[-+]?[0-9]{1,18}", entry.value):
                numbers[entry.key] = int(entry.value)
            else:
                problem = f"{entry.key} is {entry.value[:60]!r}"
                raise source.error(entry.value_offset, problem, "a whole number" if entry.key == RATIO else "MB, or -1")
        return cls(numbers.get(SIZE), numbers.get(RATIO), others)

    def _render(self) -> str:
        numbers = [(SIZE, self.max_op_cache_size), (RATIO, self.remain_cache_size_ratio)]
        entries = [*((key, str(number)) for key, number in numbers if number is not None), *pairs_of(self.others)]
        return f"[{SECTION}]\n" + "".join(f"{key}={value}\n" for key, value in entries)

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        size, ratio = self.max_op_cache_size, self.remain_cache_size_ratio
        if size is not None and size != NO_AGEING and not 1 <= size <= _INT32_MAX:
            yield report(BAD_NUMBER, SIZE, "then neither number counts", value=size, allowed="1 MB or more; -1")
        if ratio is not None and not 1 <= ratio <= 100:
            yield report(BAD_NUMBER, RATIO, "then neither number counts", value=ratio, allowed="1 to 100 percent")
        if (size is None) != (ratio is None):
            missing, given = (SIZE, RATIO) if size is None else (RATIO, SIZE)
            yield report(HALF, missing, f"missing beside {given}", fix=f"{missing}=...")
        others = pairs_of(self.others)
        yield from check_names("others", (name for name, _ in others), "=", "#[")
        seen = {SIZE, RATIO}
        for name, value in others:
            if name in seen:
                yield report(TWICE, name, "set again", value=value, fix="set it once")
            seen.add(name)
            fault = name_fault(value)
            if fault:
                yield report(BAD_NAME, name, f"the value {fault}", value=value)
