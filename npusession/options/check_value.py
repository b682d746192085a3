"""Checking one value against its option, its scene and its product."""

from __future__ import annotations

import functools
import os
import typing

from ..products import ALL_PRODUCTS, Product
from .kinds import Path, PathIs, Refused, Wire, path_fault
from .model import Option, Settings, problem
from .problems import BAD_PATH, BAD_TYPE, BAD_VALUE, DEPRECATED, REMOVED, WRONG_PRODUCT, WRONG_SCENE, Problem, Severity
from .side_values import typed_value, value_faults

#: Types of which 1, True and "1" are told apart before they are looked up; others may equal anything.
PLAIN = frozenset({bool, int, str})


def value_problems(
    option: Option, value: object, settings: Settings, shown: str = ""
) -> tuple[Wire | None, tuple[Problem, ...]]:
    """Read one value and return its canonical form, ``None`` when it is refused, with what is wrong about it.

    Args:
        option: what the value is for.
        value: as the user gave it.
        settings: the scene and product at hand; its values are not looked at.
        shown: the name to report, when it is not the option's own.
    """
    name = shown or option.name
    canonical = option.values.get(value) if type(value) in PLAIN else None
    if canonical is None:
        side_file = typed_value(option, value)
        if side_file is not None:
            # It stands for the path of the file that it becomes when the session opens.
            stand_in = typing.cast(Wire, side_file)
            found = _setting_problems(option, stand_in, settings, name)
            return stand_in, (*found, *value_faults(option, side_file, settings))
        try:
            canonical = option.kind.parse(value)
        except Refused as refused:
            rule = BAD_TYPE if refused.wrong_type else BAD_VALUE
            fix = f"{option.name}={refused.fix}" if refused.fix else ""
            return None, (Problem(rule, name, str(refused), value, option.kind.allowed, option.source, fix),)
    if option.unrestricted and canonical not in option.limited:
        # Of most there is nothing to say.
        return canonical, ()
    return canonical, tuple(_setting_problems(option, canonical, settings, name))


def _setting_problems(option: Option, value: Wire, settings: Settings, name: str) -> typing.Iterator[Problem]:
    if option.removed:
        yield Problem(REMOVED, name, "the runtime no longer reads it", value, "", option.source, option.instead)
    elif option.instead:
        message = "to be dropped in a later release"
        yield Problem(DEPRECATED, name, message, value, "", option.source, option.instead, DEPRECATED.severity)
    # Switching off what does not apply is harmless, and scripts do it to be explicit.
    if settings.scene not in option.scenes and value != option.default(next(iter(option.scenes))):
        message = "applies to {} only".format(" and ".join(sorted(scene.value for scene in option.scenes)))
        # What is going anyway should not keep a script from running.
        severity = Severity.WARNING if option.instead and not option.removed else WRONG_SCENE.severity
        yield Problem(WRONG_SCENE, name, message, value, "", option.source, "leave it out", severity)
    products = option.products
    if option.limited:
        products &= option.limited.get(value, products)
    if settings.product not in products and products != ALL_PRODUCTS:
        known = settings.product is not None
        message = f"not supported on {settings.product.title}" if settings.product else "not supported on every product"
        fix = "leave it out" if known else "name the product: product=..."
        severity = Severity.ERROR if known else Severity.WARNING
        yield Problem(WRONG_PRODUCT, name, message, value, _titles(products), option.source, fix, severity)


@functools.lru_cache(maxsize=None)
def _titles(products: frozenset[Product]) -> str:
    return ", ".join(sorted(product.title for product in products))


def path_problems(option: Option, settings: Settings, *, links: bool = True) -> typing.Iterator[Problem]:
    """Check, at the moment of use only, that the path which an option names is there.

    Args:
        option: an option whose kind is a path.
        settings: what was given; nothing is found unless it is for use on this host now.
        links: whether a symbolic link to a directory will do.
    """
    path = settings.get(option.name)
    if not (settings.host and isinstance(path, str) and isinstance(option.kind, Path)):
        return
    fault = path_fault(os.path.realpath(path) if links else path, option.kind.must_be)
    if fault:
        missing = option.kind.must_be is PathIs.DIRECTORY and "exist" in fault
        fix = f"mkdir -p {path}" if missing else ""
        yield problem(BAD_PATH, option, fault, value=path, allowed=option.kind.must_be.value, fix=fix)
