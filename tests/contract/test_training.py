"""Training through the loops of TensorFlow, loops on the device, and checkpoints, on whatever backend."""

import os
import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    AcceleratedTrainingCallback,
    AcceleratedTrainingHook,
    NotInitializedError,
    NpuSession,
    System,
)

tf1 = tensorflow.compat.v1
BACKEND = os.environ.get("NPUSESSION_BACKEND", "fake")


class Model:
    """A graph whose train op counts the global step, and notes what the runtime finds in the environment."""

    def __init__(self, variable="STEP_NOW"):
        self.graph, self.seen = tensorflow.Graph(), []
        with self.graph.as_default():
            self.step = tf1.train.get_or_create_global_step()
            self.weight = tf1.get_variable("weight", initializer=4.0)
            self.loss = tf1.square(self.weight, name="loss")
            note = tf1.numpy_function(lambda: self.seen.append(os.environ.get(variable)), [], [])
            with tf1.control_dependencies([note, self.loss]):
                self.train = tf1.train.GradientDescentOptimizer(0.25).minimize(self.loss, self.step)
            self.initialize = tf1.global_variables_initializer()

    def plan(self, accelerate=None, **keywords):
        return NpuSession.for_training(graph=self.graph, backend=BACKEND, accelerate=accelerate, **keywords)


@pytest.fixture
def model():
    return Model()


class TestMonitoredSession:
    """Sessions that TensorFlow makes and loops over."""

    def test_steps(self, model, tmp_path):
        """The hook tells the steps made, through evaluations in between, and goes on from a checkpoint."""
        plan = model.plan(AcceleratedTraining.by_step(10))
        for first, last in ((0, 3), (3, 5)):
            with plan as s:
                config = s.plan.config_proto()
                with tf1.train.MonitoredTrainingSession(
                    checkpoint_dir=str(tmp_path), config=config, hooks=s.hooks(), summary_dir="", log_step_count_steps=0
                ) as monitored:
                    for _ in range(first, last):
                        monitored.run([model.train, {"loss": "loss:0"}])
                        assert os.environ["STEP_NOW"] == str(s.acceleration.now)
                        monitored.run(model.loss)
                        monitored.run({"step": model.step})
                assert s.acceleration.now == last
            assert model.seen == [str(number) for number in range(last)]
            # TensorFlow made the graph final; the next session finds what the hook had added.
            model.graph._unsafe_unfinalize()
        assert "STEP_NOW" not in os.environ

    def test_losses(self):
        """By loss the hook fetches it along with training runs, by its name or as a tensor."""
        model = Model("LOSS_NOW")
        plan = model.plan(AcceleratedTraining.by_loss(0.5, 20.0))
        for loss in (model.loss, "loss", "loss:0"):
            with plan as s:
                config = s.plan.config_proto()
                creator = tf1.train.ChiefSessionCreator(config=config)
                with tf1.train.MonitoredSession(creator, s.hooks(loss=loss)) as monitored:
                    for _ in range(3):
                        monitored.run(model.train)
                        monitored.run(model.step)
                assert s.acceleration.now == 1.0
            assert [float(text) for text in model.seen] == [20.0, 16.0, 4.0]
            model.seen.clear()
            model.graph._unsafe_unfinalize()

    def test_tensors_of_the_plan(self, model):
        """What the plan names need not be named again."""
        with model.graph.as_default():
            mine = tf1.get_variable("mine", (), tf1.int32, tf1.zeros_initializer(), use_resource=True)
            count = tf1.group(model.train, tf1.assign_add(mine, 2), tf1.assign_add(mine, 1), name="mine_train")
        plan = model.plan(AcceleratedTraining.by_step(10, step=mine, train_op=count))
        with plan as s, warnings.catch_warnings():
            # Nothing is amiss when the session itself has nothing to follow.
            warnings.simplefilter("error")
            creator = tf1.train.ChiefSessionCreator(config=plan.config_proto())
            with tf1.train.MonitoredSession(creator, s.hooks()) as monitored:
                monitored.run(model.train)
                monitored.run(count)
                assert s.acceleration.now == 3
                monitored.run(count)
        assert model.seen == ["0", "0", "3"]

    @pytest.mark.parametrize(
        ("accelerate", "hook", "message"),
        [
            (AcceleratedTraining.by_loss(1.0, 2.0), {}, r"hooks\(loss=\.\.\.\), a tensor or its name"),
            (AcceleratedTraining.by_loss(1.0, 2.0), {"loss": "no_loss"}, "loss='no_loss' is no tensor of the graph"),
            (AcceleratedTraining.by_step(9), {"step": "weight:0"}, "0 operations count 'weight:0' up; name the one"),
            (AcceleratedTraining.by_step(9, train_op="no_op"), {}, "train_op='no_op' is not in the graph"),
        ],
    )
    def test_refusals(self, model, accelerate, hook, message):
        """A hook that does not find what it is to fetch says what to name."""
        with model.graph.as_default(), pytest.raises(ValueError, match=message):
            AcceleratedTrainingHook(System(model.plan(accelerate)), **hook).begin()

    def test_no_global_step(self):
        """A graph without a global step has nothing to fetch."""
        source = System(Model().plan(AcceleratedTraining.by_step(9)))
        with tensorflow.Graph().as_default(), pytest.raises(ValueError, match="no global step"):
            AcceleratedTrainingHook(source).begin()

    def test_no_acceleration(self, model):
        """Without accelerated training there are no hooks, and one by hand is refused."""
        with model.plan() as s:
            assert s.hooks() == []
            with pytest.raises(ValueError, match="has no accelerated training"):
                AcceleratedTrainingHook(s)


class TestEstimator:
    """tf.estimator, whose sessions nobody sees, around a system that is held."""

    @pytest.fixture(autouse=True)
    def estimators(self):
        if not hasattr(tf1, "estimator"):
            pytest.skip("this TensorFlow has no estimators")

    def test_train_and_evaluate(self, tmp_path):
        """Training goes on from the estimator's checkpoint, and evaluations in between count for nothing."""
        seen = []

        def input_fn():
            return tf1.data.Dataset.from_tensors(({"x": 1.0}, 2.0)).repeat(2)

        def model_fn(features, labels, mode):
            weight = tf1.get_variable("weight", initializer=4.0)
            loss = tf1.square(weight - labels, name="mean_loss")
            note = tf1.numpy_function(lambda: seen.append(os.environ["STEP_NOW"]), [], [])
            with tf1.control_dependencies([note]):
                train = tf1.train.GradientDescentOptimizer(0.25).minimize(loss, tf1.train.get_global_step())
            return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

        plan = NpuSession.for_training(backend=BACKEND, accelerate=AcceleratedTraining.by_step(6))
        config = tf1.estimator.RunConfig(model_dir=str(tmp_path), session_config=plan.config_proto())
        estimator = tf1.estimator.Estimator(model_fn, config=config)
        for _ in range(2):
            with System(plan) as system:
                assert os.environ["TOTAL_STEP"] == "6"
                estimator.train(input_fn, hooks=system.hooks(), steps=2)
                estimator.evaluate(input_fn)
            assert "TOTAL_STEP" not in os.environ
        assert seen == ["0", "1", "2", "3"]
        with pytest.raises(NotInitializedError, match="the system is not held"):
            system.report(step=1)


class TestKeras:
    """fit of a Keras model."""

    def fit(self, source, **keywords):
        keras = tensorflow.keras
        inputs = keras.layers.Input((1,))
        outputs = keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)(inputs)
        model = keras.models.Model(inputs, outputs)
        model.compile(keras.optimizers.SGD(0.01), "mse", **keywords)
        numpy = pytest.importorskip("numpy")
        told = []

        class Note(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                told.append((os.environ.get("STEP_NOW"), os.environ.get("LOSS_NOW")))

        x, y = numpy.ones((6, 1), "float32"), numpy.full((6, 1), 3.0, "float32")
        callbacks = [AcceleratedTrainingCallback(source), Note()]
        for _ in range(2):
            model.fit(x, y, batch_size=2, epochs=2, verbose=0, shuffle=False, callbacks=callbacks)
        return told

    def open(self, accelerate):
        return NpuSession.for_training(backend=BACKEND, graph=tensorflow.Graph(), accelerate=accelerate)

    def test_sessions(self):
        """In a Keras session the steps are counted through epochs and further fits."""
        backend = tf1.keras.backend
        if not hasattr(backend, "set_session"):
            pytest.skip("Keras 3 has no sessions")
        with self.open(AcceleratedTraining.by_step(100)) as s:
            before = backend.get_session()
            backend.set_session(s)
            try:
                told = self.fit(s)
            finally:
                backend.set_session(before)
            assert s.acceleration.now == 12
        assert [int(step) for step, _ in told] == list(range(12))

    def test_losses(self):
        """By loss the runtime is told the loss that Keras logs, which falls."""
        with System(self.open(AcceleratedTraining.by_loss(0.001, 9.0)).replace(graph=None)) as system:
            told = self.fit(system)
        losses = [float(loss) for _, loss in told]
        assert losses[0] == 9.0
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < 4.0
        assert "LOSS_NOW" not in os.environ


class TestLoops:
    """Several training steps in one run."""

    def plan(self, model, steps=5):
        with pytest.warns(UserWarning, match="enable_data_pre_proc"):
            return model.plan(iterations_per_loop=steps, enable_data_pre_proc=True)

    def test_loop(self, model):
        """The plan's number reaches the adapter, and what is returned is an operation that trains."""
        with self.plan(model) as s:
            s.run(model.initialize)
            train = s.loop(model.train)
            s.run([train, model.loss])
            assert s.run(model.step) >= 1
            assert list(s.steps(10, progress=False)) == [0, 5]

    def test_final_graph(self, model):
        """A graph that is final was prepared by the plan before, and nothing is added to it then."""
        plan = self.plan(model)
        train = plan.loop(model.train)
        model.graph.finalize()
        with plan as s:
            s.run(model.initialize)
            assert s.loop(train) is train
            assert s.loop(train.name).name == train.name
            s.run(train)
            with pytest.raises(ValueError, match=r"graph is final, .* plan\.loop\(train_op\)"):
                s.loop(model.loss)
            for other in ("nothing", 3, Model().train):
                with pytest.raises(ValueError, match="is no operation in the session's graph"):
                    s.loop(other)

    def test_monitored_session(self, model):
        """The hooks set the number in sessions that TensorFlow makes."""
        plan = self.plan(model)
        train = plan.loop(model.train)
        with plan as s:
            creator = tf1.train.ChiefSessionCreator(config=plan.config_proto())
            with tf1.train.MonitoredSession(creator, s.hooks()) as monitored:
                monitored.run(train)

    @pytest.mark.parametrize("kind", ["operation", "tensor", "name"])
    def test_one_step(self, model, kind):
        """Where a run makes one step there is nothing to do, and no branch is needed."""
        train = {"operation": model.train, "tensor": model.loss, "name": model.train.name}[kind]
        plan = model.plan()
        operations = len(model.graph.get_operations())
        with plan as s:
            assert s.loop(plan.loop(train)) is train
        assert len(model.graph.get_operations()) == operations


class TestCheckpoints:
    """Saving and restoring."""

    def test_restart(self, model, tmp_path):
        """A restart has the variables back, and goes on counting from the global step, from the first run on."""
        plan = model.plan(AcceleratedTraining.by_step(10))
        folder = tmp_path / "new" / "models"
        with plan as s:
            s.run(model.initialize)
            for step in s.steps(progress=False):
                s.run(model.train)
                if step == 2:
                    break
            saved = s.save(folder / "model")
        assert saved == str(folder / "model-3")
        for path in (saved, folder, str(folder)):
            with plan as s:
                assert s.restore(path) == 3
                assert s.run(model.weight) == 0.5
                assert [step for step in s.steps(progress=False)] == [3, 4, 5, 6, 7, 8, 9]
        with model.plan() as s:
            s.restore(saved)
            assert list(s.steps(5, progress=False)) == [3, 4]
            assert s.run_for(model.train, steps=2, progress=False).steps == 2
            assert s.save(folder / "model", step=77) == str(folder / "model-77")

    def test_no_global_step(self, tmp_path):
        """A graph without a global step is saved under the name that is given."""
        graph = tensorflow.Graph()
        with graph.as_default():
            variable = tf1.get_variable("v", initializer=1.0)
            initialize = tf1.global_variables_initializer()
        with NpuSession.for_training(graph=graph, backend=BACKEND) as s:
            s.run(initialize)
            path = s.save(tmp_path / "model")
            assert path == str(tmp_path / "model")
            s.run(variable.assign(5.0))
            assert s.restore(path) is None
            assert s.run(variable) == 1.0

    def test_savers(self, model, tmp_path):
        """The graph's own saver counts, or one that is given; a new one is made once."""
        with model.graph.as_default():
            only = tf1.train.Saver([model.step])
        with model.plan() as s:
            s.run(model.initialize)
            s.save(tmp_path / "only", saver=only)
            s.save(tmp_path / "all")
            operations = len(model.graph.get_operations())
            s.save(tmp_path / "all")
            assert len(model.graph.get_operations()) == operations
        names = [dict(tf1.train.list_variables(str(tmp_path / name))) for name in ("only-0", "all-0")]
        assert [sorted(one) for one in names] == [["global_step"], ["global_step", "weight"]]

    def test_refusals(self, model, tmp_path):
        """A missing checkpoint and a final graph without a saver are clear errors."""
        model.graph.finalize()
        with model.plan() as s:
            s.run(model.initialize)
            for path in (tmp_path, tmp_path / "none"):
                with pytest.raises(FileNotFoundError, match="no checkpoint at"):
                    s.restore(path)
            with pytest.raises(ValueError, match=r"make a tf\.train\.Saver\(\) before"):
                s.save(tmp_path / "model")

    def test_other_ranks(self, model, tmp_path, monkeypatch):
        """Ranks other than the first one write nothing."""
        with model.plan() as s:
            s.run(model.initialize)
            monkeypatch.setattr(type(s), "rank_id", 3)
            assert s.save(tmp_path / "model") is None
        assert list(tmp_path.iterdir()) == []
