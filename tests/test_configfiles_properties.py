"""What holds for every value and every text: nothing is lost on the way, and nothing crashes."""

import json
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npusession import OptionsError, Severity
from npusession.configfiles import (
    FORMATS,
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

#: Names of operators and passes, as graphs have them.
names = st.text(string.ascii_letters + string.digits + "_./-层> ", min_size=1, max_size=12).filter(
    lambda name: name.strip() == name and name != "OpType"
)
unique_names = st.lists(names, max_size=4, unique=True)
types = names.map("OpType::{}".format)
operators = st.lists(st.one_of(names, types), max_size=4, unique=True)
dtypes = st.lists(st.sampled_from(["float16", "int8", "", "FLOAT"]), max_size=4)


def settings(words):
    """Draw settings of names to some words."""
    return st.dictionaries(names, st.sampled_from(words), max_size=4)


entries = st.builds(OperatorDtypes, st.one_of(names, types), dtypes, dtypes).filter(
    lambda entry: entry.inputs or entry.outputs
)
MODES = ("high_precision", "high_performance", "keep_fp16", "bogus=mode")
#: Values that can be written, for each format.
VALUES = {
    OpDebugConfig: st.builds(OpDebugConfig, st.lists(st.sampled_from(["oom", "ccec_g", "bogus"])), operators),
    MixList: st.builds(MixList, unique_names, unique_names, unique_names, unique_names),
    CustomizeDtypes: st.builds(
        CustomizeDtypes, st.lists(entries, max_size=4, unique_by=lambda entry: entry.operator)
    ),
    FusionSwitch: st.builds(FusionSwitch, settings(["on", "off", "bogus", True]), settings(["on", "off", False])),
    OpPrecision: st.builds(OpPrecision, settings(MODES), settings(MODES)),
    AoeTuning: st.builds(
        AoeTuning, unique_names, unique_names, st.sampled_from([None, "O1", "O2", "bogus"]), unique_names
    ),
    OpCache: st.builds(
        OpCache,
        st.one_of(st.none(), st.integers(-(10**17), 10**17)),
        st.one_of(st.none(), st.integers(-5, 105)),
        settings(["7.3", "a b"]),
    ),
}  # fmt: skip
#: The same from any text at all, surrogates among it, which UTF-8 cannot encode.
any_text = st.text(st.characters(blacklist_categories=()), max_size=20)
anything = st.one_of(any_text, st.text(":,=#[]{}\"'\\OpType:InputDtype\n\r\t\ufeff\x0b\x85\u2028 ", max_size=12))
any_words = st.lists(anything, max_size=3)
any_settings = st.lists(st.tuples(anything, anything), max_size=3)
ANY_VALUES = {
    OpDebugConfig: st.builds(OpDebugConfig, any_words, any_words),
    MixList: st.builds(MixList, *[any_words] * 4),
    CustomizeDtypes: st.builds(
        CustomizeDtypes,
        st.lists(
            st.builds(OperatorDtypes, anything, any_words, any_words), max_size=3
        ),
    ),
    FusionSwitch: st.builds(FusionSwitch, any_settings, any_settings),
    OpPrecision: st.builds(OpPrecision, any_settings, any_settings),
    AoeTuning: st.builds(
        AoeTuning, any_words, any_words, anything, any_words
    ),
    OpCache: st.builds(OpCache, st.one_of(st.none(), st.integers()), st.one_of(st.none(), st.integers()), any_settings),
}  # fmt: skip
JSON = (MixList, FusionSwitch, AoeTuning)

assert set(VALUES) == set(ANY_VALUES) == set(FORMATS.values())
every_format = pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)


@st.composite
def messy(draw, value):
    """Draw a text that says the same as a value, with all the layout that its format allows."""
    gap = st.sampled_from(["", " ", "\t", "  "])
    if type(value) in JSON:
        blank = st.sampled_from(["", " ", "\n", "\n\n", "\t", ' // note: {}[],"\n', "//\n"])
        pieces = []
        for piece in json.JSONEncoder(ensure_ascii=draw(st.booleans()), indent=0).iterencode(json.loads(value.text())):
            pieces += [draw(blank), piece] if piece.strip() not in ("", ":") else [piece]
        text = "".join([*pieces, draw(blank)])
    else:
        noise = st.sampled_from([[], [""], ["# note"], ["", "  # note = 1", "\t"], ["#[note]"]])
        lines = list(draw(noise))
        for line in value.text().split("\n")[:-1]:
            if not isinstance(value, CustomizeDtypes) and "=" in line:
                line = line.replace("=", draw(gap) + "=" + draw(gap), 1)
            lines += [draw(gap) + line + draw(gap), *draw(noise)]
        text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@every_format
@given(st.data())
def test_value_to_text_to_value(kind, data):
    """A value that is written reads back as itself, and its text is written again in the same way."""
    value = data.draw(VALUES[kind])
    text = value.text()
    assert kind.parse(text) == value
    assert kind.parse(text).text() == text
    assert text.endswith("\n") or value == CustomizeDtypes()


@every_format
@given(st.data())
def test_text_to_value_to_text(kind, data):
    """Whatever its layout, a text reads as the value that it says, and that one writes and reads back as the same."""
    value = data.draw(VALUES[kind])
    read = kind.parse(data.draw(messy(value)))
    assert read == value
    assert hash(read) == hash(value)
    assert kind.parse(read.text()) == value


@every_format
@given(st.data())
def test_written_or_reported(kind, data):
    """A value of any text at all is written so that it reads back, or an error says why it is not."""
    value = data.draw(ANY_VALUES[kind])
    errors = [problem for problem in value.check() if problem.severity is Severity.ERROR]
    try:
        text = value.text()
    except OptionsError as error:
        refused = error
    else:
        assert kind.parse(text) == value
        return
    assert errors
    assert list(refused.problems) == errors


def attempt(kind, text):
    """Return the value that a text reads as, or the error that it is refused with."""
    try:
        return kind.parse(text), None
    except ConfigFileError as error:
        return None, error


@every_format
@given(st.one_of(any_text, anything))
@example("{" * 10000)
@example("[" * 100000)
@example("=" * 1000)
def test_reads_or_refuses(kind, text):
    """Any text is read or refused with a place in it, and what is read can be checked and read again."""
    value, refused = attempt(kind, text)
    if refused:
        assert 1 <= refused.line <= text.count("\n") + 1
        assert 1 <= refused.column <= len(text) + 1
        assert refused.problem
        assert refused.expected
    elif not any(problem.severity is Severity.ERROR for problem in value.check()):
        assert kind.parse(value.text()) == value


@every_format
@given(st.data())
def test_broken_anywhere(kind, data):
    """A file that was cut or garbled somewhere is read or refused, and never crashes."""
    text = data.draw(VALUES[kind]).text()
    place = data.draw(st.integers(0, len(text)))
    garbled = (
        text[:place] + data.draw(st.sampled_from(["", "{", '"', "\n", "=", "[", ":", "\0", "\\"])) + text[place + 1 :]
    )
    for broken in (garbled, text[:place]):
        value, refused = attempt(kind, broken)
        assert str(refused) if refused else value.check() is not None
