"""Environment variables that sessions set, and put back exactly as they were."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npusession.environment import Layer, device_in, original

NAME, OTHER = "NPUSESSION_TEST_A", "NPUSESSION_TEST_B"


@pytest.fixture(params=[None, "", "before"])
def before(request, monkeypatch):
    """What the process had before any layer: nothing, an empty value, or a value."""
    if request.param is not None:
        monkeypatch.setenv(NAME, request.param)
    return request.param


def test_set_and_restored(before):
    """A layer sets its variables, and a variable that was absent is absent again afterwards."""
    layer = Layer({NAME: "1", OTHER: "2"})
    assert (os.environ[NAME], os.environ[OTHER]) == ("1", "2")
    assert NAME in layer
    assert "PATH" not in layer
    layer.restore()
    assert os.environ.get(NAME) == before
    assert OTHER not in os.environ
    assert NAME not in layer


def test_nested(before):
    """An inner layer that goes uncovers the outer one's value."""
    outer = Layer({NAME: "outer"})
    inner = Layer({NAME: "inner", OTHER: "x"})
    assert os.environ[NAME] == "inner"
    inner.restore()
    assert os.environ[NAME] == "outer"
    assert OTHER not in os.environ
    outer.restore()
    assert os.environ.get(NAME) == before


def test_outer_goes_first(before):
    """A layer that goes while a later one is there leaves the later one's value alone."""
    outer = Layer({NAME: "outer"})
    inner = Layer({NAME: "inner"})
    outer.restore()
    assert os.environ[NAME] == "inner"
    inner.restore()
    assert os.environ.get(NAME) == before


def test_restored_twice(before):
    """Restoring twice does nothing more, not even to a layer that came later."""
    layer = Layer({NAME: "1"})
    layer.restore()
    later = Layer({NAME: "2"})
    layer.restore()
    assert os.environ[NAME] == "2"
    later.restore()
    assert os.environ.get(NAME) == before


def test_new_value(before):
    """A layer's variable can get another value, visible unless a later layer covers it."""
    outer = Layer({NAME: "0"})
    outer.set(NAME, "1")
    assert os.environ[NAME] == "1"
    inner = Layer({NAME: "inner"})
    outer.set(NAME, "2")
    assert os.environ[NAME] == "inner"
    inner.restore()
    assert os.environ[NAME] == "2"
    outer.restore()
    assert os.environ.get(NAME) == before


def test_the_original(before):
    """What the process had can be asked for while layers are there."""
    untouched = original()
    assert untouched.get(NAME) == before
    layers = [Layer({NAME: "1"}), Layer({NAME: "2", OTHER: "3"})]
    assert original() == untouched
    for layer in layers:
        layer.restore()
    assert original() == untouched


def test_the_original_is_a_copy():
    """Changing what was asked for does not change the environment."""
    original()[NAME] = "1"
    assert NAME not in os.environ


def test_change_beneath():
    """What others set meanwhile stays, if no layer has the variable."""
    layer = Layer({NAME: "1"})
    os.environ[OTHER] = "theirs"
    try:
        assert original()[OTHER] == "theirs"
        layer.restore()
        assert os.environ[OTHER] == "theirs"
    finally:
        layer.restore()
        del os.environ[OTHER]


def test_value_after_the_end(before):
    """A value that comes after the layer has gone changes nothing."""
    layer = Layer({NAME: "1"})
    layer.restore()
    layer.set(NAME, "2")
    assert os.environ.get(NAME) == before
    later = Layer({NAME: "3"})
    layer.set(NAME, "4")
    assert os.environ[NAME] == "3"
    later.restore()
    layer.restore()
    assert os.environ.get(NAME) == before


@pytest.mark.parametrize("value", [5, None, "a\0b"])
def test_impossible_value(value):
    """A layer that cannot be set leaves nothing behind."""
    names = "NPUSESSION_TEST_C", "NPUSESSION_TEST_D"
    with pytest.raises((TypeError, ValueError)):
        Layer({names[0]: "1", names[1]: value})
    found = [name for name in names if name in os.environ]
    for name in found:
        del os.environ[name]
    assert found == []


_names = st.sampled_from([NAME, OTHER])
_values = st.text("abc", max_size=2)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("layer"), st.dictionaries(_names, _values, max_size=2), st.none()),
        st.tuples(st.just("restore"), st.integers(0, 5), st.none()),
        st.tuples(st.just("set"), st.integers(0, 5), st.tuples(_names, _values)),
    ),
    max_size=20,
)


@given(st.dictionaries(_names, _values), _steps)
def test_any_order(start, steps):
    """However layers come, change and go, the topmost shows, and at the end all is as it was."""
    untouched = dict(os.environ)
    os.environ.update(start)
    layers = []
    #: What should show: each layer's own values, oldest first; None for one that has gone.
    model = []
    try:
        for action, which, change in steps:
            if action == "layer":
                layers.append(Layer(which))
                model.append(dict(which))
            elif which < len(layers):
                if action == "restore":
                    layers[which].restore()
                    model[which] = {}
                elif change[0] in model[which]:
                    layers[which].set(*change)
                    model[which][change[0]] = change[1]
            for name in (NAME, OTHER):
                showing = [values[name] for values in model if name in values]
                assert os.environ.get(name) == (showing[-1] if showing else start.get(name))
            assert {name: original().get(name) for name in (NAME, OTHER)} == {
                name: start.get(name) for name in (NAME, OTHER)
            }
    finally:
        for layer in layers:
            layer.restore()
        after = dict(os.environ)
        for name in start:
            del os.environ[name]
    assert after == {**untouched, **start}


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, None),
        ({"DEVICE_ID": "1"}, ("DEVICE_ID", "1")),
        ({"DEVICE_ID": "1", "ASCEND_DEVICE_ID": "2"}, ("ASCEND_DEVICE_ID", "2")),
        ({"ASCEND_DEVICE_ID": "", "DEVICE_ID": "1"}, ("DEVICE_ID", "1")),
    ],
)
def test_device_in(environ, found):
    """The device that is initialised is named by ASCEND_DEVICE_ID, else by DEVICE_ID."""
    assert device_in(environ) == found
