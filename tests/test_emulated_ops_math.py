"""Emulated ops compute what the vendor's formulas say."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, numeric_gradient, ready, session, tf1

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
few = settings(max_examples=15)


@pytest.fixture(scope="module")
def modules():
    with importable() as load:
        yield {
            "aicore": load("npu_bridge.estimator.npu_aicore_ops"),
            "ops": load("npu_bridge.estimator.npu_ops"),
            "unary": load("npu_bridge.estimator.npu_unary_ops").npu_unary_ops,
            "vector": load("npu_bridge.tbe.npu_vector_ops"),
            "cube": load("npu_bridge.tbe.npu_cube_ops"),
            "cpu": load("npu_bridge.npu_cpu.npu_cpu_ops"),
        }


def values(shape, seed=0, dtype="float32"):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def fast_gelu_v2(x):
    sign = np.where(x >= 0, 1, -1)
    return x * (sign * (-0.1444 * (np.minimum(abs(0.7071 * x), 1.769) - 1.769) ** 2 + 0.5) + 0.5)


class TestActivations:
    @few
    @given(SHAPES)
    def test_gelu(self, modules, shape):
        """gelu, fast_gelu and fast_gelu_v2 are their formulas, for tensors of any shape."""
        x = values(shape) * 3
        with session() as s:
            unary = modules["unary"]
            found = s.run([unary.gelu(x), unary.fast_gelu(x), modules["aicore"].fast_gelu_v2(x)])
        for result, formula in zip(found, (gelu(x), x / (1 + np.exp(-1.702 * x)), fast_gelu_v2(x))):
            np.testing.assert_allclose(result, formula, rtol=1e-4, atol=1e-5)

    def test_gradients(self, modules):
        """The gradients of gelu, fast_gelu and prelu are those of their formulas."""
        x, weight = values((3, 4)), values((4,), seed=1)
        formulas = {
            "gelu": gelu,
            "fast_gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
        }
        with session() as s:
            for name, formula in formulas.items():
                tensor = tf1.constant(x)
                result = getattr(modules["unary"], name)(tensor)
                found = s.run(tf1.gradients(result, tensor)[0])
                expected = numeric_gradient(lambda x: formula(x).sum(), x.astype("float64"))  # noqa: B023
                np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
                grad = getattr(modules["unary"], name + "_grad")
                again = (
                    grad(tf1.ones_like(tensor), tensor, result) if name == "gelu" else grad(tf1.ones((3, 4)), tensor)
                )
                np.testing.assert_allclose(s.run(again), found, rtol=1e-5)
            tensor, slope = tf1.constant(x), tf1.constant(weight)
            result = modules["aicore"].prelu(tensor, slope)
            np.testing.assert_allclose(s.run(result), np.where(x > 0, x, x * weight))
            by_x, by_weight = s.run(tf1.gradients(result, [tensor, slope]))
            np.testing.assert_allclose(by_x, np.where(x > 0, 1, np.broadcast_to(weight, x.shape)))
            np.testing.assert_allclose(by_weight, np.minimum(x, 0).sum(0), rtol=1e-5)

            class Prelu:
                inputs = (tensor, slope)

            again = s.run(modules["aicore"].prelu_grad(Prelu, tf1.ones((3, 4))))
            np.testing.assert_allclose(again[0], by_x)
            np.testing.assert_allclose(again[1], by_weight, rtol=1e-5)

    def test_float16(self, modules):
        """float16 is computed in float32 and stays float16, as on the device."""
        x = values((20,), dtype="float16")
        with session() as s:
            found = s.run(modules["unary"].gelu(x))
        assert found.dtype == np.float16
        np.testing.assert_array_equal(found, gelu(x.astype("float32")).astype("float16"))

    def test_names(self, modules):
        """An op bears the name that the real one would have, so that fetches by name find it."""
        with session() as s:
            x = tf1.zeros((2,))
            assert [modules["unary"].gelu(x).name, modules["unary"].gelu(x).name] == ["Gelu:0", "Gelu_1:0"]
            assert modules["aicore"].fast_gelu_v2(x, "mine").name == "mine:0"
            results = modules["aicore"].layer_norm(tf1.zeros((2, 2)), tf1.ones(2), tf1.zeros(2), 1, 1)
            assert [tensor.name for tensor in results] == ["FusedLayerNorm:0", "FusedLayerNorm:1", "FusedLayerNorm:2"]
            s.run("Gelu_1:0")

    def test_wrong_dtype(self, modules):
        """A dtype that the device's op does not take is refused when the graph is built, as there."""
        with session():
            with pytest.raises(TypeError, match="PRelu: x is float64; the op takes float16, float32"):
                modules["aicore"].prelu(np.zeros(2), np.zeros(2))
            with pytest.raises(TypeError, match="Gelu: features is bool"):
                modules["unary"].gelu([True])

    def test_no_gradient(self, modules):
        """An op for which the adapter registers no gradient has none here either."""
        with session():
            x = tf1.zeros((2, 2))
            for result in (modules["aicore"].fast_gelu_v2(x), modules["aicore"].centralization(x, [0])):
                with pytest.raises(LookupError, match="No gradient defined for operation"):
                    tf1.gradients(result, x)

    def test_unknown_op(self, modules):
        """The library of ops says so when it has no op of a name."""
        with pytest.raises(AttributeError, match="no op 'gelu_v9'"):
            modules["unary"].gelu_v9  # noqa: B018


class TestNormalization:
    @few
    @given(SHAPES, st.data())
    def test_layer_norm(self, modules, shape, data):
        """layer_norm gives the normalised tensor, mean and variance, whatever the axes."""
        norm = data.draw(st.integers(-len(shape), len(shape) - 1))
        params = data.draw(st.integers(0, len(shape) - 1))
        x, gamma, beta = values(shape), values(shape[params:], 1), values(shape[params:], 2)
        with session() as s:
            y, mean, variance = s.run(modules["aicore"].layer_norm(x, gamma, beta, norm, params, 1e-5))
        axes = tuple(range(norm % len(shape), len(shape)))
        np.testing.assert_allclose(mean, x.mean(axes, keepdims=True), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(variance, x.var(axes, keepdims=True), rtol=1e-4, atol=1e-5)
        expected = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5) * gamma + beta
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)

    def test_layer_norm_gradient(self, modules):
        """layer_norm can be trained through."""
        x, gamma = values((3, 5)), values((5,), 1)
        weights = values((3, 5), 2)

        def loss(x):
            normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
            return (normal * gamma * weights).sum()

        with session() as s:
            tensor = tf1.constant(x)
            y = modules["aicore"].layer_norm(tensor, gamma, np.zeros(5, "f"), 1, 1, 1e-5)[0]
            found = s.run(tf1.gradients(tf1.reduce_sum(y * weights), tensor)[0])
        np.testing.assert_allclose(found, numeric_gradient(loss, x.astype("float64")), rtol=1e-2, atol=1e-3)

    @pytest.mark.parametrize("axis", [2, -3])
    def test_bad_axis(self, modules, axis):
        """An axis that the tensor does not have is refused."""
        with session(), pytest.raises(ValueError, match=f"begin_norm_axis={axis}, but x has 2 axes"):
            modules["aicore"].layer_norm(np.zeros((2, 2), "f"), np.zeros(2, "f"), np.zeros(2, "f"), axis)

    def test_centralization(self, modules):
        """centralization takes the mean away."""
        x = values((3, 4, 5))
        with session() as s:
            found = s.run(modules["aicore"].centralization(x, [0, 2]))
        np.testing.assert_allclose(found, x - x.mean((0, 2), keepdims=True), atol=1e-6)


@pytest.mark.parametrize("kind", ["dropout", "dropout_v3", "dropout_v4"])
class TestDropout:
    def make(self, modules, kind):
        return getattr(modules["ops"] if kind == "dropout" else modules["aicore"], kind)

    @pytest.mark.parametrize(("graph_seed", "seed"), [(None, 5), (7, None), (7, 5)])
    def test_as_tensorflow(self, modules, kind, graph_seed, seed):
        """With the same seeds the same numbers are kept as by tf.nn.dropout, at the same scale."""
        with session(graph_seed) as s:
            expected = s.run(tf1.nn.dropout(tf1.ones((50, 40)), rate=0.25, seed=seed))
        with session(graph_seed) as s:
            found = s.run(self.make(modules, kind)(tf1.ones((50, 40)), 0.75, seed=seed))
        if seed is None:
            # The op's own seed counts the ops of the graph, whose number differs.
            assert set(np.unique(found)) == set(np.unique(expected))
            assert abs((found > 0).mean() - 0.75) < 0.05
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_gradient_and_noise_shape(self, modules, kind):
        """The gradient is masked as the result, and a noise shape keeps whole rows."""
        with session(1) as s:
            x = tf1.placeholder(tf1.float32, (20, 6))
            y = self.make(modules, kind)(x, tf1.constant(0.5), noise_shape=(20, 1))
            result, gradient = s.run([y, tf1.gradients(y, x)[0]], {x: np.ones((20, 6))})
        np.testing.assert_array_equal(result, gradient)
        assert set(np.unique(result)) == {0, 2}
        assert (result == result[:, :1]).all()

    def test_each_run_anew(self, modules, kind):
        """Every run keeps other numbers."""
        with session() as s:
            y = self.make(modules, kind)(tf1.ones((100,)), 0.5)
            assert (s.run(y) != s.run(y)).any()

    def test_arguments(self, modules, kind):
        """What is no float or no probability is refused; 1.0 gives the tensor itself."""
        make = self.make(modules, kind)
        with session():
            x = tf1.ones((3,))
            assert make(x, 1.0) is x
            for wrong in (0, 1.5, -0.5, np.float32(2)):
                with pytest.raises(ValueError, match="keep_prob"):
                    make(x, wrong)
            with pytest.raises(ValueError, match="int32; dropout takes floats"):
                make([1, 2], 0.5)


class TestIndices:
    @few
    @given(SHAPES, st.booleans())
    def test_nonzero(self, modules, shape, transpose):
        """nonzero gives the indices in the order of memory, one row or one column for each."""
        x = np.random.RandomState(3).randint(0, 2, shape).astype("float32")
        with session() as s:
            found = s.run(modules["aicore"].nonzero(x, transpose, tf1.int32))
        expected = np.array(np.nonzero(x))
        np.testing.assert_array_equal(found, expected if transpose else expected.T)
        assert found.dtype == np.int32

    @few
    @given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.data())
    def test_scatter_elements(self, modules, shape, data):
        """scatter_elements replaces elements along one axis, as ONNX's operator does."""
        axis = data.draw(st.integers(-len(shape), len(shape) - 1))
        source = values(shape)
        random = np.random.RandomState(data.draw(st.integers(0, 99)))
        # Each line along the axis gets different places, as the operator asks for.
        order = np.argsort(random.rand(*shape), axis=axis)
        indices = np.take(order, range(shape[axis] - 1), axis) - random.randint(0, 2) * shape[axis]
        updates = values(indices.shape, 1)
        expected = source.copy()
        np.put_along_axis(expected, np.where(indices < 0, indices + shape[axis], indices), updates, axis)
        with session() as s:
            found = s.run(modules["ops"].scatter_elements(source, indices, updates, axis))
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("complete", [True, False])
    def test_k_means(self, modules, complete):
        """k_means_centroids gives sums, counts and the total distance of the nearest samples."""
        x, y = values((30, 4)), values((3, 4), 1)
        squares_x, squares_y = (x**2).sum(1, keepdims=True), (y**2).sum(1)[None]
        distances = ((x[:, None] - y[None]) ** 2).sum(2)
        nearest = distances.argmin(1)
        with session() as s:
            sums, counts, total = s.run(
                modules["ops"].k_means_centroids(x, y, squares_y, squares_x if complete else None)
            )
        for k in range(3):
            np.testing.assert_allclose(sums[k], x[nearest == k].sum(0), rtol=1e-4, atol=1e-5)
            assert counts[k, 0] == (nearest == k).sum()
        left_out = 0 if complete else squares_x.sum()
        np.testing.assert_allclose(total, [distances.min(1).sum() - left_out], rtol=1e-4)

    @pytest.mark.parametrize("count", [0, 3, 9])
    def test_random_choice_with_mask(self, modules, count):
        """randomchoicewithmask chooses true elements without repeating one, and fills up with zeros."""
        x = np.zeros((3, 4), bool)
        x[[0, 1, 2, 2, 1], [1, 2, 3, 0, 0]] = True
        with session() as s:
            y, mask = s.run(modules["cpu"].randomchoicewithmask(x, count, 1, 2))
        chosen = {tuple(index) for index in y[mask]}
        assert len(y) == len(mask) == (count or 5)
        assert mask.sum() == len(chosen) == min(count or 5, 5)
        assert all(x[index] for index in chosen)
        assert not y[~mask].any()


class TestOptimizerSteps:
    def test_lars(self, modules):
        """LARS and LARSV2 scale gradients by the vendor's formula, clipped or not."""
        weight, gradient = values((4, 3)), values((4, 3), 1)
        norm_w, norm_g = np.linalg.norm(weight), np.linalg.norm(gradient)
        coefficient = 0.02 * norm_w / (norm_g + 0.1 * norm_w + 1e-5)
        direction = gradient + 0.1 * weight
        ops = modules["ops"]
        with session() as s:
            plain = s.run(ops.LARSV2(weight, gradient, 0.1, 0.01, hyperpara=0.02))
            clipped = s.run(ops.LARSV2(weight, gradient, 0.1, 0.001, hyperpara=0.02, use_clip=True))
            unclipped = s.run(ops.LARSV2(weight, gradient, 0.1, 0.5, hyperpara=0.02, use_clip=True))
            several = s.run(ops.LARS([weight, weight[0]], [gradient, gradient[0]], 0.1, hyperpara=0.02))
        np.testing.assert_allclose(plain, coefficient * direction, rtol=1e-5)
        np.testing.assert_allclose(clipped, direction, rtol=1e-5)
        np.testing.assert_allclose(unclipped, coefficient / 0.5 * direction, rtol=1e-5)
        np.testing.assert_allclose(several[0], plain, rtol=1e-6)
        assert several[1].shape == (3,)

    @pytest.mark.parametrize("decay", [None, 0.1])
    @pytest.mark.parametrize("resource", [True, False])
    def test_adam(self, modules, decay, resource):
        """The steps of Adam change the variables that they are given, and only when they are run."""
        w, m, v = values((3,)), values((3,), 1), np.abs(values((3,), 2))
        g = values((3,), 3)
        factors = (0.9, 0.1, 0.99, 0.01)
        with session() as s:
            variables = [
                tf1.get_variable(name, initializer=value, use_resource=resource)
                for name, value in (("v", v), ("m", m), ("w", w))
            ]
            ops = modules["ops"]
            if decay is None:
                step = ops.adam_apply_one_assign(g, *variables, 0.5, *factors, 1e-6)
            else:
                step = ops.adam_apply_one_with_decay_assign(g, *variables, 0.5, *factors, decay, 1e-6)
            ready(s)
            for _ in range(2):
                s.run(step)
                v = g * g * 0.01 + v * 0.99
                m = m * 0.9 + g * 0.1
                w = w - 0.5 * (m / (np.sqrt(v) + 1e-6) + (decay or 0) * w)
                for variable, expected in zip(variables, (v, m, w)):
                    np.testing.assert_allclose(s.run(variable), expected, rtol=1e-4)

    def test_lamb(self, modules):
        """The two steps of LAMB are its formulas, with bias correction, weight decay and trust ratio."""
        w, m, v = values((4,)), values((4,), 1), np.abs(values((4,), 2))
        g = values((4,), 3)
        vector = modules["vector"]
        with session() as s:
            w_, m_, v_ = (tf1.get_variable(n, initializer=x) for n, x in (("w", w), ("m", m), ("v", v)))
            update, next_v, next_m = vector.lamb_apply_optimizer_assign(
                g, v_, m_, w_, 0.9, 0.1, 0.99, 0.01, 1e-6, 3.0, 1.0, 0.05
            )
            new_w = vector.lamb_apply_weight_assign(tf1.norm(w_), tf1.norm(update), 0.1, update, w_)
            ready(s)
            found = s.run([update, next_v, next_m, new_w])
            after = s.run([w_, m_, v_])
        v = v * 0.99 + g * g * 0.01
        m = m * 0.9 + g * 0.1
        direction = m / (1 - 0.9**3) / (np.sqrt(v / (1 - 0.99**3)) + 1e-6) + 0.05 * w
        moved = w - np.linalg.norm(w) / np.linalg.norm(direction) * 0.1 * direction
        for result, expected in zip(found, (direction, v, m, moved)):
            np.testing.assert_allclose(result, expected, rtol=1e-4)
        for result, expected in zip(after, (moved, m, v)):
            np.testing.assert_allclose(result, expected, rtol=1e-4)

    def test_lamb_of_zero(self, modules):
        """A weight or a direction of zeros moves at the plain rate."""
        with session() as s:
            weight = tf1.get_variable("w", initializer=np.zeros(2, "f"))
            step = modules["vector"].lamb_apply_weight_assign(0.0, 2.0, 0.5, np.ones(2, "f"), weight)
            ready(s)
            np.testing.assert_allclose(s.run(step), [-0.5, -0.5])

    def test_not_a_variable(self, modules):
        """What a step would assign to must be a variable."""
        with session(), pytest.raises(TypeError, match="AdamApplyOneAssign: input1 is assigned to"):
            modules["ops"].adam_apply_one_assign(*[np.ones(2, "f")] * 5, *[1.0] * 5)
