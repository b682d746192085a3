"""Emulated recurrent ops and layers compute what TensorFlow's cells and the vendor's formulas say, and learn."""

import types

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, numeric_gradient, ready, session, tf1

from npusession import errors

TIME, BATCH, INPUT, HIDDEN = 5, 3, 2, 4


@pytest.fixture(scope="module")
def modules():
    with importable() as load:
        yield types.SimpleNamespace(
            layers=load("npu_bridge.estimator.npu.npu_dynamic_rnn"),
            ops=load("npu_bridge.estimator.npu_ops"),
            rnn=load("npu_bridge.estimator.npu.npu_rnn"),
        )


def values(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32") * 0.5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, b, h, c, forget_bias=0.0, lengths=None, reverse=False):
    """An LSTM over sequences as a loop: outputs, carried outputs, states."""
    time = range(len(x))
    results = [None] * len(x)
    for t in reversed(time) if reverse else time:
        i, j, f, o = np.split(np.concatenate([x[t], h], 1) @ w + b, 4, 1)
        new_c = c * sigmoid(f + forget_bias) + sigmoid(i) * np.tanh(j)
        mask = np.ones((len(h), 1)) if lengths is None else (t < np.asarray(lengths))[:, None]
        c = np.where(mask, new_c, c)
        y = np.tanh(c) * sigmoid(o) * mask
        h = np.where(mask, y, h)
        results[t] = (y, h, c)
    return [np.stack(part) for part in zip(*results)]


def gru(x, wi, wh, bi, bh, h, lengths, order="zrh", attention=None):
    """A GRU over sequences as a loop: the outputs."""
    outputs = []
    for t in range(len(x)):
        gx = dict(zip(order, np.split(x[t] @ wi + bi, 3, 1)))
        gh = dict(zip(order, np.split(h @ wh + bh, 3, 1)))
        z, r = sigmoid(gx["z"] + gh["z"]), sigmoid(gx["r"] + gh["r"])
        candidate = np.tanh(gx["h"] + r * gh["h"])
        if attention is not None:
            z = z * (1 - attention[t][:, None])
        h = np.where((t < np.asarray(lengths))[:, None], z * h + (1 - z) * candidate, h)
        outputs.append(h)
    return np.stack(outputs)


class TestCell:
    def arguments(self):
        return (
            values(BATCH, INPUT),
            values(BATCH, HIDDEN, seed=1),
            values(BATCH, HIDDEN, seed=2),
            values(INPUT + HIDDEN, 4 * HIDDEN, seed=3),
            values(4 * HIDDEN, seed=4),
        )

    def test_formula(self, modules):
        """basic_lstm_cell is one step of an LSTM."""
        x, h, c, w, b = self.arguments()
        with session() as s:
            ct, ht, *gates = s.run(modules.ops.basic_lstm_cell(x, h, c, w, b, 1.0, 1.0, True, "tanh"))
        y, _, state = lstm(x[None], w, b, h, c, forget_bias=1.0)
        np.testing.assert_allclose(ht, y[0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ct, state[0], rtol=1e-4, atol=1e-6)
        assert len(gates) == 5
        np.testing.assert_allclose(gates[4], np.tanh(ct), rtol=1e-5)

    def test_as_tensorflow(self, modules):
        """basic_lstm_cell equals TensorFlow's BasicLSTMCell, where that is still there."""
        try:
            cell = tf1.nn.rnn_cell.BasicLSTMCell(HIDDEN)
        except AttributeError:
            pytest.skip("this TensorFlow has no BasicLSTMCell")
        x, h, c, *_ = self.arguments()
        with session() as s:
            y, state = cell(tf1.constant(x), tf1.nn.rnn_cell.LSTMStateTuple(c, h))
            kernel, bias = cell.trainable_weights
            found = modules.ops.basic_lstm_cell(x, h, c, kernel, bias, 1.0, 1.0, True, "tanh")
            ready(s)
            for result, expected in zip(*s.run([[found[1], found[0]], [y, state.c]])):
                np.testing.assert_allclose(result, expected, rtol=1e-5)

    def test_gradient(self, modules):
        """The cell can be trained through; the adapter's gradient function gives the same."""
        arguments = self.arguments()
        with session() as s:
            tensors = [tf1.constant(value) for value in arguments]
            outputs = modules.ops.basic_lstm_cell(*tensors, 1.0, 0.5, True, "tanh")
            gradients = s.run(tf1.gradients(tf1.reduce_sum(outputs[1]), tensors))
            attributes = {"keep_prob": 1.0, "forget_bias": 0.5, "activation": b"tanh"}
            op = types.SimpleNamespace(inputs=tensors, get_attr=attributes.get)
            again = s.run(modules.ops.basic_lstm_cell_grad(op, None, tf1.ones((BATCH, HIDDEN)), *[None] * 5))
        for position in (0, 3):

            def loss(value, position=position):
                changed = [*arguments[:position], value, *arguments[position + 1 :]]
                x, h, c, w, b = changed
                return lstm(x[None], w, b, h, c, forget_bias=0.5)[0].sum()

            expected = numeric_gradient(loss, arguments[position].astype("float64"))
            np.testing.assert_allclose(gradients[position], expected, rtol=1e-2, atol=1e-3)
        for result, expected in zip(again, gradients):
            np.testing.assert_allclose(result, expected, rtol=1e-5)

    def test_dropout_within(self, modules):
        """Dropout within the cell, whose effect the vendor does not describe, fails when it is run."""
        with session() as s:
            outputs = modules.ops.basic_lstm_cell(*self.arguments(), 0.5, 1.0, True, "tanh")
            assert [tensor.shape.as_list() for tensor in outputs] == [[BATCH, HIDDEN]] * 7
            with pytest.raises(errors.NotEmulatedError, match=r"BasicLSTMCell was given keep_prob=0\.5"):
                s.run(outputs)


class TestLstm:
    @pytest.mark.parametrize("lengths", [None, [5, 2, 0]])
    def test_one_way(self, modules, lengths):
        """DynamicRNN is an LSTM over sequences; past its end a sequence gives zeros and keeps its state."""
        x = values(TIME, BATCH, INPUT)
        with session() as s:
            layer = modules.layers.DynamicRNN(HIDDEN, tf1.float32, forget_bias=1.0)
            given = None if lengths is None else tf1.constant(lengths)
            outputs = layer(tf1.constant(x), seq_length=given)
            ready(s)
            y, h, c, *gates = s.run(outputs)
            w, b = s.run([layer._rnn_w, layer._rnn_b])
        zeros = np.zeros((BATCH, HIDDEN))
        for result, expected in zip((y, h, c), lstm(x, w, b, zeros, zeros, 1.0, lengths)):
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)
        assert [gate.shape for gate in gates] == [(TIME, BATCH, HIDDEN)] * 5

    def test_both_ways(self, modules):
        """With two directions the second one runs from the last step to the first, with weights of its own."""
        x = values(TIME, BATCH, INPUT)
        h, c = values(2, BATCH, HIDDEN, seed=5), values(2, BATCH, HIDDEN, seed=6)
        w, b = values(2, INPUT + HIDDEN, 4 * HIDDEN, seed=7), values(2, 4 * HIDDEN, seed=8)
        with session() as s:
            layer = modules.layers.DynamicRNN(HIDDEN, tf1.float32, direction="BIDIRECTIONAL")
            outputs = layer(tf1.constant(x), init_h=h, init_c=c, weight=tf1.constant(w), bias=tf1.constant(b))
            ready(s)
            y = s.run(outputs[0])
        for k in range(2):
            expected = lstm(x, w[k], b[k], h[k], c[k], reverse=bool(k))[0]
            np.testing.assert_allclose(y[k], expected, rtol=1e-4, atol=1e-6)

    def test_gradient(self, modules):
        """The gradients through time are right, for inputs and weights, with sequences of several lengths."""
        x, w = values(TIME, BATCH, INPUT), values(INPUT + HIDDEN, 4 * HIDDEN, seed=1)
        b, lengths = values(4 * HIDDEN, seed=2), [5, 3, 1]
        zeros = np.zeros((BATCH, HIDDEN))
        with session() as s:
            layer = modules.layers.DynamicRNN(HIDDEN, tf1.float32)
            inputs, weight = tf1.constant(x), tf1.constant(w)
            y = layer(inputs, seq_length=tf1.constant(lengths), weight=weight, bias=tf1.constant(b))[0]
            # Before the first run: TensorFlow 2 takes no gradients of loops that a session has seen.
            gradients = tf1.gradients(tf1.reduce_sum(y**2), [inputs, weight])
            ready(s)
            by_x, by_w = s.run(gradients)
        expected = numeric_gradient(lambda x: (lstm(x, w, b, zeros, zeros, 0.0, lengths)[0] ** 2).sum(), x.astype("d"))
        np.testing.assert_allclose(by_x, expected, rtol=1e-2, atol=1e-3)
        expected = numeric_gradient(lambda w: (lstm(x, w, b, zeros, zeros, 0.0, lengths)[0] ** 2).sum(), w.astype("d"))
        np.testing.assert_allclose(by_w, expected, rtol=1e-2, atol=1e-3)

    def test_training(self, modules):
        """A layer learns to tell the sign of a sum over time."""
        random = np.random.RandomState(0)
        x = random.randn(TIME, 64, 1).astype("f")
        target = (x.sum(0) > 0).astype("f")
        with session(0) as s:
            y = modules.layers.DynamicRNN(8, tf1.float32)(tf1.constant(x))[0]
            dense = tf1.get_variable("dense", (8, 1), initializer=tf1.ones_initializer())
            loss = tf1.losses.sigmoid_cross_entropy(target, tf1.matmul(y[-1], dense))
            step = tf1.train.AdamOptimizer(0.05).minimize(loss)
            ready(s)
            first = s.run(loss)
            for _ in range(60):
                s.run(step)
            assert s.run(loss) < 0.3 * first

    @pytest.mark.parametrize(
        "given", [{"keep_prob": 0.5}, {"cell_depth": 2}, {"use_peephole": True}, {"num_proj": 3}, {"time_major": False}]
    )
    def test_not_described(self, modules, given):
        """What the reference does not describe builds a graph of the right shapes, and fails when it is run."""
        ((name, value),) = given.items()
        with session() as s:
            outputs = modules.layers.DynamicRNN(HIDDEN, tf1.float32, **given)(tf1.zeros((TIME, BATCH, INPUT)))
            ready(s)
            assert outputs[0].shape.as_list() == [TIME, BATCH, HIDDEN]
            with pytest.raises(errors.NotEmulatedError, match=f"DynamicRnnV2 was given {name}={value}"):
                s.run(outputs[0])

    def test_wrong_direction(self, modules):
        """Another direction is a ValueError, as of the adapter."""
        with session(), pytest.raises(ValueError, match="direction='SIDEWAYS'"):
            modules.layers.DynamicRNN(HIDDEN, tf1.float32, direction="SIDEWAYS")(tf1.zeros((TIME, BATCH, INPUT)))

    def test_unknown_batch(self, modules):
        """An LSTM takes a batch whose size is not known when the graph is built."""
        x = values(TIME, BATCH, INPUT)
        with session() as s:
            fed = tf1.placeholder(tf1.float32, (TIME, None, INPUT))
            y = modules.layers.DynamicRNN(HIDDEN, tf1.float32)(fed)[0]
            ready(s)
            assert s.run(y, {fed: x}).shape == (TIME, BATCH, HIDDEN)


class TestGru:
    @pytest.mark.parametrize("order", ["zrh", "rzh"])
    @pytest.mark.parametrize("lengths", [None, [5, 2, 0]])
    def test_formula(self, modules, order, lengths):
        """DynamicGRUV2 is a GRU whose reset gate acts after the product, in either order of gates."""
        x = values(TIME, BATCH, INPUT)
        with session() as s:
            layer = modules.layers.DynamicGRUV2(HIDDEN, tf1.float32, gate_order=order)
            outputs = layer(tf1.constant(x), seq_length=None if lengths is None else tf1.constant(lengths))
            ready(s)
            y, h, *rest = s.run(outputs)
            weights = s.run(
                [layer._gates[name] for name in ("weight_input", "weight_hidden", "bias_input", "bias_hidden")]
            )
            assert [variable.op.name.split("/", 1)[1] for variable in layer.trainable_weights] == [
                "dynamicgruv2/weight_input",
                "dynamicgruv2/weight_hidden",
                "dynamicgruv2/bias_input",
                "dynamicgruv2/bias_hidden",
            ]
        expected = gru(x, *weights, np.zeros((BATCH, HIDDEN)), lengths or [TIME] * BATCH, order)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(y, h)
        assert len(rest) == 4

    def test_attention(self, modules):
        """DynamicAUGRU keeps less of the state where attention is high."""
        x, attention = values(TIME, BATCH, INPUT), np.random.RandomState(9).rand(TIME, BATCH).astype("f")
        with session() as s:
            layer = modules.layers.DynamicAUGRU(HIDDEN, tf1.float32)
            outputs = layer(tf1.constant(x), tf1.constant(attention))
            ready(s)
            y, _, update, update_att, *_ = s.run(outputs)
            weights = s.run(
                [layer._gates[name] for name in ("weight_input", "weight_hidden", "bias_input", "bias_hidden")]
            )
        expected = gru(x, *weights, np.zeros((BATCH, HIDDEN)), [TIME] * BATCH, attention=attention)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(update_att, update * (1 - attention[..., None]), rtol=1e-5)

    @pytest.mark.parametrize("attended", [True, False])
    def test_gradient(self, modules, attended):
        """GRUs can be trained through; the adapter's gradient functions give the same."""
        x = values(TIME, BATCH, INPUT)
        wi, wh = values(INPUT, 3 * HIDDEN, seed=1), values(HIDDEN, 3 * HIDDEN, seed=2)
        bi, bh = values(3 * HIDDEN, seed=3), values(3 * HIDDEN, seed=4)
        attention = np.random.RandomState(9).rand(TIME, BATCH).astype("f") if attended else None
        zeros, lengths = np.zeros((BATCH, HIDDEN), "f"), [5, 3, 1]
        attributes = {
            "direction": b"UNIDIRECTIONAL", "cell_depth": 1, "keep_prob": 1.0, "cell_clip": -1.0, "num_proj": 0,
            "time_major": True, "gate_order": b"zrh", "reset_after": True,
        }  # fmt: skip
        with session() as s:
            tensors = [tf1.constant(value) for value in (x, wi, wh)]
            if attended:
                tensors.append(tf1.constant(attention))
            tensors += [tf1.constant(value) for value in (bi, bh, lengths, zeros)]
            op = types.SimpleNamespace(inputs=tensors, get_attr=attributes.get)
            function = modules.ops.dynamic_augru_grad if attended else modules.ops.dynamic_gru_v2_grad
            found = s.run(function(op, tf1.ones((TIME, BATCH, HIDDEN)), *[None] * (6 if attended else 5)))
        expected = numeric_gradient(
            lambda x: gru(x, wi, wh, bi, bh, zeros, lengths, attention=attention).sum(), x.astype("d")
        )
        np.testing.assert_allclose(found[0], expected, rtol=1e-2, atol=1e-3)
        expected = numeric_gradient(
            lambda wh: gru(x, wi, wh, bi, bh, zeros, lengths, attention=attention).sum(), wh.astype("d")
        )
        np.testing.assert_allclose(found[2], expected, rtol=1e-2, atol=1e-3)

    def test_wrong_order(self, modules):
        """An order of gates that there is not is refused."""
        with session(), pytest.raises(ValueError, match="gate_order='hzr'"):
            modules.layers.DynamicGRUV2(HIDDEN, tf1.float32, gate_order="hzr")(tf1.zeros((TIME, BATCH, INPUT)))


def test_npu_dynamic_rnn(modules):
    """npu_dynamic_rnn runs any cell over time, and gives what dynamic_rnn gives."""
    try:
        cell = tf1.nn.rnn_cell.GRUCell(HIDDEN)
    except AttributeError:
        pytest.skip("this TensorFlow has no cells")
    with session() as s:
        x = tf1.constant(values(TIME, BATCH, INPUT))
        outputs, state = modules.rnn.npu_dynamic_rnn(cell, x, dtype=tf1.float32, sequence_length=[5, 2, 1])
        expected = tf1.nn.dynamic_rnn(cell, x, [5, 2, 1], dtype=tf1.float32, time_major=True)
        ready(s)
        for result, wanted in zip(*s.run([[outputs, state], list(expected)])):
            np.testing.assert_allclose(result, wanted, rtol=1e-5)
