"""Which operators mixed precision may lower (a JSON file)."""

from __future__ import annotations

import dataclasses
import typing

from ..options.problems import Problem, Rule, Severity
from ..products import Product
from ._json import document, dump, members, strings
from ._rules import check_names, report
from ._values import Words, words_of
from .base import ConfigFile

if typing.TYPE_CHECKING:
    from ._source import Source

ADD, REMOVE = "to-add", "to-remove"
#: The file's keys, and the field that holds each list.
LISTS = {
    "black-list": {REMOVE: "black_remove", ADD: "black_add"},
    "white-list": {REMOVE: "white_remove", ADD: "white_add"},
}

TWO_LISTS = Rule("NPU515", "conflict", "An operator can be moved once, from one list to another.")
NEEDLESS_REMOVE = Rule(
    "NPU516", "no-effect", "Adding an operator to a list takes it off the other ones already.", Severity.WARNING
)


@dataclasses.dataclass(frozen=True)
class MixList(ConfigFile):
    """Changes to the lists that decide which types of operators mixed precision lowers.

    An operator on the black list keeps its precision, one on the white list is lowered, and one on the gray list does
    as the operator before it. Each argument is a list of operator types, or one text with commas; none by default.

    Args:
        black_add: from the gray or white list to the black list.
        black_remove: from the black list to the gray list.
        white_add: from the black or gray list to the white list.
        white_remove: from the white list to the gray list.

    ::

        MixList(black_add=["MatMul", "Cast"], white_remove=["Conv2D"]).write("/data/ops_info.json")

    The comments in the reference's example are read and reported, since JSON has none; they are never written.
    Source: session configuration reference, 精度调优.

    Raises:
        TypeError: an item is not text.
    """

    black_add: Words = ()
    black_remove: Words = ()
    white_add: Words = ()
    white_remove: Words = ()

    format: typing.ClassVar[str] = "mixlist"
    suffix: typing.ClassVar[str] = ".json"
    rules: typing.ClassVar[tuple[Rule, ...]] = (TWO_LISTS, NEEDLESS_REMOVE)

    def __post_init__(self) -> None:
        for field in _FIELDS:
            object.__setattr__(self, field, words_of(getattr(self, field)))

    @classmethod
    def _parse(cls, source: Source) -> MixList:
        found: dict[str, tuple[str, ...]] = {}
        for name, changes in members(source, document(source), tuple(LISTS)).items():
            fields = LISTS[name]
            for change, operators in members(source, changes, tuple(fields)).items():
                found[fields[change]] = strings(source, operators)
        return cls(**found)

    def _render(self) -> str:
        lists = {
            name: {change: self._list(field) for change, field in fields.items() if self._list(field)}
            for name, fields in LISTS.items()
        }
        return dump({name: changes for name, changes in lists.items() if changes})

    def _list(self, field: str) -> tuple[str, ...]:
        operators: tuple[str, ...] = getattr(self, field)
        return operators

    def _problems(self, product: Product | None) -> typing.Iterator[Problem]:
        places: dict[str, list[tuple[str, str]]] = {}
        for name, fields in LISTS.items():
            for change, field in fields.items():
                yield from check_names(f"{name}.{change}", self._list(field))
                for operator in dict.fromkeys(self._list(field)):
                    places.setdefault(operator, []).append((name, change))
        for operator, moves in places.items():
            if len(moves) == 1:
                continue
            shown = " and ".join(".".join(move) for move in moves)
            added = [name for name, change in moves if change == ADD]
            removed = [name for name, change in moves if change == REMOVE]
            if len(added) == len(removed) == 1 and added != removed:
                place = f"{removed[0]}.{REMOVE}"
                fix = f"leave it out of {place}"
                yield report(NEEDLESS_REMOVE, place, f"also in {added[0]}.{ADD}", value=operator, fix=fix)
            else:
                yield report(TWO_LISTS, shown, "in two places", value=operator, fix="leave it in one of them")


_FIELDS = tuple(field for fields in LISTS.values() for field in fields.values())
