"""The experimental options of compiling; accelerated training has tests of its own."""

import pytest
from grouping import codes, inferring, read, refusal, report

from npusession import Severity
from npusession.options import TABLE, Scene
from npusession.options.experimental import GROUP

STREAMS = "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM"


def test_rules_of_the_group():
    """Every rule of compiling is listed in the group."""
    assert {rule.code for rule in GROUP.rules} == {"NPU209", "NPU233", "NPU234", "NPU290", "NPU403", "NPU404"}


@pytest.mark.parametrize("value", ["auto", "true", "false", True, False, b"auto"])
def test_compiling(value):
    """The three words are taken, and bools for the two that look like them."""
    words = {True: "true", False: "false", b"auto": "auto"}
    assert read("jit_compile", value) == words.get(value, value)


@pytest.mark.parametrize(("value", "fix"), [("True", "'true'"), ("1", ""), ("Auto", "'auto'"), ("", "")])
def test_bad_words(value, fix):
    """Words that the runtime answers with an error are refused, with the word that is near."""
    assert refusal("jit_compile", value).fix == (fix and f"jit_compile={fix}")


@pytest.mark.parametrize(
    ("mode", "compiling", "errors"),
    [
        ("STRICT", None, []),
        ("STRICT", "false", []),
        ("STRICT", "true", []),
        ("FULL", "true", []),
        ("ADAPTIVE", "true", []),
        ("FULL", None, ["NPU233"]),
        ("FULL", "auto", ["NPU233"]),
        ("ADAPTIVE", "false", ["NPU233"]),
    ],
)
def test_generalization_needs_compiling(mode, compiling, errors):
    """Generalising shapes is refused unless operators are compiled; not generalising is what holds anyway."""
    assert codes(shape_generalization_mode=mode, jit_compile=compiling) == (errors, [])


@pytest.mark.parametrize("mode", ["STRICT", "FULL", "ADAPTIVE"])
def test_generalised_already(mode):
    """A mode that compile_dynamic_mode makes void is refused."""
    given = {"shape_generalization_mode": mode, "jit_compile": "true"}
    assert codes(compile_dynamic_mode=True, **given) == (["NPU234"], [])
    assert codes(compile_dynamic_mode=False, **given) == ([], [])


def test_spelling_of_modes():
    """Modes are spelt in capitals."""
    refusal("shape_generalization_mode", "strict")


@pytest.mark.parametrize(
    ("value", "errors"), [("1", ["NPU404"]), ("true", ["NPU404"]), ("0", []), ("", []), (None, [])]
)
def test_two_parallels(value, errors):
    """Cube beside Vector operators is refused while several streams are on in the environment."""
    environ = {} if value is None else {STREAMS: value}
    assert codes(environ=environ, auto_multistream_parallel_mode="cv") == (errors, [])
    assert codes(environ=environ, auto_multistream_parallel_mode=None) == ([], [])


def test_two_parallels_in_words():
    """The message names the variable to unset."""
    (problem,) = report(environ={STREAMS: "1"}, auto_multistream_parallel_mode="cv")
    assert problem.severity is Severity.ERROR
    assert STREAMS in problem.message
    assert f"unset {STREAMS}" in problem.fix


@pytest.mark.parametrize("value", ["vc", "None", "", True, 1])
def test_bad_parallels(value):
    """There is one word, and leaving it out."""
    refusal("auto_multistream_parallel_mode", value)


def test_parallel_is_for_training():
    """Cube beside Vector operators is for trainings only."""
    assert inferring(auto_multistream_parallel_mode="cv") == (["NPU109"], [])


def test_cache_must_be_there(tmp_path):
    """The directory of the graph cache must exist when it is used, be it through a link."""
    for path in (tmp_path / "none", tmp_path / "file"):
        assert codes(graph_compiler_cache_dir=path) == ([], [])
    (tmp_path / "file").write_text("")
    (tmp_path / "cache").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    (missing,) = report(host=True, graph_compiler_cache_dir=tmp_path / "none")
    assert (missing.code, missing.fix) == ("NPU113", "mkdir -p {}".format(tmp_path / "none"))
    assert codes(host=True, graph_compiler_cache_dir=tmp_path / "file") == (["NPU113"], [])
    for name in ("cache", "link"):
        assert codes(host=True, graph_compiler_cache_dir=tmp_path / name) == ([], [])


def test_defaults():
    """What holds when nothing is given is known."""
    assert TABLE["jit_compile"].default(Scene.INFERENCE) == "auto"
    assert TABLE["shape_generalization_mode"].default(Scene.TRAINING) == "STRICT"
    assert TABLE["auto_multistream_parallel_mode"].default(Scene.TRAINING) is None


@pytest.mark.parametrize("option", GROUP.options, ids=lambda option: option.name)
def test_experimental(option):
    """Every one of them says that it may change."""
    assert any("may change" in note.text for note in option.notes)
