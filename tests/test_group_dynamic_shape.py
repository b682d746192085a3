"""The options of dynamic shapes: gears, and graphs of any shape."""

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import Product, Severity
from npusession.options import TABLE, Scene
from npusession.options.dynamic_shape import GROUP
from npusession.options.shapes import Shape, parse_gears, parse_shapes

#: The example of the reference.
SHAPE = "data:1,1,40,-1;label:1,-1;mask:-1,-1"
DIMS = "20,20,1,1;40,40,2,2;80,60,4,4"
GEARS = {"input_shape": SHAPE, "dynamic_dims": DIMS, "dynamic_node_type": 1}


def inference(product=None, **options):
    return report(Scene.INFERENCE, product, **options)


def gears(count):
    """Return that many gears of one dimension, with a shape that they fit."""
    dims = ";".join(str(dim + 1) for dim in range(count))
    return {"input_shape": "x:-1,4", "dynamic_dims": dims, "dynamic_node_type": 1}


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU211": (inference(input_shape=SHAPE, dynamic_dims=DIMS), inference(**GEARS)),
            "NPU212": (
                inference(**dict(GEARS, dynamic_dims="20,20,1;40,40,2")),
                inference(**dict(GEARS, dynamic_dims="20,20,1,1;40,40,2,2")),
            ),
            "NPU213": (inference(Product.ATLAS_A2, **gears(101)), inference(Product.ATLAS_A2, **gears(100))),
            "NPU214": (
                inference(**dict(GEARS, input_shape="mask:-1,-1;data:1,1,40,-1;label:1,-1")),
                inference(**GEARS),
            ),
            "NPU215": (
                inference(**dict(GEARS, compile_hybrid_mode=1, dynamic_node_type=0)),
                inference(**dict(GEARS, compile_hybrid_mode=1)),
            ),
            "NPU216": (
                inference(**dict(GEARS, compile_hybrid_mode=1, external_weight=False)),
                inference(**dict(GEARS, compile_hybrid_mode=1, external_weight=True)),
            ),
            "NPU217": (
                inference(**dict(GEARS, compile_dynamic_mode=True)),
                inference(**dict(GEARS, compile_dynamic_mode=False)),
            ),
        },
        GROUP,
    )


def test_example_of_the_reference():
    """The reference's example passes as it stands, for both sorts of inputs and beside what goes with it."""
    for node_type in (0, 1):
        assert inferring(**dict(GEARS, dynamic_node_type=node_type)) == ([], [])
    assert inferring(**dict(GEARS, compile_hybrid_mode=1, ac_parallel_enable="1")) == ([], [])


def test_shapes_in_detail():
    """A shape is read into names and dimensions, scalars having none."""
    assert parse_shapes("data:1,-1;n:0") == (Shape("data", (1, -1)), Shape("n", ()))
    assert parse_gears("20,1;40,2") == ((20, 1), (40, 2))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (SHAPE, SHAPE),
        (SHAPE.encode(), SHAPE),
        ({"data": (1, 1, 40, -1), "label": [1, -1], "mask": [-1, -1]}, SHAPE),
        ({"x": (), "y": 0, "z": "0"}, "x:0;y:0;z:0"),
        ({"x": 5}, "x:5"),
        ("x_1:007", "x_1:007"),
    ],
)
def test_shapes(value, text):
    """Shapes may be given as a dict; what is written is the reference's text."""
    assert read("input_shape", value) == text


@pytest.mark.parametrize(
    "value",
    ["", "data", "data:", "data:x", ":1", "data:1,,2", "data:1,2,", "data:-2", "data:--1", "data:1;", "data:1;data:2",
     "data:0,1", "data:+1", "data:1.0", "da-ta:1", "scope/data:1", "data:0:1", "数:1", "data:１", "data:-0",
     "data:99999999999999999999", "/no/such/dir", "a\nb;c=d", {"data": 1.5}, {"data": [True]}, {1: 2}, {}, [], 5,
     True],
)  # fmt: skip
def test_bad_shapes(value):
    """What the runtime would abort over, or compile into something else, is refused."""
    refusal("input_shape", value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (DIMS, DIMS),
        ([(20, 20, 1, 1), [40, 40, 2, 2], "80,60,4,4"], DIMS),
        ([1, 2], "1;2"),
        (("1", 2), "1;2"),
    ],
)
def test_gears(value, text):
    """Gears may be given as a list of lists; what is written is the reference's text."""
    assert read("dynamic_dims", value) == text


@pytest.mark.parametrize(
    "value",
    ["", "20", "20;a", "20,20", "20,20;40", "20;40;", ";20;40", "0;1", "-1;1", "20,;40,", "2.0;4.0", "/no/such/dir",
     "a\nb;c=d", [(20, 20)], [(20,), (40, 40)], [[]], [(1.0,), (2.0,)], {}, 5, True, [[[1]], [[2]]]],
)  # fmt: skip
def test_bad_gears(value):
    """Fewer than two gears, gears that differ in length, and anything but numbers from 1 are refused."""
    refusal("dynamic_dims", value)


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("input_shape", "data: 1, -1; mask: -1", "'data:1,-1;mask:-1'"),
        ("dynamic_dims", "20, 1; 40, 2\n", "'20,1;40,2'"),
    ],
)
def test_blanks(name, value, fix):
    """Blanks, which the runtime aborts over, are answered with the text without them."""
    found = refusal(name, value)
    assert found.message == "blanks are not allowed"
    assert found.fix == f"{name}={fix}"


@pytest.mark.parametrize("missing", list(GEARS))
def test_gears_come_together(missing):
    """Two of the three options of gears are refused, and the message names the third."""
    given = {name: value for name, value in GEARS.items() if name != missing}
    found = inference(**given)
    assert [(problem.code, problem.option) for problem in found] == [("NPU211", name) for name in given]
    assert all(missing in problem.message for problem in found)


@pytest.mark.parametrize(("shape", "wanted"), [("x:4", 0), ("x:-1", 1), ("x:-1;y:-1,-1", 3), ("x:0", 0)])
def test_gears_fit_the_shape(shape, wanted):
    """Gears of another number of dimensions than the shape has -1 are refused, with the number that fits."""
    (problem,) = inference(input_shape=shape, dynamic_dims="1,2;3,4", dynamic_node_type=0)
    assert problem.code == "NPU212"
    assert problem.allowed == f"{wanted} numbers per gear"


@pytest.mark.parametrize(
    ("product", "count", "found"),
    [
        (None, 100, ([], [])),
        (None, 101, ([], ["NPU213"])),
        (None, 256, ([], ["NPU213"])),
        (None, 257, (["NPU105"], [])),
        (Product.ATLAS_350, 256, ([], [])),
        (Product.ATLAS_350, 257, (["NPU105"], [])),
        (Product.ATLAS_A3, 100, ([], [])),
        (Product.ATLAS_A3, 101, (["NPU213"], [])),
        (Product.ATLAS_INFERENCE, 101, (["NPU213"], [])),
        (Product.ATLAS_TRAINING, 101, (["NPU213"], [])),
    ],
)
def test_number_of_gears(product, count, found):
    """100 gears are allowed, 256 on Atlas 350; where the product is not known more than 100 is a warning."""
    assert codes(Scene.INFERENCE, product, **gears(count)) == found


def test_hybrid_needs_placeholders():
    """Hybrid compilation without gears, or with inputs from a dataset, is refused, and says what is amiss."""
    (alone,) = inference(compile_hybrid_mode=1)
    assert "on without input_shape and dynamic_dims and dynamic_node_type" in alone.message
    (dataset,) = inference(**dict(GEARS, compile_hybrid_mode=1, dynamic_node_type=0))
    assert "dynamic_node_type=0" in dataset.message
    assert inferring(compile_hybrid_mode=0) == ([], [])


def test_hybrid_turns_weights_on():
    """Asking for weights in the graph beside hybrid compilation passes, with a word that they move out all the same."""
    found = inference(**dict(GEARS, compile_hybrid_mode=1, external_weight=False))
    assert [(problem.option, problem.severity) for problem in found] == [("external_weight", Severity.WARNING)]


@pytest.mark.parametrize("name", list(GEARS))
def test_everything_dynamic_excludes_gears(name):
    """Generalising every shape is refused beside any of the options of gears."""
    errors, _ = inferring(compile_dynamic_mode=True, **{name: GEARS[name]})
    assert "NPU217" in errors


def test_scenes():
    """Gears are for online inference, the rest for training too."""
    errors, _ = codes(**GEARS)
    assert errors == ["NPU109"] * 3
    assert codes(compile_dynamic_mode=True, all_tensor_not_empty=True, ac_parallel_enable="0") == ([], [])
    assert codes(compile_hybrid_mode=0) == ([], [])


@pytest.mark.parametrize("value", ["yes", "true", "", "2", True, None])
def test_parallel_is_a_digit(value):
    """The switch for AI CPU operators takes the digits 1 and 0, and None for not given."""
    if value is None:
        assert codes(ac_parallel_enable=None) == ([], [])
    else:
        refusal("ac_parallel_enable", value)
    assert read("ac_parallel_enable", 1) == "1"


@pytest.mark.parametrize(
    ("name", "default"),
    [("compile_hybrid_mode", 0), ("ac_parallel_enable", "0"), ("compile_dynamic_mode", False),
     ("all_tensor_not_empty", False), ("input_shape", None)],
)  # fmt: skip
def test_defaults(name, default):
    """What holds when nothing is given is known."""
    assert TABLE[name].default(Scene.INFERENCE) == default
