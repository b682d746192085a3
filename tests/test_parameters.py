"""Checking the parameters that somebody else set: in triples, in a ConfigProto, and in anything else."""

import json
import os
import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import HOSTILE, any_text, anything, attempt, contained

from npusession import NpuSession, OptionsError, Report, Severity, check_parameters
from npusession.options import TABLE
from npusession.options.experimental import ACCELERATE

DATA = pathlib.Path(__file__).parent / "data"


def codes(params, **keywords):
    return [problem.code for problem in check_parameters(params, **keywords)]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The words for paths in the measured cases, and paths that are really there."""
    folder = tmp_path_factory.mktemp("paths")
    (folder / "file").write_text("")
    return {"{existing_dir}": str(folder), "{a_file}": str(folder / "file")}


def cases(name):
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def filled(case, paths):
    for name, field, value in case["params"]:
        for word, path in paths.items():
            value = value.replace(word, path) if isinstance(value, str) else value
        yield name, None if field == "none" else field, value


@pytest.mark.parametrize("name", ["options", "fields", "real"])
def test_nothing_bad_passes(name, paths):
    """No case that the runtime was seen to refuse or die of passes; where it took one, a refusal names its rule."""
    for case in cases(name):
        report = check_parameters(filled(case, paths))
        assert report or case["runtime"] == "ok", case
        assert all(problem.rule.title and problem.rule.source and problem.why for problem in report)


def test_accelerated_training_as_measured():
    """A mode, a precision mode and an environment that made the first run fail are refused."""
    for case in cases("accelerate"):
        params = [(ACCELERATE.name, "s", case["mode"])]
        params += [(name, "s", case[name]) for name in ("precision_mode", "precision_mode_v2") if case.get(name)]
        report = check_parameters(params, environ=case["env"])
        assert report or case["runtime"]["outcome"] == "ok", case


@pytest.mark.parametrize(
    ("mode", "environ", "expected"),
    [
        ("fast|step", {"TOTAL_STEP": "100 ", "STEP_NOW": " 0"}, []),
        ("fast|step", {"TOTAL_STEP": "+100", "STEP_NOW": "0"}, ["NPU403"]),
        ("fast|loss", {"TARGET_LOSS": "3.0", "LOSS_NOW": " 7e0 "}, []),
        ("fast|loss", {"TARGET_LOSS": "3.0", "LOSS_NOW": "7 at first"}, ["NPU403"]),
        ("fast|step", None, []),
    ],
)
def test_numbers_in_the_environment(mode, environ, expected):
    """Numbers are read as the runtime reads them, and asked for only where an environment is given."""
    assert codes([(ACCELERATE.name, "s", mode)], environ=environ) == expected


def test_paths_are_looked_at(tmp_path):
    """Paths have to be there, unless the parameters are for another host."""
    params = [("enable_dump", "b", True), ("dump_path", "s", str(tmp_path / "absent"))]
    assert codes(params) == ["NPU113"]
    assert codes(params, host=False) == []
    os.mkdir(params[1][2])
    assert codes(params) == []


def test_side_files_are_read(tmp_path):
    """A side file that is there is read and checked."""
    path = tmp_path / "mixlist.json"
    path.write_text('{"black-list": {"to-add": ["Cast"]}, "white-list": {"to-add": ["Cast"]}}')
    params = [("precision_mode_v2", "s", "mixed_float16"), ("modify_mixlist", "s", str(path))]
    (problem,) = check_parameters(params)
    assert problem.option.startswith("modify_mixlist[")
    assert str(path) in problem.message


def test_given_twice():
    """A parameter that is there twice is reported when its values differ."""
    assert codes([("deterministic", "i", 1), ("deterministic", "i", 1)]) == []
    assert codes([("deterministic", "i", 1), ("deterministic", "i", 0)]) == ["NPU107"]


def test_scene_of_the_parameters():
    """Parameters that are for inference are checked as such, whatever the scene says."""
    params = [("graph_run_mode", "i", 0), ("iterations_per_loop", "i", 10)]
    assert "NPU109" in codes(params, scene="training")


def test_config(tf1):
    """A ConfigProto is checked with everything that stands around its parameters."""
    config = NpuSession.for_training(deterministic=1).config_proto()
    assert codes(config) == []
    config.graph_options.rewrite_options.remapping = 1
    assert codes(config) == ["NPU303"]
    assert codes(tf1.ConfigProto()) == []


@pytest.mark.parametrize(
    "params",
    [
        None,
        5,
        "deterministic",
        b"x",
        {"deterministic": 1},
        [("deterministic",)],
        [("deterministic", "i")],
        [None],
        [[]],
    ],
    ids=repr,
)
def test_no_parameters(params):
    """What are no parameters is reported as such."""
    assert check_parameters(params)


@pytest.mark.parametrize(
    "keywords",
    [{"scene": "both"}, {"product": "gpu"}, {"product": 5}, {"scene": []}, {"environ": 5}, {"environ": {"RANK_ID": 0}}],
    ids=repr,
)
def test_no_such_setting(keywords):
    """A scene, product or environment that there is not is an OptionsError."""
    with pytest.raises(OptionsError):
        check_parameters([], **keywords)


_names = st.one_of(st.sampled_from(sorted(TABLE)), any_text, anything)
_fields = st.one_of(st.sampled_from(["b", "i", "s", "f", None]), anything)
_triples = st.one_of(st.tuples(_names, _fields, anything), st.tuples(_names, _fields), anything)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(_triples, max_size=4), anything), st.sampled_from(["training", "inference"]))
def test_anything(params, scene):
    """Whatever is handed in, a report comes back that can be printed."""
    report = check_parameters(params, scene=scene, environ={})
    assert isinstance(report, Report)
    assert all(str(problem) for problem in report)


@settings(max_examples=100, deadline=None)
@given(anything, anything, anything)
def test_any_setting(scene, product, environ):
    """Whatever the keywords are, a report comes back, or an OptionsError."""
    assert str(attempt(check_parameters, [], scene=scene, product=product, environ=environ))


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile(name):
    """Objects whose methods raise are reported in every place."""
    for value in contained(HOSTILE[name]()):
        params = [("deterministic", "i", value), ("deterministic", value, 1), (value, "i", 1), value]
        params += [("deterministic", HOSTILE["text"](field), 1) for field in ("i", "s", "")]
        report = check_parameters(params)
        assert report
        assert {problem.severity for problem in report} == {Severity.ERROR}
        assert str(list(report))
