"""What the real runtime was seen to do with thousands of option sets, against the emulation and the checks."""

import json
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npusession import Scene, proto
from npusession.backends.fake import verdicts
from npusession.options import RULES, TABLE, check
from npusession.options.basic import GRAPH_RUN_MODE, RUN_MODES
from npusession.proto import field_problem

DATA = pathlib.Path(__file__).parent / "data"
KNOWN_CODES = {*RULES, *(rule.code for rule in proto.RULES)}


def read(name):
    """Return the cases of a file whose every option is in the table."""
    cases = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [case for case in cases if all(option in TABLE for option, _, _ in case["params"])]


CASES = {name: read(name) for name in ("options", "fields", "real")}
each_file = pytest.mark.parametrize("cases", list(CASES.values()), ids=list(CASES))


@pytest.fixture
def params(tmp_path):
    """A function that returns the parameters of a case, with paths that are really there."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("")

    def fill(value):
        if not isinstance(value, str):
            return value
        value = value.replace("{existing_dir}", str(tmp_path / "directory"))
        return value.replace("{a_file}", str(tmp_path / "file"))

    return lambda case: [
        (name, None if field == "none" else field, fill(value)) for name, field, value in case["params"]
    ]


#: Every entry that stands in the measured cases.
ENTRIES = [tuple(entry) for cases in CASES.values() for case in cases for entry in case["params"]]


def verdict(params):
    """Return what the emulation makes of parameters, in the measurement's words."""
    try:
        verdicts.judge({name: (field, value) for name, field, value in params})
    except verdicts.Rejected:
        return "error"
    except verdicts.Aborted:
        return "abort"
    return "ok"


def errors(params, scene, host=True):
    """Return the errors that are found before the runtime sees the parameters."""
    by_field = [field_problem(name, field, value) for name, field, value in params]
    _, report = check({name: value for name, _, value in params}, scene=scene, host=host)
    return [problem for problem in by_field if problem is not None] + list(report.errors)


def intended(params):
    """Return the scene that parameters are meant for."""
    modes = [value for name, _, value in params if name == GRAPH_RUN_MODE.name]
    return Scene.INFERENCE if modes == [RUN_MODES[Scene.INFERENCE]] else Scene.TRAINING


@each_file
def test_every_outcome_is_there(cases):
    """The measured cases that the table covers are many, and of more than one kind."""
    assert len(cases) > 10
    assert cases is CASES["real"] or {case["runtime"] for case in cases} >= {"ok", "error", "abort"}


@each_file
def test_emulated_verdicts(cases, params):
    """The emulation takes, refuses and dies of options exactly as the runtime does."""
    wrong = [(case, verdict(params(case))) for case in cases if verdict(params(case)) != case["runtime"]]
    assert wrong == []


@given(st.lists(st.sampled_from(ENTRIES), max_size=12))
def test_any_set_has_a_verdict(entries):
    """However options come together, the emulation takes, refuses or dies of them, and nothing else."""
    assert verdict(entries) in {"ok", "error", "abort"}


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        ("-5", True),
        ("5-", True),
        ("0|5|", True),
        ("|5", False),
        ("5--6", False),
        ("007-008", True),
        # Larger numbers wrap in 32 bits, and end at the largest of 64.
        ("1-4294967296", False),
        ("4294967296-1", True),
        pytest.param("9" * 5000 + "-0", True, id="very long"),
    ],
)
def test_steps_as_the_runtime_reads_them(steps, taken, tmp_path):
    """Steps are read number by number, by rules that are laxer than the reference's."""
    params = [("enable_dump", "b", True), ("dump_path", "s", str(tmp_path)), ("dump_step", "s", steps)]
    assert verdict(params) == ("ok" if taken else "error")


@pytest.mark.parametrize(
    ("shapes", "dims", "expected"),
    [
        ("a/b c:0:-1,4;", "1;2;", "ok"),
        ("x:-2", "0", "ok"),
        (":1", "1", "abort"),
        ("x:1,", "1", "abort"),
        ("x: 1", "1", "abort"),
        ("x:-", "1", "abort"),
        ("x:1;;y:1", "1", "abort"),
        ("x:1", "-1", "abort"),
        ("x:1", "1\n", "abort"),
        ("x:1", "\u0661", "abort"),
    ],
)
def test_gears_as_the_runtime_reads_them(shapes, dims, expected):
    """Shapes and gears are only looked at one by one."""
    params = [("input_shape", "s", shapes), ("dynamic_dims", "s", dims), ("dynamic_node_type", "i", 1)]
    assert verdict(params) == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ([("job", "s", "ps"), ("jit_compile", "s", "on")], "ok"),
        ([("job", "s", "ps"), ("local_rank_id", "i", 8)], "abort"),
        ([("job", "s", "worker"), ("jit_compile", "s", "on")], "error"),
        ([("op_select_implmode", "s", "high_precision_for_all")], "ok"),
        ([("enable_compress_weight", "b", False), ("compress_weight_conf", "s", "")], "abort"),
    ],
)
def test_beyond_the_measured_cases(params, expected):
    """What the runtime is known to do besides."""
    assert verdict(params) == expected


@pytest.mark.parametrize(("mode", "given", "expected"), [("3", [], "error"), ("2", [], "ok"), ("3", ["2"], "ok")])
def test_mode_of_tuning_from_the_environment(mode, given, expected, monkeypatch, tmp_path):
    """The environment counts when the option is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AOE_MODE", mode)
    assert verdict([("aoe_mode", "s", value) for value in given]) == expected


def test_links_are_no_directories(tmp_path):
    """A symbolic link is refused, and so is a path that no file system can name."""
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (str(tmp_path / "link"), "\ud800", ""):
        assert verdict([("aoe_mode", "s", "2"), ("work_path", "s", path)]) == "abort"


@each_file
@pytest.mark.parametrize("scene", list(Scene), ids=lambda scene: scene.value)
def test_nothing_bad_passes(cases, scene, params):
    """Options that the runtime refuses or dies of are refused before it sees them, whatever the session is for."""
    passed = [case for case in cases if case["runtime"] != "ok" and not errors(params(case), scene)]
    assert passed == []


@each_file
def test_refusals_are_documented(cases, params):
    """Options that the runtime would take are refused only under a rule that has a code and a reason."""
    for case in cases:
        if case["runtime"] == "ok":
            for problem in errors(params(case), intended(params(case))):
                assert problem.code in KNOWN_CODES, case
                assert problem.rule.title, case
                assert problem.why, case


def test_published_options_pass(params):
    """Nearly all that published scripts give is taken as it stands, and nothing is refused for being deprecated."""
    # On another host, since the files of these scripts are not here.
    found = [errors(params(case), intended(params(case)), host=False) for case in CASES["real"]]
    assert found.count([]) >= 0.8 * len(found)
    assert {problem.code for problems in found for problem in problems}.isdisjoint({"NPU108", "NPU112"})


def test_good_sets_pass(params):
    """Refusing everything is no check: of the sets that the runtime takes a good part passes."""
    good = [case for case in CASES["options"] if case["runtime"] == "ok"]
    passed = [case for case in good if not errors(params(case), intended(params(case)))]
    assert len(passed) > len(good) / 3
