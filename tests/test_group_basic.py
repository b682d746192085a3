"""The options of what a graph is run for, and on which device."""

import pytest
from grouping import codes, read, refusal, report

from npusession.options import TABLE, Scene, Scope


@pytest.mark.parametrize(
    ("name", "value", "canonical"),
    [
        ("graph_run_mode", 0, 0),
        ("graph_run_mode", "1", 1),
        ("session_device_id", 7, 7),
        ("session_device_id", "0", 0),
        ("deterministic", True, 1),
        ("deterministic", "off", 0),
    ],
)
def test_values(name, value, canonical):
    """The values of the reference are taken, as numbers and as the text of flags."""
    assert read(name, value) == canonical


@pytest.mark.parametrize(
    ("name", "value"),
    [("graph_run_mode", 2), ("graph_run_mode", -1), ("session_device_id", -1), ("session_device_id", 2**31),
     ("deterministic", 2), ("deterministic", 0.0)],
)  # fmt: skip
def test_bad_values(name, value):
    """What the runtime aborts over, wraps to another number, or passes over is refused."""
    refusal(name, value)


def test_scope():
    """The run mode holds for the process, the device for a session."""
    assert TABLE["graph_run_mode"].scope is Scope.INIT
    assert TABLE["session_device_id"].scope is Scope.SESSION
    assert TABLE["graph_run_mode"].default(Scene.INFERENCE) == 1


@pytest.mark.parametrize(
    ("environ", "errors"),
    [
        ({}, []),
        ({"ASCEND_DEVICE_ID": "3"}, []),
        ({"DEVICE_ID": "3"}, []),
        ({"ASCEND_DEVICE_ID": "3", "DEVICE_ID": "0"}, []),
        ({"ASCEND_DEVICE_ID": "0", "DEVICE_ID": "3"}, ["NPU402"]),
        ({"DEVICE_ID": "npu"}, ["NPU401"]),
        ({"ASCEND_DEVICE_ID": ""}, []),
    ],
)
def test_device_in_environment(environ, errors):
    """A device in the environment that is not the session's, or is no device, is told before the runtime starts."""
    assert codes(environ=environ, session_device_id=3) == (errors, [])


def test_environment_counts():
    """The option names the variables that count when it is left out, the first one first."""
    assert TABLE["session_device_id"].replaces == ("ASCEND_DEVICE_ID", "DEVICE_ID")


def test_mismatch_says_what_to_do():
    """The message names both devices and how to bring them together."""
    (problem,) = report(environ={"DEVICE_ID": "0"}, session_device_id=3)
    assert "device 3" in problem.message
    assert "export DEVICE_ID=3" in problem.fix
