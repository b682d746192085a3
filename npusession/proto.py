"""Options to ConfigProto and back.

Options travel in ``graph_options.rewrite_options.custom_optimizers``, in the entry named ``NpuOptimizer``, in its
``parameter_map``. Beside it the reference asks that ``remapping`` and ``memory_optimization`` be OFF.
"""

from __future__ import annotations

import typing

from ._tensorflow import tf1
from .errors import OptionsError
from .options import OPTIMIZER_NAME, TABLE, Problem, Report, unknown_name
from .options.kinds import Wire
from .options.model import problem
from .options.problems import GIVEN_TWICE, UNCHECKED, WRONG_FIELD, Page, Rule

DUPLICATE = Rule(
    "NPU301", "duplicate-optimizer", "Two NpuOptimizer entries bypass the runtime's checks.", source=Page.RUNTIME.value
)
UNNAMED = Rule("NPU302", "optimizer-name", "The custom optimizer that carries the options is named NpuOptimizer.")
NOT_OFF = {
    "remapping": Rule("NPU303", "remapping-not-off", "The NPU needs rewrite_options.remapping OFF."),
    "memory_optimization": Rule(
        "NPU304", "memory-optimization-not-off", "The NPU needs rewrite_options.memory_optimization OFF."
    ),
}
REWRITER = Rule("NPU305", "rewriter-setting", "The NPU needs TensorFlow's other graph optimisers as they are.")
NOT_A_CONFIG = Rule("NPU306", "bad-config", "A configuration is a ConfigProto.")
RULES = (DUPLICATE, UNNAMED, *NOT_OFF.values(), REWRITER, NOT_A_CONFIG)

#: Passes of the rewriter that must not be turned off.
KEPT_PASSES = (
    "function_optimization", "constant_folding", "shape_optimization", "arithmetic_optimization",
    "loop_optimization", "dependency_optimization", "layout_optimizer",
)  # fmt: skip
#: How to come to one NpuOptimizer entry.
_ONE_ENTRY = "keep one of them; NPUEstimator adds one to the session_config of its NPURunConfig, each time it gets it"
#: RewriterConfig.OFF. The reference assigns it to memory_optimization too, whose own enum calls that number MANUAL.
_OFF = 2
#: What a caller may have there already: nothing, NO_MEM_OPT, or OFF.
_OFF_ENOUGH = {"remapping": (0, _OFF), "memory_optimization": (0, 1, _OFF)}
_FIELDS = {bool: "b", int: "i", str: "s"}
#: How a value is written in each field, for messages.
_EXAMPLES = {"b": "True", "i": "1", "s": 'tf.compat.as_bytes("...")'}


def build(options: typing.Mapping[str, Wire], base: typing.Any = None) -> typing.Any:
    """Return a new ConfigProto that carries ``options``.

    Args:
        options: canonical option values by name.
        base: a ConfigProto to extend; it is copied, and everything in it stays, including options in an
            NpuOptimizer entry of its own.

    Raises:
        OptionsError: ``base`` is not a ConfigProto, or contradicts the options or the runtime's needs.
        ValueError: an option is a side file that was not written yet.
    """
    report = check_config(base)
    if report:
        raise OptionsError(report)
    config = tf1().ConfigProto()
    if base is not None:
        config.CopyFrom(base)
    rewrite = config.graph_options.rewrite_options
    entry = _entry(config)
    if entry is None:
        entry = rewrite.custom_optimizers.add()
        entry.name = OPTIMIZER_NAME
    clashes = []
    unwritten = []
    parameters = entry.parameter_map
    there = {name: value_of(attr) for name, attr in parameters.items()}
    for name, value in options.items():
        # Canonical values have the type of the field that their option travels in.
        field = _FIELDS.get(type(value))
        if field is None:
            unwritten.append(name)
        elif there and there.get(name, (field, value)) != (field, value):
            message = f"the ConfigProto has {there[name][1]!r}"
            clashes.append(problem(GIVEN_TWICE, name, message, value=value, fix="give it once"))
        else:
            setattr(parameters[name], field, value.encode("utf-8") if isinstance(value, str) else value)
    if unwritten:
        raise ValueError(
            "{} has no file yet: open the session, which writes it, or call its write(path) and give the path".format(
                " and ".join(unwritten)
            )
        )
    if clashes:
        raise OptionsError(clashes)
    rewrite.remapping = _OFF
    rewrite.memory_optimization = _OFF
    return config


def options_of(config: typing.Any, unchecked: typing.Container[str] = ()) -> tuple[dict[str, Wire], Report]:
    """Read the options out of a ConfigProto, strict about fields.

    Args:
        config: the ConfigProto.
        unchecked: names that are passed over, since they are given as options newer than the table.

    Returns:
        The values as they stand in ``parameter_map``, by name, and what is wrong with their names and fields.
        Values themselves are not checked here.
    """
    problems = list(check_config(config))
    if config is None:
        problems.append(problem(NOT_A_CONFIG, "config", "missing", allowed="a tf.compat.v1.ConfigProto"))
    options: dict[str, Wire] = {}
    for name, field, value in [] if problems else parameters_of(config):
        if name in unchecked and name not in TABLE:
            continue
        found = field_problem(name, field, value)
        if found is not None:
            problems.append(found)
        if value is not None and (found is None or found.rule is UNCHECKED):
            options[name] = value
    return options, Report(problems)


def parameters_of(config: typing.Any) -> list[tuple[str, str | None, Wire | None]]:
    """Return name, field and value of every parameter of a ConfigProto's NpuOptimizer entry, sorted by name."""
    entry = _entry(config)
    if entry is None:
        return []
    return [(name, *value_of(entry.parameter_map[name])) for name in sorted(entry.parameter_map)]


def strip(config: typing.Any) -> typing.Any:
    """Return a copy of a ConfigProto whose NpuOptimizer entry carries no options any more."""
    copy = tf1().ConfigProto()
    copy.CopyFrom(config)
    entry = _entry(copy)
    if entry is not None:
        entry.parameter_map.clear()
    return copy


def field_problem(name: str, field: str | None, value: object) -> Problem | None:
    """Return what is wrong with the name of an option or the field that it was set through, or ``None``."""
    option = TABLE.get(name)
    if option is None:
        return unknown_name(name, value)
    if field == option.field:
        return None
    return problem(
        WRONG_FIELD,
        option,
        "set through .{}, where the runtime reads .{} and finds nothing".format(field or "(no field)", option.field),
        value=value,
        fix=f'parameter_map["{name}"].{option.field} = {_EXAMPLES[option.field]}',
    )


def check_config(config: typing.Any) -> Report:
    """Check everything of a ConfigProto but the options in it; ``None`` is fine."""
    if config is None:
        return Report()
    if not isinstance(config, tf1().ConfigProto):
        kind = type(config).__name__
        return Report(
            [problem(NOT_A_CONFIG, "config", f"a {kind}", value=config, allowed="a tf.compat.v1.ConfigProto")]
        )
    rewrite = config.graph_options.rewrite_options
    problems = []
    names = [entry.name for entry in rewrite.custom_optimizers]
    if names.count(OPTIMIZER_NAME) > 1:
        problems.append(problem(DUPLICATE, OPTIMIZER_NAME, f"{names.count(OPTIMIZER_NAME)} entries", fix=_ONE_ENTRY))
    for entry in rewrite.custom_optimizers:
        if entry.name != OPTIMIZER_NAME and any(name in TABLE for name in entry.parameter_map):
            problems.append(
                problem(
                    UNNAMED, "custom_optimizers", "an entry with NPU options has another name", value=entry.name,
                    allowed=OPTIMIZER_NAME, fix=f'custom_op.name = "{OPTIMIZER_NAME}"',
                )
            )  # fmt: skip
    for field, off_enough in _OFF_ENOUGH.items():
        if getattr(rewrite, field) not in off_enough:
            problems.append(
                problem(
                    NOT_OFF[field], "rewrite_options." + field, "turned on", value=getattr(rewrite, field),
                    allowed="RewriterConfig.OFF", fix="leave it out; it is switched off for you",
                )
            )  # fmt: skip
    for field in KEPT_PASSES:
        if getattr(rewrite, field) == _OFF:
            problems.append(
                problem(REWRITER, "rewrite_options." + field, "turned off", value=_OFF, fix="leave it at its default")
            )
    if rewrite.disable_model_pruning:
        problems.append(
            problem(REWRITER, "rewrite_options.disable_model_pruning", "on", value=True, fix="leave it at its default")
        )
    return Report(problems)


def unset(config: typing.Any) -> list[str]:
    """Return the rewriter's settings that the NPU needs OFF, and that a ConfigProto leaves at their default."""
    rewrite = config.graph_options.rewrite_options
    return [field for field in NOT_OFF if not getattr(rewrite, field)]


def _entry(config: typing.Any) -> typing.Any:
    for entry in config.graph_options.rewrite_options.custom_optimizers:
        if entry.name == OPTIMIZER_NAME:
            return entry
    return None


def value_of(attr: typing.Any) -> tuple[str | None, Wire | None]:
    """Return the field that an AttrValue has set, and its value; text is decoded."""
    field = attr.WhichOneof("value")
    if field is None:
        return None, None
    value = getattr(attr, field)
    if field == "s":
        return field, value.decode("utf-8", "surrogateescape")
    return field, value if isinstance(value, (bool, int)) else str(value)
