"""The options of precision."""

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import Product, Severity
from npusession.options import Scene
from npusession.options.precision_rules import GROUP, MIXED

MIXLIST = "/data/ops_info.json"
TYPES = "/data/customize_dtypes.cfg"
MIXED_MODES = [(name, mode) for name, modes in MIXED.items() for mode in modes]
OTHER_MODES = [
    *(("precision_mode_v2", mode) for mode in ("fp16", "origin", "cube_fp16in_fp32out", "cube_hif8")),
    *(
        ("precision_mode", mode)
        for mode in (
            "allow_fp32_to_fp16", "force_fp32", "cube_fp16in_fp32out", "must_keep_origin_dtype", "allow_fp32_to_bf16"
        )
    ),
]  # fmt: skip


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU201": (
                report(precision_mode="force_fp32", precision_mode_v2="origin"),
                report(precision_mode_v2="origin"),
            ),
            "NPU252": (
                report(modify_mixlist=MIXLIST),
                report(modify_mixlist=MIXLIST, precision_mode_v2="mixed_float16"),
            ),
            "NPU253": (
                report(customize_dtypes=TYPES, precision_mode_v2="origin"),
                report(customize_dtypes=TYPES, precision_mode_v2="mixed_float16"),
            ),
            "NPU254": (report(precision_mode_v2="mixed_hif8"), report(precision_mode_v2="mixed_bfloat16")),
        },
        GROUP,
    )


@pytest.mark.parametrize(("name", "mode"), MIXED_MODES)
def test_list_with_mixed_precision(name, mode):
    """The list of operators goes with every mode that mixes types."""
    assert "NPU252" not in codes(modify_mixlist=MIXLIST, **{name: mode})[0]


@pytest.mark.parametrize(("name", "mode"), OTHER_MODES)
def test_list_without_mixed_precision(name, mode):
    """The list of operators is refused beside every other mode, since the first run would fail."""
    assert codes(modify_mixlist=MIXLIST, **{name: mode})[0] == ["NPU252"]


def test_list_beside_a_misspelt_mode():
    """A mode that is refused is one mistake, not two."""
    assert codes(modify_mixlist=MIXLIST, precision_mode="allow_mixed_precision")[0] == ["NPU105"]


@pytest.mark.parametrize(
    ("options", "product", "found"),
    [
        ({"precision_mode_v2": "origin"}, None, (["NPU253"], [])),
        ({"precision_mode": "must_keep_origin_dtype"}, None, (["NPU253"], [])),
        ({"precision_mode": "allow_fp32_to_fp16"}, Product.ATLAS_A2, ([], [])),
        ({"precision_mode_v2": "original"}, Product.ATLAS_A2, (["NPU105"], [])),
        ({}, None, ([], [])),
        ({}, Product.ATLAS_A2, ([], ["NPU253"])),
        ({}, Product.ATLAS_TRAINING, ([], [])),
    ],
)
def test_types_where_the_graph_decides(options, product, found):
    """Types of single operators are void where the graph's own are kept, be it by default."""
    assert codes(product=product, customize_dtypes=TYPES, **options) == found


def test_types_in_inference():
    """In online inference the default lets single operators have types of their own."""
    assert inferring(customize_dtypes=TYPES, product=Product.ATLAS_A2) == ([], [])


def test_mode_for_inference_only():
    """A mode of online inference is refused in training, with a mode for training."""
    (problem,) = report(precision_mode="force_fp16")
    assert (problem.code, problem.option) == ("NPU109", "precision_mode")
    assert "mixed_float16" in problem.fix
    assert inferring(precision_mode="force_fp16") == ([], [])


@pytest.mark.parametrize(
    ("mode", "products"),
    [
        ("mixed_bfloat16", {Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2}),
        ("mixed_hif8", {Product.ATLAS_350}),
        ("cube_hif8", {Product.ATLAS_350}),
        ("mixed_float16", set(Product)),
    ],
)
def test_products_of_a_mode(mode, products):
    """A mode is refused on the products that lack its type."""
    for product in Product:
        found = [problem.code for problem in report(product=product, precision_mode_v2=mode).errors]
        assert found == ([] if product in products else ["NPU110"])


@pytest.mark.parametrize("name", ["precision_mode", "precision_mode_v2"])
@pytest.mark.parametrize("value", ["", "mixed_fp16", "allow_mixed_precision", "ORIGIN", 1, True])
def test_bad_mode(name, value):
    """A mode is one of the words, to the letter."""
    refusal(name, value)


@pytest.mark.parametrize("name", ["modify_mixlist", "customize_dtypes"])
def test_files(name):
    """Side files are paths of any form, and none of control characters."""
    assert read(name, "./数据/ops info.json") == "./数据/ops info.json"
    refusal(name, "")
    refusal(name, "a\nb;c=d")


def test_hif8_is_a_warning():
    """A type that the next release may bring does not stop anybody."""
    found = [problem for problem in report(Scene.TRAINING, Product.ATLAS_350, precision_mode_v2="cube_hif8")]
    assert [(problem.code, problem.severity) for problem in found] == [("NPU254", Severity.WARNING)]
