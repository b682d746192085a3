"""What all side files have in common: reading, errors with positions, writing in one piece."""

import copy
import dataclasses
import errno
import inspect
import os
import pathlib
import pickle
import stat
import subprocess
import sys
import textwrap

import pytest

from npusession import NpuSessionError, OptionsError, Product, Severity, configfiles
from npusession.configfiles import (
    FORMATS,
    RULES,
    AoeTuning,
    ConfigFileError,
    CustomizeDtypes,
    FusionSwitch,
    MixList,
    OpCache,
    OpDebugConfig,
    OperatorDtypes,
    OpPrecision,
)
from npusession.configfiles._rules import SHARED_RULES
from npusession.options import RULES as OPTION_RULES

#: One value of each format, with all that it can hold.
VALUES = [
    OpDebugConfig(["ccec_g", "oom"], ["GatherV2", "OpType::ReduceSum"]),
    MixList(["MatMul", "Cast"], ["Xlog1py"], ["Bias"], ["Conv2D"]),
    CustomizeDtypes(
        [OperatorDtypes("层/Relu", ["float16", "", "int8"], ["float16"]), OperatorDtypes("OpType::A", "", "b")]
    ),
    FusionSwitch({"ALL": False, "SoftmaxFusionPass": True}, {"ALL": "off"}),
    OpPrecision({"Softmax": "high_precision"}, {"loss/MatMul": "high_performance"}),
    AoeTuning(["loss/MatMul"], ["Add", "Mul"], "O1", ["deeper_opat"]),
    OpCache(2000, 80, {"ops_version": "1.0"}),
]
KINDS = list(FORMATS.values())


def name_of(value):
    """Return a test id: the class of a value, pytest's own for the rest."""
    return value.__name__ if isinstance(value, type) else type(value).__name__ if type(value) in KINDS else None


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_values(value):
    """A value can be a key, be copied, pickled, compared and printed, and cannot be changed."""
    assert {value: 1}[copy.deepcopy(value)] == 1
    assert pickle.loads(pickle.dumps(value)) == value
    assert value != type(value)()
    assert eval(repr(value)) == value
    assert dataclasses.replace(value) == value
    field = dataclasses.fields(value)[-1].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, None)


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_write_and_read(value, tmp_path):
    """What is written is UTF-8 text with a line end, and reads back as the same value."""
    path = tmp_path / "file"
    assert value.write(path) == str(path)
    assert path.read_bytes() == value.text().encode("utf-8")
    assert path.read_bytes().endswith(b"\n")
    assert type(value).read(str(path)) == type(value).read(path) == value
    assert type(value).read(path).check("atlas-a2") == value.check("atlas-a2")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_empty_value(kind, tmp_path):
    """A value without arguments can be written and read, and is reported to set nothing, unless it does."""
    assert kind.read(kind().write(tmp_path / "file")) == kind()
    assert [problem.slug for problem in kind().check()] == ([] if kind is OpCache else ["no-effect"])


def test_lists_become_tuples():
    """Lists, tuples, generators and one text with commas all make the same value."""
    value = MixList(["MatMul", "Cast"])
    assert value.black_add == ("MatMul", "Cast")
    assert (
        value == MixList(("MatMul", "Cast")) == MixList(name for name in ("MatMul", "Cast")) == MixList("MatMul, Cast")
    )
    assert MixList(None) == MixList("") == MixList(" , ") == MixList()


@pytest.mark.parametrize(
    "make",
    [
        lambda: OpDebugConfig([1]),
        lambda: OpDebugConfig(["oom"], [b"MatMul"]),
        lambda: MixList([None]),
        lambda: CustomizeDtypes(["a::InputDtype:b"]),
        lambda: OperatorDtypes(1),
        lambda: OperatorDtypes("a", [1]),
        lambda: FusionSwitch("ALL"),
        lambda: FusionSwitch(["ALL"]),
        lambda: FusionSwitch([("ALL", "off", "on")]),
        lambda: FusionSwitch({"ALL": 0}),
        lambda: FusionSwitch({1: "off"}),
        lambda: OpPrecision({"a": None}),
        lambda: AoeTuning(tune_optimization_level=1),
        lambda: OpCache("500"),
        lambda: OpCache(True),
        lambda: OpCache(500.0),
    ],
)
def test_wrong_types(make):
    """A value of a type that cannot be meant is an error where it is given."""
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_missing_file(kind, tmp_path):
    """A file that is not there is the system's own error, with its path."""
    path = tmp_path / "not" / "there"
    with pytest.raises(FileNotFoundError) as caught:
        kind.read(path)
    assert str(path) == str(caught.value.filename)
    with pytest.raises(OSError, match="directory"):
        kind.read(tmp_path)


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_not_utf8(kind, tmp_path):
    """A file in another encoding is refused, with the place of its first wrong byte."""
    path = tmp_path / "file"
    path.write_bytes("# 中\n# 中\n# 层".encode() + "文".encode("gbk"))
    with pytest.raises(ConfigFileError) as caught:
        kind.read(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (str(path), 3, 4)
    assert caught.value.expected == "UTF-8"


def test_error():
    """A broken file is an error of this package and a ValueError, which shows where, and what was expected."""
    with pytest.raises(ConfigFileError) as caught:
        OpPrecision.parse("[ByOpType]\nSoftmax high_precision\n", "/data/op.ini")
    error = caught.value
    assert isinstance(error, NpuSessionError)
    assert isinstance(error, ValueError)
    assert str(error) == "/data/op.ini:2:1: 'Softmax high_precision' has no equals sign; expected key=value"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column) == (str(error), 2, 1)


JSON = (MixList, FusionSwitch, AoeTuning)


@pytest.mark.parametrize("kind", JSON, ids=name_of)
@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "an object in braces"),
        ("\n  \n", 3, 1, "an object in braces"),
        ("[]", 1, 1, "an object"),
        ("null", 1, 1, "an object"),
        ("{", 1, 2, "a key in double quotes"),
        ("{\n  'a': 1}", 2, 3, "a key in double quotes"),
        ('{"a" 1}', 1, 6, "':'"),
        ('{"a": }', 1, 7, "a value"),
        ('{"a": yes}', 1, 7, "a value"),
        ('{"a": 1.5.2}', 1, 7, "a value"),
        ('{"a": -1.5e3, "b": null, "c": true]', 1, 35, "',' or '}'"),
        ('{"a": "b" "c"}', 1, 11, "',' or '}'"),
        ('{"a": ["b" "c"]}', 1, 12, "',' or ']'"),
        ('{"a": ["b",]}', 1, 12, "a value"),
        ('{"a": "b",}', 1, 11, "a key in double quotes"),
        ('{"a": [', 1, 8, "a value"),
        ('{"a": "b', 1, 7, "text in double quotes"),
        ('{"a": "b\nc"}', 1, 9, "text in double quotes"),
        (r'{"a": "\ud800"}', 1, 7, "whole characters"),
        ('{"a": 1} x', 1, 10, "nothing more"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', 3, 2, "each key once"),
        pytest.param('{"a": ' + "[" * 5000, 1, 17, "at most 10 levels", id="deep"),
        ('{"blck-list": {}}', 1, 2, ""),
        ('{\n  "Swich": {}}', 2, 3, ""),
    ],
)
def test_broken_json(kind, text, line, column, expected):
    """What is no JSON, or is not of the format, is refused at its place."""
    with pytest.raises(ConfigFileError) as caught:
        kind.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert expected in caught.value.expected


@pytest.mark.parametrize("kind", [OpPrecision, OpCache], ids=name_of)
@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("a=b", 1, 1, "[%s]"),
        ("\n  # note\n  [Other]\n", 3, 3, "[%s]"),
        ("[%s", 1, 1, "[%s]"),
        ("[%s] ; note", 1, 1, "[%s]"),
        ("[%s]\n\n[%s]", 3, 1, "one section of each name"),
        ("[%s]\n\n  name", 3, 3, "key=value"),
        ("[%s]\r\n = 5", 2, 2, "key=value"),
        ("[%s]\nname =  ", 2, 7, "key=value"),
        ("[%s]\na = b\n# note\n a = c", 4, 2, "each key once"),
    ],
)
def test_broken_sections(kind, text, line, column, expected):
    """A line that is neither a known section nor an entry is refused at its place, and so is one that comes again."""
    name = "ByOpType" if kind is OpPrecision else "op_compiler_cache"
    with pytest.raises(ConfigFileError) as caught:
        kind.parse(text.replace("%s", name))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert expected.replace("%s", name) in caught.value.expected


def test_did_you_mean():
    """A misspelt key, section or list is answered with the one that was meant."""
    for kind, text, meant in (
        (OpDebugConfig, "op_debug_confg=oom", "op_debug_config"),
        (MixList, '{"blacklist": {}}', "black-list"),
        (MixList, '{"black-list": {"add": []}}', "to-add"),
        (FusionSwitch, '{"Switch": {"GraphFussion": {}}}', "GraphFusion"),
        (OpPrecision, "[ByOptype]", "[ByOpType]"),
        (AoeTuning, '{"tune_op_name": []}', "tune_ops_name"),
    ):
        with pytest.raises(ConfigFileError, match="did you mean") as caught:
            kind.parse(text)
        assert f"(did you mean {meant}?)" in caught.value.problem


class TestWriting:
    """A file is written complete or not at all, and somebody else's is left alone."""

    VALUE = OpCache(2000, 80)

    def test_keeps_what_is_there(self, tmp_path):
        """A file that is there stays as it is, unless overwriting was asked for."""
        path = tmp_path / "op_cache.ini"
        path.write_text("mine")
        with pytest.raises(FileExistsError) as caught:
            self.VALUE.write(path)
        assert caught.value.filename == str(path)
        assert path.read_text() == "mine"
        self.VALUE.write(path, overwrite=True)
        assert OpCache.read(path) == self.VALUE
        assert os.listdir(tmp_path) == ["op_cache.ini"]

    def test_keeps_a_dangling_link(self, tmp_path):
        """A link that leads nowhere counts as something that is there."""
        (tmp_path / "link").symlink_to(tmp_path / "gone")
        with pytest.raises(FileExistsError):
            self.VALUE.write(tmp_path / "link")
        assert os.listdir(tmp_path) == ["link"]

    def test_overwrites_behind_a_link(self, tmp_path):
        """Overwriting a link writes the file that it leads to."""
        (tmp_path / "real").write_text("old")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        self.VALUE.write(tmp_path / "link", overwrite=True)
        assert (tmp_path / "link").is_symlink()
        assert OpCache.read(tmp_path / "real") == self.VALUE

    def test_permissions(self, tmp_path):
        """A new file has the permissions of any new file, an overwritten one keeps its own."""
        (tmp_path / "usual").write_text("")
        path = pathlib.Path(self.VALUE.write(tmp_path / "new"))
        assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
        path.chmod(0o640)
        self.VALUE.write(path, overwrite=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    @pytest.mark.parametrize("overwrite", [False, True])
    @pytest.mark.parametrize("name", ["fsync", "link", "replace"])
    def test_failure(self, tmp_path, monkeypatch, overwrite, name):
        """When writing fails, what was there is untouched and nothing is left behind."""
        path = tmp_path / "op_cache.ini"
        if overwrite:
            path.write_text("mine")

        def fail(*_):
            raise OSError(errno.ENOSPC, "no space")

        monkeypatch.setattr(os, name, fail)
        if name == "link" or (name == "replace" and not overwrite):
            # Without hard links there is another way; without need to replace, nothing fails.
            self.VALUE.write(path, overwrite=overwrite)
            assert OpCache.read(path) == self.VALUE
        else:
            with pytest.raises(OSError, match="no space"):
                self.VALUE.write(path, overwrite=overwrite)
            assert not overwrite or path.read_text() == "mine"
        assert os.listdir(tmp_path) == (["op_cache.ini"] if path.exists() else [])

    @pytest.mark.parametrize("links", [True, False])
    def test_race(self, tmp_path, monkeypatch, links):
        """A file that somebody makes in the meantime is kept, too."""
        path = tmp_path / "op_cache.ini"
        link, fsync = os.link, os.fsync

        def late(descriptor):
            fsync(descriptor)
            path.write_text("theirs")

        def no_links(*arguments):
            if links:
                return link(*arguments)
            raise OSError(errno.EPERM, "no hard links")

        monkeypatch.setattr(os, "fsync", late)
        monkeypatch.setattr(os, "link", no_links)
        with pytest.raises(FileExistsError):
            self.VALUE.write(path)
        assert path.read_text() == "theirs"
        assert os.listdir(tmp_path) == ["op_cache.ini"]

    def test_unwritable(self, tmp_path):
        """A value that would not read back is not written, and the error says what is wrong with it."""
        with pytest.raises(OptionsError) as caught:
            OpDebugConfig(["oom"], ["a,b"]).write(tmp_path / "file")
        assert [problem.code for problem in caught.value.problems] == ["NPU502"]
        assert os.listdir(tmp_path) == []

    def test_relative_path(self, tmp_path, monkeypatch):
        """A bare file name is written to the current directory."""
        monkeypatch.chdir(tmp_path)
        assert self.VALUE.write("op_cache.ini") == "op_cache.ini"
        assert os.listdir(tmp_path) == ["op_cache.ini"]


def test_products():
    """A product may be named in any way, and an unknown one is an error."""
    value = OpPrecision({"MatMul": "enable_float_32_execution"})
    assert [problem.severity for problem in value.check()] == [Severity.WARNING]
    assert value.check("A2") == value.check(Product.ATLAS_A2) == value.check("Ascend910B1") == []
    assert [problem.severity for problem in value.check("Ascend910A")] == [Severity.ERROR]
    with pytest.raises(ValueError, match="no product"):
        value.check("abacus")


def test_rules():
    """The codes of all rules are from the range of side files, and none is used twice."""
    rules = [rule for kind in KINDS for rule in kind.rules]
    rules += SHARED_RULES
    assert len(RULES) == len(rules) == len({rule.code for rule in rules})
    assert all("NPU501" <= code <= "NPU549" for code in RULES)
    assert {rule.slug for rule in RULES.values()} == {"bad-value", "conflict", "wrong-product", "no-effect"}
    assert not set(RULES) & {code for code, rule in OPTION_RULES.items() if rule not in RULES.values()}


def test_light_import():
    """Importing the formats imports hardly more than the package itself does."""
    code = "import sys, npusession; before = set(sys.modules); import npusession.configfiles; print({})"
    listing = subprocess.run(
        [sys.executable, "-c", code.format("*(set(sys.modules) - before)")], stdout=subprocess.PIPE, check=True
    )
    names = {name for name in listing.stdout.decode().split() if not name.startswith("npusession.configfiles")}
    assert names <= {"errno", "json", "json.decoder", "json.encoder", "json.scanner", "_json"}


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_docstring_example(kind, tmp_path):
    """The example of each format runs, says nothing wrong, and reads back."""
    example = textwrap.dedent(inspect.getdoc(kind).split("::\n\n")[1].split("\n\n")[0])
    (tmp_path / "cache").mkdir()
    exec(example.replace("/data", str(tmp_path)), dict(vars(configfiles)))
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert path.suffix == kind.suffix
    assert [problem for problem in kind.read(path).check() if problem.severity is Severity.ERROR] == []
