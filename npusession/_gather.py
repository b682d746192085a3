"""Bringing together all that a plan is given: options, groups, a ConfigProto, and what is unchecked."""

from __future__ import annotations

import dataclasses
import operator
import typing
import warnings

from ._site import stacklevel
from ._text import shorten
from .errors import OptionsError, OptionsWarning
from .options import TABLE, AcceleratedTraining, Dump, Problem, Profiling, Report, Scene, check, field_of
from .options.accelerate import read_group, unread
from .options.basic import GRAPH_RUN_MODE, RUN_MODES, SESSION_DEVICE_ID
from .options.kinds import Refused, Wire
from .options.model import problem
from .options.problems import BAD_TYPE, BAD_VALUE, GIVEN_TWICE, UNKNOWN
from .products import Product
from .proto import options_of, strip

#: The keywords that stand for a group of options.
GROUPS: dict[str, type[Dump] | type[Profiling] | type[AcceleratedTraining]] = {
    "dump": Dump,
    "profiling": Profiling,
    "accelerate": AcceleratedTraining,
}


@dataclasses.dataclass(frozen=True)
class SavedConfig:
    """A ConfigProto that can be compared, hashed and pickled.

    Attributes:
        text: its text format, in which maps are sorted; two that say the same are equal.
        content: its serialised form.
    """

    text: str
    content: bytes = dataclasses.field(compare=False)


class Given(typing.NamedTuple):
    """What was given, checked.

    Attributes:
        options: canonical values, sorted by name.
        unchecked: name and field of those among them that are not in the table.
        accelerate: accelerated training with its numbers.
        config: the ConfigProto to extend, without the options; ``None`` for none.
    """

    options: tuple[tuple[str, Wire], ...]
    unchecked: tuple[tuple[str, str], ...]
    accelerate: AcceleratedTraining | None
    config: SavedConfig | None


def gather(
    scene: Scene,
    device: object,
    groups: typing.Mapping[str, object],
    options: typing.Mapping[str, object],
    config: typing.Any,
    extra: typing.Mapping[str, object] | None,
    product: Product | None,
) -> Given:
    """Merge and check everything; warns of what one can live with.

    Raises:
        OptionsError: lists every problem.
    """
    # Command line flags give False for a group that is switched off.
    groups = {keyword: group for keyword, group in groups.items() if group is not None and group is not False}
    strange = [
        _not_a(GROUPS[keyword], keyword, group) for keyword, group in groups.items() if not _is_group(keyword, group)
    ]
    groups = {keyword: group for keyword, group in groups.items() if _is_group(keyword, group)}
    if extra is not None and not isinstance(extra, typing.Mapping):
        allowed = "a mapping of names to values"
        strange.append(problem(BAD_TYPE, "extra_options", "not a mapping", value=extra, allowed=allowed))
        extra = None
    given, problems = _merge(_sources(device, groups, options))
    problems += strange
    if config is not None:
        in_config, report = options_of(config, extra or {})
        given, more = _merge((in_config, given))
        problems += [*report, *more]
    if scene is Scene.INFERENCE:
        given.setdefault(GRAPH_RUN_MODE.name, RUN_MODES[scene])
    canonical, report = check(given, scene=scene, product=product, extra=extra)
    problems += report
    if canonical.get(GRAPH_RUN_MODE.name, RUN_MODES[scene]) != RUN_MODES[scene]:
        problems.append(_other_scene(scene, canonical[GRAPH_RUN_MODE.name]))
    accelerate = AcceleratedTraining.from_options(canonical)
    group = groups.get("accelerate")
    if isinstance(group, AcceleratedTraining):
        numbers, more = read_group(group)
        problems += more
        if accelerate is not None:
            accelerate = dataclasses.replace(numbers, mode=accelerate.mode)
            problems += unread(accelerate)
    report = Report(problems)
    if report:
        raise OptionsError(report)
    if report.warnings:
        text = "\n".join(str(warning) for warning in report.warnings).strip()
        warnings.warn(text, OptionsWarning, stacklevel=stacklevel())
    options_given = tuple(sorted(canonical.items(), key=operator.itemgetter(0)))
    unchecked = tuple((name, field_of(name, value)) for name, value in options_given if name not in TABLE)
    return Given(options_given, unchecked, accelerate, _save(config))


def group_of(keyword: str, mapping: typing.Mapping[str, object]) -> typing.Any:
    """Return the group that a mapping of its arguments stands for.

    Raises:
        OptionsError: the group has no such arguments.
    """
    group = GROUPS[keyword]
    fields = dataclasses.fields(group)
    names = [field.name for field in fields]
    unknown = [
        problem(UNKNOWN, f"{keyword}.{name}", "no such argument", value=value, allowed=", ".join(names))
        for name, value in mapping.items()
        if name not in names
    ]
    if unknown:
        raise OptionsError(unknown)
    # One that must be there is taken for empty, which the check reports with all the rest.
    required: dict[str, typing.Any] = {field.name: "" for field in fields if field.default is dataclasses.MISSING}
    return group(**{**required, **mapping})


def scene_of(scene: object) -> Scene | None:
    """Read a scene, ``None`` for none; raises :class:`OptionsError` for an unknown one."""
    try:
        return None if scene is None else Scene(scene)
    except Exception:
        # An enumeration compares, and the objects of some classes cannot be.
        allowed = " or ".join(known.value for known in Scene)
        raise OptionsError([problem(BAD_VALUE, "scene", "no such scene", value=scene, allowed=allowed)]) from None


def product_of(product: object) -> Product | None:
    """Read a product family, ``None`` for none; raises :class:`OptionsError` for an unknown one."""
    try:
        return None if product is None else Product.of(product)  # type: ignore[arg-type]
    except Exception:
        allowed = "{}, or a SoC version".format(", ".join(known.value for known in Product))
        raise OptionsError([problem(BAD_VALUE, "product", "no such product", value=product, allowed=allowed)]) from None


def _sources(
    device: object, groups: typing.Mapping[str, typing.Any], options: typing.Mapping[str, object]
) -> typing.Iterator[typing.Mapping[str, object]]:
    yield options
    yield {SESSION_DEVICE_ID.name: device}
    for group in groups.values():
        yield group.to_options()


def _is_group(keyword: str, group: object) -> bool:
    return isinstance(group, GROUPS[keyword])


def _not_a(wanted: type, keyword: str, group: object) -> Problem:
    message = f"{shorten(group)} is no {wanted.__name__}"
    return problem(BAD_TYPE, keyword, message, allowed=f"a {wanted.__name__}", fix=f"{keyword}={wanted.__name__}(...)")


def _merge(sources: typing.Iterable[typing.Mapping[str, object]]) -> tuple[dict[str, object], list[Problem]]:
    merged: dict[str, object] = {}
    problems: list[Problem] = []
    for source in sources:
        for name, value in source.items():
            if value is None:
                continue
            if name in merged:
                problems += clash(name, merged[name], value)
            merged[name] = value
    return merged, problems


def clash(name: str, one: object, other: object) -> typing.Iterator[Problem]:
    """Compare two values of an option by what they mean, whatever form they were given in."""
    option = TABLE.get(name)
    if option is None:
        # Unknown names are reported by the check.
        return
    try:
        before = option.kind.parse(one)
    except Refused as refused:
        # The value that counts is checked with all others; this one would go unseen.
        yield problem(BAD_VALUE, option, str(refused), value=one, allowed=option.kind.allowed)
        return
    try:
        after = option.kind.parse(other)
    except Refused:
        return
    if before != after:
        yield problem(GIVEN_TWICE, name, f"given as {before!r} as well", value=other, fix="give it once")


def _other_scene(scene: Scene, mode: Wire) -> Problem:
    other = Scene.INFERENCE if scene is Scene.TRAINING else Scene.TRAINING
    return problem(
        GIVEN_TWICE,
        GRAPH_RUN_MODE,
        f"contradicts NpuSession.for_{scene.value}",
        value=mode,
        fix=f"NpuSession.for_{other.value}(...)",
    )


def _save(config: typing.Any) -> SavedConfig | None:
    if config is None:
        return None
    from google.protobuf import text_format

    stripped = strip(config)
    return SavedConfig(text_format.MessageToString(stripped), stripped.SerializeToString())
