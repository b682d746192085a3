"""Emulated optimizers: loss scaling step by step, averaging over ranks, and what wraps Keras."""

import types

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, ready, session, tf1

from npusession import errors
from npusession.backends.fake.keras import keras


@pytest.fixture(scope="module")
def modules():
    with importable() as load:
        yield types.SimpleNamespace(
            common=load("npu_bridge.estimator.npu.npu_common"),
            managers=load("npu_bridge.estimator.npu.npu_loss_scale_manager"),
            scaling=load("npu_bridge.estimator.npu.npu_loss_scale_optimizer"),
            optimizers=load("npu_bridge.estimator.npu.npu_optimizer"),
            unary=load("npu_bridge.estimator.npu_unary_ops").npu_unary_ops,
            vector=load("npu_bridge.tbe.npu_vector_ops"),
        )


@pytest.fixture
def job(modules, monkeypatch):
    """The environment describes a job, which the adapter has not read yet."""
    monkeypatch.setattr(modules.common.NPUBasics, "_instance", None)
    monkeypatch.setenv("JOB_ID", "10087")


def problem():
    """A weight of 1, and a loss whose gradient is what is fed."""
    weight = tf1.get_variable("weight", initializer=np.float32(1))
    slope = tf1.placeholder(tf1.float32, ())
    return weight, slope, weight * slope


ARGUMENTS = {
    "init_loss_scale": 8,
    "incr_every_n_steps": 3,
    "decr_every_n_nan_or_inf": 2,
    "incr_ratio": 2,
    "decr_ratio": 0.5,
}
#: Whether a step overflows, then scale, good and bad steps after it, made by hand for the arguments above: times 2
#: after 3 good steps in a row, times 0.5 after 2 bad ones, never below 1.
TABLE = [
    (False, 8, 1, 0),
    (False, 8, 2, 0),
    (False, 16, 0, 0),
    (True, 16, 0, 1),
    (False, 16, 1, 1),  # bad steps need not be in a row
    (True, 8, 0, 0),
    (False, 8, 1, 0),
    (True, 8, 0, 1),  # a bad step ends the row of good ones
    (False, 8, 1, 1),
    (False, 8, 2, 1),
    (False, 16, 0, 0),  # a change clears both counts
    (True, 16, 0, 1),
    (True, 8, 0, 0),
    (True, 8, 0, 1),
    (True, 4, 0, 0),
    (True, 4, 0, 1),
    (True, 2, 0, 0),
    (True, 2, 0, 1),
    (True, 1, 0, 0),
    (True, 1, 0, 1),
    (True, 1, 0, 0),
]


class TestManagers:
    @pytest.mark.parametrize("kind", ["NPULossScaleOptimizer", "NPUOptimizer"])
    @pytest.mark.parametrize("overflow", [np.inf, np.nan])
    def test_sequence(self, modules, kind, overflow):
        """Overflows change the scale as a table made by hand says, and leave the weights and the step count alone."""
        with session() as s:
            weight, slope, loss = problem()
            manager = modules.managers.ExponentialUpdateLossScaleManager(**ARGUMENTS)
            sgd = tf1.train.GradientDescentOptimizer(0.5)
            if kind == "NPUOptimizer":
                optimizer = modules.optimizers.NPUOptimizer(sgd, manager, is_loss_scale=True)
            else:
                optimizer = modules.scaling.NPULossScaleOptimizer(sgd, manager)
            count = tf1.train.get_or_create_global_step()
            step = optimizer.minimize(loss, global_step=count)
            state = [manager.get_loss_scale(), manager._num_good_steps, manager._num_bad_steps]
            ready(s)
            expected, good = 1.0, 0
            for position, (bad, *after) in enumerate(TABLE):
                s.run(step, {slope: overflow if bad else 0.25})
                expected -= 0 if bad else 0.5 * 0.25
                good += not bad
                assert (position, s.run(state)) == (position, after)
                assert s.run([weight, count]) == [pytest.approx(expected), good]

    def test_overflow_of_scaled_loss(self, modules):
        """A gradient that only the scale drives out of range is an overflow, in float16 too."""
        with session() as s:
            weight = tf1.get_variable("weight", initializer=np.float32(1))
            loss = tf1.cast(weight, tf1.float16) * tf1.constant(100, tf1.float16)
            manager = modules.managers.ExponentialUpdateLossScaleManager(1024, 1000, 1, decr_ratio=0.5)
            step = modules.scaling.NPULossScaleOptimizer(tf1.train.GradientDescentOptimizer(0.001), manager).minimize(
                loss
            )
            ready(s)
            s.run(step)
            assert s.run([weight, manager.get_loss_scale()]) == [1, 512]
            s.run(step)
            assert s.run([weight, manager.get_loss_scale()]) == [pytest.approx(0.9), 512]

    @pytest.mark.parametrize("distributed", [False, True])
    def test_names(self, modules, distributed):
        """The scale, and whether a step was free of overflows, can be fetched by the names that they have on a host."""
        with session() as s:
            _, slope, loss = problem()
            manager = modules.managers.ExponentialUpdateLossScaleManager(64, 1000, 1, decr_ratio=0.5)
            sgd = tf1.train.GradientDescentOptimizer(1.0)
            step = modules.scaling.NPULossScaleOptimizer(sgd, manager, is_distributed=distributed).minimize(loss)
            ready(s)
            seen = [s.run([step, "overflow_status_reduce_all:0"], {slope: value})[1] for value in (1, np.inf, 1)]
            assert seen == [True, False, True]
            scale = manager.get_loss_scale()
            assert (scale.name, s.run(scale)) == ("loss_scale:0", 32)

    def test_largest_scale(self, modules):
        """The scale stays where raising it would leave float32."""
        with session() as s:
            manager = modules.managers.ExponentialUpdateLossScaleManager(2e38, 1)
            update = manager.update_loss_scale(tf1.constant(True))
            ready(s)
            s.run(update)
            assert s.run(manager.get_loss_scale()) == np.float32(2e38)

    @pytest.mark.parametrize(("check", "after"), [(True, 1), (False, -np.inf)])
    def test_fixed(self, modules, check, after):
        """A fixed scale stays; without the check for overflow a bad step is applied."""
        with session() as s:
            weight, slope, loss = problem()
            manager = modules.managers.FixedLossScaleManager(128, enable_overflow_check=check)
            step = modules.scaling.NPULossScaleOptimizer(tf1.train.GradientDescentOptimizer(1.0), manager).minimize(
                loss
            )
            ready(s)
            s.run(step, {slope: np.inf})
            assert s.run([weight, manager.get_loss_scale()]) == [after, 128]
            assert manager.get_enable_overflow_check() is check

    def test_fixed_below_one(self, modules):
        """A fixed scale below 1 is refused."""
        with session(), pytest.raises(ValueError, match=r"loss_scale=0\.5; it must be at least 1"):
            modules.managers.FixedLossScaleManager(0.5)


class TestOptimizers:
    def test_same_as_without(self, modules, job):
        """Training with Adam ends at the same weights with each wrapper, gradients of gathers and None included."""

        def train(wrap):
            with session(0) as s:
                table = tf1.get_variable("table", (6, 3))
                dense = tf1.get_variable("dense", (3, 1))
                unused = tf1.get_variable("unused", (2,))
                rows = tf1.nn.embedding_lookup(table, [0, 2, 2, 5])
                loss = tf1.reduce_mean(tf1.square(tf1.matmul(rows, dense) - [[1.0], [2.0], [0.0], [1.0]]))
                optimizer = wrap(tf1.train.AdamOptimizer(0.1))
                gradients = optimizer.compute_gradients(loss, [table, dense, unused])
                assert gradients[2][0] is None
                step = optimizer.apply_gradients(gradients)
                tf1.random.set_random_seed(0)
                ready(s)
                start = s.run([table, dense])
                table.load(np.full_like(start[0], 0.3), s)
                dense.load(np.full_like(start[1], -0.2), s)
                for _ in range(5):
                    s.run(step)
                assert optimizer.get_slot(dense, "m") is not None
                assert optimizer.get_slot_names() == ["m", "v"]
                return s.run([table, dense])

        expected = train(lambda optimizer: optimizer)
        manager = modules.managers.FixedLossScaleManager
        for wrap in (
            lambda optimizer: modules.scaling.NPULossScaleOptimizer(optimizer, manager(64)),
            lambda optimizer: modules.optimizers.NPUOptimizer(optimizer, manager(64), True, True),
            lambda optimizer: modules.optimizers.NPUOptimizer(optimizer, manager(64), True, True, True),
            lambda optimizer: modules.optimizers.NPUOptimizer(optimizer, is_distributed=True),
            lambda optimizer: modules.optimizers.NPUDistributedOptimizer(optimizer),
            modules.optimizers.npu_distributed_optimizer_wrapper,
        ):
            for result, wanted in zip(train(wrap), expected):
                np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-6)

    def test_tailing(self, modules, job):
        """With tailing optimization overflow is found before the gradients are averaged, and the step left out."""
        with session() as s:
            weight, slope, loss = problem()
            manager = modules.managers.ExponentialUpdateLossScaleManager(8, 10, 1, decr_ratio=0.5)
            optimizer = modules.optimizers.NPUOptimizer(
                tf1.train.GradientDescentOptimizer(1.0), manager, True, True, is_tailing_optimization=True
            )
            step = optimizer.minimize(loss)
            ready(s)
            s.run(step, {slope: np.inf})
            assert s.run([weight, manager.get_loss_scale()]) == [1, 4]

    def test_manager_missing(self, modules):
        """Scaling the loss needs a manager."""
        with pytest.raises(ValueError, match="needs a loss_scale_manager"):
            modules.optimizers.NPUOptimizer(None, is_loss_scale=True)

    def test_names(self, modules):
        """Wrapped optimizers have the names of the adapter's, and the wrapped one's attributes where those have."""
        sgd = tf1.train.GradientDescentOptimizer(1.0)
        assert modules.optimizers.NPUDistributedOptimizer(sgd).get_name() == "DistributedGradientDescentOptimizer"
        assert modules.optimizers.NPUOptimizer(sgd).get_name() == "NPUOptimizerGradientDescentOptimizer"
        with session():
            scaling = modules.scaling.NPULossScaleOptimizer(sgd, modules.managers.FixedLossScaleManager(1))
            assert scaling._learning_rate == 1.0
            assert isinstance(scaling, tf1.train.Optimizer)

    def test_several_ranks_without_each_other(self, modules, job, monkeypatch):
        """A process that is told of other ranks does not train alone as if they were there: the step fails."""
        monkeypatch.setenv("RANK_SIZE", "8")
        with session() as s:
            weight, slope, loss = problem()
            sgd = tf1.train.GradientDescentOptimizer(1.0)
            step = modules.optimizers.NPUDistributedOptimizer(sgd).minimize(loss)
            ready(s)
            with pytest.raises(errors.CollectiveError, match="HcomAllReduce needs the other ranks of the job"):
                s.run(step, {slope: 1})
            assert s.run(weight) == 1

    def test_no_job(self, modules, job, monkeypatch):
        """Without JOB_ID the adapter does not count the ranks, and gradients cannot be averaged: an AttributeError."""
        monkeypatch.delenv("JOB_ID")
        with session():
            _, _, loss = problem()
            sgd = tf1.train.GradientDescentOptimizer(1.0)
            modules.optimizers.NPUDistributedOptimizer(sgd).minimize(loss)
            for optimizer in (
                lambda: modules.optimizers.NPUOptimizer(sgd, is_distributed=True).minimize(loss),
                lambda: modules.optimizers.reduce(loss, 0),
            ):
                with pytest.raises(AttributeError, match="JOB_ID"):
                    optimizer()
            # It was looked for once, and is not found any more.
            monkeypatch.setenv("JOB_ID", "10087")
            with pytest.raises(AttributeError):
                modules.optimizers.allreduce(loss)

    def test_contradicting_ranks(self, modules, monkeypatch):
        """Two numbers of ranks in the environment are refused, as by the adapter."""
        monkeypatch.setenv("RANK_SIZE", "8")
        monkeypatch.setenv("CM_WORKER_SIZE", "8")
        with session(), pytest.raises(ValueError, match="RANK_SIZE and CM_WORKER_SIZE are both set"):
            modules.optimizers.npu_allreduce(tf1.zeros(()))

    def test_npu_allreduce(self, modules, job):
        """npu_allreduce gives back tensors, lists and slices of a process that is alone."""
        with session() as s:
            tensor = tf1.constant([1.0, 2.0])
            slices = tf1.IndexedSlices(tensor, tf1.constant([3, 4]))
            one, many = (
                modules.optimizers.npu_allreduce(tensor),
                modules.optimizers.npu_allreduce([slices, tensor], "max"),
            )
            assert isinstance(many[0], tf1.IndexedSlices)
            results = s.run(
                [one, many[0].values, many[0].indices, many[1], modules.optimizers.allreduce(tensor, False)]
            )
        assert [list(result) for result in results] == [[1, 2], [1, 2], [3, 4], [1, 2], [1, 2]]


class TestFloatStatus:
    """Scripts that look for overflow themselves."""

    @pytest.mark.parametrize(("value", "status"), [(1.0, 0), (np.inf, 1), (np.nan, 1)])
    def test_status(self, modules, value, status):
        """The flag tells of an overflow in what the read waits for."""
        ops = modules.unary
        with session() as s:
            gradient = tf1.placeholder(tf1.float32, (2,))
            flag = ops.npu_alloc_float_status()
            with tf1.control_dependencies([gradient * 2]):
                first, second = ops.npu_get_float_status(flag), ops.npu_get_float_status_v2()
            with tf1.control_dependencies([first, second]):
                cleared, operation = ops.npu_clear_float_status(first), ops.npu_clear_float_status_v2()
            found = s.run([first, second, cleared, operation], {gradient: [1.0, value]})
        assert [list(item) for item in found[:3]] == [[status], [status] * 8, [0]]

    def test_memory(self, modules):
        """A flag that was allocated is memory: it differs from the cleared one if something overflowed, in each run."""
        ops = modules.unary
        with session() as s:
            gradient = tf1.placeholder(tf1.float32, (2,))
            flag = ops.npu_alloc_float_status()
            with tf1.control_dependencies([gradient * 2]):
                cleared = ops.npu_clear_float_status(ops.npu_get_float_status(flag))
            finite = tf1.reduce_all(tf1.equal(flag, cleared))
            update = tf1.cond(finite, lambda: tf1.constant(1), lambda: tf1.constant(0))
            for value in (2.0, np.inf, 3.0, np.nan):
                assert s.run([finite, update], {gradient: [1.0, value]}) == [np.isfinite(value)] * 2


class TestKeras:
    def test_prelu_layer(self, modules):
        """The layer has a slope for each place, or shares them, and learns."""
        with session() as s:
            layer = modules.vector.PReLU(alpha_initializer="ones", shared_axes=[1])
            x = tf1.constant(np.random.RandomState(0).randn(2, 3, 4).astype("f"))
            layer.build(x.shape)
            y = layer.call(x)
            ready(s)
            assert layer.alpha.shape.as_list() == [1, 4]
            np.testing.assert_allclose(*s.run([y, x]))
            (gradient,) = s.run(tf1.gradients(y, [layer.alpha]))
            np.testing.assert_allclose(gradient[0], np.minimum(s.run(x), 0).sum((0, 1)), rtol=1e-5)
            scalar = modules.vector.PReLU(shared_axes=[1, 2])
            scalar.build(x.shape)
            assert scalar.alpha.shape.as_list() == [1]

    def test_distribute_optimizer(self, modules):
        """The wrapper of a Keras optimizer updates as the optimizer does."""
        optimizer = keras().optimizers.get("sgd")
        wrapped = modules.optimizers.KerasDistributeOptimizer(optimizer)
        assert wrapped.get_config()["optimizer"] is optimizer
        with session() as s:
            weight = tf1.get_variable("weight", initializer=np.float32([1, 2]), use_resource=True)
            updates = wrapped.get_updates(tf1.reduce_sum(weight * 3), [weight])
            ready(s)
            for variable in optimizer.weights:
                s.run(variable.initializer)
            s.run(updates)
            np.testing.assert_allclose(s.run(weight), [0.97, 1.97], rtol=1e-5)

    def test_keras_3(self, modules):
        """An optimizer of Keras 3 is refused with the reason."""
        with pytest.raises(TypeError, match="no optimizer of Keras 2"):
            modules.optimizers.KerasDistributeOptimizer(object())

    def test_name(self, modules):
        """The wrapper makes an optimizer of a name, and wraps what it has."""
        optimizer = modules.optimizers.npu_distributed_optimizer_wrapper("adam")
        assert type(optimizer).__name__ == "Adam"
        assert optimizer.get_gradients.__name__ == "averaging"
