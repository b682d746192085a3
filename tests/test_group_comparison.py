"""The options of accuracy comparison; data dump and overflow detection by themselves are in test_dump."""

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import Product
from npusession.options import Scene
from npusession.options.comparison_rules import GROUP

DUMP = {"enable_dump": True, "dump_path": "/data/dump"}


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU203": (report(enable_dump=True), report(**DUMP)),
            "NPU204": (report(enable_dump_debug=True, **DUMP), report(enable_dump_debug=False, **DUMP)),
            "NPU255": (report(enable_exception_dump=1, **DUMP), report(enable_exception_dump=2, **DUMP)),
            "NPU256": (
                report(Scene.INFERENCE, quant_dumpable="1"),
                report(Scene.INFERENCE, quant_dumpable="1", **DUMP),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize("switch", ["enable_dump", "enable_dump_debug"])
def test_exception_dump_may_be_all(switch):
    """Who dumps beside a full exception dump, be it forced by the environment, is told about dynamic shapes."""
    dump = {switch: True, "dump_path": "/data"}
    for more in ({"enable_exception_dump": 1}, {"environ": {"NPU_COLLECT_PATH": "/data"}}):
        (problem,) = report(**dump, **more)
        assert (problem.code, problem.option) == ("NPU255", switch)
    assert codes(**dump) == ([], [])
    assert codes(enable_exception_dump=1, **{switch: False}) == ([], [])


@pytest.mark.parametrize("value", ["0", 0, False])
def test_quantisation_left_alone(value):
    """Saying that quantised data need not be dumped is right everywhere."""
    if value is not False:
        assert codes(quant_dumpable=value) == ([], [])
        assert inferring(quant_dumpable=value) == ([], [])


def test_bad_switch_is_one_mistake():
    """A dump switch that cannot be read does not make the other options wrong."""
    assert inferring(quant_dumpable="1", enable_dump="perhaps") == (["NPU105"], [])


@pytest.mark.parametrize(
    "path",
    ["/home/test/fusion_switch.cfg", "./src/fusion_switch.cfg", "fusion-switch_1.cfg", "/数据/开关.cfg", "/𠀀/𰀀"],
)
def test_fusion_switch_file(path):
    """The path of fusion switches has letters, digits, a few signs, and Chinese characters."""
    assert read("fusion_switch_file", path) == path


@pytest.mark.parametrize(
    "path", ["", "a b.cfg", "/data/{x}", "a\nb;c=d", "a:b", "ü.cfg", "ａ.cfg", "カ.cfg", "a\\b", "*"]
)
def test_bad_fusion_switch_file(path):
    """Other characters are refused, with those that are allowed."""
    found = refusal("fusion_switch_file", path)
    assert "Chinese" in found.allowed


def test_fusion_switch_file_on_the_host(tmp_path):
    """The file must be there when a session opens, and not before."""
    path = str(tmp_path / "none.cfg")
    assert codes(fusion_switch_file=path) == ([], [])
    assert codes(fusion_switch_file=path, host=True) == (["NPU113"], [])


@pytest.mark.parametrize(
    ("scene", "value", "errors"),
    [
        (Scene.INFERENCE, "l2_optimize", []),
        (Scene.INFERENCE, "off_optimize", []),
        (Scene.TRAINING, "l2_optimize", []),
        (Scene.TRAINING, "off_optimize", ["NPU109"]),
    ],
)
def test_buffers(scene, value, errors):
    """Buffers can be left as they come in online inference only."""
    assert codes(scene, buffer_optimize=value) == (errors, [])


@pytest.mark.parametrize("value", ["", "l1_optimize", "off", True, 1])
def test_bad_buffers(value):
    """Other words, of which the process would die, are refused."""
    refusal("buffer_optimize", value)


@pytest.mark.parametrize("mode", ["aicore_overflow", "atomic_overflow"])
def test_overflows_by_product(mode):
    """Only the Atlas training series tells kinds of overflow apart."""
    for product in Product:
        errors, _ = codes(Scene.TRAINING, product, enable_dump_debug=True, dump_path="/data", dump_debug_mode=mode)
        assert errors == ([] if product is Product.ATLAS_TRAINING else ["NPU110"])


def test_linked_dump_directory(tmp_path):
    """A symbolic link as dump directory, which the runtime refuses, is an error when a session opens."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert codes(enable_dump=True, dump_path=str(tmp_path / "real"), host=True) == ([], [])
    assert codes(enable_dump=True, dump_path=str(tmp_path / "link"), host=True) == (["NPU113"], [])
    assert codes(enable_dump=False, dump_path=str(tmp_path / "link"), host=True) == ([], [])
