"""A variable that changes with every step."""

import ctypes
import os

import pytest

from npusession.environment import Layer

NAME = "NPUSESSION_TEST_COUNTER"
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p


@pytest.fixture
def layer():
    layer = Layer({NAME: "0"})
    yield layer
    layer.restore()
    assert getenv(NAME.encode()) is None
    assert NAME not in os.environ


@pytest.mark.parametrize("numbers", [range(12), [4294967295, 7, 0]])
def test_native_code_sees_each_number(layer, numbers):
    """Native code and Python read the same number at every step, whether it has more digits than the last or fewer."""
    export = layer.counter(NAME)
    for number in numbers:
        export(number)
        assert getenv(NAME.encode()) == os.environ[NAME].encode() == str(number).encode()


def test_assignments_between(layer):
    """Whoever else assigns to the variable is seen at once, and so is the next step."""
    export = layer.counter(NAME)
    export(1)
    os.environ[NAME] = "theirs"
    assert getenv(NAME.encode()) == b"theirs"
    export(2)
    assert getenv(NAME.encode()) == b"2"
    del os.environ[NAME]
    assert getenv(NAME.encode()) is None
    export(3)
    assert getenv(NAME.encode()) == b"3"


def test_two_counters(layer):
    """A counter within another one hides it until it ends, and the outer one goes on."""
    outer = layer.counter(NAME)
    outer(5)
    inner = Layer({NAME: "0"})
    count = inner.counter(NAME)
    count(1)
    outer(6)
    assert getenv(NAME.encode()) == b"1"
    count(2)
    inner.restore()
    assert getenv(NAME.encode()) == os.environ[NAME].encode() == b"6"
    count(9)
    outer(7)
    assert getenv(NAME.encode()) == os.environ[NAME].encode() == b"7"
