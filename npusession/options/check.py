"""Checking a set of options: names, values, scene, product, and the rules between them."""

from __future__ import annotations

import typing

from .._text import shorten
from ..products import Product
from .check_value import PLAIN, value_problems
from .kinds import Refused, Wire, text_of
from .model import Option, Scene, Settings, problem
from .problems import GIVEN_TWICE, MISSPELT, PROFILING_KEY, UNCHECKED, UNKNOWN, Problem, Report, Severity
from .side_values import file_problems
from .table import GROUPS, TABLE, is_profiling_key, suggest


def check(
    given: typing.Mapping[str, object],
    *,
    scene: Scene,
    product: Product | None = None,
    environ: typing.Mapping[str, str] | None = None,
    extra: typing.Mapping[str, object] | None = None,
    host: bool = False,
) -> tuple[dict[str, Wire], Report]:
    """Check options against the reference, each by itself and all together.

    Args:
        given: option values by name; ``None`` counts as not given.
        scene: what the session is for.
        product: the product family at hand; ``None`` when it is not known.
        environ: the environment that the runtime will see; an empty one by default.
        extra: options that are newer than the table; passed on as they are, with a warning.
        host: whether this is the host, and now the moment, at which the options are used: paths must be there.

    Returns:
        The canonical value of each option that could be read, and the report of everything that is wrong.
    """
    settings = Settings({}, scene, product, environ, host)
    problems: list[Problem] = []
    for name, value in given.items():
        if value is None:
            continue
        option = TABLE.get(name)
        if option is None:
            problems.append(unknown_name(name, value))
            continue
        usual = option.usual.get(value) if type(value) in PLAIN else None
        if usual is not None:
            settings[option.name] = usual
            continue
        read, found = value_problems(option, value, settings)
        problems += found
        if read is None:
            settings.refused.add(option.name)
        else:
            settings[option.name] = read
    for name, value in (extra or {}).items():
        if value is not None:
            problems += _extra(name, value, settings)
    for group in GROUPS:
        for rule in group.checks:
            problems += rule(settings)
    problems += file_problems(TABLE, settings)
    return dict(settings), Report(problems)


def unknown_name(name: object, value: object = None) -> Problem:
    """Return the problem for a name that is not in the table, with what was likely meant."""
    if not isinstance(name, str):
        return problem(UNKNOWN, shorten(name), "an option's name is text", value=value)
    name = str.__str__(name)
    if is_profiling_key(name):
        return problem(
            PROFILING_KEY, name, "is a key of profiling_options", value=value, fix=f"profiling=Profiling({name}=...)"
        )
    meant = suggest(name)
    if meant:
        return problem(MISSPELT, name, f"no such option; did you mean {meant}?", value=value, fix=f"{meant}=...")
    return problem(
        UNKNOWN,
        name,
        "no such option",
        value=value,
        fix=f"look at the reference, or pass it on unchecked with extra_options={{{shorten(name)}: ...}}",
    )


def _extra(name: str, value: object, canonical: dict[str, Wire]) -> typing.Iterator[Problem]:
    if name in TABLE:
        yield problem(GIVEN_TWICE, name, "is a known option", value=value, fix=f"give it by its own name: {name}=...")
        return
    try:
        if not isinstance(name, str):
            raise Refused("an option's name is text")
        name = text_of(name)
        wire = _wire(value)
    except Refused as refused:
        yield problem(
            UNCHECKED,
            str.__str__(name) if isinstance(name, str) else shorten(name),
            str(refused),
            value=value,
            allowed="a name that is text; bool, int or text",
            severity=Severity.ERROR,
        )
        return
    canonical[name] = wire
    yield problem(UNCHECKED, name, "passed on as it is", value=value)


def _wire(value: object) -> Wire:
    """Return a value that some field of AttrValue can carry; raises :class:`Refused`."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, int):
        return text_of(value)
    if not -(2**63) <= value < 2**63:
        raise Refused("a number of more than 64 bits")
    return int(value)


def field_of(name: str, value: Wire) -> str:
    """Return the AttrValue field that an option travels in; for unknown options it follows the value's type."""
    option: Option | None = TABLE.get(name)
    if option is not None:
        return option.field
    return "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "s"
