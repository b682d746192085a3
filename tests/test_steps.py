"""The loop over training steps."""

import logging
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import AcceleratedTraining, NpuSession  # noqa: E402


@pytest.fixture
def plan():
    return NpuSession.for_training(graph=tensorflow.Graph(), backend="fake")


def test_counts(plan):
    """Steps count from 0 up to, not including, the total."""
    with plan as s:
        assert list(s.steps(3, progress=False)) == [0, 1, 2]


def test_exports_the_steps_made(plan):
    """Under accelerated training the environment says how many steps were made before each, and nothing afterwards."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(3)) as s:
        assert (os.environ["TOTAL_STEP"], os.environ["STEP_NOW"]) == ("3", "0")
        assert [os.environ["STEP_NOW"] for _ in s.steps(progress=False)] == ["0", "1", "2"]
    assert "STEP_NOW" not in os.environ
    assert "TOTAL_STEP" not in os.environ


def test_going_on_from_a_checkpoint(plan):
    """A training that goes on starts where it was."""
    accelerate = AcceleratedTraining.by_step(5, initial_step=3)
    with plan.replace(accelerate=accelerate) as s:
        assert [(step, os.environ["STEP_NOW"]) for step in s.steps(progress=False)] == [(3, "3"), (4, "4")]
        assert list(s.steps(initial=4, progress=False)) == [4]


def test_values_that_were_there(plan, monkeypatch):
    """Variables that the process had before come back."""
    monkeypatch.setenv("STEP_NOW", "17")
    with plan.replace(accelerate=AcceleratedTraining.by_step(2)) as s:
        assert list(s.steps(progress=False)) == [0, 1]
    assert os.environ["STEP_NOW"] == "17"


def test_nested_sessions(plan):
    """A session within another one counts for itself, and the outer one's numbers come back."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(9)) as outer:
        counting = outer.steps(progress=False)
        next(counting)
        next(counting)
        with plan.replace(accelerate=AcceleratedTraining.by_step(9)) as inner:
            assert os.environ["STEP_NOW"] == "0"
            next(inner.steps(progress=False))
        assert os.environ["STEP_NOW"] == "1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "how many steps"),
        ({"total": 5, "initial": 6}, "initial=6"),
        ({"total": 5, "initial": -1}, "initial=-1"),
    ],
)
def test_refusals(plan, arguments, message):
    """A loop without a total, or that starts outside it, is refused at once."""
    with plan as s, pytest.raises(ValueError, match=message):
        s.steps(**arguments)


def test_total_that_contradicts_the_plan(plan):
    """The loop cannot be longer than the training that the plan announced to the runtime."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(10)) as s, pytest.raises(
        ValueError, match="total_steps=10"
    ):
        s.steps(11)


def test_log_lines(plan, caplog):
    """Without a terminal, progress is some log lines."""
    with plan as s, caplog.at_level(logging.INFO, "npusession"):
        for _ in s.steps(100):
            pass
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 10
    assert lines[-1].startswith("step 100 of 100, ")


def test_progress_bar(plan, monkeypatch, capsys):
    """On a terminal, progress is a bar."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with plan as s:
        for _ in s.steps(4):
            pass
    assert "4/4" in capsys.readouterr().err


def test_silence(plan, caplog, capsys):
    """Nothing is shown when nothing is wanted."""
    with plan as s, caplog.at_level(logging.INFO, "npusession"):
        for _ in s.steps(100, progress=False):
            pass
    assert not caplog.records
    assert capsys.readouterr().err == ""


def test_leaving_early(plan):
    """A loop that is left early leaves no variable behind."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(10)) as s:
        for step in s.steps(progress=False):
            if step == 3:
                break
    assert "STEP_NOW" not in os.environ
