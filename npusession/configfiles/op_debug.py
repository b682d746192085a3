"""Which debugging aids the operator compiler builds in, and into which operators (a .cfg file)."""

from __future__ import annotations

import dataclasses
import typing

from ..options.problems import Problem, Rule
from ..products import Product
from ._rules import BAD_NAME, check_names, check_words, name_fault, report
from ._values import TYPE_PREFIX, Words, words_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._source import Entry, Source

#: The keys of the file. The first is also the name of the option that points at it, and stands here only.
WORDS_KEY = "op_debug_config"
OPERATORS_KEY = "op_debug_list"

#: Every aid, with what it does.
WORDS = {
    "oom": "traps accesses outside of the global memory that belongs to the operator",
    "dump_cce": "keeps the operator's cce source, binary and description",
    "dump_loc": "keeps those, and the map from Python to cce",
    "ccec_O0": "compiles without optimisation",
    "ccec_g": "compiles with debug information",
    "check_flag": "checks that the pipeline's synchronisation flags match",
}

UNOPTIMISED_OOM = Rule("NPU510", "conflict", "ccec_O0 and oom together end in an AI Core error.")
NO_AIDS = Rule("NPU511", "no-effect", "A list of operators counts only beside the aids to build into them.")


@dataclasses.dataclass(frozen=True)
class OpDebugConfig(ConfigFile):
    """Debugging aids for operators.

    Args:
        words: the aids, any of ``oom``, ``dump_cce``, ``dump_loc``, ``ccec_O0``, ``ccec_g`` and ``check_flag``; a list,
            or one text with commas. None by default.
        operators: the operators to compile with them, by name (``"GatherV2"``) or by type (``"OpType::ReduceSum"``);
            every AI Core operator when left out.

    ::

        OpDebugConfig(["ccec_g", "oom"], ["GatherV2", "OpType::ReduceSum"]).write("/data/op_debug.cfg")

    ``oom`` does not go together with NPU_COLLECT_PATH in the environment.
    Source: session configuration reference, 功能调试.

    Raises:
        TypeError: an item is not text.
    """

    words: Words = ()
    operators: Words = ()

    format: typing.ClassVar[str] = "op_debug"
    suffix: typing.ClassVar[str] = ".cfg"
    rules: typing.ClassVar[tuple[Rule, ...]] = (UNOPTIMISED_OOM, NO_AIDS)

    def __post_init__(self) -> None:
        operators = tuple(
            # The reference writes the prefix in two ways, and readers look at the colons only.
            TYPE_PREFIX + operator[len(TYPE_PREFIX) :] if operator.lower().startswith(TYPE_PREFIX.lower()) else operator
            for operator in words_of(self.operators)
        )
        object.__setattr__(self, "words", words_of(self.words))
        object.__setattr__(self, "operators", operators)

    @classmethod
    def _parse(cls, source: Source) -> OpDebugConfig:
        entries: dict[str, Entry] = {}
        for line in source.lines():
            entry = source.entry(line)
            if entry.key not in (WORDS_KEY, OPERATORS_KEY):
                raise source.unknown(entry.key_offset, "key", entry.key, (WORDS_KEY, OPERATORS_KEY))
            source.add(entry, entries)
        values = {key: entry.value for key, entry in entries.items()}
        return cls(values.get(WORDS_KEY, ""), values.get(OPERATORS_KEY, ""))

    def _render(self) -> str:
        lines = [
            "{}={}\n".format(key, ",".join(words))
            for key, words in ((WORDS_KEY, self.words), (OPERATORS_KEY, self.operators))
            if words
        ]
        return "".join(lines) or "\n"

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        yield from check_words(WORDS_KEY, self.words, tuple(WORDS))
        if {"oom", "ccec_O0"} <= set(self.words):
            yield report(UNOPTIMISED_OOM, WORDS_KEY, "ccec_O0 together with oom", value="oom", fix="leave out one")
        if self.operators and not self.words:
            yield report(NO_AIDS, OPERATORS_KEY, "operators, but no aids", fix="words=[...]")
        yield from check_names(OPERATORS_KEY, self.operators, ",")
        for operator in self.operators:
            prefix, colons, kind = operator.partition("::")
            if not colons:
                continue
            fault = "" if prefix + colons == TYPE_PREFIX else f"has {prefix!r} before its colons"
            fault = fault or name_fault(kind, ":")
            if fault:
                yield report(BAD_NAME, OPERATORS_KEY, f"the type {fault}", value=operator, allowed=TYPE_PREFIX + "type")
