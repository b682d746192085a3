"""What a plan refuses, and what it warns of: contradictions, the other scene, objects of the wrong kind."""

import os
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import HOSTILE, any_text, anything, attempt, contained

from npusession import AcceleratedTraining, Dump, NpuSession, OptionsError, OptionsWarning, Profiling, Scene
from npusession.options import TABLE

MODE = "experimental_accelerate_train_mode"
#: The keywords of for_training that are no options.
KEYWORDS = (
    "cls",
    "dump",
    "profiling",
    "accelerate",
    "config",
    "graph",
    "target",
    "backend",
    "product",
    "extra_options",
)


def problems(make, *arguments, **keywords):
    with pytest.raises(OptionsError) as caught:
        make(*arguments, **keywords)
    return [(problem.code, problem.option) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("keywords", "option"),
    [
        ({"device": 1, "session_device_id": 2}, "session_device_id"),
        ({"dump": Dump("/data"), "dump_path": "/elsewhere"}, "dump_path"),
        ({"dump": Dump("/data"), "enable_dump": False}, "enable_dump"),
        ({"dump": Dump("/data", steps=5), "dump_step": "6"}, "dump_step"),
        ({"profiling": Profiling(l2=True), "profiling_mode": False}, "profiling_mode"),
        ({"profiling": Profiling(l2=True), "profiling_options": '{"l2": "off"}'}, "profiling_options"),
        ({"accelerate": AcceleratedTraining.by_step(9), MODE: "fast1|step"}, MODE),
    ],
)
def test_given_twice(keywords, option):
    """An option that is given in two places with two values is reported, and neither wins in silence."""
    assert ("NPU107", option) in problems(NpuSession.for_training, **keywords)


@pytest.mark.parametrize(
    "keywords",
    [
        {"device": 1, "session_device_id": "1"},
        {"dump": Dump("/data"), "dump_path": b"/data", "enable_dump": "on"},
        {"accelerate": AcceleratedTraining.by_step(9), MODE: "fast|step|0.9"},
        {"profiling": Profiling(output="/tmp", l2=True), "profiling_mode": 1},
    ],
    ids=lambda keywords: "-".join(keywords),
)
def test_given_twice_alike(keywords):
    """The same value in two places is no contradiction, whatever its form."""
    assert NpuSession.for_training(**keywords)


@pytest.mark.parametrize(
    "keywords",
    [
        {"dump": Dump("/data", mode="all"), "dump_mode": "both"},
        {"dump": Dump("/data", mode="both"), "dump_mode": "all"},
        {"device": 1, "session_device_id": "first"},
        {"device": "first", "session_device_id": 1},
    ],
    ids=str,
)
def test_bad_value_beside_a_good_one(keywords):
    """A bad value is reported even if the option is given a good one elsewhere."""
    assert problems(NpuSession.for_training, **keywords)


@pytest.mark.parametrize(
    ("make", "mode"), [(NpuSession.for_training, 0), (NpuSession.for_training, "0"), (NpuSession.for_inference, 1)]
)
def test_scene_contradiction(make, mode):
    """A graph_run_mode that contradicts the plan's scene is reported, with the call that was meant."""
    with pytest.raises(OptionsError) as caught:
        make(graph_run_mode=mode)
    (problem,) = caught.value.problems
    assert (problem.code, problem.option) == ("NPU107", "graph_run_mode")
    assert "NpuSession.for_" in problem.fix


def test_options_of_the_other_scene():
    """An option of the other scene is reported when the plan is made."""
    assert ("NPU109", "iterations_per_loop") in problems(NpuSession.for_inference, iterations_per_loop=8)
    assert ("NPU109", "quant_dumpable") in problems(NpuSession.for_training, quant_dumpable="1")


def test_all_problems_at_once():
    """Everything that is wrong is listed in one error, from names to combinations."""
    found = problems(
        NpuSession.for_training,
        device=-1,
        dump=Dump(None, mode="both"),
        accelerate=AcceleratedTraining.by_step(0),
        precision_mod="origin",
        training_trace="on",
    )
    assert set(found) == {
        ("NPU101", "precision_mod"),
        ("NPU111", "training_trace"),
        ("NPU105", "session_device_id"),
        ("NPU105", "dump_mode"),
        ("NPU203", "enable_dump"),
        ("NPU105", "AcceleratedTraining.total_steps"),
    }


def test_extra_options():
    """An option that is newer than the package is passed on, with a warning that names it."""
    with pytest.warns(OptionsWarning, match="newer"):
        plan = NpuSession.for_training(extra_options={"newer": "x", "absent": None})
    assert dict(plan.options) == {"newer": "x"}


def test_extra_options_that_are_known():
    """A known option cannot be slipped past its check."""
    assert problems(NpuSession.for_training, extra_options={"deterministic": 5}) == [("NPU107", "deterministic")]


@pytest.mark.parametrize("extra", [5, "newer", ["newer"]])
def test_extra_options_that_are_no_mapping(extra):
    """Extra options that are no mapping are reported."""
    with pytest.raises(OptionsError):
        NpuSession.for_training(extra_options=extra)


def make_deprecated():
    return NpuSession.for_training(op_debug_level=3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NpuSession.for_training(op_debug_level=3),
        lambda: NpuSession.for_inference(op_debug_level=3),
        lambda: NpuSession.for_training(device=1).replace(op_debug_level=3),
        lambda: NpuSession.from_config({"op_debug_level": 3}),
        lambda: NpuSession.from_config({"op_debug_level": 3, "scene": "inference"}),
        lambda: NpuSession.from_config({}, op_debug_level=3),
    ],
    ids=["for_training", "for_inference", "replace", "from_config", "from_config of inference", "changes"],
)
def test_warnings_name_the_line(make):
    """A warning points at the user's own line, whichever way the plan is made."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert [warning.category for warning in caught] == [OptionsWarning]
    assert os.path.basename(caught[0].filename) == os.path.basename(__file__)
    assert caught[0].lineno == make.__code__.co_firstlineno
    assert "NPU108 op_debug_level = 3" in str(caught[0].message)


def test_warnings_of_a_config_name_the_line(tf1):
    """A warning about an option of a ConfigProto points at the line that takes it over."""
    with pytest.warns(OptionsWarning):
        config = make_deprecated().config_proto()
    with pytest.warns(OptionsWarning) as caught:
        NpuSession.from_config(config)
    assert [os.path.basename(warning.filename) for warning in caught] == [os.path.basename(__file__)]


def test_no_warning_with_errors():
    """Where there is an error, the warnings are in it, and not given besides."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = problems(NpuSession.for_training, op_debug_level=3, dump_mode="both")
    assert found == [("NPU105", "dump_mode"), ("NPU108", "op_debug_level")]


def test_warnings_can_be_errors():
    """Warnings can be turned into errors by Python's own filters."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", OptionsWarning)
        with pytest.raises(OptionsWarning, match="NPU108"):
            make_deprecated()


@pytest.mark.parametrize("backend", ["gpu", "", "NPU", 5, ["npu"]])
def test_unknown_backend(backend):
    """A backend that there is not is refused when the plan is made."""
    with pytest.raises(ValueError, match="'npu' and 'fake'"):
        NpuSession.for_training(backend=backend)


@pytest.mark.parametrize("keyword", ["dump", "profiling", "accelerate"])
@pytest.mark.parametrize("value", [True, 1, "/data", {"path": "/data"}, ["x"], Dump, object(), Scene.TRAINING])
def test_groups_that_are_none(keyword, value):
    """A group keyword that gets something else says what it takes."""
    with pytest.raises(OptionsError, match=r"is no (Dump|Profiling|AcceleratedTraining)"):
        NpuSession.for_training(**{keyword: value})


@pytest.mark.parametrize(
    ("keyword", "group"),
    [
        ("dump", Profiling(output="/tmp")),
        ("profiling", Dump("/data")),
        ("accelerate", Dump("/data")),
        ("dump", AcceleratedTraining.by_step(10)),
    ],
)
def test_groups_of_another_keyword(keyword, group):
    """A group that belongs to another keyword is refused, not taken for what it is."""
    with pytest.raises(OptionsError):
        NpuSession.for_training(**{keyword: group})


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"text"}))
def test_hostile_groups(name):
    """A group keyword that gets an object whose methods raise says what it takes."""
    for keyword in ("dump", "profiling", "accelerate"):
        for value in contained(HOSTILE[name]()):
            with pytest.raises(OptionsError, match=r"is no (Dump|Profiling|AcceleratedTraining)"):
                NpuSession.for_training(**{keyword: value})


@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
@settings(max_examples=200)
@given(st.one_of(st.sampled_from([*sorted(TABLE), "device"]), any_text), anything)
def test_any_option(name, value):
    """Whatever an option is given, the plan is made or every problem is listed."""
    assume(name not in KEYWORDS)
    for make in (NpuSession.for_training, NpuSession.for_inference):
        plan = attempt(make, **{name: value})
        assert str(plan)
        if isinstance(plan, NpuSession):
            assert value is None or name in TABLE or name == "device"
            assert plan == make(**plan.options)


@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_options(name):
    """An object whose methods raise is reported like any wrong value."""
    values = list(contained(HOSTILE[name]()))
    for option in [*TABLE, "device", "no_such_option"]:
        for value in values:
            assert str(attempt(NpuSession.for_training, **{option: value}))


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_option_given_twice(name):
    """An object whose methods raise is reported beside a good value as well."""
    assert {option for _, option in problems(NpuSession.for_training, device=1, session_device_id=HOSTILE[name]())} == {
        "session_device_id"
    }
