"""Accelerated training: its mode, its numbers, and when the runtime leaves low precision."""

import dataclasses
import json
import math
import pathlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, attempt, contained

from npusession import AcceleratedTraining, NpuSession, OptionsError
from npusession.backends.fake.acceleration import Acceleration, Unreadable
from npusession.options.experimental import parse_mode
from npusession.options.kinds import Refused
from npusession.options.native_numbers import float32

CASES = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parent / "data/accelerate.jsonl").read_text("utf-8").splitlines()
]
NAME = "experimental_accelerate_train_mode"


def problems(accelerate, **more):
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_training(accelerate=accelerate, **more)
    return [(problem.code, problem.option) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("fast|step|0.9", ("fast", "step", 0.9)),
        ("fast1|step|0.2", ("fast1", "step", 0.2)),
        ("fast|step", ("fast", "step", 0.9)),
        ("fast|step|", ("fast", "step", 0.9)),
        ("fast1|loss", ("fast1", "loss", 1.05)),
        ("fast|loss|1.01", ("fast", "loss", 1.01)),
        ("fast|loss|1.5", ("fast", "loss", 1.5)),
        ("fast|step|.5", ("fast", "step", 0.5)),
        ("fast|step|5e-1", ("fast", "step", 0.5)),
        ("fast|step| +0.5\n", ("fast", "step", 0.5)),
    ],
)
def test_modes(text, mode):
    """A mode is type, trigger and ratio, and the ratio may be left out."""
    assert parse_mode(text) == mode


@pytest.mark.parametrize(
    "text",
    [
        "", "fast", "fast|", "|step|0.9", "fast||0.9", "step|fast|0.9", "fast|step|0.9|", "Fast|step|0.9", "fast2|step",
        "fast|epoch|0.9", " fast|step|0.9", "fast |step|0.9", "fast|step|0.19", "fast|step|0.91",
        "fast|step|1", "fast|step|1.05", "fast|loss|0.9", "fast|loss|1", "fast|loss|1.51", "fast|step|x",
        "fast|step|-0.5", "fast|step|0,5", "fast|step|0.5f", "fast|step|0x1p-1", "fast|step|nan",
        "fast|step|inf", "fast|step|1e999", "fast|step|٠.٥", "fast|step|0.50000000000000000000000000000000",
        "fast|step|.", "float16|step|0.5",
    ],
)  # fmt: skip
def test_modes_refused(text):
    """Anything else is refused."""
    with pytest.raises(Refused):
        parse_mode(text)


def simple_mode(text):
    """Read a mode with a regular expression; None for what is refused."""
    match = re.fullmatch(r"(fast1?)[|](step|loss)([|](([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?)?)?", text)
    if match is None:
        return None
    low, high, ratio = (0.2, 0.9, 0.9) if match.group(2) == "step" else (1.01, 1.5, 1.05)
    if match.group(4):
        ratio = float(match.group(4))
        # A few digits apart from the ends, so that rounding to single precision does not matter here.
        if not low - 1e-9 <= ratio <= high + 1e-9:
            return None
    return match.group(1), match.group(2), ratio


_ratios = st.one_of(
    st.decimals("0", "2", places=3).map(str), st.text("0123456789.eE+-|x", max_size=6), st.floats().map(repr)
)


@given(
    st.one_of(
        st.builds("|".join, st.lists(st.sampled_from(["fast", "fast1", "step", "loss", "", "0.5", "1.2"]), max_size=4)),
        st.builds("{}|{}|{}".format, st.sampled_from(["fast", "fast1"]), st.sampled_from(["step", "loss"]), _ratios),
        st.text(max_size=10),
    )
)
def test_modes_property(text):
    """Modes are read alike by a much simpler reader."""
    try:
        mode = tuple(parse_mode(text))
    except Refused:
        mode = None
    assert mode == simple_mode(text)


@pytest.mark.parametrize("mode", sorted({case["mode"] for case in CASES}))
def test_modes_of_the_runtime(mode):
    """A mode that the runtime refuses whatever the environment is refused when the plan is made."""
    outcomes = {case["runtime"]["outcome"] for case in CASES if case["mode"] == mode}
    try:
        parse_mode(mode)
    except Refused:
        # The runtime takes an empty mode for none at all.
        assert outcomes == {"error"} or mode == ""
    else:
        assert "ok" in outcomes


def emulate(case):
    """Run a measured case through the emulation, and return its outcome in the measurement's form."""
    environ = dict(case["env"])
    modes = case.get("precision_mode", ""), case.get("precision_mode_v2", "")
    acceleration = Acceleration(case["mode"], modes, case["iterations_per_loop"])
    recover = None
    for number, step in enumerate(case["steps"]):
        environ.update(step)
        if number == 0 and case["mode"]:
            try:
                acceleration.start(environ)
            except Unreadable:
                return {"outcome": "error", "recover_at_call": None}
        elif number and acceleration.before_run(environ):
            assert recover is None
            recover = number
    return {"outcome": "ok", "recover_at_call": recover, "first_precision": list(acceleration.low_modes)}


@pytest.mark.parametrize("kind", sorted({case["kind"] for case in CASES}))
def test_measured_cases(kind):
    """The emulation accelerates, fails and goes back exactly as the runtime was seen to."""
    cases = [case for case in CASES if case["kind"] == kind]
    assert cases
    wrong = [(case, emulate(case)) for case in cases if emulate(case) != case["runtime"]]
    assert wrong == []


@pytest.mark.parametrize("mode", sorted({case["mode"] for case in CASES if case["kind"] == "precision"}))
def test_precision_modes_of_the_runtime(mode):
    """A precision mode under which the runtime does not accelerate is refused beside the acceleration."""
    cases = [case for case in CASES if case["kind"] == "precision" and case["mode"] == mode]
    assert cases
    for case in cases:
        options = {name: case[name] for name in ("precision_mode", "precision_mode_v2") if case.get(name)}
        if case["runtime"]["outcome"] == "error":
            assert {option for _, option in problems(AcceleratedTraining(mode), **options)} & {NAME, *options}


@pytest.mark.parametrize(
    ("accelerate", "mode", "environment"),
    [
        (AcceleratedTraining.by_step(1000), "fast|step|0.9", {"TOTAL_STEP": "1000", "STEP_NOW": "0"}),
        (
            AcceleratedTraining.by_step(1000, dtype="bfloat16", fraction=0.5, initial_step=10),
            "fast1|step|0.5",
            {"TOTAL_STEP": "1000", "STEP_NOW": "10"},
        ),
        (AcceleratedTraining.by_loss(1.5, 7), "fast|loss|1.05", {"TARGET_LOSS": "1.5", "LOSS_NOW": "7"}),
        (
            AcceleratedTraining.by_loss(0.5, 2.25, "bfloat16", 1.2),
            "fast1|loss|1.2",
            {"TARGET_LOSS": "0.5", "LOSS_NOW": "2.25"},
        ),
        (AcceleratedTraining.by_loss(-0.5, 0.0), "fast|loss|1.05", {"TARGET_LOSS": "-0.5", "LOSS_NOW": "0.0"}),
        (AcceleratedTraining.from_string("fast|step"), "fast|step", {}),
        (
            AcceleratedTraining.from_string("fast|step|0.3", total_steps=2**32 - 1, initial_step=5),
            "fast|step|0.3",
            {"TOTAL_STEP": "4294967295", "STEP_NOW": "5"},
        ),
        (AcceleratedTraining.from_string("fast|loss", target_loss=1e-5), "fast|loss", {"TARGET_LOSS": "1e-05"}),
    ],
)
def test_numbers(accelerate, mode, environment):
    """The numbers of a plan are put where the runtime reads them, those that were not given left alone."""
    plan = NpuSession.for_training(accelerate=accelerate)
    assert dict(plan.options) == {NAME: mode}
    assert plan.accelerate == accelerate
    assert accelerate.environment() == environment
    for name in ("TOTAL_STEP", "STEP_NOW"):
        assert environment.get(name, "0").isdigit()


@pytest.mark.parametrize(
    ("accelerate", "option"),
    [
        (AcceleratedTraining.by_step(0), "AcceleratedTraining.total_steps"),
        (AcceleratedTraining.by_step(-1), "AcceleratedTraining.total_steps"),
        (AcceleratedTraining.by_step(2**32), "AcceleratedTraining.total_steps"),
        (AcceleratedTraining.by_step(1000.0), "AcceleratedTraining.total_steps"),
        (AcceleratedTraining.by_step(True), "AcceleratedTraining.total_steps"),
        (AcceleratedTraining.by_step(1000, initial_step=-1), "AcceleratedTraining.initial_step"),
        (AcceleratedTraining.by_step(1000, fraction=0.95), NAME),
        (AcceleratedTraining.by_step(1000, fraction=1), NAME),
        (AcceleratedTraining.by_step(1000, fraction=math.nan), NAME),
        (AcceleratedTraining.by_step(1000, dtype="float32"), NAME),
        (AcceleratedTraining.by_loss(1.0, 2.0, ratio=0.9), NAME),
        (AcceleratedTraining.by_loss(math.nan, 2.0), "AcceleratedTraining.target_loss"),
        (AcceleratedTraining.by_loss(1.0, math.inf), "AcceleratedTraining.initial_loss"),
        (AcceleratedTraining.by_loss(1e39, 2.0), "AcceleratedTraining.target_loss"),
        (AcceleratedTraining.by_loss(10**400, 2.0), "AcceleratedTraining.target_loss"),
        (AcceleratedTraining.by_loss(True, 2.0), "AcceleratedTraining.target_loss"),
        (AcceleratedTraining.by_loss([1.0], 2.0), "AcceleratedTraining.target_loss"),
        (AcceleratedTraining.from_string("fast|step|x"), NAME),
        (AcceleratedTraining.from_string(""), NAME),
        (AcceleratedTraining.from_string(["fast", "step"]), NAME),
    ],
)
def test_wrong_numbers(accelerate, option):
    """A number that the runtime cannot read is refused when the plan is made, not at the first run."""
    assert [name for _, name in problems(accelerate)] == [option]


def test_numpy_numbers():
    """Numbers as training programs have them, out of NumPy, count as numbers."""
    numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")
    by_step = AcceleratedTraining.by_step(numpy.int64(1000), initial_step=numpy.int32(5))
    assert NpuSession.for_training(accelerate=by_step).accelerate.environment()["TOTAL_STEP"] == "1000"
    by_loss = AcceleratedTraining.by_loss(numpy.float64(0.5), numpy.float32(2.5))
    assert NpuSession.for_training(accelerate=by_loss).accelerate.environment() == {
        "TARGET_LOSS": "0.5",
        "LOSS_NOW": "2.5",
    }


def test_text_from_flags():
    """Numbers may come as the text of flags."""
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_step("1000", fraction="0.5", initial_step="5"))
    assert plan.accelerate.environment() == {"TOTAL_STEP": "1000", "STEP_NOW": "5"}
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_loss("0.5", "2.5"))
    assert plan.accelerate.environment() == {"TARGET_LOSS": "0.5", "LOSS_NOW": "2.5"}


def test_none_is_not_given():
    """A number of None is one that was not given."""
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_step(1000, initial_step=None))
    assert plan.accelerate.environment() == {"TOTAL_STEP": "1000", "STEP_NOW": "0"}
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_step(None))
    assert plan.accelerate.environment() == {}


@pytest.mark.parametrize("mode", [b"fast|step|0.9", "fast|step|0.9"])
def test_mode_as_bytes(mode):
    """A mode as bytes, as scripts have it for the ConfigProto, works up to the opening of the session."""
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.from_string(mode, total_steps=10))
    assert plan.options[NAME] == "fast|step|0.9"
    assert not plan.check()
    assert plan.accelerate.trigger == "step"
    assert plan.accelerate.environment() == {"TOTAL_STEP": "10", "STEP_NOW": "0"}


def test_no_mode():
    """A mode of None means no acceleration, for plans as for the opening of the session."""
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.from_string(None))
    assert dict(plan.options) == {}
    assert plan.accelerate is None
    assert not plan.check()


@pytest.mark.parametrize(
    ("accelerate", "environ", "missing"),
    [
        (AcceleratedTraining("fast|step"), {}, ["TOTAL_STEP", "STEP_NOW"]),
        (AcceleratedTraining("fast|step"), {"TOTAL_STEP": "10"}, ["STEP_NOW"]),
        (AcceleratedTraining("fast|step"), {"TOTAL_STEP": "10", "STEP_NOW": "0"}, []),
        (AcceleratedTraining("fast|loss", target_loss=1.0), {}, ["LOSS_NOW"]),
        (AcceleratedTraining.by_step(10), {}, []),
        (AcceleratedTraining.by_loss(1.0, 2.0), {}, []),
    ],
)
def test_numbers_in_the_environment(accelerate, environ, missing):
    """Numbers that neither the plan nor the environment has are named when the session opens."""
    found = list(accelerate.missing(environ))
    assert [problem.option for problem in found] == missing
    for problem in found:
        assert "by_step" in problem.fix or "by_loss" in problem.fix


def test_mode_as_an_option():
    """The mode may be given as the option that it is."""
    plan = NpuSession.for_training(**{NAME: "fast|loss|1.2"})
    assert plan.accelerate == AcceleratedTraining("fast|loss|1.2")


def test_training_only():
    """Online inference is not accelerated."""
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_inference(**{NAME: "fast|step"})
    assert [problem.code for problem in caught.value.problems] == ["NPU109"]


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.1, 0.10000000149011612), (1e39, math.inf), (-1e39, -math.inf), (10**400, math.inf), (-(10**400), -math.inf)],
    ids=["rounded", "large", "small", "huge", "tiny"],
)
def test_single_precision(value, rounded):
    """Numbers are compared in the precision that the runtime computes in."""
    assert float32(value) == rounded


FIELDS = [field.name for field in dataclasses.fields(AcceleratedTraining)]


@given(st.sampled_from(FIELDS), anything)
@example("target_loss", 10**400)
def test_any_argument(name, value):
    """Whatever an argument is, the plan is made or every problem is listed, and a plan that is made can be checked."""
    accelerate = AcceleratedTraining(**{"mode": "fast|step", name: value})
    plan = attempt(NpuSession.for_training, accelerate=accelerate)
    assert str(plan)
    if isinstance(plan, NpuSession):
        assert {problem.code for problem in plan.check()} <= {"NPU403"}


@pytest.mark.parametrize("make", [AcceleratedTraining.by_step, AcceleratedTraining.by_loss])
@given(arguments=st.lists(anything, min_size=2, max_size=4))
def test_any_number(make, arguments):
    """Whatever numbers are given, the plan is made or every problem is listed."""
    plan = attempt(NpuSession.for_training, accelerate=make(*arguments))
    assert str(plan)
    if isinstance(plan, NpuSession):
        assert {type(text) for text in plan.accelerate.environment().values()} <= {str}


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
@pytest.mark.parametrize("make", ["by_step", "by_loss"])
def test_hostile_arguments(make, hostile):
    """An argument whose methods raise is reported like any wrong one."""
    for position in range(4):
        for value in contained(HOSTILE[hostile]()):
            arguments = [1, 1, "float16", 0.5] if make == "by_loss" else [1, "float16", 0.5, 1]
            arguments[position] = value
            accelerate = getattr(AcceleratedTraining, make)(*arguments)
            assert str(attempt(NpuSession.for_training, accelerate=accelerate))
