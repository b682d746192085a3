"""Where the value of each option comes from: given, the environment, or a default."""

from __future__ import annotations

import enum
import typing

from .options import TABLE, Option
from .options.kinds import Wire
from .options.model import Status

if typing.TYPE_CHECKING:
    from .session import NpuSession


class Origin(enum.Enum):
    """Where a value comes from."""

    GIVEN = "given"
    ENVIRONMENT = "environment"
    DEFAULT = "default"
    UNSET = "unset"


class Row(typing.NamedTuple):
    """One option of a plan, explained.

    Attributes:
        option: the option, ``None`` for one that is passed on unchecked.
        name: its name.
        value: its effective value, ``None`` when nothing holds or only the environment's text is known.
        origin: where the value comes from.
        detail: the environment variable or the product that decides.
    """

    option: Option | None
    name: str
    value: Wire | None
    origin: Origin
    detail: str


def rows(plan: NpuSession, environ: typing.Mapping[str, str]) -> tuple[Row, ...]:
    """Explain every option of the reference, and whatever else the plan has, in the order of the reference."""
    known = [_row(option, plan, environ) for option in TABLE.values()]
    unknown = [Row(None, n, v, Origin.GIVEN, "unchecked") for n, v in plan.options.items() if n not in TABLE]
    # What the reference does not describe is of interest only where it is set.
    shown = [row for row in known if row.origin is Origin.GIVEN or _described(row.option)]
    return (*shown, *unknown)


def _described(option: Option | None) -> bool:
    return option is not None and option.status in (Status.CURRENT, Status.DEPRECATED)


def _row(option: Option, plan: NpuSession, environ: typing.Mapping[str, str]) -> Row:
    for variable in option.yields_to:
        if variable in environ:
            return Row(option, option.name, environ[variable], Origin.ENVIRONMENT, variable)
    if option.name in plan.options:
        return Row(option, option.name, plan.options[option.name], Origin.GIVEN, "")
    for variable in option.replaces:
        if variable in environ:
            return Row(option, option.name, environ[variable], Origin.ENVIRONMENT, variable)
    default = option.default(plan.scene, plan.product)
    if default is not None:
        return Row(option, option.name, default, Origin.DEFAULT, "" if plan.product is None else plan.product.value)
    return Row(option, option.name, None, Origin.UNSET, "")
