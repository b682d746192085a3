"""Bringing together all that a plan is given: options, groups, a ConfigProto, and what is unchecked."""

from __future__ import annotations

import typing
import warnings

from .errors import OptionsError, OptionsWarning
from .options import TABLE, AcceleratedTraining, Dump, Problem, Profiling, Report, Scene, check
from .options.basic import GRAPH_RUN_MODE, RUN_MODES, SESSION_DEVICE_ID
from .options.experimental import accelerate_problems, from_options
from .options.kinds import Wire
from .options.model import problem
from .options.problems import GIVEN_TWICE
from .products import Product
from .proto import options_of, strip

Group = typing.Union[Dump, Profiling, AcceleratedTraining]


class Given(typing.NamedTuple):
    """What was given, checked.

    Attributes:
        options: canonical values, sorted by name.
        unchecked: names among them that are not in the table.
        accelerate: accelerated training with its numbers.
        config: the ConfigProto to extend, serialised, without the options; empty for none.
    """

    options: tuple[tuple[str, Wire], ...]
    unchecked: tuple[str, ...]
    accelerate: AcceleratedTraining | None
    config: bytes


def gather(
    scene: Scene,
    device: object,
    groups: typing.Iterable[Group | None],
    options: typing.Mapping[str, object],
    config: typing.Any,
    extra: typing.Mapping[str, object] | None,
    product: Product | None,
) -> Given:
    """Merge and check everything; warns of what one can live with.

    Raises:
        OptionsError: lists every problem.
    """
    given, problems = _merge(_sources(device, groups, options))
    if config is not None:
        in_config, report = options_of(config)
        given, more = _merge((in_config, given))
        problems += [*report, *more]
    if scene is Scene.INFERENCE:
        given.setdefault(GRAPH_RUN_MODE.name, RUN_MODES[scene])
    canonical, report = check(given, scene=scene, product=product, extra=extra)
    problems += report
    if canonical.get(GRAPH_RUN_MODE.name, RUN_MODES[scene]) != RUN_MODES[scene]:
        problems.append(_other_scene(scene, canonical[GRAPH_RUN_MODE.name]))
    accelerate = next((group for group in groups if isinstance(group, AcceleratedTraining)), from_options(canonical))
    report = Report([*problems, *accelerate_problems(accelerate)])
    if report:
        raise OptionsError(report)
    for warning in report.warnings:
        # Three frames up is the caller of for_training or for_inference.
        warnings.warn(str(warning).strip(), OptionsWarning, stacklevel=3)
    unchecked = tuple(sorted(name for name in canonical if name not in TABLE))
    stripped = b"" if config is None else strip(config).SerializeToString()
    return Given(tuple(sorted(canonical.items())), unchecked, accelerate, stripped)


def _sources(
    device: object, groups: typing.Iterable[Group | None], options: typing.Mapping[str, object]
) -> typing.Iterator[typing.Mapping[str, object]]:
    yield options
    yield {SESSION_DEVICE_ID.name: device}
    for group in groups:
        if not group:
            # None, or the False of a command line flag that switches the group off.
            continue
        if not isinstance(group, (Dump, Profiling, AcceleratedTraining)):
            raise TypeError(f"{group!r} is no Dump, Profiling or AcceleratedTraining")
        yield group.to_options()


def _merge(sources: typing.Iterable[typing.Mapping[str, object]]) -> tuple[dict[str, object], list[Problem]]:
    merged: dict[str, object] = {}
    problems = []
    for source in sources:
        for name, value in source.items():
            if value is None:
                continue
            if name in merged and not _same(name, merged[name], value):
                problems.append(
                    problem(GIVEN_TWICE, name, f"and {merged[name]!r} as well", value=value, fix="give it once")
                )
            merged[name] = value
    return merged, problems


def _same(name: str, one: object, other: object) -> bool:
    """Tell whether two values of an option mean the same, whatever form they were given in."""
    kind = TABLE[name].kind if name in TABLE else None
    try:
        return one == other if kind is None else kind.parse(one) == kind.parse(other)
    except ValueError:
        # Refused values are reported by the check.
        return True


def _other_scene(scene: Scene, mode: Wire) -> Problem:
    other = Scene.INFERENCE if scene is Scene.TRAINING else Scene.TRAINING
    return problem(
        GIVEN_TWICE,
        GRAPH_RUN_MODE,
        f"contradicts NpuSession.for_{scene.value}",
        value=mode,
        fix=f"NpuSession.for_{other.value}(...)",
    )
