"""The record that an open session writes, on whatever backend."""

import os
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

import numpy  # noqa: E402

from npusession import (  # noqa: E402
    AcceleratedTraining,
    AcceleratedTrainingCallback,
    NpuSession,
    OptionsError,
    System,
    TrainingWarning,
)
from npusession.record import read  # noqa: E402
from npusession.system import State, runtime  # noqa: E402

tf1 = tensorflow.compat.v1
BACKEND = os.environ.get("NPUSESSION_BACKEND", "fake")
pytestmark = [
    pytest.mark.usefixtures("backend"),
    # Loops on the device need an option that is to be dropped.
    pytest.mark.filterwarnings("ignore::npusession.OptionsWarning"),
]

OPENING = ["check the plan, load the backend", "initialize the system", "open the session"]
CLOSING = ["close the session", "shut the system down"]


class Model:
    """A graph with a weight that is trained, and the plan of a session that writes a record of it."""

    def __init__(self, path):
        self.path, self.graph = path, tensorflow.Graph()
        with self.graph.as_default():
            self.weight = tf1.get_variable("weight", initializer=4.0)
            self.loss = tf1.square(self.weight, name="loss")
            with tf1.control_dependencies([self.loss]):
                self.train = tf1.train.GradientDescentOptimizer(0.25).minimize(self.loss)
            self.initialize = tf1.global_variables_initializer()

    def plan(self, accelerate=None, **keywords):
        keywords = {"record": self.path, **keywords}
        return NpuSession.for_training(graph=self.graph, backend=BACKEND, accelerate=accelerate, **keywords)

    def sections(self):
        return read(self.path)


@pytest.fixture
def model(tmp_path):
    return Model(tmp_path / "logs" / "run.jsonl")


def stages(section):
    return [stage.name for stage in section.stages]


def test_a_training(model):
    """Life cycle, options, and each step with its loss and phase are on record, in the order in which they were."""
    accelerate = AcceleratedTraining.by_step(5, fraction=0.6)
    with model.plan(accelerate, device=0) as s:
        s.run(model.initialize)
        for step in s.steps(progress=False):
            _, loss = s.run([model.train, model.loss])
            if step != 3:
                s.report(loss=loss)
    (section,) = model.sections()
    assert section.about["options"] == dict(s.plan.options)
    expected = {"backend": BACKEND, "scene": "training", "device": 0, "rank": 0, "rank_size": 1, "total_steps": 5}
    assert {name: section.about[name] for name in expected} == expected
    assert stages(section) == OPENING + CLOSING
    assert [step.step for step in section.steps] == [0, 1, 2, 3, 4]
    assert [step.loss is None for step in section.steps] == [False, False, False, True, False]
    assert [step.phase for step in section.steps] == ["low", "low", "low", "original", "original"]
    assert section.error is None
    moments = [item.at for item in (*section.stages[:3], *section.steps, *section.stages[3:])] + [section.ended]
    assert moments == sorted(moments)
    assert all(step.seconds > 0 for step in section.steps)


def test_losses_of_the_plan(model):
    """A loss that the plan names is on record without a word, be it that of a run or of a prepared one."""
    accelerate = AcceleratedTraining.by_loss(0.1, 16.0, loss=model.loss, train_op=model.train)
    with model.plan(accelerate) as s:
        s.run(model.initialize)
        s.run_for(model.train, steps=1, progress=False)
        train = s.prepare(model.train)
        for _ in s.steps(1, progress=False):
            train()
    (section,) = model.sections()
    assert [step.loss for step in section.steps] == [16.0, 4.0]


def test_steps_on_the_device(model):
    """With several steps in a run, a run is on record by the first of its steps."""
    with model.plan(iterations_per_loop=4, enable_data_pre_proc=True) as s:
        s.run(model.initialize)
        train = s.loop(model.train)
        for _ in s.steps(8, progress=False):
            s.run(train)
    (section,) = model.sections()
    assert [step.step for step in section.steps] == [0, 4]
    assert section.loop == 4


def test_nested(model):
    """Sessions that are open at the same time keep their lines apart in one file."""
    with model.plan() as outer:
        outer.run(model.initialize)
        for _ in outer.steps(2, progress=False):
            with model.plan() as inner:
                inner.run_for(model.initialize, steps=3, progress=False)
    first, *others = model.sections()
    assert (stages(first), len(first.steps)) == (OPENING + CLOSING, 2)
    for section in others:
        assert stages(section)[1::3] == ["join the open system", "leave the system to others"]
        assert len(section.steps) == 3
    assert [section.error for section in (first, *others)] == [None, None, None]


@pytest.mark.parametrize("error", [ValueError("of the body"), KeyboardInterrupt(), SystemExit(3)])
def test_what_ended_it(model, error):
    """What ended a session is on record, and the steps before it, whether it is closed by `with` or by hand."""
    shown = f"{type(error).__name__}: {error}".rstrip(": ")
    with pytest.raises(type(error)), model.plan() as s:
        for step in s.steps(5, progress=False):
            if step == 2:
                raise error
    s = model.plan().start()
    with pytest.raises(type(error)):
        try:
            raise error
        finally:
            s.close()
    by_with, by_hand = model.sections()
    assert (by_with.error, by_hand.error) == (shown, shown)
    assert len(by_with.steps) == 2
    assert stages(by_with) == OPENING + CLOSING


def test_an_error_from_before(model):
    """An exception that was caught before the session opened is not taken for what ended it."""
    try:
        raise ValueError("of something else")
    except ValueError:
        s = model.plan().start()
        s.close()
    assert model.sections()[0].error is None


def test_failing_to_open(model):
    """A session that does not open leaves a record of why."""
    with pytest.raises(OptionsError), model.plan(dump_path="/no/such/directory", enable_dump=True):
        pass
    (section,) = model.sections()
    assert section.error.startswith("OptionsError: 1 problem")
    assert section.about["options"]["dump_path"] == "/no/such/directory"


def test_failing_halfway(model):
    """A session that does not open although the system does leaves a record up to there."""
    with pytest.raises(tf1.errors.OpError), model.plan(target="grpc://no.such.host:x"):
        pass
    (section,) = model.sections()
    assert stages(section) == [*OPENING, CLOSING[1]]
    assert section.error.startswith(("NotFoundError", "InvalidArgumentError", "UnavailableError"))


def test_no_place(model, tmp_path):
    """A record that cannot be written is an error before the device is touched."""
    with pytest.raises(OSError, match=str(tmp_path)):
        model.plan(record=tmp_path).start()
    assert runtime.state is not State.OPEN


def test_inference(model):
    """An inference session has a record, too, of each of its runs."""
    plan = NpuSession.for_inference(graph=model.graph, backend=BACKEND, record=str(model.path))
    with plan as s:
        s.run(model.initialize)
        s.run_for(model.loss, steps=2, progress=False)
        s.prepare(model.loss)()
    (section,) = model.sections()
    assert (section.about["scene"], [step.step for step in section.steps]) == ("inference", [0, 0, 1, 2])


def test_a_loop_of_ones_own(model):
    """Runs of the train op are steps without a loop of ours, and only those; a loss is fetched or reported after."""
    with model.plan() as s:
        tf1.add_to_collection("losses", model.loss)
        s.run(model.initialize)
        s.run(model.train)
        s.run(model.weight)
        s.report(loss=5)
        s.run([model.loss, model.train])
        s.prepare([model.train, {"loss": model.loss}])()
        s.run_for(model.train, steps=1, progress=False)
        for _ in s.steps(2, progress=False):
            s.run([model.loss, model.train])
        s.run(tf1.group(model.train))
    (section,) = model.sections()
    assert [step.step for step in section.steps] == [0, 1, 2, 0, 0, 1, 2]
    assert [step.loss for step in section.steps] == [5.0, 4.0, 1.0, None, None, None, None]


def test_followed_by_the_plan(model):
    """Where the plan names the train op, its runs are numbered as the runtime is told, with the precision phase."""
    with model.plan(AcceleratedTraining.by_step(4, fraction=0.5, train_op=model.train)) as s:
        s.run(model.initialize)
        s.report(step=1)
        for _ in range(3):
            s.run(model.train)
    (section,) = model.sections()
    assert [(step.step, step.phase) for step in section.steps] == [(1, "low"), (2, "original"), (3, "original")]


def test_warnings(model):
    """What the training is warned of while it runs is on record, with its moment."""
    with model.plan(AcceleratedTraining.by_loss(0.1, 16.0)) as s, pytest.warns(TrainingWarning, match="NaN"):
        s.report(loss=float("nan"))
    (section,) = model.sections()
    ((at, text),) = section.warnings
    assert 0 < at < section.ended
    assert "the loss is NaN" in text


class TestOtherWays:
    """Where TensorFlow makes the loop, and some of them the session, each training step is on record all the same."""

    @pytest.fixture
    def model(self, tmp_path):
        model = Model(tmp_path / "run.jsonl")
        with model.graph.as_default():
            step = tf1.train.get_or_create_global_step()
            with tf1.control_dependencies([model.loss]):
                model.train = tf1.train.GradientDescentOptimizer(0.25).minimize(model.loss, step)
        return model

    def test_monitored(self, model, tmp_path):
        """A monitored session: its steps from the checkpoint on, the loss that is named, and what ended it."""
        for _ in range(2):
            folder = str(tmp_path / "model")
            with pytest.raises(ValueError, match="of the body"), model.plan().monitored(
                checkpoint_dir=folder, loss=model.loss, save_checkpoint_steps=2
            ) as session:
                session.run(model.weight)
                for _ in range(2):
                    assert session.run([model.train]) == [None]
                raise ValueError("of the body")
            model.graph._unsafe_unfinalize()
        sections = model.sections()
        assert [[step.step for step in section.steps] for section in sections] == [[0, 1], [2, 3]]
        assert [[step.loss for step in section.steps] for section in sections] == [[16, 4], [1, 0.25]]
        for section in sections:
            assert stages(section) == OPENING + CLOSING
            assert section.error == "ValueError: of the body"

    def test_phases(self, model):
        """Steps of an accelerated training have their phase."""
        accelerate = AcceleratedTraining.by_step(4, fraction=0.5)
        hooks = [tf1.train.StopAtStepHook(last_step=4)]
        with model.plan(accelerate).monitored(hooks=hooks) as session:
            while not session.should_stop():
                session.run(model.train)
        (section,) = model.sections()
        expected = [(0, "low"), (1, "low"), (2, "original"), (3, "original")]
        assert [(step.step, step.phase) for step in section.steps] == expected

    def test_reported_losses(self, model):
        """The loss that an accelerated training goes by is on record."""
        accelerate = AcceleratedTraining.by_loss(0.1, 16.0)
        with model.plan(accelerate).monitored(loss="loss") as session:
            for _ in range(2):
                session.run(model.train)
        assert [step.loss for step in model.sections()[0].steps] == [16, 4]

    @pytest.mark.skipif(tf1.executing_eagerly(), reason="TensorFlow executes eagerly")
    def test_supervisor(self, model, tmp_path):
        """A supervisor's session."""
        with model.graph.as_default():
            tf1.add_to_collection("losses", model.loss)
        with model.plan().supervisor(str(tmp_path / "model")) as (_, session):
            for _ in range(2):
                session.run([model.train, model.loss])
        (section,) = model.sections()
        assert [(step.step, step.loss) for step in section.steps] == [(0, 16), (1, 4)]
        assert stages(section) == OPENING + CLOSING

    @pytest.mark.parametrize("given", [False, True])
    def test_keras(self, model, given):
        """The fit of a Keras model, each batch once, with or without a callback of the caller's."""
        if not hasattr(tf1.keras.backend, "set_session"):
            pytest.skip("this Keras has no sessions")
        accelerate = AcceleratedTraining.by_step(4, fraction=0.5)
        module = sys.modules[tf1.keras.callbacks.Callback.__module__]
        before = module.configure_callbacks
        with model.plan(accelerate).keras() as s:
            network = tf1.keras.models.Sequential([tf1.keras.layers.Dense(1, input_shape=(1,))])
            network.compile("sgd", "mse")
            callbacks = [AcceleratedTrainingCallback(s)] if given else None
            network.fit(numpy.ones((4, 1)), numpy.ones((4, 1)), batch_size=2, epochs=2, verbose=0, callbacks=callbacks)
            network.evaluate(numpy.ones((1, 1)), numpy.ones((1, 1)), verbose=0)
            assert os.environ["STEP_NOW"] == "4"
        assert module.configure_callbacks is before
        (section,) = model.sections()
        expected = [(0, "low"), (1, "low"), (2, "original"), (3, "original")]
        assert [(step.step, step.phase) for step in section.steps] == expected
        assert None not in [step.loss for step in section.steps]

    def test_estimator(self, model, tmp_path):
        """The phases of an Estimator, within the record of the system that is held around them."""
        if not hasattr(tf1, "estimator"):
            pytest.skip("this TensorFlow has no estimators")

        def model_fn(features, labels, mode):
            weight = tf1.get_variable("weight", initializer=4.0)
            loss = tf1.square(weight)
            with tf1.control_dependencies([loss]):
                train = tf1.train.GradientDescentOptimizer(0.25).minimize(loss, tf1.train.get_global_step())
            return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

        def input_fn():
            return tf1.data.Dataset.from_tensors((1.0, 1.0)).repeat()

        with System(model.plan()) as system:
            config = system.plan.run_config(model_dir=str(tmp_path / "model"))
            estimator = tf1.estimator.Estimator(model_fn, config=config)
            for _ in range(2):
                estimator.train(input_fn, steps=2, hooks=system.hooks())
                estimator.evaluate(input_fn, steps=1)
        (section,) = model.sections()
        assert [(step.step, step.loss) for step in section.steps] == [(0, 16), (1, 4), (2, 1), (3, 0.25)]
        assert stages(section) == [*OPENING, OPENING[2], CLOSING[1]]

    def test_system(self, model):
        """A system by itself; another one that does not start says why."""
        with System(model.plan(device=0)), pytest.raises(OptionsError):
            System(model.plan(dump_path="/no/such/directory", enable_dump=True)).start()
        one, other = model.sections()
        assert (stages(one), one.error) == ([*OPENING[:2], CLOSING[1]], None)
        assert other.error.startswith("OptionsError")
