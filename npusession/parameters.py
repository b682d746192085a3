"""Checking the parameters of a configuration that somebody else wrote."""

from __future__ import annotations

import typing

from ._gather import clash, product_of, scene_of
from ._placement import check_cluster
from ._text import shorten
from .errors import OptionsError
from .options import TABLE, Problem, Report, Scene, check, unknown_name
from .options.accelerate_environment import unreadable
from .options.basic import GRAPH_RUN_MODE, RUN_MODES
from .options.experimental import ACCELERATE
from .options.model import problem
from .options.problems import BAD_TYPE, BAD_VALUE
from .products import Product
from .proto import NOT_A_CONFIG, check_config, field_problem, parameters_of

#: Name, field of AttrValue, and value, as in ``parameter_map[name].field = value``.
Parameter = typing.Tuple[str, typing.Optional[str], object]


def check_parameters(
    params: typing.Any,
    *,
    scene: str | Scene = "training",
    product: Product | str | None = None,
    environ: typing.Mapping[str, str] | None = None,
    host: bool = True,
) -> Report:
    """Check parameters for an NPU against the vendor's reference, without a session.

    Args:
        params: ``(name, field, value)`` triples as in ``parameter_map[name].field = value``, or a
            ``tf.compat.v1.ConfigProto``, of which the rest is checked too.
        scene: ``"training"`` or ``"inference"``; parameters that say inference themselves go before it.
        product: the product family at hand; rules of unknown products are warnings.
        environ: the environment that the runtime will see at the first run; by default an empty one, in which a
            script still sets the numbers of accelerated training.
        host: whether they are for this host, so that the paths in them have to be there, and side files are read.

    Returns:
        Every problem found, errors first; the report is true when there is an error.

    Raises:
        OptionsError: there is no such scene or product, or the environment is none.
    """
    wanted, family = scene_of(scene) or Scene.TRAINING, product_of(product)
    given, problems = _read(params)
    mode = given.get(GRAPH_RUN_MODE.name)
    if type(mode) is int and mode == RUN_MODES[Scene.INFERENCE]:
        wanted = Scene.INFERENCE
    variables = _environment(environ)
    canonical, report = check(given, scene=wanted, product=family, environ=variables, host=host)
    mode = canonical.get(ACCELERATE.name)
    # Scripts set these variables themselves; what stands in an environment that was given can be told, though.
    numbers = unreadable(str(mode), variables) if mode is not None and environ is not None else ()
    cluster = check_cluster(variables, family, host=host) if variables else ()
    return Report([*problems, *report, *numbers, *cluster])


def _read(params: typing.Any) -> tuple[dict[str, object], list[Problem]]:
    """Return the values that stand in the right field, by name, and what is wrong with the others."""
    problems: list[Problem] = []
    given: dict[str, object] = {}
    triples = _triples(params)
    if triples is None:
        problems += check_config(params)
        triples = [] if problems or params is None else parameters_of(params)
        if params is None:
            problems.append(problem(NOT_A_CONFIG, "params", "missing", allowed="parameters, or a ConfigProto"))
    for triple in triples:
        if not isinstance(triple, (list, tuple)) or len(triple) != 3:
            allowed = "(name, field, value)"
            problems.append(problem(BAD_TYPE, shorten(triple), "not a parameter", allowed=allowed))
            continue
        name, field, value = triple
        if not isinstance(name, str):
            problems.append(unknown_name(name, value))
            continue
        # The texts themselves, whatever subclasses of str print.
        name, field = str.__str__(name), str.__str__(field) if isinstance(field, str) else None
        found = field_problem(name, field, value)
        if found is not None:
            problems.append(found)
        elif value is None:
            allowed = TABLE[name].kind.allowed
            problems.append(problem(BAD_VALUE, TABLE[name], "no value", allowed=allowed))
        else:
            if name in given:
                problems += clash(name, given[name], value)
            # As in the map, the last one counts.
            given[name] = value
    return given, problems


def _triples(params: typing.Any) -> list[typing.Any] | None:
    """Return parameters in a list, ``None`` for what cannot be gone through."""
    if isinstance(params, (str, bytes)):
        return None
    try:
        return list(params)
    except Exception:
        return None


def _environment(environ: object) -> typing.Mapping[str, str]:
    if environ is None:
        return {}
    if isinstance(environ, typing.Mapping):
        variables = dict(environ.items())
        if all(isinstance(name, str) and isinstance(value, str) for name, value in variables.items()):
            return variables
    raise OptionsError(
        [problem(BAD_TYPE, "environ", "no environment", value=environ, allowed="a mapping of text to text")]
    )
