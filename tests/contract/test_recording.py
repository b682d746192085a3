"""The record that an open session writes, on whatever backend."""

import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import AcceleratedTraining, NpuSession, OptionsError  # noqa: E402
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
    """An inference session has a record, too."""
    plan = NpuSession.for_inference(graph=model.graph, backend=BACKEND, record=str(model.path))
    with plan as s:
        s.run(model.initialize)
        s.run_for(model.loss, steps=2, progress=False)
    (section,) = model.sections()
    assert (section.about["scene"], len(section.steps)) == ("inference", 2)
