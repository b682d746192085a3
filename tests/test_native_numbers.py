"""Numbers in text, read as the runtime reads them."""

import math
import struct

import hypothesis
import hypothesis.strategies as st
import pytest

from npusession.options.native_numbers import float32, fraction, unsigned

WHOLE = {
    "0": 0,
    "4294967295": 4294967295,
    " 5": 5,
    "5 \n": 5,
    "05": 5,
    "0" * 9000 + "5": 5,
    "4294967296": None,
    "9" * 9000: None,
    "+5": None,
    "-1": None,
    "1e3": None,
    "1.0": None,
    "0x5": None,
    "": None,
    "\u0665": None,
    "\xa05": None,
}
FRACTIONS = {
    "0.5": 0.5,
    ".5": 0.5,
    "5.": 5.0,
    "+1.e2": 100.0,
    "\v7 \f": 7.0,
    "-0x10": -16.0,
    "0X1f": 31.0,
    "1e400": math.inf,
    "-INF": -math.inf,
    "0." + "5" * 29: 0.5 + 5 / 90,
    "0." + "5" * 30: None,
    "0.5abc": None,
    "0.5 x": None,
    "1e": None,
    "1,5": None,
    "1_0": None,
    "0x": None,
    "0x1.8": None,
    "infinity": None,
    "nan(1)": None,
    "- 1": None,
    ".": None,
    "": None,
    "\uff11": None,
}


@pytest.mark.parametrize("text", WHOLE)
def test_unsigned(text):
    """A whole number may have blanks around it, but no sign, and fits 32 bits."""
    assert unsigned(text) == WHOLE[text]


@pytest.mark.parametrize("text", FRACTIONS)
def test_fraction(text):
    """A fraction is a decimal or a hexadecimal number, infinite or none, with nothing after it."""
    assert fraction(text) == (FRACTIONS[text] if FRACTIONS[text] is None else pytest.approx(FRACTIONS[text]))


def test_no_number():
    """NaN in any case of letters is a fraction."""
    assert math.isnan(fraction("-NaN"))


@hypothesis.given(st.text(alphabet="0123456789.eE+-xXaf \tinfN,", max_size=34))
def test_as_tensorflow(text):
    """What TensorFlow's own functions make of a text is what is read."""
    tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is asked")
    if tensorflow.__version__ >= "2.16":
        pytest.skip("current TensorFlow reads numbers in another way")
    tf1 = tensorflow.compat.v1
    with tensorflow.Graph().as_default(), tf1.Session() as session:
        try:
            expected = float(session.run(tensorflow.strings.to_number(text)))
        except tensorflow.errors.InvalidArgumentError:
            expected = None
    found = fraction(text)
    if found is None or expected is None:
        assert found is expected
    else:
        assert struct.pack("f", float32(found)) == struct.pack("f", expected)
