"""Product families by name, alias and SoC version."""

import pytest

from npusession import NpuSession, Product
from npusession.products import detect, product_in


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("atlas-a2", Product.ATLAS_A2),
        ("A2", Product.ATLAS_A2),
        ("Atlas A2 训练系列产品/Atlas A2 推理系列产品", Product.ATLAS_A2),
        ("Ascend910B1", Product.ATLAS_A2),
        ("Ascend910B4-1", Product.ATLAS_A2),
        ("910B2C", Product.ATLAS_A2),
        ("Ascend910_9391", Product.ATLAS_A3),
        ("atlas_a3", Product.ATLAS_A3),
        ("Ascend910A", Product.ATLAS_TRAINING),
        ("Ascend910ProB", Product.ATLAS_TRAINING),
        ("Ascend910B", Product.ATLAS_TRAINING),
        ("Ascend 950PR", Product.ATLAS_350),
        ("950DT", Product.ATLAS_350),
        ("Ascend310P3", Product.ATLAS_INFERENCE),
        ("300I Duo", Product.ATLAS_300I_DUO),
        ("Ascend310B4", Product.ATLAS_200I_500_A2),
        (Product.ATLAS_350, Product.ATLAS_350),
    ],
)
def test_names(name, product):
    """A family is found by its name, an alias, or a SoC version, however it is spelt."""
    assert Product.of(name) is product


def test_unknown_name():
    """An unknown product lists the families."""
    with pytest.raises(ValueError, match="atlas-a2"):
        NpuSession.for_training(product="gpu")


def test_plan_takes_a_soc_version():
    """A plan takes a SoC version for the product."""
    assert NpuSession.for_training(product="Ascend910B1").product is Product.ATLAS_A2


LISTING = """
+---------------------------+---------------+----------------------------------------------------+
| npu-smi 23.0.6            Version: 23.0.6                                                       |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| 0     {}                | OK            | 93.9        51                0    / 0             |
"""


@pytest.mark.parametrize(
    ("chip", "product"),
    [("910B1", Product.ATLAS_A2), ("Ascend910", Product.ATLAS_TRAINING), ("310P3", Product.ATLAS_INFERENCE)],
)
def test_listing(chip, product):
    """The host's own listing of its devices tells the product."""
    assert product_in(LISTING.format(chip)) is product


def test_no_listing(tmp_path, monkeypatch):
    """Without the tool that lists devices, or with one that fails, the product is unknown."""
    monkeypatch.setenv("PATH", str(tmp_path))
    detect.cache_clear()
    assert detect() is None
    tool = tmp_path / "npu-smi"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    detect.cache_clear()
    assert detect() is None
    tool.write_text("#!/bin/sh\necho '| 0  910B3 | OK |'\n")
    detect.cache_clear()
    assert detect() is Product.ATLAS_A2
    detect.cache_clear()
