"""The check of a set of options: every rule, unknown names, text from flags, and several problems at once."""

import pathlib
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import HOSTILE, any_text, anything, contained

from npusession import OptionsError, Problem, Product, Severity
from npusession.options import RULES, TABLE, AcceleratedTraining, Scene, check
from npusession.options.kinds import PathIs
from npusession.options.problems import BASE_RULES
from npusession.options.table import suggest
from npusession.proto import field_problem

NOWHERE = "/no/such/directory"


def problems(scene=Scene.TRAINING, product=None, environ=None, extra=None, host=False, **options):
    """Return what the check finds."""
    return check(options, scene=scene, product=product, environ=environ, extra=extra, host=host)[1]


def inference(**options):
    return problems(scene=Scene.INFERENCE, **options)


def field(name, through, value):
    found = field_problem(name, through, value)
    return [] if found is None else [found]


def profiled(**keys):
    return problems(profiling_mode=True, profiling_options=keys)


FAST = "fast|step|0.9"
#: For each rule what breaks it, and the nearest thing that keeps it.
EXAMPLES = {
    "NPU101": (lambda: problems(precision_mod="origin"), lambda: problems(precision_mode_v2="origin")),
    "NPU102": (lambda: problems(master_slave_switch=True), lambda: problems(use_off_line=True)),
    "NPU103": (
        lambda: problems(enable_auto_mix_precision=True),
        lambda: problems(precision_mode="allow_mix_precision"),
    ),
    "NPU104": (lambda: field("precision_mode", "b", True), lambda: field("precision_mode", "s", "force_fp32")),
    "NPU105": (lambda: problems(dump_mode="both"), lambda: problems(dump_mode="all")),
    "NPU106": (lambda: problems(iterations_per_loop=8.0), lambda: problems(iterations_per_loop=8)),
    "NPU107": (
        lambda: problems(deterministic=1, extra={"deterministic": 0}),
        lambda: problems(deterministic=1, extra={"deterministic": None}),
    ),
    "NPU108": (lambda: problems(op_debug_level=3), lambda: problems(enable_exception_dump=1)),
    "NPU109": (lambda: inference(iterations_per_loop=8), lambda: problems(iterations_per_loop=8)),
    "NPU110": (
        lambda: problems(product=Product.ATLAS_TRAINING, precision_mode="allow_fp32_to_bf16"),
        lambda: problems(product=Product.ATLAS_A2, precision_mode="allow_fp32_to_bf16"),
    ),
    "NPU111": (
        lambda: problems(training_trace="on"),
        lambda: problems(profiling_mode=True, profiling_options='{"training_trace": "on"}'),
    ),
    "NPU112": (lambda: problems(extra={"newer_than_this": 1}), lambda: problems(extra={})),
    "NPU113": (
        lambda: problems(host=True, enable_dump=True, dump_path=NOWHERE),
        lambda: problems(host=True, enable_dump=False, dump_path=NOWHERE),
    ),
    "NPU114": (
        lambda: problems(host=True, fusion_switch_file=__file__),
        lambda: problems(host=False, fusion_switch_file=__file__),
    ),
    "NPU201": (
        lambda: problems(precision_mode="force_fp32", precision_mode_v2="origin"),
        lambda: problems(precision_mode="force_fp32", precision_mode_v2=None),
    ),
    "NPU202": (
        lambda: problems(optypelist_for_implmode="Pooling"),
        lambda: problems(optypelist_for_implmode="Pooling", op_select_implmode="high_precision"),
    ),
    "NPU203": (lambda: problems(enable_dump=True), lambda: problems(enable_dump=True, dump_path="/data")),
    "NPU204": (
        lambda: problems(enable_dump=True, enable_dump_debug=True, dump_path="/data"),
        lambda: problems(enable_dump=False, enable_dump_debug=True, dump_path="/data"),
    ),
    "NPU205": (
        lambda: problems(profiling_mode=False, profiling_options='{"task_time": "l1"}'),
        lambda: problems(profiling_mode=True, profiling_options='{"task_time": "l1"}'),
    ),
    "NPU206": (
        lambda: problems(profiling_mode=True),
        lambda: problems(profiling_mode=True, environ={"PROFILING_OPTIONS": "{}"}),
    ),
    "NPU207": (
        lambda: profiled(instr_profiling_freq=300, aicpu=True),
        lambda: profiled(instr_profiling_freq=300, aicpu=False),
    ),
    "NPU208": (
        lambda: profiled(task_trace="on"),
        lambda: profiled(task_trace="on", training_trace="on"),
    ),
    "NPU209": (
        lambda: problems(experimental_accelerate_train_mode=FAST, precision_mode_v2="mixed_float16"),
        lambda: problems(experimental_accelerate_train_mode=FAST, precision_mode_v2="origin"),
    ),
    "NPU401": (
        lambda: problems(environ={"ASCEND_DEVICE_ID": "-1"}),
        lambda: problems(environ={"ASCEND_DEVICE_ID": "1"}),
    ),
    "NPU402": (
        lambda: problems(session_device_id=3, environ={"DEVICE_ID": "0"}),
        lambda: problems(session_device_id=3, environ={"DEVICE_ID": "3"}),
    ),
    "NPU403": (
        lambda: AcceleratedTraining(FAST).missing({"STEP_NOW": "0"}),
        lambda: AcceleratedTraining(FAST).missing({"STEP_NOW": "0", "TOTAL_STEP": "100"}),
    ),
}


def test_every_rule_has_an_example():
    """There is no rule that nobody can break: those of single options are broken here, the rest somewhere."""
    assert {rule.code for rule in BASE_RULES} <= set(EXAMPLES) <= set(RULES)
    tests = "".join(path.read_text("utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    assert [code for code in RULES if f'"{code}"' not in tests] == []


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_rule_broken(code):
    """Breaking a rule is reported under the rule's code, with all that is needed to put it right."""
    found = [problem for problem in EXAMPLES[code][0]() if problem.code == code]
    assert found
    for problem in found:
        assert problem.rule is RULES[code]
        assert problem.slug == RULES[code].slug
        assert problem.option
        assert problem.message
        assert problem.why
        assert problem.fix or problem.allowed or code in ("NPU112", "NPU114")
        assert code in str(problem)


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_rule_kept(code):
    """The nearest thing that is right passes."""
    found = list(EXAMPLES[code][1]())
    assert code not in [problem.code for problem in found]
    assert [problem for problem in found if problem.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("precision_mod", "precision_mode"),
        ("sump_mode", "dump_mode"),
        ("enable_dumps", "enable_dump"),
        ("Dump-Path", "dump_path"),
        (" dump_path", "dump_path"),
        ("GRAPH_RUN_MODE", "graph_run_mode"),
        ("graph_runmode", "graph_run_mode"),
        ("iteration_per_loop", "iterations_per_loop"),
        ("experimental_accelerate_training_mode", "experimental_accelerate_train_mode"),
    ],
)
def test_misspelt_names(name, meant):
    """A misspelt option names the one that was meant."""
    (problem,) = problems(**{name: "x"})
    assert problem.code == "NPU101"
    assert problem.option == name
    assert f"did you mean {meant}?" in problem.message
    assert meant in problem.fix


@pytest.mark.parametrize("name", ["", "x", "learning_rate", "数据", "\ud800", "a" * 10000])
def test_unknown_names(name):
    """A name that is near none is unknown, and the way to pass it on is shown."""
    (problem,) = problems(**{name: 1})
    assert problem.code == "NPU102"
    assert problem.severity is Severity.ERROR
    assert "extra_options" in problem.fix


@pytest.mark.parametrize("name", [5, None, b"dump_path", ("dump_path",), 1.5, object()])
def test_names_that_are_no_text(name):
    """A name that is no text is reported like any other unknown name."""
    _, (problem,) = check({name: 1}, scene=Scene.TRAINING)
    assert problem.code == "NPU102"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_names_are_not_misspelt(name):
    """A name of the table is taken for nothing else."""
    assert suggest(name) == name
    assert not {problem.code for problem in problems(**{name: "?"})} & {"NPU101", "NPU102", "NPU111"}


@pytest.mark.parametrize(
    ("name", "text", "canonical"),
    [
        ("use_off_line", "True", True),
        ("use_off_line", "on", True),
        ("enable_dump", "false", False),
        ("enable_dump", "0", False),
        ("deterministic", "1", 1),
        ("deterministic", "on", 1),
        ("iterations_per_loop", "8", 8),
        ("session_device_id", "7", 7),
        ("op_debug_level", "4", 4),
        ("dump_mode", "all", "all"),
        ("dump_step", 5, "5"),
        ("precision_mode_v2", b"origin", "origin"),
        ("optypelist_for_implmode", ["Pooling", "LRN"], "Pooling,LRN"),
        ("dump_layer", ["conv1", "conv2"], "conv1 conv2"),
    ],
)
def test_text_from_flags(name, text, canonical):
    """The text of a command line flag means what the value means."""
    read, _ = check({name: text}, scene=Scene.TRAINING)
    assert read == {name: canonical}
    assert type(read[name]) is type(canonical)


@pytest.mark.parametrize("name", [*sorted(TABLE), "no_such_option"])
def test_none_is_not_given(name):
    """None means not given, for any option."""
    read, report = check({name: None}, scene=Scene.TRAINING, extra={"newer": None})
    assert read == {}
    assert list(report) == []


def test_problems_are_reported_together():
    """One check lists all that is wrong, errors before warnings."""
    read, report = check(
        {"op_debug_level": 3, "precision_mod": "origin", "dump_mode": "both", "enable_dump": True, "dump_step": 1.5},
        scene=Scene.TRAINING,
        environ={"DEVICE_ID": "first"},
    )
    assert [problem.code for problem in report] == ["NPU101", "NPU105", "NPU106", "NPU401", "NPU203", "NPU108"]
    assert report
    assert len(report.errors) == 5
    assert [problem.option for problem in report.warnings] == ["op_debug_level"]
    assert read == {"op_debug_level": 3, "enable_dump": True}


def test_warnings_alone_pass():
    """A report with nothing but warnings counts as clean."""
    report = problems(op_debug_level=3)
    assert len(report) == 1
    assert not report


def test_problem_in_words():
    """A problem tells the option, the value, what is allowed, why, and what to write."""
    (problem,) = problems(dump_mode="ouput")
    lines = str(problem).splitlines()
    assert lines[0] == "  NPU105 dump_mode = 'ouput': not one of the allowed values"
    assert [line.split()[0] for line in lines[1:]] == ["allowed:", "why:", "fix:"]
    assert "input, output, all" in lines[1]
    assert "session configuration reference, section 精度比对" in lines[2]
    assert "dump_mode='output'" in lines[3]


def test_long_values_are_cut():
    """A very long value does not bury the message."""
    (problem,) = problems(dump_mode="x" * 10**6)
    assert len(str(problem)) < 1000


def test_error_lists_problems():
    """An OptionsError holds every problem, and survives the way between processes."""
    report = problems(dump_mode="both", dump_step="x")
    error = pickle.loads(pickle.dumps(OptionsError(report.errors)))
    assert isinstance(error, ValueError)
    assert error.problems == report.errors
    assert str(error).startswith("2 problems in the session options:\n  NPU105 dump_mode")
    assert str(OptionsError(report[:1])).startswith("1 problem in")


def test_report_is_a_sequence():
    """A report can be indexed, sliced and counted."""
    report = problems(dump_mode="both", dump_step="x")
    assert isinstance(report[0], Problem)
    assert len(report[:1]) == 1
    assert repr(report) == "Report(NPU105 dump_mode, NPU105 dump_step)"


@pytest.mark.parametrize(
    ("options", "scene"),
    [
        ({"enable_dump_debug": False}, Scene.INFERENCE),
        ({"iterations_per_loop": 1}, Scene.INFERENCE),
        ({"dump_debug_mode": "all"}, Scene.INFERENCE),
        ({"quant_dumpable": "0"}, Scene.TRAINING),
        ({"profiling_mode": True, "profiling_options": {"training_trace": False}}, Scene.INFERENCE),
    ],
)
def test_default_of_the_other_scene(options, scene):
    """Setting an option of the other scene to what it is anyway does no harm."""
    assert not problems(scene=scene, **options)


@pytest.mark.parametrize(
    ("options", "scene"),
    [
        ({"enable_dump_debug": True, "dump_path": "/data"}, Scene.INFERENCE),
        ({"dump_step": "1"}, Scene.INFERENCE),
        ({"experimental_accelerate_train_mode": FAST}, Scene.INFERENCE),
        ({"quant_dumpable": "1"}, Scene.TRAINING),
        ({"profiling_mode": True, "profiling_options": {"training_trace": "on"}}, Scene.INFERENCE),
    ],
)
def test_wrong_scene(options, scene):
    """An option that the reference keeps to the other scene is refused."""
    assert "NPU109" in [problem.code for problem in problems(scene=scene, **options).errors]


def test_value_of_the_other_scene():
    """A value that the reference keeps to online inference is reported in a training."""
    assert "NPU109" in [problem.code for problem in problems(precision_mode="force_fp16")]
    assert not inference(precision_mode="force_fp16")


@pytest.mark.parametrize(
    ("options", "product", "severity"),
    [
        ({"precision_mode_v2": "mixed_bfloat16"}, Product.ATLAS_TRAINING, Severity.ERROR),
        ({"precision_mode_v2": "mixed_bfloat16"}, None, Severity.WARNING),
        ({"precision_mode_v2": "mixed_bfloat16"}, Product.ATLAS_A2, None),
        ({"precision_mode_v2": "cube_hif8"}, Product.ATLAS_A3, Severity.ERROR),
        ({"precision_mode_v2": "cube_hif8"}, Product.ATLAS_350, None),
        ({"dump_debug_mode": "atomic_overflow"}, Product.ATLAS_A2, Severity.ERROR),
        ({"dump_debug_mode": "atomic_overflow"}, Product.ATLAS_TRAINING, None),
        ({"dump_debug_mode": "all"}, None, None),
    ],
)
def test_products(options, product, severity):
    """What the product at hand lacks is an error; with no product named it is a warning."""
    found = [problem.severity for problem in problems(product=product, **options) if problem.code == "NPU110"]
    assert found == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("environ", "device", "codes"),
    [
        ({}, 3, []),
        ({"DEVICE_ID": "3"}, None, []),
        ({"DEVICE_ID": "03"}, 3, []),
        ({"ASCEND_DEVICE_ID": "3", "DEVICE_ID": "0"}, 3, []),
        ({"ASCEND_DEVICE_ID": "0", "DEVICE_ID": "3"}, 3, ["NPU402"]),
        ({"ASCEND_DEVICE_ID": "", "DEVICE_ID": "3"}, 3, []),
        ({"DEVICE_ID": "1.0"}, None, ["NPU401"]),
        ({"DEVICE_ID": "４"}, 4, ["NPU401"]),
        ({"DEVICE_ID": "9" * 30}, None, ["NPU401"]),
    ],
)
def test_device_in_the_environment(environ, device, codes):
    """The device that the environment names must be one, and the one that the session asks for."""
    assert [problem.code for problem in problems(environ=environ, session_device_id=device)] == codes


@pytest.mark.parametrize("switch", ["enable_dump", "enable_dump_debug"])
def test_dump_path_on_the_host(switch, tmp_path):
    """When a session opens, a dump directory that is not there is an error that shows how to make it."""
    assert not problems(host=True, dump_path=str(tmp_path), **{switch: True})
    missing = str(tmp_path / "missing")
    (problem,) = problems(host=True, dump_path=missing, **{switch: True})
    assert (problem.code, problem.option, problem.message) == ("NPU113", "dump_path", "does not exist")
    assert problem.fix == f"mkdir -p {missing}"
    assert problem.allowed == PathIs.DIRECTORY.value
    assert not problems(dump_path=missing, **{switch: True})


def test_extra_options():
    """An option that is newer than the table is passed on in the field of its type, with a warning."""
    read, report = check({}, scene=Scene.TRAINING, extra={"newer": 8, "newest": b"x", "brand_new": True})
    assert read == {"newer": 8, "newest": "x", "brand_new": True}
    assert [problem.code for problem in report.warnings] == ["NPU112"] * 3
    assert not report.errors


@pytest.mark.parametrize("value", [1.5, [], {}, object(), b"\xff", "\ud800", "a\0", 2**63, -(2**63) - 1])
def test_extra_options_that_fit_no_field(value):
    """A value that no field of AttrValue can carry is an error, not an option that gets lost."""
    _, report = check({}, scene=Scene.TRAINING, extra={"newer": value})
    assert [problem.option for problem in report.errors] == ["newer"]


@pytest.mark.parametrize("name", [5, ("a",), b"\xff", "\ud800"])
def test_extra_names_that_are_no_text(name):
    """An extra option's name is text that UTF-8 can encode; another one is an error."""
    read, report = check({}, scene=Scene.TRAINING, extra={name: 1})
    assert report.errors
    assert read == {}


@given(
    st.dictionaries(st.one_of(st.sampled_from(sorted(TABLE)), any_text), anything, max_size=4), st.sampled_from(Scene)
)
@example({"profiling_options": '{"output": ' + "[" * 10**5}, Scene.TRAINING)
def test_anything_is_checked(options, scene):
    """Whatever is given is read or reported, never both lost and silent, and the report can be printed."""
    read, report = check(options, scene=scene, host=True)
    for name, value in options.items():
        assert value is None or name in read or name in [problem.option for problem in report.errors]
    for problem in report:
        assert str(problem).encode("utf-8", "surrogatepass")
    if not report.errors:
        again, _ = check(read, scene=scene)
        assert again == read


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_values(name):
    """An object whose methods raise is reported like any wrong value."""
    values = list(contained(HOSTILE[name]()))
    for option in TABLE:
        for value in values:
            _, report = check({option: value}, scene=Scene.TRAINING)
            assert str(report[0]) if report else True


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"nested"}))
def test_hostile_names(name):
    """An object whose methods raise is reported like any unknown name."""
    _, report = check({HOSTILE[name](): 1}, scene=Scene.TRAINING)
    assert [problem.code for problem in report] == ["NPU102"]


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_extra_values(name):
    """An object whose methods raise is reported where it is no value of an extra option."""
    _, report = check({}, scene=Scene.TRAINING, extra={"newer": HOSTILE[name]()})
    assert [problem.option for problem in report] == ["newer"]
