"""Ctrl-C from outside, in each of the ways in which TensorFlow makes the loop."""

import signal

import pytest
from processes import start

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

PROGRAM = """
import os, tempfile
import numpy
from npusession.record import read
from npusession.system import State, runtime
tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity(tf1.logging.FATAL)
folder = tempfile.mkdtemp()
record = os.path.join(folder, "run.jsonl")
MANY = 10**6

class Hook(tf1.train.SessionRunHook):
    runs = 0
    def after_run(self, run_context, run_values):
        self.runs += 1
        if self.runs == 3:
            say("now")

def model():
    step = tf1.train.get_or_create_global_step()
    weight = tf1.get_variable("weight", initializer=4.0)
    loss = tf1.square(weight)
    return loss, tf1.train.GradientDescentOptimizer(0.01).minimize(loss, step), step

def monitored(plan):
    _, train, _ = model()
    with plan.monitored(checkpoint_dir=os.path.join(folder, "monitored"), hooks=[Hook()]) as session:
        while not session.should_stop():
            session.run(train)

def supervisor(plan):
    _, train, step = model()
    plan = plan.replace(accelerate=AcceleratedTraining.by_step(MANY, step=step, train_op=train))
    with plan.supervisor(os.path.join(folder, "supervisor"), global_step=step) as (made, session):
        while not made.should_stop():
            session.run(train)
            if session.run(step) == 3:
                say("now")

def interactive(plan):
    _, train, _ = model()
    s = plan.interactive()
    try:
        tf1.global_variables_initializer().run()
        for step in s.steps(progress=False):
            train.run()
            if step == 3:
                say("now")
    finally:
        s.close()

def keras(plan):
    class Callback(tf.keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            if batch == 3:
                say("now")
    with plan.keras():
        network = tf1.keras.models.Sequential([tf1.keras.layers.Dense(1, input_shape=(1,))])
        network.compile("sgd", "mse")
        data = numpy.ones((MANY, 1), "float32")
        network.fit(data, data, batch_size=1, verbose=0, callbacks=[Callback()])

def estimator(plan):
    def model_fn(features, labels, mode):
        loss, train, _ = model()
        return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    def input_fn():
        return tf1.data.Dataset.from_tensors((1.0, 1.0)).repeat()
    with System(plan) as system:
        config = system.plan.run_config(model_dir=os.path.join(folder, "estimator"))
        made = tf1.estimator.Estimator(model_fn, config=config)
        made.train(input_fn, steps=MANY, hooks=[*system.hooks(), Hook()])

ways = [monitored, supervisor, interactive]
ways += [keras] if hasattr(tf1.keras.backend, "set_session") else []
ways += [estimator] if hasattr(tf1, "estimator") else []
for way in ways:
    plan = NpuSession.for_training(accelerate=AcceleratedTraining.by_step(MANY), backend="fake", record=record)
    before = dict(os.environ), tf1.get_default_session(), tf1.get_default_graph()
    try:
        with tf.Graph().as_default():
            way(plan)
    except KeyboardInterrupt:
        assert (dict(os.environ), tf1.get_default_session(), tf1.get_default_graph()) == before
        assert runtime.state is State.CLOSED and not RUNTIME.initialized
        *_, section = read(record)
        assert section.error == "KeyboardInterrupt" and len(section.steps) >= 2, section
        assert [stage.name for stage in section.stages][-1] == "shut the system down"
        say("clean after", way.__name__)
say("done")
"""


def test_ctrl_c():
    """Whatever runs, Ctrl-C comes out as KeyboardInterrupt, and leaves runtime, environment and record in order."""
    process = start(PROGRAM)
    clean = []
    for line in process.stdout:
        if line == "now\n":
            process.send_signal(signal.SIGINT)
        elif line.startswith("clean after"):
            clean.append(line.split()[-1])
    errors = process.communicate()[1]
    assert process.returncode == 0, errors
    assert clean[:3] == ["monitored", "supervisor", "interactive"]
