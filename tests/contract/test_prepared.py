"""Prepared runs: the same as run, whatever is fetched and fed, on whatever backend."""

import collections
import gc
import os
import weakref

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
numpy = pytest.importorskip("numpy", reason="NumPy comes with TensorFlow")

from npusession import (  # noqa: E402
    AcceleratedTraining,
    GraphRequiredError,
    NpuSession,
    SessionClosedError,
)

tf1 = tensorflow.compat.v1
BACKEND = os.environ.get("NPUSESSION_BACKEND", "fake")
Pair = collections.namedtuple("Pair", "first second")


class Model:
    """A graph with something of every kind to fetch and to feed."""

    def __init__(self):
        self.graph = tensorflow.Graph()
        with self.graph.as_default():
            x = tf1.placeholder(tf1.float32, (2, None), name="x")
            y = tf1.placeholder(tf1.int32, (), name="y")
            small = tf1.placeholder(tf1.uint8, (None,), name="small")
            text = tf1.placeholder(tf1.string, name="text")
            flag = tf1.placeholder_with_default(False, (), name="flag")
            sparse = tf1.sparse_placeholder(tf1.float32, (3, 3), name="sparse")
            double = tf1.identity(x * 2.0, name="double")
            total = tf1.add(tf1.reduce_sum(x), tf1.cast(y, tf1.float32), name="total")
            with tf1.control_dependencies([tf1.Assert(y < 100, [y], name="bound")]):
                bounded = tf1.identity(y, name="bounded")
            dense = tf1.sparse_tensor_to_dense(sparse, name="dense")
            slices = tf1.IndexedSlices(double, tf1.constant([0, 1]), tf1.constant([2, 2]))
            nothing = tf1.no_op("nothing")
            constant = tf1.constant([1, 2], name="constant")
            variable = tf1.get_variable("variable", initializer=5.0)
            self.initialize = tf1.global_variables_initializer()
            fixed = tf1.identity(tf1.constant(3), name="fixed")
            self.graph.prevent_feeding(fixed)
            joined = tf1.strings.join([text, tf1.constant("!")], name="joined")
            many = tf1.identity(small, name="many")
            self.other = tensorflow.Graph()
            with self.other.as_default():
                foreign = tf1.constant(1.0)
        self.fetches = [
            double, total, bounded, dense, sparse, slices, nothing, constant, variable, joined, many, flag, x, y,
            "double:0", "nothing", "total:0", "variable", "no_such:0", "double", foreign, 3, None, [],
        ]  # fmt: skip
        self.feeds = [x, y, small, text, flag, sparse, "x:0", "y:0", fixed, constant, total, foreign, "no_such:0",
                      "nothing", 7, (x, y)]  # fmt: skip
        self.constant = constant


@pytest.fixture(scope="module")
def model():
    return Model()


@pytest.fixture
def session(model):
    with NpuSession.for_training(graph=model.graph, backend=BACKEND) as s:
        s.run(model.initialize)
        yield s


class Dropping:
    """An object that only becomes an array through a method that fails."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not today")


def values_for(model):
    ones = numpy.ones((2, 3), "float32")
    sparse = tf1.SparseTensorValue([[0, 1], [2, 2]], [1.0, 2.0], [3, 3])
    return [
        ones, ones.astype("float64"), ones.tolist(), ones[:, :1], ones[0], ones[:1], [[1], [2]], [[1], [2, 3]],
        numpy.asfortranarray(ones), ones.T, 1, 1.5, -1, 300, 2**40, True, "word", b"word", ["a", "b"], None, [],
        numpy.array([300]), [300], [255, 0], numpy.int64(7), numpy.float32(2.5), float("nan"), [float("nan")],
        numpy.array("text"), numpy.array(["a", "bc"], object), sparse, tuple(sparse), ([[0, 0]], [1.0]), [1, 2, 3],
        model.constant, 100, "7", object, Dropping(), (ones, 5),
    ]  # fmt: skip


def nested(st, fetch):
    return st.recursive(
        fetch,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.builds(Pair, inner, inner),
            st.lists(st.tuples(st.sampled_from("ab"), inner), max_size=2).map(collections.OrderedDict),
        ),
        max_leaves=5,
    )


def outcome(call):
    """Return what a call gives, or its error; results in a form that can be compared."""
    try:
        return "result", comparable(call())
    except Exception as error:
        # The rest says where operations were made. Of several placeholders without a value TensorFlow names any.
        message = (str(error) or "\n").splitlines()[0]
        return type(error), "no feed" if message.startswith("You must feed a value") else message


def attempt(session, fetches, feeds):
    """Return a prepared run, or the type of the error."""
    try:
        return session.prepare(fetches, feeds), None
    except Exception as error:
        return None, type(error)


def comparable(result):
    if isinstance(result, dict):
        return type(result), [(key, comparable(value)) for key, value in result.items()]
    if isinstance(result, (list, tuple)):
        return type(result), [comparable(value) for value in result]
    if isinstance(result, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(result)
        return type(result), array.dtype, array.shape, repr(array.tolist())
    return type(result), result if isinstance(result, (int, float, bytes, str, type(None))) else repr(result)


def test_equals_run(model, session):
    """A prepared run returns what run returns, type and nesting included, and raises what run raises."""
    hypothesis = pytest.importorskip("hypothesis", reason="what is fetched and fed is hypothesis's")
    st = hypothesis.strategies
    every, fetched = values_for(model), nested(st, st.sampled_from(model.fetches))
    # Most of the time what a placeholder takes, so that not everything fails.
    right = {0: [0, 1, 2, 3, 8], 1: [10, 12, 24], 2: [22, 23, 33], 3: [16, 17, 18, 29], 4: [15], 5: [30, 31]}

    @hypothesis.settings(max_examples=200)
    @hypothesis.given(st.data())
    def check(data):
        fetches = data.draw(fetched)
        keys = data.draw(st.lists(st.integers(0, len(model.feeds) - 1), max_size=2))
        keys = list(dict.fromkeys(keys + data.draw(st.sampled_from([[], [0], [0, 1], [0, 1, 5], [1, 2, 3, 4]]))))
        feeds = [model.feeds[key] for key in keys]
        choices = [st.sampled_from(right.get(key, []) * 9 + list(range(len(every)))) for key in keys]
        step, failure = attempt(session, fetches, feeds)
        if failure is not None:
            # At once, where run looks at the values first.
            assert outcome(lambda: session.run(fetches))[0] is failure
            return
        for _ in range(2):
            values = [every[data.draw(choice)] for choice in choices]
            expected = outcome(lambda values=values: session.run(fetches, dict(zip(feeds, values))))
            assert outcome(lambda values=values: step(*values)) == expected

    check()


def test_one_feed_needs_no_list(model, session):
    """A single feed is given as it is, and a step remembers nothing of the values before."""
    step = session.prepare(model.fetches[0], model.feeds[0])
    assert step(numpy.ones((2, 1))).tolist() == [[2.0], [2.0]]
    assert step([[1, 2], [3, 4]]).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        step([1, 2])
    assert step(numpy.ones((2, 1))).tolist() == [[2.0], [2.0]]


def test_number_of_values(model, session):
    """Too few or too many values are refused, also where there are no feeds at all."""
    with pytest.raises(TypeError, match="takes 1 values, one for each feed; 0 were given"):
        session.prepare(model.fetches[0], model.feeds[:1])()
    with pytest.raises(TypeError, match="takes 0 values, one for each feed; 2 were given"):
        session.prepare(model.constant)(1, 2)
    with pytest.raises(TypeError, match="takes 9 values"):
        session.prepare(model.constant, ["no_such:0"] * 9)(1)


def test_mapping_of_feeds(model, session):
    """Values of feeds are for the call, and a mapping says that somebody thought otherwise."""
    with pytest.raises(TypeError, match="not a mapping"):
        session.prepare(model.constant, {"x:0": 1})


def test_tensor_handles(model, session):
    """Handles of tensors that live in the session are fed and fetched like any value."""
    with model.graph.as_default():
        made = tf1.get_session_handle(tf1.constant([[1.0], [2.0]]))
    for fetches in (made, [made]):
        handle = session.prepare(fetches)()
        handle = handle[0] if isinstance(fetches, list) else handle
        assert handle.eval().tolist() == [[1.0], [2.0]]
        assert session.prepare("double:0", "x:0")(handle).tolist() == [[2.0], [4.0]]


def test_graph_that_grows(model, session):
    """What is added to the graph after a step was prepared changes nothing for it, and can be prepared, too."""
    step = session.prepare(model.constant)
    with model.graph.as_default():
        later = tf1.add(model.constant, 1)
    assert session.prepare(later)().tolist() == [2, 3]
    assert step().tolist() == [1, 2]


def test_after_close(model):
    """A step whose session is closed says so, and keeps nothing of it alive."""
    plan = NpuSession.for_training(graph=model.graph, backend=BACKEND)
    with plan as s:
        plain, fed, odd = s.prepare(model.constant), s.prepare("double:0", "x:0"), s.prepare([], [])
        plain()
    for call in (plain, lambda: fed([[1], [1]]), lambda: fed("odd"), odd):
        with pytest.raises(SessionClosedError, match="is closed; enter the plan again"):
            call()
    with pytest.raises(SessionClosedError):
        s.prepare(model.constant)


def test_steps_are_let_go(model, session):
    """A step that nobody has any more is gone, native half included, long before its session closes."""
    step = session.prepare(model.constant)
    known = weakref.ref(step)
    del step
    gc.collect()
    assert known() is None


def test_eager_fetch():
    """A fetch that was computed eagerly is told apart, as for run."""
    if not tf1.executing_eagerly():
        pytest.skip("TensorFlow 1 builds graphs by default")
    eager = tensorflow.constant(1.0)
    with NpuSession.for_training(backend=BACKEND) as s:
        with pytest.raises(GraphRequiredError, match="computed eagerly"):
            s.prepare(eager)


def test_target():
    """A session that is connected to a server prepares runs, too."""
    server = tf1.train.Server.create_local_server()
    with NpuSession.for_training(graph=Model().graph, backend=BACKEND, target=server.target) as s:
        assert s.prepare(["double:0"], ["x:0"])([[1], [2]])[0].tolist() == [[2.0], [4.0]]


@pytest.mark.parametrize("step", ["counter", "counter:0", None])
@pytest.mark.parametrize("resource", [True, False])
def test_step_variable(step, resource):
    """A variable that the train op counts up is told as it is after the train op, in run and in prepared runs."""
    graph = tensorflow.Graph()
    with graph.as_default():
        counter = tf1.get_variable("counter", (), tf1.int64, tf1.zeros_initializer(), use_resource=resource)
        seen = []
        note = tf1.numpy_function(lambda: seen.append(os.environ["STEP_NOW"]), [], [])
        with tf1.control_dependencies([note]):
            train = tf1.assign_add(counter, 1)
        # What is run need not be the train op itself.
        both = {"all": [tf1.group(train, name="all"), "counter:0" if not resource else train]}
        initialize = tf1.global_variables_initializer()
    plan = NpuSession.for_training(
        graph=graph,
        backend=BACKEND,
        accelerate=AcceleratedTraining.by_step(10, step=counter if step is None else step, train_op=train),
    )
    for _ in range(2):
        operations = None
        with plan as s:
            s.run(initialize)
            prepared = s.prepare(both)
            for number in range(3):
                operations = operations or len(graph.get_operations())
                assert s.run(train) == 2 * number + 1
                prepared()
            s.run(counter)
            assert s.acceleration.now == 6
            # Reading it is no training step, whatever the train op was given as.
            s.report(step=0)
            s.run(counter)
            assert s.acceleration.now == 0
            assert len(graph.get_operations()) == operations
        assert seen == ["0", "1", "2", "3", "4", "5"]
        seen.clear()
        graph.finalize()
    assert "STEP_NOW" not in os.environ
