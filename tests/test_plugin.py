"""The pytest plugin, in runs of pytest of its own, and the page about it."""

import os
import pathlib
import re
import sys

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "testing.md"
FILES = dict(re.findall(r'^```python title="(.*?)"\n(.*?)^```$', PAGE.read_text("utf-8"), re.M | re.S))
TESTS = [name for name in FILES if name.startswith("test_")]
pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, monkeypatch):
    """A function that writes files, and runs pytest on them in a process of its own."""
    # For a checkout that is not installed; where it is, the installed one goes first as it does here.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.delenv("NPUSESSION_FAKE_HOST", raising=False)

    def go(*arguments, **files):
        for name, text in files.items():
            (pytester.path / f"{name}.py").write_text(text)
        return pytester.runpytest_subprocess(
            "-p", "pytest_npusession", "-p", "no:cacheprovider", "-W", "ignore", "-rs", "--strict-markers", *arguments
        )

    return go


def test_page(run):
    """Everything that the page on testing shows, runs and passes."""
    assert len(TESTS) > 4
    files = {name.partition(".")[0]: text for name, text in FILES.items()}
    result = run(**files)
    count = sum(len(re.findall(r"^def test_", FILES[name], re.M)) for name in TESTS)
    # One of them has five sets of arguments.
    result.assert_outcomes(passed=count + 4)


def test_five_lines():
    """The test that the page begins with has five lines."""
    (body,) = re.findall(r"^def test_.*", FILES["test_train.py"], re.M | re.S)
    assert len(body.splitlines()) <= 5


MODEL = """
import pytest
import tensorflow as tf
from npusession import NpuSession

def plan():
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(3.0, name="three")
    return NpuSession.for_training(graph=graph)

def forget():
    global session
    session = plan().start()
"""


def test_unclean_exit_names_the_line(run):
    """What is left open is told with the line that opened it, in the test's own report."""
    result = run(
        test_it=MODEL
        + """
def test_it(fake_npu):
    forget()
    fake_npu.assert_clean_exit()

def test_next(fake_npu):
    with plan() as s:
        assert s.run("three:0") == 3.0
    fake_npu.assert_clean_exit()
"""
    )
    result.assert_outcomes(failed=1, passed=1)
    line = 1 + (MODEL.splitlines().index("    session = plan().start()"))
    result.stdout.fnmatch_lines([f"*session 2 is open, made at *test_it.py:{line}"])


def test_marker_alone(run):
    """The marker brings the fixture, and its settings."""
    result = run(
        test_it=MODEL
        + """
from npusession.backends.fake.runtime import RUNTIME

@pytest.mark.fake_npu(devices=3)
def test_it():
    assert RUNTIME.settings.devices == 3
    with plan() as s:
        assert s.backend.name == "fake"

@pytest.mark.fake_npu(devices=3)
class TestClass:
    def test_it(self, fake_npu):
        assert RUNTIME.settings.devices == 3

    @pytest.mark.fake_npu(devices=4)
    def test_nearer(self):
        assert RUNTIME.settings.devices == 4
"""
    )
    result.assert_outcomes(passed=3)


def test_wrong_settings(run):
    """A setting that is none fails the test that has it, with its name."""
    result = run(
        test_it="""
import pytest

@pytest.mark.fake_npu(device=3)
def test_name(fake_npu):
    pass

@pytest.mark.fake_npu(3)
def test_positional(fake_npu):
    pass
"""
    )
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*unexpected keyword argument 'device'*", "*settings of the marker fake_npu are keywords*"]
    )


def test_fault_that_never_comes(run):
    """A planted fault that the test never reached is an error of that test."""
    result = run(test_it='def test_it(fake_npu):\n    fake_npu.fail(at="lyaer/relu")\n')
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*planted, and never reached: fail(at='lyaer/relu')"])


def test_guards(run):
    """Each guard fails the test that leaves something, and says what."""
    result = run(
        test_it="""
import os, tempfile, threading, time

def test_environment(unchanged_environment):
    os.environ["LEFT"] = "1"

def test_threads(unchanged_threads):
    threading.Thread(target=time.sleep, args=(60,), name="goes on", daemon=True).start()

def test_files(unchanged_files):
    tempfile.mkstemp(suffix=".left")
    open("left.txt", "w").close()

def test_nothing(unchanged_environment, unchanged_threads, unchanged_files, unchanged_sessions):
    pass
"""
    )
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(["*LEFT was added: '1'", "*goes on*", "*left.txt", "*.left"])


def test_npu_marker(run, monkeypatch):
    """Without an NPU tests that need one are skipped, and the reason is told."""
    monkeypatch.setenv("PATH", "")
    result = run(test_it="import pytest\n\n@pytest.mark.npu\ndef test_it():\n    assert False\n")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*no NPU: npu-smi is not there*"])


def test_costs_nothing(run):
    """A run of pytest that does not use it imports neither npusession nor TensorFlow."""
    result = run(
        test_it="""
import sys

def test_it():
    assert not {"npusession", "tensorflow", "npu_bridge", "numpy"} & set(sys.modules)
"""
    )
    result.assert_outcomes(passed=1)


def test_unittest(run):
    """A test case of unittest gets the emulation by the marker."""
    result = run(
        test_it=MODEL
        + """
import unittest

@pytest.mark.fake_npu(devices=2)
class TestIt(unittest.TestCase):
    def test_it(self):
        with plan() as s:
            self.assertEqual(s.run("three:0"), 3.0)
            self.assertEqual(s.backend.name, "fake")
"""
    )
    result.assert_outcomes(passed=1)
