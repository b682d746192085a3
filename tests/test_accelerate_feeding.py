"""Accelerated training as measured, through every way of telling the runtime where the training is."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    AcceleratedTrainingCallback,
    NpuSession,
    OptionsError,
)
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402
from npusession.options.accelerate import VARIABLES  # noqa: E402

tf1 = tensorflow.compat.v1
CASES = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parent / "data/accelerate.jsonl").read_text("utf-8").splitlines()
]
TRIGGERED = {trigger: [case for case in CASES if case["kind"] == f"trigger_{trigger}"] for trigger in ("step", "loss")}


class Model:
    """A graph whose train op notes what the runtime finds in the environment."""

    def __init__(self):
        self.seen, self.passed = [], []
        self.acceleration = None
        self.graph = tensorflow.Graph()
        with self.graph.as_default():
            self.fed = tf1.placeholder(tf1.float64, (), name="fed")
            self.loss = tf1.identity(self.fed, name="loss")
            self.step = tf1.cast(self.fed, tf1.int64, name="step")
            self.by = tf1.placeholder(tf1.int64, (), name="by")
            self.counter = tf1.train.get_or_create_global_step()
            note = tf1.numpy_function(self.note, [], [], name="note")
            with tf1.control_dependencies([note]):
                self.plain = tf1.no_op("train")
                self.count = tf1.assign_add(self.counter, self.by).op
        self.variable = ""

    def note(self):
        self.seen.append(os.environ[self.variable])
        self.passed.append(self.acceleration.passed)


@pytest.fixture(scope="module")
def model():
    return Model()


def values(case):
    """Return the numbers that the runtime is told before each run, as numbers."""
    texts = [next(iter(step.values())) for step in case["steps"]]
    return [float(text) if "LOSS_NOW" in case["env"] else int(text) for text in texts]


@contextlib.contextmanager
def opened(case, model, **tensors):
    """Open the plan of a measured case: its numbers as a user gives them."""
    end, now = VARIABLES[trigger_of(case)]
    names = {"TOTAL_STEP": "total_steps", "STEP_NOW": "initial_step", "TARGET_LOSS": "target_loss"}
    names["LOSS_NOW"] = "initial_loss"
    numbers = {names[name]: case["env"][name] for name in (end, now)}
    model.variable = now
    plan = NpuSession.for_training(
        accelerate=AcceleratedTraining.from_string(case["mode"], **numbers, **tensors),
        iterations_per_loop=case["iterations_per_loop"],
        graph=model.graph,
        backend="fake",
    )
    with plan as s:
        model.acceleration = s.acceleration
        yield s


def trigger_of(case):
    return case["mode"].split("|")[1]


def by_steps(model, case, told):
    loop, number = case["iterations_per_loop"], len(told)
    with opened(case, model) as s:
        if trigger_of(case) == "step":
            total = int(case["env"]["TOTAL_STEP"])
            if total % loop:
                with pytest.raises(ValueError, match="no whole number of runs"):
                    s.steps(progress=False)
                return
            for _ in itertools.islice(s.steps(progress=False), number):
                s.run(model.plain)
            # The runtime was measured for one run more than the training has.
            assert len(model.seen) == min(number, total // loop)
        else:
            for step in s.steps(number, progress=False):
                s.run(model.plain)
                if step + 1 < number:
                    s.report(loss=told[step + 1])


def by_report(model, case, told):
    with opened(case, model) as s:
        for value in told:
            s.report(**{trigger_of(case): value})
            s.run([model.plain])


def by_tensor(model, case, told, prepared=False):
    trigger = trigger_of(case)
    with opened(case, model, train_op=model.plain, **{trigger: getattr(model, trigger)}) as s:
        train = s.prepare({"op": [model.plain]}, [model.fed]) if prepared else None
        for following in [*told[1:], told[-1]]:
            results = train(following) if train else s.run({"op": [model.plain]}, {model.fed: following})
            assert results == {"op": [None]}


def by_prepared(model, case, told):
    return by_tensor(model, case, told, prepared=True)


def by_counting(model, case, told):
    if trigger_of(case) == "loss":
        return
    with opened(case, model, train_op="train") as s:
        train = s.prepare(model.plain)
        for number, _ in enumerate(told):
            # Both ways of running count.
            train() if number % 2 else s.run(model.plain)


class Creator(tf1.train.SessionCreator):
    """Makes a session with less ado than those of TensorFlow, which look for checkpoints and ready variables."""

    def __init__(self, model, config):
        self.model, self.config = model, config

    def create_session(self):
        session = tf1.Session(config=self.config)
        session.run(self.model.counter.initializer)
        return session


def by_hook(model, case, told):
    with opened(case, model) as s:
        hooks = s.hooks(step=model.counter, loss="loss")
        with tf1.train.MonitoredSession(Creator(model, s.plan.config_proto()), hooks) as monitored:
            for following in [*told[1:], told[-1]]:
                feeds = {model.fed: following, model.by: case["iterations_per_loop"]}
                monitored.run([model.count], feeds)


def by_callback(model, case, told):
    class Optimizer:
        iterations = None

    class Keras:
        optimizer = Optimizer()

    loop, trigger = case["iterations_per_loop"], trigger_of(case)
    with opened(case, model) as s:
        callback = AcceleratedTrainingCallback(s)
        callback.set_model(Keras())
        callback.on_train_begin()
        callback.on_epoch_begin(0)
        for number, following in enumerate([*told[1:], told[-1]]):
            s.run(model.plain)
            batch = (number + 1) * loop - 1
            callback.on_train_batch_end(batch, {"loss": following if trigger == "loss" else 0.5})


WAYS = [by_steps, by_report, by_tensor, by_prepared, by_counting, by_hook, by_callback]


@pytest.mark.parametrize("trigger", ["step", "loss"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_measured_cases(way, trigger, model):
    """The runtime finds the measured numbers, and goes back at the measured run, however it is told."""
    assert TRIGGERED[trigger]
    driven = 0
    for case in TRIGGERED[trigger]:
        RUNTIME.reset()
        model.seen.clear()
        model.passed.clear()
        told, measured = values(case), case["runtime"]["recover_at_call"]
        if measured is not None and way is not by_report:
            # Nothing happens after the switch, which one of the ways shows to the end.
            told = told[: measured + 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            way(model, case, told)
        if model.seen:
            driven += 1
            assert [float(text) for text in model.seen] == told[: len(model.seen)], case
            assert len(model.seen) >= len(told) - 1
            check_switch(case, model, measured)
    assert driven > 30 or (way is by_counting and trigger == "loss")


def check_switch(case, model, measured):
    """Compare the run that went back with the measured one, and what the session knew before that run."""
    runs, details = len(model.seen), [event.detail for event in RUNTIME.events if event.name == "precision"]
    low = case["runtime"]["first_precision"][0] or case["runtime"]["first_precision"][1]
    assert details[0] == f"run 0: {low}"
    # Of the runs of the session that trains, those before the first training step: a monitored session has some.
    trained = max(event.session for event in RUNTIME.events if event.name == "run")
    others = sum(event.name == "run" and event.session == trained for event in RUNTIME.events) - runs
    switched = [int(re.fullmatch("run ([0-9]+): original", detail).group(1)) for detail in details[1:]]
    known = model.passed.index(True) if True in model.passed else None
    if measured is None or measured >= runs:
        assert switched == []
        assert known in (None, runs - 1)
    elif known == 0:
        # The number that ends the low precision was there from the start: the second run of all goes back.
        assert measured == 1
        assert switched == [1]
    else:
        assert switched == [measured + others], case
        assert known == measured, case


@pytest.mark.parametrize("kind", ["parse", "precision"])
def test_measured_refusals(kind, model, monkeypatch):
    """What the runtime refuses at the first run is refused, most of it when the plan is made; the rest works."""
    model.variable = "PATH"
    for case in [case for case in CASES if case["kind"] == kind]:
        RUNTIME.reset()
        options = {name: case[name] for name in ("precision_mode", "precision_mode_v2") if case.get(name)}
        with monkeypatch.context() as patch:
            for name in itertools.chain.from_iterable(VARIABLES.values()):
                patch.delenv(name, raising=False)
            for name, text in case["env"].items():
                patch.setenv(name, text)
            try:
                accelerate = AcceleratedTraining.from_string(case["mode"])
                plan = NpuSession.for_training(accelerate=accelerate, graph=model.graph, backend="fake", **options)
                with plan as s:
                    s.run(model.plain)
                outcome = "ok"
            except (OptionsError, tf1.errors.InternalError):
                outcome = "error"
            assert outcome == case["runtime"]["outcome"] or not case["mode"], case
            assert {name: os.environ.get(name) for name in case["env"]} == case["env"]
