"""The options that will go in later releases."""

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report
from hypothesis import example, given
from hypothesis import strategies as st

from npusession.options import TABLE, Scene
from npusession.options.deprecated_rules import GROUP
from npusession.options.deprecated_values import LARGEST_MEMORY, parse_memory, parse_shape_ranges
from npusession.options.kinds import Refused

RANGES = "getnext:[128 ,3~5, 2~128, -1],[64 ,3~5, 2~128, -1];data:[128 ,3~5, 2~128, -1]"
GEARS = {"input_shape": "data:-1", "dynamic_dims": "1;2", "dynamic_node_type": 0}
NAMES = [option.name for option in GROUP.options]


def test_rules():
    """Every rule of the group can be broken and kept."""
    dynamic = {"dynamic_input": True, "dynamic_inputs_shape_range": RANGES}
    check_examples(
        {
            "NPU202": (
                report(optypelist_for_implmode="Pooling"),
                report(optypelist_for_implmode="Pooling", op_select_implmode="high_precision"),
            ),
            "NPU270": (
                report(optypelist_for_implmode="Conv2D", op_select_implmode="high_precision"),
                report(optypelist_for_implmode="LRN,ROIAlign", op_select_implmode="high_precision"),
            ),
            "NPU272": (report(dynamic_inputs_shape_range=RANGES), report(**dynamic)),
            "NPU273": (
                report(Scene.INFERENCE, **dynamic, **GEARS),
                report(Scene.INFERENCE, dynamic_input=True, **GEARS),
            ),
            "NPU274": (
                report(graph_memory_max_size="27 * 1024 * 1024 * 1024", variable_memory_max_size=5 * 1024**3),
                report(graph_memory_max_size="26 * 1024 * 1024 * 1024", variable_memory_max_size=5 * 1024**3),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize("name", NAMES)
def test_all_are_announced(name):
    """Giving one of them is a warning that says what to do instead, and never more."""
    values = {"b": True, "i": 0}
    texts = {
        "op_select_implmode": "high_precision",
        "optypelist_for_implmode": "Pooling",
        "dynamic_graph_execute_mode": "lazy_recompile",
        "dynamic_inputs_shape_range": RANGES,
        "graph_memory_max_size": 1024,
        "variable_memory_max_size": 1024,
    }
    companions = {"optypelist_for_implmode": {"op_select_implmode": "high_performance"}}
    companions.update({other: {"dynamic_input": True} for other in texts if other.startswith("dynamic")})
    option = TABLE[name]
    value = texts.get(name, values.get(option.field))
    found = report(**dict(companions.get(name, {}), **{name: value}))
    assert not found
    (problem,) = [problem for problem in found if problem.option == name]
    assert problem.code == "NPU108"
    assert problem.fix == option.instead


@pytest.mark.parametrize("name", ["enable_data_pre_proc", "variable_format_optimize"])
def test_training_only(name):
    """An option that goes anyway, and is of the other scene, is a warning: published scripts give it."""
    assert inferring(**{name: True}) == ([], ["NPU108", "NPU109"])


@pytest.mark.parametrize("value", [-1, 5, 9, 999, 2**32 + 1, "debug", 1.0])
def test_bad_debug_level(value):
    """There are five levels; the runtime would hand on any number."""
    refusal("op_debug_level", value)


@pytest.mark.parametrize("value", ["", "fast", "high", "HIGH_PRECISION", True, 1])
def test_bad_implementation(value):
    """Other words end the process."""
    refusal("op_select_implmode", value)


@pytest.mark.parametrize(
    ("types", "found"),
    [
        ("Pooling", []),
        (["Pooling", "SoftmaxV2", "LRN", "ROIAlign"], []),
        ("", []),
        ("pooling", ["NPU270"]),
        ("Pooling, LRN", ["NPU270"]),
        ("Pooling,Conv2D", ["NPU270"]),
    ],
)
def test_operator_types(types, found):
    """Types beyond the four that are supported pass with a warning, as the runtime hands them on."""
    errors, warnings = codes(op_select_implmode="high_precision", optypelist_for_implmode=types)
    assert errors == []
    assert [code for code in warnings if code != "NPU108"] == found


def test_types_beside_a_misspelt_implementation():
    """An implementation that is refused is one mistake, not two."""
    assert codes(op_select_implmode="fast", optypelist_for_implmode="Pooling")[0] == ["NPU105"]


@pytest.mark.parametrize(
    ("options", "errors", "warnings"),
    [
        ({"dynamic_input": True, "dynamic_graph_execute_mode": "lazy_recompile"}, [], []),
        ({"dynamic_graph_execute_mode": "lazy_recompile"}, ["NPU272"], []),
        ({"dynamic_graph_execute_mode": "dynamic_execute"}, [], []),
        ({"dynamic_input": False, "dynamic_graph_execute_mode": "lazy_recompile"}, [], ["NPU272"]),
        ({"dynamic_input": False, "dynamic_inputs_shape_range": "data:[1]"}, [], ["NPU272"]),
        ({"dynamic_inputs_shape_range": "data:[1]"}, ["NPU272"], []),
        ({"dynamic_input": "perhaps", "dynamic_inputs_shape_range": "data:[1]"}, ["NPU105"], []),
        ({"dynamic_input": True, "dynamic_graph_execute_mode": "static"}, ["NPU105"], []),
    ],
)
def test_dynamic_inputs(options, errors, warnings):
    """What is void without dynamic inputs is an error, unless they are switched off by name."""
    found = codes(**options)
    assert found[0] == errors
    assert [code for code in found[1] if code != "NPU108"] == warnings


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("getnext:[3~5],[3~6]", {"getnext": (((3, 5),), ((3, 6),))}),
        ("data:[3~6],[3~5]", {"data": (((3, 6),), ((3, 5),))}),
        ("data:[1,20~800,20~800,3],[],[1]", {"data": (((1, 1), (20, 800), (20, 800), (3, 3)), (), ((1, 1),))}),
        (
            "getnext:[3,3,4,10],[-1,3,2~1000,-1],[-1,-1,-1,-1]",
            {
                "getnext": (
                    ((3, 3), (3, 3), (4, 4), (10, 10)),
                    ((0, None), (3, 3), (2, 1000), (0, None)),
                    ((0, None),) * 4,
                )
            },
        ),
        (
            RANGES,
            {
                "getnext": (
                    ((128, 128), (3, 5), (2, 128), (0, None)),
                    ((64, 64), (3, 5), (2, 128), (0, None)),
                ),
                "data": (((128, 128), (3, 5), (2, 128), (0, None)),),
            },
        ),
        ("data:[]", {"data": ((),)}),
        ("data:[ 3 ~ 5 ]", {"data": (((3, 5),),)}),
        ("data:[1], [2]", {"data": (((1, 1),), ((2, 2),))}),
        ("data:[5~5]", {"data": (((5, 5),),)}),
    ],
)
def test_ranges(text, sources):
    """Ranges are read as the reference writes them, blanks included."""
    assert parse_shape_ranges(text) == sources
    assert read("dynamic_inputs_shape_range", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "nonsense", "/no/such/dir", "a\nb;c=d", "[1]", "data", "data:", "data:1", "data:[1", "data:1]", "data:[1]]",
        "data:[[1]]", "data:[1],", "data:[1][2]", "data:[1];", ";data:[1]", "data:[1];data:[2]", "input:[1]",
        "Data:[1]", "data:[1],x", "data:[1,]", "data:[,]", "data:[-2]", "data:[1~]", "data:[~1]", "data:[5~3]",
        "data:[1~-1]",
        "data:[1.5]", "data:[a]", "data:[1], []", "data: []", "getnext=[1]", "data:[1]~[2]", "data:[٣]", "data:[1 2]",
        "data:[+1]", "data:[" + "9" * 30 + "]",
    ],
)  # fmt: skip
def test_bad_ranges(text):
    """Everything else is refused, a blank before a scalar among it."""
    refusal("dynamic_inputs_shape_range", text)


axes = st.one_of(st.just("-1"), st.integers(0, 999).map(str), st.integers(0, 99).map(lambda low: f"{low}~{low + 9}"))
shapes = st.lists(st.lists(axes, max_size=4).map(lambda names: "[" + " ,".join(names) + "]"), min_size=1, max_size=3)


@given(shapes, shapes)
def test_ranges_of_any_shape(first, second):
    """Any number of inputs from both sources is read, one shape for each."""
    sources = parse_shape_ranges("getnext:{};data:{}".format(",".join(first), ",".join(second)))
    assert [len(sources[name]) for name in ("getnext", "data")] == [len(first), len(second)]


@given(st.text("getnxda:;[]0123456789~-, \n", max_size=30))
@example("data:[" * 1000)
def test_any_ranges(text):
    """Any text is read or refused."""
    try:
        sources = parse_shape_ranges(text)
    except Refused:
        return
    assert sources


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (1024, 1024),
        ("0", 0),
        ("1024*1024", 1024**2),
        ("16 * 1024 * 1024 * 1024", 16 * 1024**3),
        ("274877906944", LARGEST_MEMORY),
        ("256 * 1024 * 1024 * 1024", LARGEST_MEMORY),
        ("0 * 1024", 0),
    ],
)
def test_memory(value, size):
    """Sizes of memory are numbers, or the products that scripts write."""
    text = read("graph_memory_max_size", value)
    assert text == str(value)
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    "value",
    ["", "274877906945", "257*1024*1024*1024", "-1", -1, "1e9", "26GB", "1024 ** 3", "1024*", "a\nb;c=d", "١", 1.5,
     True, "9" * 30, "*".join(["9"] * 10000)],
)  # fmt: skip
def test_bad_memory(value):
    """What is no size up to 256 GB is refused, without long arithmetic."""
    refusal("variable_memory_max_size", value)


def test_memory_together():
    """The sum that earlier releases allowed is remarked on, with nothing to worry about now."""
    assert codes(graph_memory_max_size="16106127360", variable_memory_max_size="17179869184")[1] == ["NPU108"] * 2
    found = codes(graph_memory_max_size="16106127361", variable_memory_max_size="17179869184")
    assert found == ([], ["NPU108", "NPU108", "NPU274"])
