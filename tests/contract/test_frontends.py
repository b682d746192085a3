"""TensorFlow's other sessions, each from a plan, on whatever backend: they train, and leave nothing behind."""

import itertools
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    GraphRequiredError,
    LifecycleError,
    NotInitializedError,
    NpuSession,
    OptionsError,
    System,
    TrainingWarning,
)
from npusession.configfiles import FusionSwitch  # noqa: E402
from npusession.system import State, runtime  # noqa: E402

tf1 = tensorflow.compat.v1
BACKEND = os.environ.get("NPUSESSION_BACKEND", "fake")
STEPS, BATCH, ACCURACY = 120, 64, 0.93
# Drawn here, as the host of an adapter need not have scikit-learn and its digits.
RANDOM = numpy.random.RandomState(1)
LABELS = RANDOM.randint(10, size=1800).astype("int32")
IMAGES = (RANDOM.uniform(size=(10, 64))[LABELS] + RANDOM.normal(0, 0.3, (1800, 64))).astype("float32")
SIDE_FILE = FusionSwitch({"SoftmaxFusionPass": False})


class Digits:
    """A linear classifier of digits, drawn with noise on 8 x 8 points, with its input in the graph."""

    def __init__(self):
        self.graph = tensorflow.Graph()
        with self.graph.as_default():
            batches = tf1.data.Dataset.from_tensor_slices((IMAGES, LABELS)).shuffle(2000, 1).repeat().batch(BATCH)
            images, labels = tf1.data.make_one_shot_iterator(batches).get_next()
            self.step = tf1.train.get_or_create_global_step()
            kernel = tf1.get_variable("kernel", [64, 10], initializer=tf1.zeros_initializer())
            self.loss = tf1.reduce_mean(
                tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf1.matmul(images, kernel))
            )
            self.train = tf1.train.AdamOptimizer(0.02).minimize(self.loss, self.step)
            right = tf1.equal(tf1.argmax(tf1.matmul(IMAGES, kernel), 1), LABELS)
            self.accuracy = tf1.reduce_mean(tf1.cast(right, "float32"))
            self.initialize = tf1.global_variables_initializer()

    def plan(self, **keywords):
        return NpuSession.for_training(graph=self.graph, backend=BACKEND, **keywords)


@pytest.fixture
def digits():
    return Digits()


@pytest.fixture(autouse=True)
def clean(unchanged_environment, backend):
    """Whatever a way of running does, the runtime is shut down after it, and the default session as before."""
    before = tf1.get_default_session(), tf1.get_default_graph()
    yield
    assert runtime.state in (State.NEW, State.CLOSED)
    assert (tf1.get_default_session(), tf1.get_default_graph()) == before


@pytest.fixture(params=[ValueError, KeyboardInterrupt])
def failure(request):
    return request.param("of the user's")


class TestMonitored:
    def test_trains(self, digits, tmp_path):
        """It trains to the accuracy, tells the runtime each step, and goes on from its checkpoint."""
        plan = digits.plan(accelerate=AcceleratedTraining.by_step(STEPS), fusion_switch_file=SIDE_FILE)
        for last in (STEPS // 2, STEPS):
            hooks = [tf1.train.StopAtStepHook(last_step=last)]
            with plan.monitored(checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=50) as session:
                assert tf1.get_default_graph() is digits.graph
                assert os.environ["TOTAL_STEP"] == str(STEPS)
                while not session.should_stop():
                    step = session.run([digits.train, digits.step])[1]
                    assert os.environ["STEP_NOW"] in (str(step), str(step + 1))
                    if step in (last - 1, last):
                        accuracy = session.run_step_fn(lambda step_context: step_context.session.run(digits.accuracy))
            assert os.path.exists(str(tmp_path / f"model.ckpt-{last}.index"))
            digits.graph._unsafe_unfinalize()
        assert accuracy >= ACCURACY
        assert "TOTAL_STEP" not in os.environ

    def test_failure(self, digits, failure):
        """What the body raises is what comes out, and nothing is left."""
        with pytest.raises(type(failure)) as caught, digits.plan().monitored() as session:
            session.run(digits.train)
            raise failure
        assert caught.value is failure

    def test_closing_fails(self, digits):
        """A hook that fails at the end is heard of, and the runtime is shut down all the same."""

        class Ending(tf1.train.SessionRunHook):
            def end(self, session):
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"), digits.plan().monitored(hooks=[Ending()]):
            pass

    def test_end_of_input(self, digits):
        """The end of the input ends the loop, as in TensorFlow."""
        with digits.graph.as_default():
            value = tf1.data.make_one_shot_iterator(tf1.data.Dataset.range(3)).get_next()
        seen = []
        with digits.plan().monitored() as session:
            while not session.should_stop():
                seen.append(session.run(value))
        assert seen == [0, 1, 2]

    def test_loop(self, digits):
        """Steps between saves, summaries and log lines are whole runs; all that are not are told at once."""
        plan = digits.plan(iterations_per_loop=10, enable_data_pre_proc=True)
        keywords = {"save_checkpoint_steps": 25, "save_summaries_steps": 4, "log_step_count_steps": 30}
        with pytest.raises(OptionsError) as caught, plan.monitored(**keywords):
            pass
        assert [(found.code, found.option, found.fix) for found in caught.value.problems] == [
            ("NPU235", "save_checkpoint_steps", "save_checkpoint_steps=20 or 30"),
            ("NPU235", "save_summaries_steps", "save_summaries_steps=10"),
        ]

    def test_not_looped(self, digits):
        """A train op that was not looped is told of, at the line that opens the session."""
        plan = digits.plan(iterations_per_loop=10, enable_data_pre_proc=True)
        with pytest.warns(TrainingWarning, match=r"train_op = plan\.loop\(train_op\)") as caught, plan.monitored():
            pass
        assert [found.filename for found in caught if found.category is TrainingWarning] == [__file__]

    @pytest.mark.parametrize("name", ["config", "master", "is_chief"])
    def test_arguments_of_the_plan(self, digits, name):
        """What the plan says is not said again."""
        with pytest.raises(TypeError, match=f"{name}=None cannot be given here: "):
            digits.plan().monitored(**{name: None}).__enter__()

    def test_no_graph(self, digits):
        """Under eager execution there has to be a graph."""
        if not tf1.executing_eagerly():
            pytest.skip("TensorFlow does not execute eagerly")
        with pytest.raises(GraphRequiredError, match="there is no graph to run"), digits.plan().replace(
            graph=None
        ).monitored():
            pass


def test_eager_supervisor(digits):
    """Where TensorFlow executes eagerly, the threads of a Supervisor would too, so it is refused."""
    if not tf1.executing_eagerly():
        pytest.skip("TensorFlow does not execute eagerly")
    with pytest.raises(GraphRequiredError, match="disable_eager_execution"), digits.plan().supervisor():
        pass


@pytest.mark.skipif(tf1.executing_eagerly(), reason="TensorFlow executes eagerly")
class TestSupervisor:
    def test_trains(self, digits, tmp_path):
        """It trains to the accuracy, tells the runtime each step, and restores what it saved."""
        accelerate = AcceleratedTraining.by_step(STEPS, step=digits.step, train_op=digits.train)
        plan = digits.plan(accelerate=accelerate, fusion_switch_file=SIDE_FILE)
        for last in (STEPS // 2, STEPS):
            with plan.supervisor(str(tmp_path), global_step=digits.step) as (supervisor, session):
                while not supervisor.should_stop():
                    session.run(digits.train)
                    step = session.run(digits.step)
                    assert os.environ["STEP_NOW"] == str(step)
                    if step == last:
                        supervisor.saver.save(session, supervisor.save_path, global_step=step)
                        accuracy = session.run(digits.accuracy)
                        supervisor.request_stop()
            digits.graph._unsafe_unfinalize()
        assert accuracy >= ACCURACY

    def test_failure(self, digits, failure):
        """What the body raises is what comes out, and nothing is left."""
        with pytest.raises(type(failure)) as caught, digits.plan().supervisor() as (_, session):
            session.run(digits.train)
            raise failure
        assert caught.value is failure

    def test_never_run(self, digits, tmp_path):
        """A train op that is named and never run is told of, when all is over."""
        plan = digits.plan(accelerate=AcceleratedTraining.by_step(STEPS, train_op=digits.train))
        with pytest.warns(TrainingWarning, match="no run reached the train op") as caught:
            with plan.supervisor(str(tmp_path)):
                pass
        assert __file__ in [found.filename for found in caught if found.category is TrainingWarning]

    def test_nothing_to_follow(self, digits):
        """Accelerated training needs the train op's name in the plan."""
        plan = digits.plan(accelerate=AcceleratedTraining.by_step(STEPS))
        with pytest.raises(OptionsError, match="train_op=train_op"), plan.supervisor():
            pass


class TestInteractive:
    def test_trains(self, digits):
        """The session is the default one from line to line until it is closed."""
        s = digits.plan(accelerate=AcceleratedTraining.by_step(STEPS)).interactive()
        digits.initialize.run()
        for _ in s.steps(progress=False):
            digits.train.run()
        assert digits.accuracy.eval() >= ACCURACY
        assert tf1.get_default_session() is s
        s.close()
        assert tf1.get_default_session() is None

    @pytest.mark.parametrize("order", itertools.permutations(range(3)))
    def test_any_order(self, order):
        """Several may be open and closed in any order: the newest of those that are open is the default one."""
        eager = tf1.executing_eagerly()
        graphs = [tensorflow.Graph() for _ in order]
        sessions = [NpuSession.for_training(graph=graph, backend=BACKEND).interactive() for graph in graphs]
        opened = list(sessions)
        for number in order:
            assert tf1.get_default_session() is opened[-1]
            assert tf1.get_default_graph() is opened[-1].graph
            assert not tf1.executing_eagerly()
            with tf1.init_scope():
                assert tf1.get_default_graph() is opened[-1].graph
            opened.remove(sessions[number])
            sessions[number].close()
            sessions[number].close()
        assert tf1.executing_eagerly() == eager

    def test_within_others(self, digits):
        """One is closed inside of a `with` that began after it, be it ours or TensorFlow's, and opened in one."""
        eager = tf1.executing_eagerly()
        first, second = digits.plan().interactive(), Digits().plan().interactive()
        with digits.plan().interactive() as third:
            first.close()
            assert tf1.get_default_session() is third
            second.close()
            assert (tf1.get_default_session(), tf1.get_default_graph()) == (third, digits.graph)
            assert not tf1.executing_eagerly()
        assert tf1.executing_eagerly() == eager
        with tensorflow.Graph().as_default() as graph:
            first, second = digits.plan().interactive(), digits.plan().interactive()
            with digits.graph.as_default():
                first.close()
                assert (tf1.get_default_session(), tf1.get_default_graph()) == (second, digits.graph)
            assert tf1.get_default_graph() is digits.graph
            second.close()
            assert (tf1.get_default_session(), tf1.get_default_graph()) == (None, graph)
            assert not tf1.executing_eagerly()

    def test_what_cannot_come_back(self, digits):
        """Eager execution does not return at the end of a `with` inside of which the session ended; it is said."""
        if not tf1.executing_eagerly():
            pytest.skip("TensorFlow does not execute eagerly")
        first = digits.plan().interactive()
        with tensorflow.Graph().as_default():
            with pytest.warns(RuntimeWarning, match="end the session outside of it") as caught:
                first.close()
            assert caught[0].filename == __file__
            assert not tf1.executing_eagerly()
        assert not tf1.executing_eagerly()
        # What put it right in the end is outside of TensorFlow's interface.
        from tensorflow.python.eager.context import context

        context()._thread_local_data.is_eager = True

    def test_failure(self, digits):
        """A session that does not open leaves nothing."""
        with pytest.raises(OptionsError):
            digits.plan(enable_dump=True, dump_path="/no/such/directory").interactive()


class TestKeras:
    @pytest.fixture(autouse=True)
    def sessions(self):
        if not hasattr(tf1.keras.backend, "set_session"):
            pytest.skip("Keras 3 has no sessions")

    @staticmethod
    def model():
        keras = tensorflow.keras
        model = keras.models.Sequential([keras.layers.Dense(10, input_shape=(64,), activation="softmax")])
        model.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model

    def test_trains(self):
        """A model trains in the plan's session; what Keras ran in before is there again afterwards."""
        backend = tf1.keras.backend
        plan = NpuSession.for_training(graph=tensorflow.Graph(), backend=BACKEND)
        with tensorflow.Graph().as_default():
            before = backend.get_session()
            with plan.keras() as s:
                assert backend.get_session() is s
                model = self.model()
                model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=5, verbose=0)
                assert model.evaluate(IMAGES, LABELS, verbose=0)[1] >= ACCURACY
            assert backend.get_session() is before
            backend.set_session(None)

    def test_again(self):
        """The model of a graph trains anew in the next session, whose variables Keras initialises."""
        plan = NpuSession.for_training(graph=tensorflow.Graph(), backend=BACKEND)
        with plan.graph.as_default():
            model = self.model()
        for _ in range(2):
            with plan.keras():
                model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=1, verbose=0)

    def test_failure(self, failure):
        """What the body raises is what comes out, and Keras has no session if it had none."""
        plan = NpuSession.for_training(graph=tensorflow.Graph(), backend=BACKEND)
        with pytest.raises(type(failure)) as caught, plan.keras():
            raise failure
        assert caught.value is failure
        import sys

        module = sys.modules[tf1.keras.backend.set_session.__module__]
        assert getattr(module._SESSION, "session", None) is None


def test_keras_without_sessions():
    """A Keras that has no sessions says so, before anything is opened."""
    if hasattr(tf1.keras.backend, "set_session"):
        pytest.skip("this Keras has sessions")
    with pytest.raises(LifecycleError, match=r"has no sessions.*\n?.*1\.15 or 2\.6\.5"), NpuSession.for_training(
        backend=BACKEND
    ).keras():
        pass


@pytest.mark.skipif(not hasattr(tf1, "estimator"), reason="this TensorFlow has no estimators")
class TestEstimators:
    """tf.estimator and the adapter's NPUEstimator, with the system held around their phases."""

    @pytest.fixture(params=["Estimator", "NPUEstimator"])
    def make(self, request, tmp_path, monkeypatch):
        """Makes the estimator of a system that is held."""
        monkeypatch.setenv("JOB_ID", "10087")

        def model_fn(features, labels, mode):
            logits = tf1.matmul(features, tf1.get_variable("kernel", [64, 10], initializer=tf1.zeros_initializer()))
            loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
            train = tf1.train.AdamOptimizer(0.02).minimize(loss, tf1.train.get_global_step())
            metrics = {"accuracy": tf1.metrics.accuracy(labels, tf1.argmax(logits, 1))}
            return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)

        def make(system):
            folder = str(tmp_path / "model")
            if request.param == "Estimator":
                return tf1.estimator.Estimator(model_fn, config=system.plan.run_config(model_dir=folder))
            try:
                module = system.plan.ready().load("estimator.npu.npu_estimator")
            except ImportError:
                pytest.skip("the adapter at hand has no NPUEstimator")
            return module.NPUEstimator(model_fn, config=system.plan.npu_run_config(model_dir=folder))

        return make

    @staticmethod
    def input_fn():
        return tf1.data.Dataset.from_tensor_slices((IMAGES, LABELS)).shuffle(2000, 1).repeat().batch(BATCH)

    def test_trains(self, make):
        """It trains to the accuracy over several phases, and the runtime is told each step of them."""
        plan = NpuSession.for_training(
            backend=BACKEND, accelerate=AcceleratedTraining.by_step(STEPS), fusion_switch_file=SIDE_FILE
        )
        with System(plan) as system:
            estimator = make(system)
            for last in (STEPS // 2, STEPS):
                estimator.train(self.input_fn, steps=STEPS // 2, hooks=system.hooks())
                assert system.acceleration.now == last
                found = estimator.evaluate(self.input_fn, steps=20)
                # A phase's session takes the runtime along; whoever asks next finds it initialised.
                assert system.rank_id == 0
        assert found["accuracy"] >= ACCURACY
        assert "TOTAL_STEP" not in os.environ

    def test_failure(self, make, failure):
        """What comes up within a phase is what comes out, and nothing is left."""

        class Failing(tf1.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                raise failure

        with pytest.raises(type(failure)) as caught, System(NpuSession.for_training(backend=BACKEND)) as system:
            make(system).train(self.input_fn, steps=5, hooks=[*system.hooks(), Failing()])
        assert caught.value is failure


class TestSystem:
    def test_rank(self, digits):
        """The system tells the rank while it is held."""
        system = System(digits.plan())
        with pytest.raises(NotInitializedError, match="not held"):
            system.rank_id  # noqa: B018
        with system:
            assert system.rank_id == 0

    def test_side_files(self, digits):
        """While it is held its plan has the paths of side files, so that other sessions can be configured by it."""
        with System(digits.plan(fusion_switch_file=SIDE_FILE)) as system:
            path = system.plan.options["fusion_switch_file"]
            assert os.path.exists(path)
            assert system.plan.config_proto()
        assert not os.path.exists(path)
        assert system.plan.options["fusion_switch_file"] == SIDE_FILE
