"""The options of mixed computing."""

import pytest
from grouping import check_examples, inferring, read, refusal, report

from npusession.options import TABLE, Scene
from npusession.options.mixed_compute import GROUP

INS = ["import/conv2d_1/convolution"]
OUTS = ["import/conv2d_59/BiasAdd", "import/conv2d_67/BiasAdd", "import/conv2d_75/BiasAdd"]
#: As the reference builds it.
TEXT = str([[INS, OUTS]])


def inference(**options):
    return report(Scene.INFERENCE, **options)


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU218": (inference(in_out_pair=TEXT), inference(in_out_pair=TEXT, mix_compile_mode=True)),
            "NPU219": (
                inference(in_out_pair_flag=False, mix_compile_mode=True),
                inference(in_out_pair_flag=False, mix_compile_mode=True, in_out_pair=TEXT),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize(
    "value",
    [TEXT, TEXT.encode(), [[INS, OUTS]], [INS, OUTS], (tuple(INS), tuple(OUTS)), [[[INS[0].encode()], OUTS]]],
    ids=["text", "bytes", "list", "pair", "tuples", "bytes-in-list"],
)
def test_written_as_the_reference_does(value):
    """The pair of lists may be given as it is; what is written is the text that the reference shows."""
    assert read("in_out_pair", value) == TEXT


@pytest.mark.parametrize("text", ["[ [['a'] ,\t['b', 'c/d:0']] ]", "[[['a'],['b']]]"])
def test_blanks(text):
    """Blanks between names do not matter to the runtime, and stay."""
    assert read("in_out_pair", text) == text


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("", "one pair"),
        ("__bogus__", "one pair"),
        ("[[['a'], ['b']], [['c'], ['d']]]", "more than one pair"),
        ([[["a"], ["b"]], [["c"], ["d"]]], "more than one pair"),
        ("[[['a'], []]]", "one pair"),
        ("[[['a'], ['b'], ['c']]]", "one pair"),
        ("[[['a b'], ['c']]]", "one pair"),
        ([["a"], []], "one pair"),
        ([], "one pair"),
        ([[1], [2]], "list"),
        ([["a"], "b"], "list"),
        ({"a": "b"}, "text"),
        (True, "text"),
    ],
)
def test_bad_pairs(value, word):
    """Anything but one pair of lists of names is refused, with what is wrong."""
    assert word in refusal("in_out_pair", value).message


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ('[[["a"], ["b"]]]', "[[['a'], ['b']]]"),
        ("[['a'], ['b']]", "[[['a'], ['b']]]"),
        ('[["a"], ["b"]]', "[[['a'], ['b']]]"),
    ],
)
def test_likely_meant(value, fix):
    """Text as JSON writes it, or without the outer brackets, is answered with the text that works."""
    assert refusal("in_out_pair", value).fix == f"in_out_pair={fix!r}"


def test_flag_that_holds_anyway():
    """Asking for what holds anyway is no mistake."""
    assert inferring(in_out_pair_flag=True) == ([], [])
    assert TABLE["in_out_pair_flag"].default(Scene.INFERENCE) is True
    assert TABLE["mix_compile_mode"].default(Scene.TRAINING) is False


@pytest.mark.parametrize("value", [False, None, "off"])
def test_mixed_computing_must_be_on(value):
    """A part of the graph to offload is refused unless mixed computing is on, however it is off."""
    assert inferring(in_out_pair=TEXT, mix_compile_mode=value) == (["NPU218"], [])


def test_not_for_training():
    """The pair and its flag are for online inference."""
    found = report(Scene.TRAINING, mix_compile_mode=True, in_out_pair=TEXT, in_out_pair_flag=False)
    assert [(problem.code, problem.option) for problem in found] == [
        ("NPU109", "in_out_pair"), ("NPU109", "in_out_pair_flag")
    ]  # fmt: skip
