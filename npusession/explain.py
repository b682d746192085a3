"""Where the value of each option comes from: given, the environment, or a default."""

from __future__ import annotations

import enum
import typing

from .options import TABLE, Option
from .options.kinds import Wire
from .options.model import Status
from .options.variables import VARIABLES

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
        detail: the environment variable or the product that decides; of a variable that stands for no option, what it
            decides.
        over: an environment variable that is set too, and does not count beside the option.
    """

    option: Option | None
    name: str
    value: Wire | None
    origin: Origin
    detail: str
    over: str = ""


def rows(plan: NpuSession, environ: typing.Mapping[str, str]) -> tuple[Row, ...]:
    """Explain every option of the reference, and whatever else the plan or the environment has, in that order."""
    known = [_row(option, plan, environ) for option in TABLE.values()]
    unknown = [Row(None, n, v, Origin.GIVEN, "unchecked") for n, v in plan.options.items() if n not in TABLE]
    # What the reference does not describe is of interest only where it is set.
    shown = [row for row in known if row.origin is Origin.GIVEN or _described(row.option)]
    beside = [
        Row(None, variable.name, environ[variable.name], Origin.ENVIRONMENT, variable.text)
        for variable in VARIABLES
        if environ.get(variable.name)
    ]
    return (*shown, *unknown, *beside)


def _described(option: Option | None) -> bool:
    return option is not None and option.status in (Status.CURRENT, Status.DEPRECATED)


def _row(option: Option, plan: NpuSession, environ: typing.Mapping[str, str]) -> Row:
    given = plan.options.get(option.name)
    for variable, value in option.yields_to.items():
        if environ.get(variable):
            return Row(option, option.name, value, Origin.ENVIRONMENT, variable)
    variable = next((variable for variable in option.replaces if environ.get(variable)), "")
    if given is not None:
        return Row(option, option.name, given, Origin.GIVEN, "", variable)
    if variable:
        return Row(option, option.name, environ[variable], Origin.ENVIRONMENT, variable)
    default = option.default(plan.scene, plan.product)
    if default is not None:
        return Row(option, option.name, default, Origin.DEFAULT, "" if plan.product is None else plan.product.value)
    return Row(option, option.name, None, Origin.UNSET, "")
