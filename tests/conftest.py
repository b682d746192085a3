"""What all tests share."""

import os
import sys

import hypothesis
import pytest

# The same examples in every run: a test that fails on one machine fails on all of them.
hypothesis.settings.register_profile("npusession", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.load_profile("npusession")


def environment():
    # The second are set by libraries that TensorFlow imports at moments of its own.
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KMP_"))}


@pytest.fixture(autouse=True)
def unchanged_environment():
    """Whatever a test does, it leaves the environment as it was."""
    before, loaded = environment(), "tensorflow" in sys.modules
    yield
    # TensorFlow sets variables of its own when it is imported.
    if loaded or "tensorflow" not in sys.modules:
        assert environment() == before


@pytest.fixture(scope="session")
def tf1():
    """The version 1 API of TensorFlow."""
    return pytest.importorskip("tensorflow", reason="a ConfigProto needs TensorFlow").compat.v1


@pytest.fixture
def directory(tmp_path):
    """A directory that dumps can go to, as text."""
    return str(tmp_path)


@pytest.fixture
def emulated(tf1):
    """The emulated runtime, as in a new process."""
    from npusession.backends import load
    from npusession.backends.fake.runtime import RUNTIME

    load("fake")
    RUNTIME.reset()
    yield RUNTIME
    RUNTIME.finalize("end of test")
    RUNTIME.reset()
