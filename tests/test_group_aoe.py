"""The options of AOE."""

import json

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import Product
from npusession.configfiles import AoeTuning
from npusession.options import Scene
from npusession.options.aoe import GROUP

PRODUCT = Product.ATLAS_TRAINING
HAVE_AOE = {Product.ATLAS_A3, Product.ATLAS_A2, Product.ATLAS_TRAINING}


@pytest.fixture
def tuning_file(tmp_path):
    """A function that writes a tuning file and returns its path."""

    def write(content):
        path = tmp_path / "tuning_config.cfg"
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(path)

    return write


def tuned(**options):
    return report(Scene.TRAINING, PRODUCT, **options)


def test_rules(tuning_file):
    """Every rule of the group can be broken and kept."""
    deep = tuning_file({"tune_ops_type": ["Add"], "feature": ["deeper_opat"]})
    check_examples(
        {
            "NPU260": (tuned(work_path="/data"), tuned(work_path="/data", aoe_mode="2")),
            "NPU261": (tuned(aoe_mode="1", aoe_config_file=deep), tuned(aoe_mode="2", aoe_config_file=deep)),
            "NPU427": (tuned(environ={"AOE_MODE": "3"}), tuned(environ={"AOE_MODE": "4"})),
        },
        GROUP,
    )


@pytest.mark.parametrize(("value", "mode"), [("1", "1"), (2, "2"), (b"4", "4")])
def test_modes(value, mode):
    """A mode may be given as text or as a number."""
    assert read("aoe_mode", value) == mode


@pytest.mark.parametrize("value", ["", "0", "3", "5", "12", "operators", True, 3, 2.0])
def test_bad_modes(value):
    """There are the modes 1, 2 and 4."""
    assert refusal("aoe_mode", value).allowed == "1, 2, 4"


@pytest.mark.parametrize("product", list(Product))
def test_products(product):
    """Tuning is for three families, and of subgraphs for one of them."""
    assert codes(Scene.TRAINING, product, aoe_mode="2")[0] == ([] if product in HAVE_AOE else ["NPU110"])
    assert codes(Scene.TRAINING, product, aoe_mode="1")[0] == ([] if product is PRODUCT else ["NPU110"])


def test_inference():
    """Tuning is part of training."""
    assert inferring(product=PRODUCT, aoe_mode="2")[0] == ["NPU109"]


@pytest.mark.parametrize(
    ("environ", "mode", "product", "errors"),
    [
        ("2", None, None, []),
        ("", None, None, []),
        ("two", None, None, ["NPU427"]),
        ("two", "2", PRODUCT, []),
        ("1", None, None, []),
        ("1", None, Product.ATLAS_A2, ["NPU427"]),
        ("2", None, Product.ATLAS_350, ["NPU427"]),
        ("1", "2", Product.ATLAS_A2, []),
    ],
)
def test_mode_in_the_environment(environ, mode, product, errors):
    """The environment is looked at only where the option is left out, as the runtime does."""
    assert codes(Scene.TRAINING, product, environ={"AOE_MODE": environ}, aoe_mode=mode)[0] == errors


@pytest.mark.parametrize("switch", [{"aoe_mode": "2"}, {"environ": {"AOE_MODE": "2"}}])
def test_work_path_on_the_host(tmp_path, switch):
    """The working directory must be there when tuning starts, and be no link."""
    (tmp_path / "link").symlink_to(tmp_path)
    for name, errors in (("", []), ("missing", ["NPU113"]), ("link", ["NPU113"])):
        path = str(tmp_path / name)
        assert codes(Scene.TRAINING, PRODUCT, work_path=path, host=True, **switch) == (errors, [])
        assert codes(Scene.TRAINING, PRODUCT, work_path=path, **switch) == ([], [])


def test_work_path_that_is_not_used(tmp_path):
    """Without tuning the working directory does not matter."""
    path = str(tmp_path / "missing")
    assert codes(Scene.TRAINING, PRODUCT, work_path=path, host=True) == ([], ["NPU260"])


@pytest.mark.parametrize("path", ["", "a\nb;c=d", 1, True])
def test_bad_work_path(path):
    """What is no path, and ends the process while tuning, is refused."""
    refusal("work_path", path)


@pytest.mark.parametrize(
    ("feature", "mode", "errors"),
    [
        (["deeper_opat"], "2", []),
        (["deeper_opat"], "1", ["NPU261"]),
        ("deeper_opat", "4", ["NPU261"]),
        (["nonhomo_split"], "1", []),
        (["nonhomo_split"], "2", ["NPU261"]),
        (["deeper_opat", "nonhomo_split"], "4", ["NPU261", "NPU261"]),
        ([], "1", []),
        ([None, 5, {"deeper_opat": 1}], "1", []),
    ],
)
def test_features(tuning_file, feature, mode, errors):
    """A feature of the side file is held against the mode it needs."""
    path = tuning_file({"feature": feature})
    assert codes(Scene.TRAINING, PRODUCT, aoe_mode=mode, aoe_config_file=path)[0] == errors
    assert codes(Scene.TRAINING, PRODUCT, environ={"AOE_MODE": mode}, aoe_config_file=path)[0] == errors


@pytest.mark.parametrize("content", ["", "no JSON", "[]", '"feature"', "[" * 100000, '{"tune_ops_name": []}'])
def test_files_without_features(tuning_file, content):
    """A file that cannot be understood is left to the check of the file itself."""
    assert codes(Scene.TRAINING, PRODUCT, aoe_mode="2", aoe_config_file=tuning_file(content))[0] == []


def test_side_file_as_a_value():
    """Features are seen in a side file that is given as a value too."""
    tuning = AoeTuning(tune_ops_type=["Add"], feature=["deeper_opat"])
    assert codes(Scene.TRAINING, PRODUCT, aoe_mode="1", aoe_config_file=tuning)[0] == ["NPU261"]
    assert codes(Scene.TRAINING, PRODUCT, aoe_mode="2", aoe_config_file=tuning) == ([], [])
