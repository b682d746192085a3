"""The options of memory on the device."""

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession import Product
from npusession.options import TABLE, Scene
from npusession.options.memory import GROUP

NEWER = [Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2]


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples({"NPU210": (report(static_memory_policy=1), report(static_memory_policy=2))}, GROUP)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("atomic_clean_policy", (0, 1)),
        ("static_memory_policy", (0, 1, 2, 3, 4)),
        ("variable_use_1g_huge_page", (0, 1, 2)),
        ("external_weight", (False, True)),
        ("input_fusion_size", (0, 1, 25600, 33554432)),
        ("input_batch_cpy", (False, True)),
    ],
)
def test_values(name, values):
    """The values of the reference are taken as they stand."""
    assert [read(name, value) for value in values] == list(values)


@pytest.mark.parametrize(
    ("name", "value"),
    [("atomic_clean_policy", 2), ("static_memory_policy", 5), ("static_memory_policy", -1),
     ("variable_use_1g_huge_page", 3), ("external_weight", "maybe"), ("input_fusion_size", -1),
     ("input_fusion_size", 33554433), ("input_batch_cpy", 2)],
)  # fmt: skip
def test_bad_values(name, value):
    """What lies outside the reference is refused, where the runtime clamps it or passes it on."""
    refusal(name, value)


def test_size_has_a_unit():
    """A size that is too large is answered with the range and its unit."""
    assert refusal("input_fusion_size", 2**30).allowed == "0 to 33554432 bytes"


@pytest.mark.parametrize("name", ["variable_use_1g_huge_page", "input_batch_cpy"])
@pytest.mark.parametrize("product", list(Product), ids=lambda product: product.value)
def test_products(name, product):
    """Options of the newer products are refused on the others, and only there."""
    assert codes(product=product, **{name: 1}) == ([] if product in NEWER else ["NPU110"], [])


@pytest.mark.parametrize(
    ("name", "default"),
    [("atomic_clean_policy", 0), ("static_memory_policy", 0), ("variable_use_1g_huge_page", 0),
     ("external_weight", False), ("input_fusion_size", 131072), ("input_batch_cpy", False)],
)  # fmt: skip
def test_defaults(name, default):
    """What holds when nothing is given is known in both scenes."""
    assert {TABLE[name].default(scene, Product.ATLAS_A2) for scene in Scene} == {default}


def test_policy_of_earlier_releases():
    """A policy of earlier releases passes, with a word on what it is taken for."""
    assert codes(static_memory_policy=1) == ([], ["NPU210"])
