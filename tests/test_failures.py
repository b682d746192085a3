"""Failure policy, read from the emulation's log: every step of the clean-up runs, whatever fails."""

import logging
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import NpuSession  # noqa: E402
from npusession.backends import load  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402
from npusession.system import State, runtime  # noqa: E402

OPENED = ["open", "initialize", "open"]
CLOSED = ["close", "shutdown", "finalize", "close"]


@pytest.fixture(autouse=True)
def clean():
    """Each test starts with a runtime that never ran, and leaves nothing open and nothing changed."""
    load("fake")
    RUNTIME.reset()
    before = dict(os.environ)
    yield
    changed = {name for name in set(before) | set(os.environ) if before.get(name) != os.environ.get(name)}
    assert changed <= {"PYTEST_CURRENT_TEST"}
    assert runtime.state is not State.OPEN
    assert not RUNTIME.initialized


@pytest.fixture
def graph():
    return tensorflow.Graph()


@pytest.fixture
def plan(graph):
    return NpuSession.for_training(device=2, graph=graph, backend="fake")


def names():
    return [event.name for event in RUNTIME.events]


def break_at(moment, error=None):
    """Plant a fault; returns the exception that will be raised."""
    error = error or RuntimeError(f"cannot {moment}")
    RUNTIME.fail(at=moment, error=error)
    return error


def test_order_of_success(plan):
    """A session initialises, opens, closes, shuts down, and closes the session that initialised, in this order."""
    with plan:
        assert names() == OPENED
        assert os.environ["ASCEND_DEVICE_ID"] == "2"
    assert names() == OPENED + CLOSED
    first, second = RUNTIME.events[0].session, RUNTIME.events[2].session
    assert [event.session for event in RUNTIME.events] == [first, first, second, second, first, 0, first]


def test_initialise_fails(plan):
    """When initialisation fails, the private session is closed and the error comes out as it is."""
    error = break_at("initialize")
    with pytest.raises(RuntimeError) as caught, plan:
        pytest.fail("the body must not run")
    assert caught.value is error
    assert names() == ["open", "close"]
    assert runtime.state is State.FAILED


def test_private_session_fails(plan):
    """When not even the private session can be made, nothing is left behind."""
    error = break_at("session")
    with pytest.raises(RuntimeError) as caught, plan:
        pytest.fail("the body must not run")
    assert caught.value is error
    assert names() == []


def test_session_creation_fails(plan):
    """When the training session cannot be made, the system that was opened for it is shut down."""
    RUNTIME.fail(at="session", error=RuntimeError("cannot open"), after=1)
    with pytest.raises(RuntimeError, match="cannot open"), plan:
        pytest.fail("the body must not run")
    assert names() == ["open", "initialize", "shutdown", "finalize", "close"]


@pytest.mark.parametrize("error", [ValueError("body"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_body_fails(plan, error):
    """Whatever ends the body, Ctrl-C and sys.exit included, the clean-up is complete and that exception comes out."""
    with pytest.raises(type(error)) as caught, plan:
        raise error
    assert caught.value is error
    assert names() == OPENED + CLOSED


def test_close_fails(plan):
    """When the session's close fails, the system is shut down all the same, and then the failure is raised."""
    error = break_at("close")
    with pytest.raises(RuntimeError) as caught, plan:
        break_at("close", error)
    assert caught.value is error
    assert names() == OPENED + CLOSED


def test_shutdown_fails(plan):
    """When the shutdown op fails, the private session is closed all the same, and then the failure is raised."""
    error = break_at("shutdown")
    with pytest.raises(RuntimeError) as caught, plan:
        pass
    assert caught.value is error
    assert names() == [*OPENED, "close", "close", "finalize"]
    assert runtime.state is State.FAILED


def test_several_fail(plan, caplog):
    """When several steps fail, the first failure is raised and lists the others."""
    first, second = break_at("close"), break_at("shutdown")
    with caplog.at_level(logging.ERROR, "npusession"), pytest.raises(RuntimeError) as caught, plan:
        pass
    assert caught.value is first
    assert caught.value.cleanup_errors == (second,)
    assert "cannot shutdown" in caplog.text
    if hasattr(first, "__notes__"):
        assert "cannot shutdown" in first.__notes__[0]


def test_body_and_all_steps_fail(plan, caplog):
    """While the body is failing, failures of the clean-up are logged and the body's exception comes out."""
    break_at("close")
    break_at("shutdown")
    with caplog.at_level(logging.ERROR, "npusession"), pytest.raises(ValueError, match="body"), plan:
        raise ValueError("body")
    assert "cannot close" in caplog.text
    assert "cannot shutdown" in caplog.text
    assert "body" in caplog.text


def test_interrupt_during_cleanup(plan):
    """Ctrl-C during the clean-up is not swallowed, and the other steps run."""
    break_at("close")
    break_at("shutdown", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught, plan:
        pass
    assert [str(error) for error in caught.value.cleanup_errors] == ["cannot close"]


def test_failure_of_a_broken_cleanup_step_is_seen(plan, monkeypatch):
    """A clean-up step that is broken does not go unnoticed."""
    monkeypatch.setattr("npusession.environment.Layer.restore", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError), plan:
        pass
    assert names() == OPENED + CLOSED
    assert os.environ.pop("ASCEND_DEVICE_ID") == "2"
    monkeypatch.undo()
    from npusession import environment

    environment._layers.clear()


@pytest.mark.parametrize("moment", ["session", "initialize", "close", "shutdown"])
def test_opening_again_after_a_failure(plan, moment):
    """After any failure the same plan opens as if nothing had happened."""
    break_at(moment)
    with pytest.raises(RuntimeError), plan:
        pass
    RUNTIME.reset()
    with plan as s:
        assert not s.closed
    assert names() == OPENED + CLOSED


def test_wrong_environment_touches_nothing(plan, monkeypatch):
    """A device that contradicts the environment is refused before anything is opened."""
    monkeypatch.setenv("ASCEND_DEVICE_ID", "5")
    with pytest.raises(ValueError, match="NPU402 ASCEND_DEVICE_ID") as caught, plan:
        pytest.fail("the body must not run")
    assert "device 2" in str(caught.value)
    assert names() == []


def test_missing_dump_directory_touches_nothing(plan, tmp_path):
    """A dump directory that is not there is refused before anything is opened, with the command that makes it."""
    missing = tmp_path / "missing"
    with pytest.raises(ValueError, match="NPU113 dump_path") as caught, plan.replace(
        enable_dump=True, dump_path=missing
    ):
        pytest.fail("the body must not run")
    assert f"mkdir -p {missing}" in str(caught.value)
    assert names() == []


def test_letting_go_fails(plan):
    """When something that was made of the session cannot be let go of, the session closes all the same."""
    error = RuntimeError("cannot let go")

    def boom():
        raise error

    with pytest.raises(RuntimeError) as caught, plan as s:
        s._self_opening.at_close(lambda: boom)
    assert caught.value is error
    assert names() == OPENED + CLOSED
