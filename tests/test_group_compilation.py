"""The options of compiling operators and graphs."""

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession import Product
from npusession.configfiles import OpDebugConfig
from npusession.options import TABLE, Scene
from npusession.options.compilation import GROUP


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU226": (
                report(op_compiler_cache_mode="enable", op_debug_level=1),
                report(op_compiler_cache_mode="enable", op_debug_level=0),
            ),
            "NPU227": (report(aicore_num="2|4", jit_compile="false"), report(aicore_num="2|4", jit_compile="auto")),
            "NPU405": (
                report(environ={"ASCEND_MAX_OP_CACHE_SIZE": "500MB"}),
                report(environ={"ASCEND_MAX_OP_CACHE_SIZE": "-1", "ASCEND_REMAIN_CACHE_SIZE_RATIO": "80"}),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", ["enable", "force"])
def test_debugging_turns_the_cache_off(mode, level):
    """A cache that is asked for is refused while operators are debugged, at any level."""
    assert codes(op_compiler_cache_mode=mode, op_debug_level=level) == (["NPU226"], ["NPU108"])
    assert codes(op_compiler_cache_mode="disable", op_debug_level=level) == ([], ["NPU108"])


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("op_debug_config=ccec_g,oom\n", ["NPU226"]),
        ("op_debug_config=ccec_g,oom\nop_debug_list=\n", ["NPU226"]),
        ("op_debug_config= ccec_g,oom\nop_debug_list=GatherV2,opType::ReduceSum\n", []),
        ("op_debug_list = GatherV2\r\nop_debug_config = oom\r\n", []),
    ],
)
def test_debug_file(tmp_path, text, errors):
    """A cache is refused beside a debug file that does not list the operators to compile."""
    path = tmp_path / "debug.cfg"
    path.write_bytes(text.encode())
    given = {"op_compiler_cache_mode": "enable", "op_debug_config": path}
    assert codes(host=True, **given) == (errors, [])
    assert codes(host=True, **dict(given, op_compiler_cache_mode="disable")) == ([], [])
    # A plan may be made for another host.
    assert codes(**given) == ([], [])


def test_debug_file_as_a_value():
    """A debug file given as a value counts as one that is read."""
    listed = OpDebugConfig(["oom"], ["GatherV2"])
    assert codes(op_compiler_cache_mode="force", op_debug_config=OpDebugConfig(["oom"])) == (["NPU226"], [])
    assert codes(op_compiler_cache_mode="force", op_debug_config=listed) == ([], [])


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"], ids=["absent", "binary"])
def test_debug_file_that_cannot_be_read(tmp_path, content):
    """Nothing is said of the cache when the debug file cannot be read."""
    path = tmp_path / "debug.cfg"
    if content is not None:
        path.write_bytes(content)
    errors, _ = codes(host=True, op_compiler_cache_mode="enable", op_debug_config=path)
    assert "NPU226" not in errors


@pytest.mark.parametrize("value", ["on", "", "Enable", True, 1])
def test_bad_cache_modes(value):
    """A word that is none of the three is refused."""
    refusal("op_compiler_cache_mode", value)


@pytest.mark.parametrize("path", ["/home/test/kernel_cache", "cache", "./a-b_c.d/缓存/9", "../cache"])
def test_directory_names(path):
    """Paths of letters, digits, the three marks and Chinese characters are taken."""
    assert read("op_compiler_cache_dir", path) == path


@pytest.mark.parametrize("path", ["", "/home/a b", "/home/$HOME", "~/cache", "a:b", "a;b", "é", "a\nb;c=d", "a\0b", 5])
def test_bad_directory_names(path):
    """Characters that the reference does not allow in the path are refused."""
    refusal("op_compiler_cache_dir", path)


def test_directory_is_made(tmp_path):
    """The directory need not exist, but must not be a file."""
    assert codes(host=True, op_compiler_cache_dir=tmp_path / "new") == ([], [])
    (tmp_path / "file").write_text("")
    assert codes(host=True, op_compiler_cache_dir=tmp_path / "file") == (["NPU113"], [])
    assert codes(op_compiler_cache_dir=tmp_path / "file") == ([], [])


@pytest.mark.parametrize(("value", "text"), [("2|4", "2|4"), ((2, 4), "2|4"), (["24", 48], "24|48"), (b"1|1", "1|1")])
def test_cores(value, text):
    """Cores may be given as a pair of numbers; what is written is the reference's text."""
    assert read("aicore_num", value) == text


@pytest.mark.parametrize(
    "value",
    ["", "x", "2", "2|", "|4", "2|4|6", "0|4", "2|0", "-1|4", "2,4", "2.0|4.0", "+2|4", "２|４", "4294967297|1",
     (2,), (2, 4, 6), (2.0, 4.0), (True, True), 24, "__bogus__", "/no/such/dir", "a\nb;c=d"],
)  # fmt: skip
def test_bad_cores(value):
    """Anything but two whole numbers from 1 is refused."""
    refusal("aicore_num", value)


def test_blanks_between_cores():
    """Blanks are answered with the text without them."""
    assert refusal("aicore_num", "2 | 4").fix == "aicore_num='2|4'"


@pytest.mark.parametrize("product", list(Product), ids=lambda product: product.value)
def test_cores_by_product(product):
    """The cores can be set on Atlas A3 and A2 only."""
    known = product in (Product.ATLAS_A3, Product.ATLAS_A2)
    assert codes(product=product, aicore_num="2|4") == ([] if known else ["NPU110"], [])


def test_cores_of_compiled_operators():
    """Cores for operators that are not compiled pass with a word, as dynamic shapes may still compile some."""
    assert codes(product=Product.ATLAS_A2, aicore_num="2|4", jit_compile="false") == ([], ["NPU227"])
    assert codes(product=Product.ATLAS_A2, aicore_num="2|4", jit_compile="true") == ([], [])


@pytest.mark.parametrize(
    ("name", "value", "warns"),
    [
        ("ASCEND_MAX_OP_CACHE_SIZE", "500", False),
        ("ASCEND_MAX_OP_CACHE_SIZE", "-1", False),
        ("ASCEND_MAX_OP_CACHE_SIZE", "", False),
        ("ASCEND_MAX_OP_CACHE_SIZE", "0", True),
        ("ASCEND_MAX_OP_CACHE_SIZE", "-2", True),
        ("ASCEND_MAX_OP_CACHE_SIZE", "big", True),
        ("ASCEND_REMAIN_CACHE_SIZE_RATIO", "1", False),
        ("ASCEND_REMAIN_CACHE_SIZE_RATIO", "100", False),
        ("ASCEND_REMAIN_CACHE_SIZE_RATIO", "101", True),
        ("ASCEND_REMAIN_CACHE_SIZE_RATIO", "-1", True),
        ("ASCEND_REMAIN_CACHE_SIZE_RATIO", "50%", True),
    ],
)
def test_cache_in_environment(name, value, warns):
    """A size or share of the cache in the environment that is no such number gets a word."""
    assert codes(environ={name: value}) == ([], ["NPU405"] if warns else [])


def test_defaults():
    """The cache and constant folding are on unless something else is given."""
    assert TABLE["op_compiler_cache_mode"].default(Scene.TRAINING) == "enable"
    assert TABLE["oo_constant_folding"].default(Scene.INFERENCE) is True
    assert TABLE["op_compiler_cache_dir"].replaces == ("ASCEND_CACHE_PATH",)
