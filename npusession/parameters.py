"""Checking the parameters of a configuration that somebody else wrote."""

from __future__ import annotations

import typing

from .options import Problem, Report, Scene, check
from .options.basic import GRAPH_RUN_MODE, RUN_MODES
from .products import Product
from .proto import check_config, field_problem, parameters_of

#: Name, field of AttrValue, and value, as in ``parameter_map[name].field = value``.
Parameter = typing.Tuple[str, typing.Optional[str], object]


def check_parameters(
    params: typing.Any,
    *,
    scene: str | Scene = "training",
    product: Product | str | None = None,
    environ: typing.Mapping[str, str] | None = None,
) -> Report:
    """Check parameters for an NPU against the vendor's reference, without a session.

    Args:
        params: ``(name, field, value)`` triples as in ``parameter_map[name].field = value``, or a
            ``tf.compat.v1.ConfigProto``, of which the rest is checked too.
        scene: ``"training"`` or ``"inference"``; parameters that say inference themselves go before it.
        product: the product family at hand; rules of unknown products are warnings.
        environ: the environment that the runtime will see; by default an empty one.

    Returns:
        Every problem found, errors first; the report is true when there is an error.

    Raises:
        ValueError: there is no such scene or product.
    """
    problems: list[Problem] = []
    if not isinstance(params, (list, tuple, typing.Iterator)):
        problems += check_config(params)
        params = () if problems else parameters_of(params)
    given: dict[str, object] = {}
    for name, field, value in params:
        found = field_problem(name, field, value)
        if found is None:
            given[name] = value
        else:
            problems.append(found)
    inference = given.get(GRAPH_RUN_MODE.name) == RUN_MODES[Scene.INFERENCE]
    _, report = check(
        given,
        scene=Scene.INFERENCE if inference else Scene(scene),
        product=None if product is None else Product.of(product),
        environ=environ,
    )
    return Report([*problems, *report])
