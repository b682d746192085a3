"""Data dump and overflow detection: the typed group, and its steps."""

import dataclasses
import pathlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, attempt, contained

from npusession import Dump, NpuSession, OptionsError
from npusession.options.comparison import MAX_DUMP_STEPS, parse_dump_steps
from npusession.options.kinds import Refused


def options(dump, **more):
    return dict(NpuSession.for_training(dump=dump, **more).options)


def codes(dump, **more):
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_training(dump=dump, **more)
    return [(problem.code, problem.option) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("0", ((0, 0),)),
        ("5", ((5, 5),)),
        ("0|5|10", ((0, 0), (5, 5), (10, 10))),
        ("0|3-5|10", ((0, 0), (3, 5), (10, 10))),
        ("5-10", ((5, 10),)),
        ("10|0", ((10, 10), (0, 0))),
        ("7|7", ((7, 7), (7, 7))),
        ("007", ((7, 7),)),
        ("|".join(["1"] * MAX_DUMP_STEPS), ((1, 1),) * MAX_DUMP_STEPS),
    ],
)
def test_steps(text, ranges):
    """Steps and rising ranges are read as the runtime reads them."""
    assert parse_dump_steps(text) == ranges


@pytest.mark.parametrize(
    "text",
    [
        "", "|", "0||5", "0|", "|0", "5-", "-5", "5--6", "5-5", "6-5", "1-2-3", "a", "0x1", "1.0", " 1", "1 ", "1,2",
        "+1", "٣", "²", "1\n", "|".join(["1"] * (MAX_DUMP_STEPS + 1)), "1" * 19,
    ],
)  # fmt: skip
def test_steps_refused(text):
    """Anything but numbers and rising ranges is refused, and so are more than 100 of them."""
    with pytest.raises(Refused):
        parse_dump_steps(text)


def simple_steps(text):
    """Read steps with a regular expression; None for what is refused."""
    if not re.fullmatch(r"[0-9]{1,18}(-[0-9]{1,18})?([|][0-9]{1,18}(-[0-9]{1,18})?)*", text) or text.count("|") > 99:
        return None
    ranges = []
    for low, _, high in re.findall(r"([0-9]+)(-([0-9]+))?", text):
        if high and int(high) <= int(low):
            return None
        ranges.append((int(low), int(high or low)))
    return tuple(ranges)


@given(st.one_of(st.text("0123456789|-", max_size=12), st.text("019|- +\n٣", max_size=8), st.text(max_size=6)))
@example("1\n")
@example("|".join("1" * 101))
def test_steps_property(text):
    """Steps are read alike by a much simpler reader."""
    try:
        ranges = parse_dump_steps(text)
    except Refused:
        ranges = None
    assert ranges == simple_steps(text)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ("0|5-10", "0|5-10"),
        (5, "5"),
        ([0, 5], "0|5"),
        ((0, "7-9"), "0|7-9"),
        ([0, range(5, 11)], "0|5-10"),
        ([range(3, 4)], "3"),
        ([range(0, 10, 4)], "0|4|8"),
        (range(5, 8), "5|6|7"),
        (iter([1, 2]), "1|2"),
        (b"0|5", "0|5"),
        ([b"0", b"5-6"], "0|5-6"),
    ],
)
def test_steps_of_a_dump(steps, text):
    """Steps may be given as text, a number, or numbers and ranges."""
    given = options(Dump("/data", steps=steps))["dump_step"]
    assert parse_flat(given) == parse_flat(text)


def parse_flat(text):
    """Return the steps one by one, so that 5|6|7 and 5-7 are the same."""
    return [step for low, high in parse_dump_steps(text) for step in range(low, high + 1)]


def test_long_range():
    """A range of more than 100 steps is one entry, however it is given."""
    assert options(Dump("/data", steps=[range(0, 1000)]))["dump_step"] == "0-999"
    assert options(Dump("/data", steps=range(0, 1000)))["dump_step"] == "0-999"


def test_numpy_steps():
    """Steps out of a NumPy array are steps."""
    numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")
    assert options(Dump("/data", steps=numpy.array([0, 5])))["dump_step"] == "0|5"
    assert options(Dump("/data", steps=numpy.int64(5)))["dump_step"] == "5"


@pytest.mark.parametrize(
    "steps", [[], "", -1, [-1], True, [True], [1.0], [None], {"a": 1}, object(), 1.5, [[0]], ["x"]]
)
def test_wrong_steps(steps):
    """Steps that are none are reported as such."""
    assert [option for _, option in codes(Dump("/data", steps=steps))] == ["dump_step"]


def test_data_dump():
    """A dump switches data dump on, and sets nothing that was left out."""
    assert options(Dump("/data")) == {"enable_dump": True, "dump_path": "/data"}
    full = Dump(pathlib.PurePosixPath("/data"), steps="0|5-10", mode="all", data="stats", layers=["conv1", "conv2"])
    assert options(full) == {
        "enable_dump": True,
        "dump_path": "/data",
        "dump_step": "0|5-10",
        "dump_mode": "all",
        "dump_data": "stats",
        "dump_layer": "conv1 conv2",
    }


def test_overflow():
    """Overflow detection switches on its own option, and never data dump."""
    assert options(Dump.overflow("/data")) == {
        "enable_dump_debug": True,
        "dump_path": "/data",
        "dump_debug_mode": "all",
    }
    assert options(Dump.overflow("/data", mode=None))["enable_dump_debug"] is True


def test_inference():
    """Online inference has data dump, but neither steps nor overflow detection."""
    plan = NpuSession.for_inference(dump=Dump("/data", mode="input"), quant_dumpable=1)
    assert plan.dump == Dump("/data", mode="input")
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_inference(dump=Dump("/data", steps=5))
    assert [problem.option for problem in caught.value.problems] == ["dump_step"]
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_inference(dump=Dump.overflow("/data"))
    assert "enable_dump_debug" in [problem.option for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("dump", "found"),
    [
        (Dump(None), [("NPU203", "enable_dump")]),
        (Dump.overflow(None), [("NPU203", "enable_dump_debug")]),
        (Dump(""), [("NPU105", "dump_path"), ("NPU203", "enable_dump")]),
        (Dump(1), [("NPU106", "dump_path"), ("NPU203", "enable_dump")]),
        (Dump("/data", mode="both"), [("NPU105", "dump_mode")]),
        (Dump("/data", data="numbers"), [("NPU105", "dump_data")]),
        (Dump("/data", layers=""), [("NPU105", "dump_layer")]),
        (Dump("/data", layers=[1]), [("NPU106", "dump_layer")]),
        (Dump.overflow("/data", "some"), [("NPU105", "dump_debug_mode")]),
        (Dump("/data", mode="both", data="numbers"), [("NPU105", "dump_mode"), ("NPU105", "dump_data")]),
    ],
)
def test_wrong_arguments(dump, found):
    """Wrong arguments are found when the plan is made, all together."""
    assert codes(dump) == found


def test_both_dumps():
    """Data dump and overflow detection exclude each other."""
    assert ("NPU204", "enable_dump_debug") in codes(Dump("/data"), enable_dump_debug=True)


@pytest.mark.parametrize(
    "dump",
    [
        Dump("/data"),
        Dump("/data", "0|5-10", "all", "stats", "conv1 conv2"),
        Dump.overflow("/data"),
        Dump("/data", "5", overflow_mode="all"),
    ],
)
def test_round_trip(dump):
    """A plan gives back the dump that it was made with."""
    assert NpuSession.for_training(dump=dump).dump == dump


@pytest.mark.parametrize(
    ("options", "dump"),
    [
        ({}, None),
        ({"dump_path": "/data", "dump_mode": "all"}, None),
        ({"enable_dump": False, "dump_path": "/data"}, None),
        ({"enable_dump": "on", "dump_path": "/data", "dump_step": 5}, Dump("/data", "5")),
        ({"enable_dump_debug": True, "dump_path": "/data"}, Dump.overflow("/data")),
    ],
)
def test_dump_of_options(options, dump):
    """The dump of a plan that was made from options is the same as one made from a Dump."""
    assert NpuSession.for_training(**options).dump == dump


def test_frozen():
    """A dump cannot be changed behind the back of a plan."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dump("/data").path = "/elsewhere"


@given(st.sampled_from([field.name for field in dataclasses.fields(Dump)]), anything)
def test_any_argument(name, value):
    """Whatever an argument is, the plan is made or every problem is listed."""
    assert str(attempt(NpuSession.for_training, dump=Dump(**{"path": "/data", name: value})))


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Dump)])
def test_hostile_arguments(name, hostile):
    """An argument whose methods raise is reported like any wrong one."""
    for value in contained(HOSTILE[hostile]()):
        assert str(attempt(NpuSession.for_training, dump=Dump(**{"path": "/data", name: value})))
