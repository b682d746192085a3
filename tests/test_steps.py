"""Loops over training steps."""

import logging
import os
import signal
import threading

import pytest
from processes import run as run_program

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import AcceleratedTraining, NpuSession, TrainingWarning  # noqa: E402
from npusession.training import progress  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def plan():
    graph = tensorflow.Graph()
    with graph.as_default():
        tf1.constant(1, name="one")
    return NpuSession.for_training(graph=graph, backend="fake")


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


def test_log_lines_of_slow_steps(plan, caplog, monkeypatch):
    """A line comes every minute at least, with the rate since the last one, the loss and the phase."""
    clock = iter(range(0, 10**6, 40))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    accelerated = plan.replace(accelerate=AcceleratedTraining.by_loss(1.0, 9.0))
    with accelerated as s, caplog.at_level(logging.INFO, "npusession"):
        for step in s.steps(40):
            s.report(loss=2.0 if step < 3 else 1.0)
            if step == 5:
                break
    assert [record.getMessage() for record in caplog.records] == [
        "step 2 of 40, 0.0 steps/s, loss 2, float16",
        "step 4 of 40, 0.0 steps/s, loss 1, original",
    ]


def test_recent_rate(plan, caplog, monkeypatch):
    """The rate is that of the steps since the last line, not the average since the start."""
    moments = iter([0.0, *[1.0] * 10, *[11.0] * 10])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(progress, "_LINES", 2)
    with plan as s, caplog.at_level(logging.INFO, "npusession"):
        for _ in s.steps(20):
            pass
    assert [record.getMessage() for record in caplog.records] == [
        "step 10 of 20, 10.0 steps/s",
        "step 20 of 20, 1.0 steps/s",
    ]


def on_terminal(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)


def test_progress_bar(plan, monkeypatch, capsys):
    """On a terminal, progress is a bar with the rate, the loss and the phase."""
    on_terminal(monkeypatch)
    with plan.replace(accelerate=AcceleratedTraining.by_step(4, dtype="bfloat16")) as s:
        for step in s.steps():
            s.report(loss=0.5 / (step + 1))
    shown = capsys.readouterr().err
    assert "0/4" in shown
    assert "bfloat16" in shown.split("\r")[1]
    last = shown.split("\r")[-1]
    assert "4/4" in last
    assert "step/s, loss 0.125, original]" in last


def test_bar_without_an_end(plan, monkeypatch, capsys):
    """A loop that ends with its time shows what it has made."""
    on_terminal(monkeypatch)
    with plan as s:
        s.run_for("one:0", seconds=0.05)
    assert "step/s]" in capsys.readouterr().err


def test_silence(plan, caplog, capsys):
    """Nothing is shown when nothing is wanted."""
    with plan as s, caplog.at_level(logging.INFO, "npusession"):
        for _ in s.steps(100, progress=False):
            pass
        s.run_for("one:0", steps=50, progress=False)
    assert not caplog.records
    assert capsys.readouterr().err == ""


def test_leaving_early(plan):
    """A loop that is left early leaves no variable behind."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(10)) as s:
        for step in s.steps(progress=False):
            if step == 3:
                break
    assert "STEP_NOW" not in os.environ


def test_going_on_after_a_break(plan):
    """Under acceleration by step a later loop goes on, since the number must not fall back; else it starts anew."""
    with plan.replace(accelerate=AcceleratedTraining.by_step(6)) as s:
        for step in s.steps(progress=False):
            if step == 3:
                break
        assert list(s.steps(progress=False)) == [3, 4, 5]
        assert list(s.steps(progress=False)) == []
    with plan as s:
        assert list(s.steps(2, progress=False)) == list(s.steps(2, progress=False)) == [0, 1]


def test_numbers_of_the_environment(plan, monkeypatch):
    """A plan without numbers takes those of the environment, and keeps STEP_NOW all the same."""
    monkeypatch.setenv("TOTAL_STEP", "3")
    monkeypatch.setenv("STEP_NOW", "1")
    with plan.replace(experimental_accelerate_train_mode="fast|step") as s:
        assert [(step, os.environ["STEP_NOW"]) for step in s.steps(progress=False)] == [(1, "1"), (2, "2")]
        assert s.acceleration.total_steps == 3
    assert os.environ["STEP_NOW"] == "1"


class TestLoopsOfSeveralSteps:
    """A plan with iterations_per_loop."""

    @pytest.fixture
    def plan(self, plan):
        return plan.replace(iterations_per_loop=4, enable_data_pre_proc=True)

    @pytest.fixture(autouse=True)
    def deprecated(self, recwarn):
        """enable_data_pre_proc is."""

    def test_counts_in_runs(self, plan):
        """Steps are counted in runs, of which each makes several."""
        with plan.replace(accelerate=AcceleratedTraining.by_step(12)) as s:
            s._self_opening.training.looped = True
            assert [(step, os.environ["STEP_NOW"]) for step in s.steps(progress=False)] == [
                (0, "0"),
                (4, "4"),
                (8, "8"),
            ]
            assert list(s.steps(initial=4, progress=False)) == [4, 8]

    @pytest.mark.parametrize(
        ("arguments", "fit"),
        [({"total": 10}, "8 and 12"), ({"total": 10, "initial": 3}, "7 and 11"), ({"total": 3}, "0 and 4")],
    )
    def test_totals_that_do_not_fit(self, plan, arguments, fit):
        """A total that is no number of whole runs is refused, with the nearest ones that are."""
        with plan as s, pytest.raises(ValueError, match=f"iterations_per_loop=4.* the totals that fit are {fit}$"):
            s.steps(**arguments)

    def test_run_for(self, plan):
        """A number of steps to run is one of whole runs, too."""
        with plan as s, pytest.raises(ValueError, match="the totals that fit are 4 and 8"):
            s.run_for("one:0", steps=5)

    def test_forgotten_loop(self, plan):
        """A plan that counts several steps for a run that makes one is warned of."""
        with plan as s, pytest.warns(TrainingWarning, match=r"run what train_op = s\.loop\(train_op\) returns"):
            assert list(s.steps(8, progress=False)) == [0, 4]


class TestRunFor:
    """Running the same fetches again and again."""

    def test_number(self, plan):
        """It makes that many steps, and can go on."""
        with plan as s:
            ran = s.run_for("one:0", steps=3, progress=False)
            assert (ran.steps, ran.results) == (3, 1)
            assert ran.seconds > 0
            assert s.run_for(["one:0"], steps=0).results is None

    def test_duration(self, plan, monkeypatch):
        """It ends with the first step that would begin too late."""
        from npusession.training import steps

        clock = iter(range(100))
        monkeypatch.setattr(steps.time, "monotonic", lambda: next(clock))
        with plan as s:
            assert s.run_for("one:0", seconds=5, progress=False).steps == 4
            assert s.run_for("one:0", steps=2, seconds=5, progress=False).steps == 2
            assert s.run_for("one:0", seconds=0, progress=False).steps == 0

    def test_feeds(self, plan):
        """What is fed is the same for all runs, or comes from a function that is called before each."""
        with plan.graph.as_default():
            x = tf1.placeholder(tf1.int32, ())
            y = x + 1
        numbers = iter(range(10))
        with plan as s:
            assert s.run_for(y, {x: 5}, steps=2, progress=False).results == 6
            assert s.run_for(y, lambda: {x: next(numbers)}, steps=4, progress=False).results == 4

    def test_accelerated(self, plan):
        """STEP_NOW goes on from call to call, and the training's end is the last step."""
        with plan.replace(accelerate=AcceleratedTraining.by_step(10)) as s:
            s.run_for("one:0", steps=4, progress=False)
            assert os.environ["STEP_NOW"] == "3"
            with pytest.raises(ValueError, match="7 steps after the 4 that were made are more than total_steps=10"):
                s.run_for("one:0", steps=7)
            assert s.run_for("one:0", progress=False).steps == 6
            assert os.environ["STEP_NOW"] == "9"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [({}, "for how long"), ({"steps": -1}, "steps=-1"), ({"seconds": -1}, "seconds=-1"),
         ({"seconds": float("nan")}, "seconds=nan")],
    )  # fmt: skip
    def test_refusals(self, plan, arguments, message):
        """A run without an end, or with one in the past, is refused."""
        with plan as s, pytest.raises(ValueError, match=message):
            s.run_for("one:0", **arguments)


class TestInterrupts:
    """Ctrl-C in a loop that is interruptible."""

    def test_ends_after_the_step(self, plan, capfd):
        """Ctrl-C lets the step at hand finish, ends the loop, and says so; the handler is as it was."""
        before = signal.getsignal(signal.SIGINT)
        finished = []
        with plan as s:
            for step in s.steps(100, interruptible=True):
                if step == 2:
                    os.kill(os.getpid(), signal.SIGINT)
                finished.append(step)
            assert s.interrupted
            assert signal.getsignal(signal.SIGINT) is before
            assert not s.closed
            assert list(s.steps(2)) == [0, 1]
            assert not s.interrupted
        assert finished == [0, 1, 2]
        assert "the loop ends after this step" in capfd.readouterr().err

    def test_second_one(self, plan):
        """A second Ctrl-C interrupts at once, and all is as it was."""
        before = signal.getsignal(signal.SIGINT)
        with plan as s:
            with pytest.raises(KeyboardInterrupt):
                for _ in s.steps(100, interruptible=True, progress=False):
                    os.kill(os.getpid(), signal.SIGINT)
                    os.kill(os.getpid(), signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is before
        assert s.closed

    def test_other_ends(self, plan):
        """The handler comes back after a loop that ends, breaks, fails, or is kept beyond its session."""
        before = signal.getsignal(signal.SIGINT)
        with plan as s:
            assert len(list(s.steps(3, interruptible=True, progress=False))) == 3
            assert signal.getsignal(signal.SIGINT) is before
            for _ in s.steps(3, interruptible=True, progress=False):
                assert signal.getsignal(signal.SIGINT) is not before
                break
            assert signal.getsignal(signal.SIGINT) is before
            kept = s.steps(3, interruptible=True, progress=False)
            next(kept)
            assert signal.getsignal(signal.SIGINT) is not before
        assert signal.getsignal(signal.SIGINT) is before
        assert list(kept) == []

    def test_session_that_is_closed_inside(self, plan):
        """A session that is closed in the body ends its loop, and the handler is back."""
        before = signal.getsignal(signal.SIGINT)
        s = plan.start()
        made = []
        for step in s.steps(9, interruptible=True, progress=False):
            made.append(step)
            s.stop()
            assert signal.getsignal(signal.SIGINT) is before
        assert made == [0]

    def test_handler_of_somebody_else(self, plan):
        """A handler that was set within the loop is left alone."""

        def theirs(number, frame):
            pass

        before = signal.getsignal(signal.SIGINT)
        try:
            with plan as s:
                for _ in s.steps(1, interruptible=True, progress=False):
                    signal.signal(signal.SIGINT, theirs)
                assert signal.getsignal(signal.SIGINT) is theirs
        finally:
            signal.signal(signal.SIGINT, before)

    def test_other_threads(self, plan):
        """In another thread, which never gets a signal, it is refused."""
        errors = []

        def loop(s):
            try:
                next(s.steps(3, interruptible=True))
            except RuntimeError as error:
                errors.append(str(error))

        with plan as s:
            thread = threading.Thread(target=loop, args=(s,))
            thread.start()
            thread.join()
        assert "main thread only" in errors[0]

    def test_checkpoint_after_it(self, tmp_path):
        """A training that is interrupted from outside saves its checkpoint, ends well, and goes on from there."""
        body = f"""
            import signal
            graph = tf.Graph()
            with graph.as_default():
                step_counter = tf.compat.v1.train.get_or_create_global_step()
                train = tf.compat.v1.assign_add(step_counter, 1)
                initialize = tf.compat.v1.global_variables_initializer()
            accelerate = AcceleratedTraining.by_step(10**6, step=step_counter, train_op=train)
            plan = NpuSession.for_training(graph=graph, backend="fake", accelerate=accelerate)
            with plan as s:
                s.run(initialize)
                for step in s.steps(interruptible=True, progress=False):
                    s.run(train)
                    if step == 4:
                        os.kill(os.getpid(), signal.SIGINT)
                say(s.interrupted, s.save({str(tmp_path / "model")!r})[-2:])
            with plan as s:
                say(s.restore({str(tmp_path)!r}), os.environ["STEP_NOW"], next(s.steps(progress=False)))
        """
        code, output, errors = run_program(body)
        assert (code, output) == (0, "True -5\n5 5 5\n"), errors
