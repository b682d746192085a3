"""Low precision is really computed: its effect shows in the loss, and is gone to the last bit afterwards."""

import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy  # noqa: E402

from npusession import AcceleratedTraining, Dump, FakeBackendWarning, NpuSession, Product  # noqa: E402
from npusession.configfiles import MixList  # noqa: E402
from npusession.dumps import find, tensors  # noqa: E402

tf1 = tensorflow.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning", "ignore:simulate_precision::")
STEPS = 8
NUMBERS = numpy.random.RandomState(0)
X, W, V = NUMBERS.rand(16, 8), NUMBERS.randn(8, 8), NUMBERS.randn(8, 1)
IMAGE, KERNEL, DEPTHWISE = NUMBERS.rand(2, 6, 6, 3), NUMBERS.randn(3, 3, 3, 4), NUMBERS.randn(3, 3, 4, 1)


def constant(array):
    return tf1.constant(array.astype("float32"))


def variable(name, array):
    return tf1.get_variable(name, initializer=array.astype("float32"))


def perceptron():
    hidden = tf1.tanh(tf1.matmul(constant(X), variable("w", W)))
    return tf1.matmul(hidden, variable("v", V))


def convolution():
    strides = [1, 1, 1, 1]
    hidden = tf1.nn.conv2d(constant(IMAGE), variable("k", KERNEL), strides=strides, padding="SAME")
    return tf1.nn.depthwise_conv2d(tf1.nn.relu(hidden), variable("d", DEPTHWISE), strides, "SAME")


def loop():
    w = variable("w", W * 0.3)
    _, hidden = tf1.while_loop(
        lambda step, _: step < 3,
        lambda step, value: (step + 1, tf1.tanh(tf1.matmul(value, w))),
        [tf1.constant(0), constant(X)],
    )
    return hidden


def condition():
    w = variable("w", W)
    return tf1.cond(tf1.placeholder_with_default(True, ()), lambda: tf1.matmul(constant(X), w), lambda: constant(X))


class Training:
    """A graph that trains on the squares of what a network gives."""

    def __init__(self, network=perceptron):
        self.graph = tensorflow.Graph()
        with self.graph.as_default():
            self.loss = tf1.reduce_mean(tf1.square(network()))
            self.train = tf1.train.GradientDescentOptimizer(0.05).minimize(self.loss)
            self.init = tf1.global_variables_initializer()

    def plan(self, **options):
        return NpuSession.for_training(graph=self.graph, backend="fake", **options)

    def losses(self, **options):
        with self.plan(**options) as s:
            s.run(self.init)
            return [s.run([self.train, self.loss])[1] for _ in range(STEPS)]


@pytest.fixture
def simulating(emulated):
    emulated.configure(simulate_precision=True)
    return emulated


@pytest.fixture(scope="module")
def exact():
    """Losses in float32, by sessions of TensorFlow's own."""
    losses = {}
    for network in (perceptron, convolution):
        training = Training(network)
        with tf1.Session(graph=training.graph) as session:
            session.run(training.init)
            losses[network] = [session.run([training.train, training.loss])[1] for _ in range(STEPS)]
    return losses


@pytest.mark.parametrize("network", [perceptron, convolution])
def test_effect_on_the_loss(exact, simulating, network):
    """Training in float16 and in bfloat16 each have losses of their own, near those of float32."""
    half = Training(network).losses(precision_mode_v2="mixed_float16")
    brain = Training(network).losses(precision_mode_v2="mixed_bfloat16")
    for low, tolerance in ((half, 0.02), (brain, 0.1)):
        assert all(a != b for a, b in zip(low, exact[network]))
        numpy.testing.assert_allclose(low, exact[network], rtol=tolerance)
    assert half != brain


@pytest.mark.parametrize("network", [perceptron, convolution])
@pytest.mark.parametrize("mode", [None, "origin"])
def test_float32_is_untouched(exact, simulating, network, mode):
    """Where the mode keeps the graph's precision, losses are those of float32 to the last bit."""
    options = {} if mode is None else {"precision_mode_v2": mode}
    assert Training(network).losses(**options) == exact[network]


@pytest.mark.parametrize(
    ("options", "inputs", "outputs"),
    [
        ({"precision_mode": "allow_mix_precision"}, "float16", "float16"),
        ({"precision_mode": "allow_mix_precision_fp16"}, "float16", "float16"),
        ({"precision_mode": "allow_fp32_to_fp16"}, "float16", "float16"),
        ({"precision_mode": "force_fp32"}, "float16", None),
        ({"precision_mode": "cube_fp16in_fp32out"}, "float16", None),
        ({"precision_mode": "must_keep_origin_dtype"}, None, None),
        ({"precision_mode_v2": "mixed_float16"}, "float16", "float16"),
        ({"precision_mode_v2": "cube_fp16in_fp32out"}, "float16", None),
        ({"precision_mode_v2": "origin"}, None, None),
        ({}, None, None),
    ],
)
def test_modes(simulating, options, inputs, outputs):
    """Inputs and outputs of a product have just the precision that the mode gives them."""
    graph = tensorflow.Graph()
    a, b = numpy.float32([[1 / 3, 1000.1]]), numpy.float32([[1.1], [3.3]])
    with graph.as_default():
        product = tf1.matmul(tf1.constant(a), tf1.constant(b))
        after = tf1.identity(product)

    def rounded(array, dtype):
        return array if dtype is None else array.astype(dtype).astype("float32")

    with NpuSession.for_training(graph=graph, backend="fake", **options) as s:
        values = s.run([product, after])
    expected = rounded(rounded(a, inputs) @ rounded(b, inputs), outputs)
    numpy.testing.assert_array_equal(values, [expected, expected])


def test_inference_defaults_to_float16(simulating):
    """Online inference that names no mode computes in float16, as on the device."""
    graph = tensorflow.Graph()
    with graph.as_default():
        product = tf1.matmul(tf1.constant([[1 / 3]]), tf1.constant([[1.0]]))
    with NpuSession.for_inference(graph=graph, backend="fake") as s:
        assert s.run(product) == numpy.float16(1 / 3)


def test_default_of_a_product(exact, simulating):
    """On the Atlas training series, a training that names no mode computes in float16."""
    simulating.configure(product=Product.ATLAS_TRAINING)
    assert Training().losses() != exact[perceptron]
    simulating.configure(product=Product.ATLAS_A2)
    assert Training().losses() == exact[perceptron]


def test_black_list(exact, simulating, tmp_path):
    """In mixed precision, types of operators on the black list stay in float32; other modes do not look at it."""
    MixList(black_add=["MatMul"]).write(str(tmp_path / "list.json"))
    options = {"modify_mixlist": str(tmp_path / "list.json"), "precision_mode_v2": "mixed_float16"}
    assert Training(perceptron).losses(**options) == exact[perceptron]
    assert Training(convolution).losses(**options) != exact[convolution]


def test_overflow(simulating):
    """A product beyond the range of float16 is infinite in low precision."""
    graph = tensorflow.Graph()
    with graph.as_default():
        product = tf1.matmul(tf1.constant([[300.0]]), tf1.constant([[300.0]]))
    with NpuSession.for_training(graph=graph, backend="fake", precision_mode_v2="mixed_float16") as s:
        assert s.run(product) == numpy.inf
    with NpuSession.for_training(graph=graph, backend="fake", precision_mode_v2="origin") as s:
        assert s.run(product) == 90000


class TestAcceleratedTraining:
    def test_phases(self, exact, simulating):
        """Losses are those of float16 up to the switch; after it, each step is computed in float32 exactly."""
        training = Training()
        with training.graph.as_default():
            weights = [item.value() for item in tf1.trainable_variables()]
        read, after = [], []
        accelerate = AcceleratedTraining.by_step(STEPS, fraction=0.5)
        with training.plan(accelerate=accelerate) as s:
            s.run(training.init)
            for _ in s.steps(progress=False):
                read.append(s.run(weights))
                after.append(s.run([training.train, training.loss])[1])
        assert after[0] != exact[perceptron][0]
        phases = [(exactly(values), loss) for values, loss in zip(read, after)]
        assert [single == loss for single, loss in phases] == [False] * (STEPS // 2) + [True] * (STEPS // 2)

    def test_same_as_a_constant_mode(self, simulating):
        """The low phase computes just what mixed precision of the same type does."""
        for dtype in ("float16", "bfloat16"):
            # As in a new process: the mode of the last session would stay in force.
            simulating.kept.clear()
            training = Training()
            with training.plan(accelerate=AcceleratedTraining.by_step(STEPS, dtype=dtype, fraction=0.5)) as s:
                s.run(training.init)
                low = [s.run([training.train, training.loss])[1] for _ in range(3)]
            assert low == Training().losses(precision_mode_v2=f"mixed_{dtype}")[:3]


def exactly(weights):
    """Return the loss of the perceptron in float32, computed by a plain session for given weights."""
    graph = tensorflow.Graph()
    with graph.as_default():
        w, v = map(tf1.constant, weights)
        loss = tf1.reduce_mean(tf1.square(tf1.matmul(tf1.tanh(tf1.matmul(constant(X), w)), v)))
    with tf1.Session(graph=graph) as session:
        return session.run(loss)


class TestKindsOfGraphs:
    @pytest.mark.parametrize("network", [loop, condition])
    def test_control_flow(self, simulating, network):
        """Loops and conditions of version 1 are computed in low precision; functions are left out, and named."""
        exact = Training(network).losses()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            low = Training(network).losses(precision_mode_v2="mixed_float16")
        left_out = [item for item in caught if issubclass(item.category, FakeBackendWarning)]
        assert (low != exact) != bool(left_out)
        assert bool(left_out) == bool(tf1.control_flow_v2_enabled())

    def test_later_operators(self, simulating):
        """Operators that are added between runs are computed in low precision, too."""
        graph = tensorflow.Graph()
        with graph.as_default(), NpuSession.for_training(backend="fake", precision_mode_v2="mixed_float16") as s:
            first = tf1.matmul(tf1.constant([[1 / 3]]), tf1.constant([[1.0]]))
            assert s.run(first) == numpy.float16(1 / 3)
            second = tf1.matmul(first + 0.1, tf1.constant([[1.0]]))
            assert s.run(second) == numpy.float16(numpy.float16(1 / 3) + numpy.float32(0.1))

    def test_gradients_after_a_run(self, simulating):
        """Gradients that are built after a run are those of float32 where precision is kept."""
        graph = tensorflow.Graph()
        with graph.as_default(), NpuSession.for_training(backend="fake") as s:
            x = tf1.constant([[1 / 3, 0.7]])
            y = tf1.reduce_sum(tf1.matmul(x, tf1.constant([[1.1], [2.3]])))
            s.run(y)
            (gradient,) = tf1.gradients(y, [x])
            numpy.testing.assert_array_equal(s.run(gradient), numpy.float32([[1.1, 2.3]]))

    def test_finalized_graph(self, exact, simulating):
        """A MonitoredSession, which finalises its graph, computes in low precision, and the graph stays final."""
        training = Training()
        with training.graph.as_default():
            tf1.train.get_or_create_global_step()
            config = training.plan(precision_mode_v2="mixed_float16").config_proto()
            with tf1.train.MonitoredTrainingSession(config=config) as session:
                assert session.run(training.loss) != exact[perceptron][0]
                assert training.graph.finalized

    def test_two_sessions(self, exact, simulating):
        """Sessions on one graph each compute in their own mode, also in turns."""
        training = Training()
        with tf1.Session(graph=training.graph, config=training.plan().config_proto()) as single:
            low_plan = training.plan(precision_mode_v2="mixed_float16")
            with tf1.Session(graph=training.graph, config=low_plan.config_proto()) as low:
                losses = []
                for session in (single, low):
                    session.run(training.init)
                for _ in range(3):
                    losses.append([session.run([training.train, training.loss])[1] for session in (single, low)])
        assert [pair[0] for pair in losses] == exact[perceptron][:3]
        assert all(pair[0] != pair[1] for pair in losses)

    def test_callable(self, exact, simulating):
        """A callable made from a session runs in the session's precision."""
        training = Training()
        with training.plan(precision_mode_v2="mixed_float16") as s:
            s.run(training.init)
            step = s.make_callable([training.train, training.loss])
            assert step()[1] != exact[perceptron][0]

    def test_dump(self, simulating, tmp_path):
        """A dump shows the rounded inputs under the operator of the graph, and nothing of the simulation's own."""
        graph = tensorflow.Graph()
        with graph.as_default():
            product = tf1.matmul(tf1.constant([[1 / 3]], name="a"), tf1.constant([[1.0]], name="b"), name="product")
        dump = Dump(tmp_path, mode="all")
        with NpuSession.for_training(graph=graph, backend="fake", precision_mode_v2="mixed_float16", dump=dump) as s:
            s.run(product)
        files = list(find(str(tmp_path)))
        assert {file.name.op_name for file in files} == {"product", "a", "b"}
        (inputs,) = [
            item.load() for file in files if file.name.op_name == "product" for item in tensors(file.path)
            if item.name == "input_0"
        ]  # fmt: skip
        assert inputs == numpy.float16(1 / 3)


def test_steps_of_a_dump_across_the_switch(simulating, tmp_path):
    """When precision comes back, a dump goes on counting the steps of the same model."""
    training = Training()
    accelerate = AcceleratedTraining.by_step(4, fraction=0.5)
    with training.plan(accelerate=accelerate, dump=Dump(tmp_path, steps="0-3", layers=["MatMul"])) as s:
        s.run(training.init)
        for _ in s.steps(progress=False):
            s.run(training.train)
    files = [file for file in find(str(tmp_path)) if file.name.op_name == "MatMul"]
    assert [file.step for file in files] == ["0", "1", "2", "3"]
    assert len({file.model for file in files}) == 1
    products = [tensors(file.path)[0].load() for file in files]
    low = [(array == array.astype("float16")).all() for array in products]
    assert low == [True, True, False, False]


def test_partial_run(simulating):
    """A run in parts is made in float32."""
    graph = tensorflow.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf1.float32, (1, 1))
        product = tf1.matmul(x, tf1.constant([[1.0]]))
    with NpuSession.for_training(graph=graph, backend="fake", precision_mode_v2="mixed_float16") as s:
        handle = s.partial_run_setup([product], [x])
        assert s.partial_run(handle, product, {x: [[1 / 3]]}) == numpy.float32(1 / 3)


def test_off_by_default(emulated):
    """Without the setting the graph is left as it is."""
    training = Training()
    before = training.graph.as_graph_def()
    training.losses(precision_mode_v2="mixed_float16")
    assert training.graph.as_graph_def() == before
