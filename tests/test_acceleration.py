"""What a session says of its accelerated training, and what it warns of."""

import math
import os
import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    NpuSession,
    OptionsError,
    SessionClosedError,
    TrainingWarning,
)

tf1 = tensorflow.compat.v1


def plan_of(accelerate, **keywords):
    graph = tensorflow.Graph()
    with graph.as_default():
        tf1.constant(1, name="one")
        tf1.no_op("train")
    return NpuSession.for_training(graph=graph, backend="fake", accelerate=accelerate, **keywords)


@pytest.fixture(autouse=True)
def nothing_unexpected():
    """Every warning that a test does not expect is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        yield


def test_phases_by_step():
    """The switching point is known from the start, and the phase changes with the step that reaches it."""
    with plan_of(AcceleratedTraining.by_step(10, fraction=0.55)) as s:
        acceleration = s.acceleration
        assert (acceleration.trigger, acceleration.dtype, acceleration.total_steps) == ("step", "float16", 10)
        assert (acceleration.switches_at, acceleration.now, acceleration.passed) == (5, 0, False)
        phases = [(step, acceleration.phase) for step in s.steps(progress=False)]
        assert phases[4:6] == [(4, "float16"), (5, "original")]
        s.report(step=0)
        assert acceleration.phase == "original"
        assert "original, step 0, original precision from step 5" in repr(acceleration)


def test_phases_by_loss():
    """By loss the switching point is a loss, and the phase changes with the first one that is low enough."""
    with plan_of(AcceleratedTraining.by_loss(2.0, 9.0, dtype="bfloat16", ratio=1.5)) as s:
        acceleration = s.acceleration
        assert (acceleration.switches_at, acceleration.total_steps) == (3.0, None)
        phases = []
        for loss in (8.0, 3.1, 3.0, 7.0):
            s.report(loss=loss)
            phases.append(acceleration.phase)
        assert phases == ["bfloat16", "bfloat16", "original", "original"]
        assert acceleration.now == 7.0


def test_without_acceleration():
    """A session without it has none, and takes reports for its progress."""
    with plan_of(None) as s:
        assert s.acceleration is None
        s.report(step=5, loss=0.5)
        assert not {"STEP_NOW", "LOSS_NOW"} & set(os.environ)


@pytest.mark.parametrize(
    "loss",
    [1.5, numpy.float32(1.5), numpy.float16(1.5), numpy.array(1.5), numpy.array([1.5]), numpy.array([[1.5]]), "1.5"],
    ids=lambda loss: type(loss).__name__ + str(getattr(loss, "shape", "")),
)
def test_kinds_of_losses(loss):
    """A loss may be a number of any kind, as fetches give it."""
    with plan_of(AcceleratedTraining.by_loss(1.0, 9.0)) as s:
        s.report(loss=loss)
        assert os.environ["LOSS_NOW"] == "1.5"


@pytest.mark.parametrize("step", [7, numpy.int64(7), numpy.array(7), numpy.array([7])])
def test_kinds_of_steps(step):
    """So may a step."""
    with plan_of(AcceleratedTraining.by_step(10)) as s:
        s.report(step=step)
        assert os.environ["STEP_NOW"] == "7"


@pytest.mark.parametrize(
    ("report", "error", "message"),
    [
        ({"step": 1.5}, TypeError, "step=1.5: the number of steps made is one whole number"),
        ({"step": "7"}, TypeError, "one whole number"),
        ({"step": -1}, ValueError, "step=-1: the runtime counts steps from 0 to 4294967295"),
        ({"step": 2**32}, ValueError, "step=4294967296"),
        ({"step": numpy.array([1, 2])}, TypeError, "one whole number"),
        ({"loss": "low"}, TypeError, "loss='low': a loss is one number"),
        ({"loss": [1.0]}, TypeError, "one number"),
        ({"loss": numpy.array([1.0, 2.0])}, TypeError, "one number"),
        ({"loss": 10**400}, TypeError, "one number"),
        ({"step": 3, "loss": "low"}, TypeError, "one number"),
    ],
)
def test_wrong_reports(report, error, message):
    """What is no step or loss is refused, and the runtime keeps what it was told before."""
    with plan_of(AcceleratedTraining.by_step(10)) as s:
        s.report(step=2)
        with pytest.raises(error, match=message):
            s.report(**report)
        assert os.environ["STEP_NOW"] == "2"


def test_report_after_close():
    """A closed session takes no reports."""
    with plan_of(AcceleratedTraining.by_step(10)) as s:
        pass
    with pytest.raises(SessionClosedError):
        s.report(step=1)
    assert "STEP_NOW" not in os.environ


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([math.nan], "the loss is NaN, .* the runtime stays in float16 as long as it is"),
        ([0.0], r"the loss is 0\.0, .* it stays in float16"),
        ([-0.0], r"the loss is 0\.0"),
        ([-0.25], r"the loss -0\.25 is negative, .*\(<= 1\.05\): the runtime goes back to the original precision with"),
        ([9.5] * 10, r"10 losses in a row are above 9, .* stays in float16 until the loss is <= 1\.05"),
        ([9.5] * 9 + [math.inf], r"the loss grows: .*, the last of them inf"),
    ],
)
def test_strange_losses(losses, message):
    """A loss that the runtime takes otherwise than one may think is warned of, once, with what the runtime does."""
    with plan_of(AcceleratedTraining.by_loss(1.0, 9.0)) as s:
        for loss in losses[:-1]:
            s.report(loss=loss)
        with pytest.warns(TrainingWarning, match=message) as caught:
            s.report(loss=losses[-1])
        assert os.path.basename(caught[0].filename) == "test_acceleration.py"
        assert s.acceleration.passed == (losses[0] < 0)
        assert float(os.environ["LOSS_NOW"]) == losses[-1] or math.isnan(losses[-1])
        s.report(loss=losses[-1])


def test_usual_losses():
    """Losses that go up and down, or low after the switch, are not warned of."""
    with plan_of(AcceleratedTraining.by_loss(1.0, 9.0)) as s:
        for loss in [*([9.5] * 9 + [8.0]) * 3, 5.0, 1.0, 0.0, -1.0, math.nan, 20.0]:
            s.report(loss=loss)
    with plan_of(None) as s:
        s.report(loss=math.nan)


def test_step_beyond_the_total():
    """More steps than the total tell that the switch came too early."""
    with plan_of(AcceleratedTraining.by_step(10)) as s:
        s.report(step=10)
        with pytest.warns(TrainingWarning, match=r"step 11 lies beyond total_steps=10\. .* chose its switching point"):
            s.report(step=11)
        s.report(step=12)
        assert os.environ["STEP_NOW"] == "12"


@pytest.mark.parametrize(
    ("total", "fraction", "loop", "initial", "missed", "point"),
    [
        (100, 0.5, 30, 0, 50, 60),
        (100, 0.9, 20, 0, 90, 80),
        (100, 0.9, 100, 0, 90, 0),
        (100, 0.5, 20, 5, 50, 65),
        (100, 0.5, 25, 0, None, 50),
        (100, 0.9, 1, 0, None, 90),
        (100, 0.5, 20, 60, None, 50),
    ],
)
def test_loops_that_skip_the_switching_point(total, fraction, loop, initial, missed, point):
    """A number of steps per run that leaps over the switching point is warned of, with where the switch will be."""
    keywords = {} if loop == 1 else {"iterations_per_loop": loop, "enable_data_pre_proc": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = plan_of(AcceleratedTraining.by_step(total, fraction=fraction, initial_step=initial), **keywords)
    if missed is None:
        s = plan.start()
    else:
        with pytest.warns(TrainingWarning, match=f"never sees step {missed}, .* original precision at step {point}"):
            s = plan.start()
    try:
        assert s.acceleration.switches_at == point
    finally:
        s.stop()


@pytest.mark.parametrize(
    ("target", "initial", "message"),
    [
        (1.0, 1.04, r"the initial loss 1\.04 is low enough already .* makes one run in float16"),
        (0.0, 9.0, r"target loss 0 is not positive: .* when the loss is <= 0, and never at 0\.0"),
        (-1.0, 9.0, r"when the loss is <= -1\.05"),
    ],
)
def test_strange_targets(target, initial, message):
    """A target that the runtime takes otherwise than one may think is warned of when the session opens."""
    plan = plan_of(AcceleratedTraining.by_loss(target, initial))
    with pytest.warns(TrainingWarning, match=message):
        plan.start().stop()


def test_successive_and_nested_sessions(monkeypatch):
    """Each session has numbers of its own, and what was there before comes back, absent or not."""
    monkeypatch.setenv("LOSS_NOW", "theirs")
    plan = plan_of(AcceleratedTraining.by_loss(1.0, 9.0))
    for _ in range(2):
        with plan as outer:
            outer.report(loss=5.0)
            with plan as inner:
                assert os.environ["LOSS_NOW"] == "9.0"
                inner.report(loss=4.0)
                outer.report(loss=4.5)
                assert os.environ["LOSS_NOW"] == "4.0"
                assert outer.acceleration.now == 4.5
            assert os.environ["LOSS_NOW"] == "4.5"
        assert os.environ["LOSS_NOW"] == "theirs"
        assert "TARGET_LOSS" not in os.environ


class TestTensorsOfThePlan:
    """Tensors that are given in the plan."""

    @pytest.mark.parametrize(
        ("accelerate", "problems"),
        [
            (AcceleratedTraining.from_string("fast|loss", total_steps=5), ["total_steps"]),
            (AcceleratedTraining.from_string("fast|loss", initial_step=5), ["initial_step"]),
            (AcceleratedTraining("fast|step", target_loss=1, initial_loss=2), ["target_loss", "initial_loss"]),
            (AcceleratedTraining.from_string("fast|step", loss="l:0", train_op="train"), ["loss"]),
            (AcceleratedTraining.by_step(5, step="s:0"), ["step"]),
            (AcceleratedTraining.by_loss(1.0, 2.0, loss="l:0"), ["loss"]),
            (AcceleratedTraining.by_loss(1.0, 2.0, train_op="train"), ["train_op"]),
            (AcceleratedTraining.by_step(5, train_op=7), ["train_op"]),
            (AcceleratedTraining.by_step(5, train_op=""), ["train_op"]),
            (AcceleratedTraining.by_step(5, step=[1], train_op="train"), ["step"]),
        ],
    )  # fmt: skip
    def test_refusals(self, accelerate, problems):
        """What the trigger never reads, and what no run would fetch, is refused when the plan is made."""
        with pytest.raises(OptionsError) as caught:
            plan_of(accelerate)
        assert [problem.option for problem in caught.value.problems] == [
            f"AcceleratedTraining.{name}" for name in problems
        ]

    def test_plans_keep_names(self, tmp_path):
        """A plan keeps the names of tensors, so that it can be compared, pickled, and written to a file."""
        import pickle

        graph = tensorflow.Graph()
        with graph.as_default():
            step = tf1.train.get_or_create_global_step()
            train = tf1.group(tf1.assign_add(step, 1), name="train")
        given = AcceleratedTraining.by_step(10, step=step, train_op=train)
        plan = NpuSession.for_training(accelerate=given, backend="fake")
        assert (plan.accelerate.step, plan.accelerate.train_op) == ("global_step:0", "train")
        assert plan == NpuSession.for_training(
            accelerate=AcceleratedTraining.by_step(10, step="global_step:0", train_op=b"train"), backend="fake"
        )
        assert pickle.loads(pickle.dumps(plan)) == plan
        for name in ("plan.toml", "plan.json"):
            plan.save(tmp_path / name)
            assert NpuSession.from_config(tmp_path / name) == plan

    def test_tensor_of_another_graph(self):
        """A tensor that the session's graph does not have is refused when the session opens, and nothing stays open."""
        plan = plan_of(AcceleratedTraining.by_step(10, step="elsewhere:0", train_op="train"))
        with pytest.raises(OptionsError, match=r"AcceleratedTraining\.step = 'elsewhere:0': no tensor of the graph"):
            plan.start()
        assert "STEP_NOW" not in os.environ

    def test_final_graph(self):
        """A variable cannot be read after the train op where the graph is final, which the error says."""
        graph = tensorflow.Graph()
        with graph.as_default():
            step = tf1.train.get_or_create_global_step()
            train = tf1.assign_add(step, 1)
        graph.finalize()
        plan = plan_of(AcceleratedTraining.by_step(10, step=step, train_op=train)).replace(graph=graph)
        with pytest.raises(OptionsError, match=r"(?s)the graph is final, .*open the session before"):
            plan.start()
        assert "STEP_NOW" not in os.environ

    def test_model_that_is_built_inside(self):
        """The graph may get its train op after the session was opened."""
        plan = NpuSession.for_training(
            backend="fake",
            graph=tensorflow.Graph(),
            accelerate=AcceleratedTraining.by_loss(0.5, 9.0, loss="loss", train_op="train"),
        )
        with plan as s:
            loss = tf1.placeholder(tf1.float32, ())
            half = tf1.identity(loss / 2, name="loss")
            s.run(half, {loss: 3.0})
            assert s.acceleration.now == 9.0
            tf1.group(half, name="train")
            s.run("train", {loss: 4.0})
            assert (s.acceleration.now, os.environ["LOSS_NOW"]) == (2.0, "2.0")
            assert s.prepare("train", [loss])(3.0) is None
            assert s.acceleration.now == 1.5

    def test_train_op_that_is_never_run(self):
        """A train op that no run reaches is warned of at the end, but not when the body failed."""
        plan = plan_of(AcceleratedTraining.by_step(10, train_op="train"))
        with pytest.warns(TrainingWarning, match="no run reached the train op 'train'"):
            with plan as s:
                s.run("one:0")
        with pytest.raises(KeyError), plan:
            raise KeyError

    def test_counting(self):
        """A train op alone counts its runs, whatever else is run or fetched with it."""
        with plan_of(AcceleratedTraining.by_step(10, initial_step=3, train_op="train")) as s:
            assert s.run({"a": ["train", "one:0"]}) == {"a": [None, 1]}
            s.run("one:0")
            s.graph.get_operation_by_name("train").run()
            handle = s.partial_run_setup(["one:0"], [])
            assert s.partial_run(handle, "one:0") == 1
            assert (s.acceleration.now, os.environ["STEP_NOW"]) == (5, "5")

    def test_failing_runs(self):
        """A run that fails counts for nothing."""
        with plan_of(AcceleratedTraining.by_step(10, train_op="train")) as s:
            with s.graph.as_default():
                bad = tf1.Assert(tf1.constant(False), ["no"])
            step = s.prepare(["train", bad])
            for run in (lambda: s.run(["train", bad]), step):
                with pytest.raises(tf1.errors.InvalidArgumentError):
                    run()
            assert s.acceleration.now == 0
            s.run("train")
            assert s.acceleration.now == 1
