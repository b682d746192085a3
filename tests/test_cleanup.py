"""The failure policy: every step runs, in order, and the body's own exception wins."""

import logging

import pytest

from npusession._cleanup import Cleanup
from npusession.frontends.leaving import entered


class Log(list):
    """What ran, in order, with steps that note themselves and fail if told to."""

    def step(self, name, error=None):
        def run():
            self.append(name)
            if error is not None:
                raise error

        return run


@pytest.fixture
def log():
    return Log()


def failed(cleanup, cause=None):
    """Run the clean-up, and return what it raised."""
    try:
        cleanup.run(cause)
    except BaseException as error:
        return error
    return None


def test_order(log):
    """What was done last is undone first."""
    cleanup = Cleanup()
    for name in ("one", "two", "three"):
        cleanup.add(name, log.step(name))
    cleanup.run()
    assert log == ["three", "two", "one"]


def test_nothing_twice(log):
    """A second run finds nothing left to do, even after a failure."""
    cleanup = Cleanup()
    cleanup.add("one", log.step("one", ValueError("one")))
    assert isinstance(failed(cleanup), ValueError)
    assert failed(cleanup) is None
    assert log == ["one"]


def test_nothing_to_do():
    """A clean-up without steps is none."""
    assert failed(Cleanup()) is None
    assert failed(Cleanup(), ValueError("body")) is None


def test_every_step_runs(log):
    """A step that fails keeps no other from running, and the first failure is raised with the rest in it."""
    errors = {name: ValueError(name) for name in ("one", "two")}
    cleanup = Cleanup()
    cleanup.add("one", log.step("one", errors["one"]))
    cleanup.add("fine", log.step("fine"))
    cleanup.add("two", log.step("two", errors["two"]))
    raised = failed(cleanup)
    assert log == ["two", "fine", "one"]
    assert raised is errors["two"]
    assert raised.cleanup_errors == (errors["one"],)


def test_further_failures_are_shown(log, caplog):
    """The failures behind the first one are logged, and noted on it where Python can."""
    cleanup = Cleanup()
    cleanup.add("one", log.step("one", ValueError("the second failure")))
    cleanup.add("two", log.step("two", ValueError("the first failure")))
    raised = failed(cleanup)
    assert [record.name for record in caplog.records] == ["npusession"]
    assert "the second failure" in caplog.text
    for note in getattr(raised, "__notes__", ["the second failure"]):
        assert "the second failure" in note


def test_the_body_wins(log, caplog):
    """While the body is failing, failures of the clean-up are logged and not raised."""
    cleanup = Cleanup()
    cleanup.add("close the one", log.step("one", ValueError("in one")))
    cleanup.add("close the two", log.step("two", KeyboardInterrupt("in two")))
    body = RuntimeError("the body's own")
    assert failed(cleanup, body) is None
    assert log == ["two", "one"]
    messages = [record.getMessage() for record in caplog.records]
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    for message, (step, inner) in zip(messages, [("close the two", "in two"), ("close the one", "in one")]):
        assert step in message
        assert inner in message
        assert "the body's own" in message
    assert not hasattr(body, "cleanup_errors")


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupts_count_as_the_body(log, interrupt):
    """An interrupt of the body is a failure of the body like any other."""
    cleanup = Cleanup()
    cleanup.add("one", log.step("one", ValueError("one")))
    assert failed(cleanup, interrupt()) is None
    assert log == ["one"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("stop"), SystemExit(3)])
def test_interrupt_during_cleanup(log, interrupt):
    """An interrupt during a clean-up that has no cause is what comes out, after every step has run."""
    error, later = ValueError("first"), ValueError("last")
    cleanup = Cleanup()
    cleanup.add("three", log.step("three", later))
    cleanup.add("two", log.step("two", interrupt))
    cleanup.add("one", log.step("one", error))
    assert failed(cleanup) is interrupt
    assert log == ["one", "two", "three"]
    assert interrupt.cleanup_errors == (error, later)


def test_failures_of_a_cleanup_within(log):
    """A step that is itself a clean-up hands up all of its failures, none of them twice."""
    errors = [ValueError(number) for number in range(4)]
    inner = Cleanup()
    inner.add("second", log.step("second", errors[2]))
    inner.add("first", log.step("first", errors[1]))
    outer = Cleanup()
    outer.add("last", log.step("last", errors[3]))
    outer.add("inner", inner.run)
    outer.add("before", log.step("before", errors[0]))
    raised = failed(outer)
    assert raised is errors[0]
    assert raised.cleanup_errors == tuple(errors[1:])
    assert log == ["before", "first", "second", "last"]


def test_failures_within_are_logged_once(log, caplog):
    """While the body is failing, the failures of a clean-up within are logged too."""
    inner = Cleanup()
    inner.add("second", log.step("second", ValueError("of the second")))
    inner.add("first", log.step("first", ValueError("of the first")))
    outer = Cleanup()
    outer.add("inner", inner.run)
    assert failed(outer, RuntimeError("body")) is None
    after = [record.getMessage() for record in caplog.records if "after RuntimeError" in record.getMessage()]
    assert len(after) == 2
    assert "of the first" in after[0]
    assert "of the second" in after[1]


def test_step_added_meanwhile(log):
    """A step that adds another one has it run as well."""
    cleanup = Cleanup()
    cleanup.add("one", log.step("one"))
    cleanup.add("two", lambda: cleanup.add("three", log.step("three")))
    cleanup.run()
    assert log == ["three", "one"]


def test_errors_that_cannot_be_shown(log):
    """An exception whose repr raises keeps no step from running and no failure from being raised."""

    class Unshowable(Exception):
        def __repr__(self):
            raise RuntimeError("no repr")

    first = ValueError("first")
    cleanup = Cleanup()
    cleanup.add("three", log.step("three"))
    cleanup.add("two", log.step("two", Unshowable()))
    cleanup.add("one", log.step("one", first))
    logging.raiseExceptions, before = False, logging.raiseExceptions
    try:
        assert failed(cleanup) is first
    finally:
        logging.raiseExceptions = before
    assert log == ["one", "two", "three"]


class Manager:
    """A context manager that raises, or ends its body's exception, when it is left."""

    def __init__(self, leave):
        self.leave = leave

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return self.leave(error)


def reraise(error):
    raise error


def fail(error):
    raise OSError("disk full")


@pytest.mark.parametrize(
    ("leave", "logged"), [(lambda error: False, False), (reraise, False), (fail, True)], ids=["plain", "again", "fails"]
)
def test_entered(leave, logged, caplog):
    """What a body raised comes out, whatever leaving its context manager raises; that is in the log."""
    with pytest.raises(KeyError) as caught, entered(Manager(leave), "close it"):
        raise KeyError("the body's")
    assert caught.value.args == ("the body's",)
    assert ("failed to close it" in caplog.text) is logged


def test_entered_and_ended():
    """A context manager may end its body's exception, and is heard of when it alone fails."""
    with entered(Manager(lambda error: True), "close it"):
        raise StopIteration
    with pytest.raises(OSError, match="disk full"), entered(Manager(fail), "close it"):
        pass
