"""The options of debugging."""

import os

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession.configfiles import OpDebugConfig
from npusession.options.debugging import GROUP, op_debug_words

COLLECTING = {"NPU_COLLECT_PATH": "/data/collected"}


@pytest.fixture
def side_file(tmp_path):
    """A function that writes a file of debugging words and returns its path."""

    def write(text):
        path = tmp_path / "test0.cfg"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_rules(side_file):
    """Every rule of the group can be broken and kept."""
    oom = side_file("op_debug_config=ccec_g,oom\n")
    check_examples(
        {
            "NPU250": (
                report(op_debug_level=2, op_debug_config=oom),
                report(op_debug_level=1, op_debug_config=oom),
            ),
            "NPU425": (
                report(enable_exception_dump=0, environ=COLLECTING),
                report(enable_exception_dump=1, environ=COLLECTING),
            ),
            "NPU426": (
                report(op_debug_config=oom, environ=COLLECTING),
                report(op_debug_config=oom, environ={"NPU_COLLECT_PATH": ""}),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("op_debug_config=ccec_g,oom", {"ccec_g", "oom"}),
        ("op_debug_config= ccec_g,oom\nop_debug_list=GatherV2,opType::ReduceSum\n", {"ccec_g", "oom"}),
        ("op_debug_list=oom\nop_debug_config = dump_cce , check_flag\r\n", {"dump_cce", "check_flag"}),
        (b"\xef\xbb\xbfop_debug_config=oom", {"oom"}),
        ("op_debug_config=", set()),
        ("", set()),
        ("oom", set()),
        (b"op_debug_config=\xff", None),
    ],
)
def test_words(side_file, text, words):
    """The words of a side file are read as the reference writes them; what is no text is left alone."""
    assert op_debug_words(side_file(text)) == words


@pytest.mark.parametrize("path", ["/no/such/file", "/", "", "a\0b", None, 5, b"/tmp"])
def test_words_of_no_file(path):
    """What is no file here is no reason to fail."""
    assert op_debug_words(path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_words_of_a_pipe(tmp_path):
    """A pipe, which may never give anything, is not opened."""
    os.mkfifo(str(tmp_path / "pipe"))
    assert op_debug_words(str(tmp_path / "pipe")) is None


def test_words_of_a_huge_file(side_file):
    """A file of a size that no side file has is not looked into."""
    assert op_debug_words(side_file(b"x" * (2 << 20))) is None


def test_side_file_as_a_value():
    """The rules look into a side file that is given as a value too."""
    aids = OpDebugConfig(["oom"])
    assert codes(op_debug_config=aids, op_debug_level=2) == (["NPU250"], ["NPU108"])
    assert codes(op_debug_config=aids, environ=COLLECTING) == (["NPU426"], [])
    assert codes(op_debug_config=OpDebugConfig(["ccec_g"]), op_debug_level=2) == ([], ["NPU108"])


@pytest.mark.parametrize(("form", "warnings"), [(None, []), (0, ["NPU425"]), (1, []), (2, ["NPU425"])])
def test_collecting_forces_the_full_dump(form, warnings):
    """Who asks for another form of the exception dump is told that the environment decides."""
    assert codes(enable_exception_dump=form, environ=COLLECTING) == ([], warnings)
    assert codes(enable_exception_dump=form) == ([], [])


@pytest.mark.parametrize("value", [0, 1, 2, "2", True, False])
def test_exception_dump(value):
    """The three forms of the exception dump may be given as numbers, text, or on and off."""
    assert read("enable_exception_dump", value) == int(value)


@pytest.mark.parametrize("value", [-1, 3, 999, 2**32 + 1, -(2**63), "", "light", 1.0])
def test_bad_exception_dump(value):
    """Every other form, which fails in the runtime, is refused."""
    refusal("enable_exception_dump", value)


@pytest.mark.parametrize("value", [-1, 3, 999, 2**32, "x"])
def test_bad_compile_stat(value):
    """There are three ways to write the file of fusions."""
    refusal("export_compile_stat", value)


def test_debug_dir(tmp_path):
    """The directory need not exist before, but must not be a file."""
    assert codes(debug_dir=str(tmp_path / "new"), host=True) == ([], [])
    (tmp_path / "file").write_text("")
    assert codes(debug_dir=str(tmp_path / "file"), host=True) == (["NPU113"], [])
    assert codes(debug_dir=str(tmp_path / "file")) == ([], [])
    refusal("debug_dir", "")
