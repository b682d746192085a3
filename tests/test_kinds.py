"""How each kind of option reads what users and command line flags give."""

import enum
import os
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, contained

from npusession.options.kinds import (
    Choice,
    Flag,
    IntChoice,
    Integer,
    Kind,
    Path,
    PathIs,
    Refused,
    Switch,
    Text,
    Value,
    path_fault,
)
from npusession.options.profiling import JsonObject

FLAG = Flag()
STEPS = Integer(1, 100, "steps")
LEVEL = IntChoice((Value(0, "none"), Value(1, "some"), Value(4, "all")))
MODE = Choice((Value("input", "in"), Value("output", "out"), Value("all", "both")))
DIGIT = Choice((Value("0", "no"), Value("1", "yes")))
WORD = Choice((Value("true", "yes"), Value("false", "no"), Value("auto", "either")))
SWITCH = Switch((Value("on", "on"), Value("off", "off"), Value("l0", "little")))
NAMES = Text("names joined by commas", separator=",")
PLAIN = Text("any text")
FOLDER = Path(PathIs.DIRECTORY)
JSON = JsonObject()
KINDS = (FLAG, STEPS, LEVEL, MODE, DIGIT, WORD, SWITCH, NAMES, PLAIN, FOLDER, JSON)
#: What stands in each field of AttrValue.
FIELD_TYPES = {"b": bool, "i": int, "s": str}


def name_of(value):
    """Return a test id: the class of a kind, pytest's own for the rest."""
    return type(value).__name__ if isinstance(value, Kind) else None


class Mode(enum.Enum):
    """What a script may keep its words in."""

    ALL = "all"
    NONE = "none"


class Level(enum.IntEnum):
    """What a script may keep its numbers in."""

    SOME = 1


class Named(str, enum.Enum):
    """Words that are text as well."""

    ALL = "all"


class Folder:
    """A path object that is not pathlib's."""

    def __fspath__(self):
        return "/data/dump"


@pytest.mark.parametrize(
    ("kind", "given", "canonical"),
    [
        *((FLAG, word, True) for word in (True, 1, "True", "true", "TRUE", "on", "On", "yes", "1", " on ", b"true")),
        *((FLAG, word, False) for word in (False, 0, "False", "off", "OFF", "no", "0", "false\n", b"off")),
        (FLAG, Level.SOME, True),
        (STEPS, 1, 1),
        (STEPS, 100, 100),
        (STEPS, "8", 8),
        (STEPS, " 8 ", 8),
        (STEPS, "+8", 8),
        (STEPS, b"8", 8),
        (STEPS, "0008", 8),
        (STEPS, Level.SOME, 1),
        (Integer(-5), "-5", -5),
        (Integer(0), 2**31 - 1, 2**31 - 1),
        (LEVEL, 4, 4),
        (LEVEL, "4", 4),
        (LEVEL, True, 1),
        (LEVEL, False, 0),
        (LEVEL, "on", 1),
        (LEVEL, "False", 0),
        (LEVEL, Level.SOME, 1),
        (MODE, "all", "all"),
        (MODE, b"all", "all"),
        (MODE, Mode.ALL, "all"),
        (MODE, Named.ALL, "all"),
        (DIGIT, "1", "1"),
        (DIGIT, 1, "1"),
        (DIGIT, 0, "0"),
        (DIGIT, Level.SOME, "1"),
        (WORD, True, "true"),
        (WORD, False, "false"),
        (WORD, "auto", "auto"),
        (SWITCH, True, "on"),
        (SWITCH, False, "off"),
        (SWITCH, "True", "on"),
        (SWITCH, "false", "off"),
        (SWITCH, "on", "on"),
        (SWITCH, "l0", "l0"),
        (SWITCH, b"off", "off"),
        (NAMES, "a,b", "a,b"),
        (NAMES, ["a", "b"], "a,b"),
        (NAMES, ("a", b"b"), "a,b"),
        (NAMES, [], ""),
        (PLAIN, "数据", "数据"),
        (PLAIN, "数据".encode(), "数据"),
        (PLAIN, 5, "5"),
        (PLAIN, Named.ALL, "all"),
        (FOLDER, "/data/dump", "/data/dump"),
        (FOLDER, b"/data/dump", "/data/dump"),
        (FOLDER, pathlib.PurePosixPath("/data/dump"), "/data/dump"),
        (FOLDER, Folder(), "/data/dump"),
        (FOLDER, Named.ALL, "all"),
        (JSON, "{}", "{}"),
        (JSON, '{"output": "/tmp"}', '{"output": "/tmp"}'),
        (JSON, {"output": "数据", "l2": True, "aicpu": False}, '{"output": "数据", "l2": "on", "aicpu": "off"}'),
    ],
    ids=name_of,
)
def test_reads(kind, given, canonical):
    """A value may come as the type it has or as the text of a flag, and always ends up the same."""
    read = kind.parse(given)
    assert read == canonical
    assert type(read) is type(canonical)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *((FLAG, value) for value in ("maybe", "", 2, -1, "2")),
        *((STEPS, value) for value in (0, 101, -1, "0", "101", "", "8.0", "1e2", "0x8", "٨", "eight", "8 8", "--8")),
        (Integer(0), 2**31),
        (Integer(1), 2**32 + 1),
        (STEPS, "1" * 5000),
        *((LEVEL, value) for value in (2, -1, "2", "maybe", "")),
        *((MODE, value) for value in ("ALL", "all ", "bogus", "", 0, Mode.NONE)),
        *((DIGIT, value) for value in (2, "01", 10**4000)),
        *((SWITCH, value) for value in ("l1", "", "1", 1)),
        *((FOLDER, value) for value in ("", "a\nb", "a\x7fb", "a\tb", b"a\0b")),
        *((JSON, value) for value in ("", "output=/tmp", "[1]", '"text"', "{", '{"l2": "on", "l2": "off"}')),
        *((kind, "\ud800") for kind in KINDS),
        *((kind, "a\0") for kind in KINDS),
    ],
    ids=name_of,
)
def test_refuses_values(kind, given):
    """A value outside of what is allowed is refused as such."""
    with pytest.raises(Refused) as caught:
        kind.parse(given)
    assert str(caught.value)
    assert not caught.value.wrong_type


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *((FLAG, value) for value in (1.0, None, [True], object())),
        *((STEPS, value) for value in (True, False, 8.0, None, [8], object())),
        *((LEVEL, value) for value in (1.0, None, (1,))),
        *((MODE, value) for value in (True, False, 1.5, None, ["all"])),
        *((SWITCH, value) for value in (1.0, None, ["on"])),
        *((NAMES, value) for value in (None, True, 1.5, [1], [["a"]], {"a": "b"})),
        *((PLAIN, value) for value in (None, True, 1.5, ["a"])),
        *((FOLDER, value) for value in (None, True, 1, 1.5, ["/data"])),
        *((JSON, value) for value in (None, True, 1, ["output"])),
        *((kind, b"\xff\xfe") for kind in KINDS),
    ],
    ids=name_of,
)
def test_refuses_types(kind, given):
    """A type that cannot mean the option is told apart from a bad value."""
    with pytest.raises(Refused) as caught:
        kind.parse(given)
    assert caught.value.wrong_type


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_says_what_is_allowed(kind):
    """Every kind says in words what it takes."""
    assert kind.allowed
    assert kind.field in ("b", "i", "s")


def test_closest_word():
    """A slip in a word is answered with the word that was meant."""
    with pytest.raises(Refused) as caught:
        MODE.parse("ouput")
    assert caught.value.fix == "'output'"


def test_unit_in_the_range():
    """A range is shown with its unit."""
    assert STEPS.allowed == "1 to 100 steps"


def test_numpy_numbers():
    """Numbers and bools out of NumPy arrays count as numbers and bools."""
    numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")
    for kind, value, canonical in (
        (STEPS, numpy.int64(8), 8),
        (STEPS, numpy.uint8(8), 8),
        (LEVEL, numpy.int32(4), 4),
        (FLAG, numpy.int64(1), True),
        (FLAG, numpy.bool_(True), True),
        (FLAG, numpy.bool_(False), False),
        (MODE, numpy.str_("all"), "all"),
    ):
        assert kind.parse(value) == canonical
        assert type(kind.parse(value)) is type(canonical)


@given(st.sampled_from(KINDS), anything)
def test_reads_or_refuses(kind, value):
    """Whatever a kind is given, it reads or refuses it, and what it reads it reads again as the same."""
    try:
        canonical = kind.parse(value)
    except Refused:
        return
    assert type(canonical) is FIELD_TYPES[kind.field]
    assert kind.parse(canonical) == canonical


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_objects(kind, name):
    """An object whose methods raise is read or refused like any other."""
    for value in contained(HOSTILE[name]()):
        try:
            canonical = kind.parse(value)
        except Refused:
            continue
        assert type(canonical) is FIELD_TYPES[kind.field]


@pytest.mark.parametrize(
    ("make", "must_be", "fault"),
    [
        ("directory", PathIs.DIRECTORY, ""),
        ("file", PathIs.DIRECTORY, "is not a directory"),
        ("nothing", PathIs.DIRECTORY, "does not exist"),
        ("link", PathIs.DIRECTORY, "is a symbolic link, which the runtime refuses"),
        ("dangling", PathIs.DIRECTORY, "is a symbolic link, which the runtime refuses"),
        ("directory", PathIs.FILE, "is not a file"),
        ("file", PathIs.FILE, ""),
        ("nothing", PathIs.FILE, "does not exist"),
        ("directory", PathIs.CREATED, ""),
        ("file", PathIs.CREATED, "is a file"),
        ("nothing", PathIs.CREATED, ""),
    ],
)
def test_path_fault(tmp_path, make, must_be, fault):
    """What is wrong with a path on this host is said in words."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "directory")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert path_fault(str(tmp_path / make), must_be) == fault


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything")
@pytest.mark.parametrize("must_be", [PathIs.DIRECTORY, PathIs.FILE])
def test_path_rights(tmp_path, must_be):
    """A path without the rights that the runtime needs is told apart from one that is not there."""
    path = tmp_path / "closed"
    if must_be is PathIs.DIRECTORY:
        path.mkdir(mode=0o500)
    else:
        path.write_text("")
        path.chmod(0)
    assert "by this user" in path_fault(str(path), must_be)


@pytest.mark.parametrize("must_be", list(PathIs))
def test_very_long_path(must_be):
    """A path that no file system takes is no crash."""
    assert isinstance(path_fault("/" + "long" * 5000, must_be), str)
