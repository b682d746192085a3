"""Recurrent ops: LSTM, for one step or over sequences, GRU, and GRU with attention, as the vendor's kernels have them.

Sequences are time major: ``x`` is ``[time, batch, input]``. A sequence that is shorter than the batch's keeps its state
after its end.
"""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from .. import not_emulated
from ._node import FLOATS, Node

#: What the ops take beside tensors, with the one value of each that the vendor's reference supports.
_SUPPORTED: dict[str, typing.Any] = {
    "cell_type": "LSTM",
    "cell_depth": 1,
    "use_peephole": False,
    "keep_prob": 1.0,
    "cell_clip": -1.0,
    "num_proj": 0,
    "time_major": True,
    "activation": "tanh",
    "reset_after": True,
}


def basic_lstm_cell(
    x: typing.Any,
    h: typing.Any,
    c: typing.Any,
    w: typing.Any,
    b: typing.Any,
    keep_prob: float = 1.0,
    forget_bias: float = 1.0,
    state_is_tuple: bool = True,
    activation: str = "tanh",
    name: str | None = None,
) -> list[typing.Any]:
    """One step of an LSTM, with the gates of ``tf.nn.rnn_cell.BasicLSTMCell``.

    Args:
        x: input, ``[batch, input]``.
        h: output of the step before, ``[batch, hidden]``.
        c: state of the step before, ``[batch, hidden]``.
        w: weights, ``[input + hidden, 4 hidden]``, for the gates i, j, f and o.
        b: biases, ``[4 hidden]``.
        keep_prob: only 1 is emulated.
        forget_bias: added to the forget gate.
        state_is_tuple: without effect.
        activation: only ``"tanh"`` is emulated.
        name: name of the op.

    Returns:
        New state, new output, the four gates after their activations, and tanh of the new state; ``[batch, hidden]``.
    """
    with Node("BasicLSTMCell", name) as node:
        x = node.tensor(x, "x", FLOATS)
        h, c, w, b = (node.like(value, x, argument) for value, argument in ((h, "h"), (c, "c"), (w, "w"), (b, "b")))
        unsupported = _unsupported({"keep_prob": keep_prob, "activation": activation})
        if unsupported:
            return node.outputs(
                not_emulated.node("BasicLSTMCell", unsupported, [x, h, c, w, b], 7 * [(x.dtype, c.shape)])
            )
        return node.outputs(_lstm(tf1().matmul(tf1().concat([x, h], 1), w) + b, c, forget_bias))


def dynamic_rnn(
    x: typing.Any,
    w: typing.Any,
    b: typing.Any,
    seq_length: typing.Any,
    init_h: typing.Any,
    init_c: typing.Any,
    cell_type: str,
    direction: str,
    cell_depth: int = 1,
    use_peephole: bool = False,
    keep_prob: float = 1.0,
    cell_clip: float = -1.0,
    num_proj: int = 0,
    time_major: bool = True,
    activation: str = "tanh",
    forget_bias: float = 0.0,
    is_training: bool = True,
    name: str | None = None,
) -> list[typing.Any]:
    """An LSTM over sequences.

    Args:
        x: input, ``[time, batch, input]``, float16 or float32.
        w: weights, ``[input + hidden, 4 hidden]``, for the gates i, j, f and o.
        b: biases, ``[4 hidden]``.
        seq_length: length of each sequence, int32 ``[batch]``; ``None`` for the whole time.
        init_h: output before the first step, ``[1, batch, hidden]``.
        init_c: state before the first step, of the same shape.
        cell_type: only ``"LSTM"`` is emulated.
        direction: ``"UNIDIRECTIONAL"``, or ``"REDIRECTIONAL"`` from the last step to the first.
        cell_depth: only 1 is emulated.
        use_peephole: only ``False`` is emulated.
        keep_prob: only 1 is emulated.
        cell_clip: only -1, which does not clip, is emulated.
        num_proj: only 0 is emulated.
        time_major: only ``True`` is emulated.
        activation: only ``"tanh"`` is emulated.
        forget_bias: added to the forget gate.
        is_training: without effect.
        name: name of the op.

    Returns:
        The outputs (0 after the end of a sequence), the outputs and states as carried on, the gates i, j, f and o, and
        tanh of the state; each ``[time, batch, hidden]``.
    """
    given = {
        "cell_type": cell_type,
        "cell_depth": cell_depth,
        "use_peephole": use_peephole,
        "keep_prob": keep_prob,
        "cell_clip": cell_clip,
        "num_proj": num_proj,
        "time_major": time_major,
        "activation": activation,
    }
    op_type = "DynamicRnnV2" if seq_length is None else "DynamicRnn"
    with Node(op_type, name) as node:
        x = node.tensor(x, "x", FLOATS)
        w, b, init_h, init_c = (
            node.like(value, x, argument)
            for value, argument in ((w, "w"), (b, "b"), (init_h, "init_h"), (init_c, "init_c"))
        )
        unsupported = _unsupported(given, direction, ("UNIDIRECTIONAL", "REDIRECTIONAL"))
        if unsupported:
            shape = [*x.shape.as_list()[:2], init_h.shape.as_list()[-1]]
            inputs = [x, w, b, init_h, init_c]
            return node.outputs(not_emulated.node(op_type, unsupported, inputs, 8 * [(x.dtype, shape)]))
        size = tf1().shape(x)[2]
        projected = tf1().tensordot(x, w[:size], 1) + b
        recurrent = w[size:]
        masks = _masks(x, seq_length)
        h, c = init_h[-1], init_c[-1]
        zero = tf1().zeros_like(c)

        def step(carried: typing.Sequence[typing.Any], item: typing.Sequence[typing.Any]) -> tuple[typing.Any, ...]:
            _, h, c = carried[:3]
            new_c, _, i, j, f, o, _ = _lstm(item[0] + tf1().matmul(h, recurrent), c, forget_bias)
            mask = item[1]
            new_c = c + mask * (new_c - c)
            tanh_c = tf1().tanh(new_c)
            y = o * tanh_c * mask
            return y, h + mask * (y - h), new_c, i, j, f, o, tanh_c

        return node.outputs(
            tf1().scan(
                step,
                (projected, masks),
                (zero, h, c, zero, zero, zero, zero, zero),
                reverse=direction == "REDIRECTIONAL",
            )
        )


def dynamic_rnn_v2(
    x: typing.Any,
    w: typing.Any,
    b: typing.Any,
    init_h: typing.Any,
    init_c: typing.Any,
    cell_type: str,
    direction: str,
    cell_depth: int = 1,
    use_peephole: bool = False,
    keep_prob: float = 1.0,
    cell_clip: float = -1.0,
    num_proj: int = 0,
    time_major: bool = True,
    activation: str = "tanh",
    forget_bias: float = 0.0,
    is_training: bool = True,
    name: str | None = None,
) -> list[typing.Any]:
    """As :func:`dynamic_rnn`, for sequences that are as long as the time."""
    return dynamic_rnn(
        x,
        w,
        b,
        None,
        init_h,
        init_c,
        cell_type,
        direction,
        cell_depth,
        use_peephole,
        keep_prob,
        cell_clip,
        num_proj,
        time_major,
        activation,
        forget_bias,
        is_training,
        name,
    )


def dynamic_gru_v2(
    x: typing.Any,
    weight_input: typing.Any,
    weight_hidden: typing.Any,
    bias_input: typing.Any,
    bias_hidden: typing.Any,
    seq_length: typing.Any,
    init_h: typing.Any,
    direction: str,
    cell_depth: int = 1,
    keep_prob: float = 1.0,
    cell_clip: float = -1.0,
    num_proj: int = 0,
    time_major: bool = True,
    activation: str = "tanh",
    gate_order: str = "zrh",
    reset_after: bool = True,
    is_training: bool = True,
    name: str | None = None,
) -> list[typing.Any]:
    """A GRU over sequences, whose reset gate acts after the product with the weights.

    Args:
        x: input, ``[time, batch, input]``, float16 or float32.
        weight_input: ``[input, 3 hidden]``, for the gates of ``gate_order``.
        weight_hidden: ``[hidden, 3 hidden]``.
        bias_input: ``[3 hidden]``.
        bias_hidden: ``[3 hidden]``.
        seq_length: length of each sequence, int32 ``[batch]``.
        init_h: output before the first step, ``[batch, hidden]`` or ``[1, batch, hidden]``.
        direction: only ``"UNIDIRECTIONAL"`` is emulated.
        cell_depth: only 1 is emulated.
        keep_prob: only 1 is emulated.
        cell_clip: only -1, which does not clip, is emulated.
        num_proj: only 0 is emulated.
        time_major: only ``True`` is emulated.
        activation: only ``"tanh"`` is emulated.
        gate_order: ``"zrh"`` or ``"rzh"``: update, reset and candidate among the weights.
        reset_after: only ``True`` is emulated.
        is_training: without effect.
        name: name of the op.

    Returns:
        The outputs, twice, the update and reset gates, the candidate, and the recurrent part of the candidate; each
        ``[time, batch, hidden]``.
    """
    given = {
        "cell_depth": cell_depth,
        "keep_prob": keep_prob,
        "cell_clip": cell_clip,
        "num_proj": num_proj,
        "time_major": time_major,
        "activation": activation,
        "reset_after": reset_after,
    }
    arguments = (x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h)
    return _gru("DynamicGruV2", arguments, None, gate_order, _unsupported(given, direction), name)


def dynamic_augru(
    x: typing.Any,
    weight_input: typing.Any,
    weight_hidden: typing.Any,
    weight_att: typing.Any,
    bias_input: typing.Any,
    bias_hidden: typing.Any,
    seq_length: typing.Any,
    init_h: typing.Any,
    direction: str,
    cell_depth: int = 1,
    keep_prob: float = 1.0,
    cell_clip: float = -1.0,
    num_proj: int = 0,
    time_major: bool = True,
    activation: str = "tanh",
    gate_order: str = "zrh",
    reset_after: bool = True,
    is_training: bool = True,
    name: str | None = None,
) -> list[typing.Any]:
    """As :func:`dynamic_gru_v2`, with an update gate that attention weakens.

    Args:
        weight_att: attention of each step, ``[time, batch]``, 0 to 1: the update gate times ``1 - attention`` is what
            the state keeps.

    Returns:
        As :func:`dynamic_gru_v2`, with the weakened update gate after the update gate.
    """
    given = {
        "cell_depth": cell_depth,
        "keep_prob": keep_prob,
        "cell_clip": cell_clip,
        "num_proj": num_proj,
        "time_major": time_major,
        "activation": activation,
        "reset_after": reset_after,
    }
    arguments = (x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h)
    return _gru("DynamicAUGRU", arguments, weight_att, gate_order, _unsupported(given, direction), name)


def _lstm(gates: typing.Any, c: typing.Any, forget_bias: float) -> list[typing.Any]:
    i, j, f, o = tf1().split(gates, 4, axis=1)
    i, j, f, o = tf1().sigmoid(i), tf1().tanh(j), tf1().sigmoid(f + forget_bias), tf1().sigmoid(o)
    new_c = c * f + i * j
    tanh_c = tf1().tanh(new_c)
    return [new_c, tanh_c * o, i, j, f, o, tanh_c]


def _gru(
    op_type: str,
    arguments: tuple[typing.Any, ...],
    attention: typing.Any,
    gate_order: str,
    unsupported: str,
    name: str | None,
) -> list[typing.Any]:
    x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h = arguments
    if gate_order not in ("zrh", "rzh"):
        raise ValueError(f"{op_type}: gate_order={gate_order!r}; it is 'zrh' or 'rzh'")
    with Node(op_type, name) as node:
        x = node.tensor(x, "x", FLOATS)
        weight_input, weight_hidden, bias_input, bias_hidden, init_h = (
            node.like(value, x, argument)
            for value, argument in (
                (weight_input, "weight_input"),
                (weight_hidden, "weight_hidden"),
                (bias_input, "bias_input"),
                (bias_hidden, "bias_hidden"),
                (init_h, "init_h"),
            )
        )
        if attention is not None:
            attention = node.like(attention, x, "weight_att")
        if unsupported:
            shape = [*x.shape.as_list()[:2], weight_hidden.shape.as_list()[0]]
            inputs = [x, weight_input, weight_hidden, bias_input, bias_hidden, init_h]
            count = 6 if attention is None else 7
            return node.outputs(not_emulated.node(op_type, unsupported, inputs, count * [(x.dtype, shape)]))
        projected = tf1().tensordot(x, weight_input, 1) + bias_input
        items = [projected, _masks(x, seq_length)]
        if attention is not None:
            items.append(tf1().expand_dims(attention, -1))
        h = init_h[-1] if init_h.shape.ndims == 3 else init_h
        zero = tf1().zeros_like(h)
        update, reset = (0, 1) if gate_order == "zrh" else (1, 0)

        def step(carried: typing.Sequence[typing.Any], item: typing.Sequence[typing.Any]) -> tuple[typing.Any, ...]:
            h = carried[0]
            inputs = tf1().split(item[0], 3, axis=1)
            hidden = tf1().split(tf1().matmul(h, weight_hidden) + bias_hidden, 3, axis=1)
            z = tf1().sigmoid(inputs[update] + hidden[update])
            r = tf1().sigmoid(inputs[reset] + hidden[reset])
            candidate = tf1().tanh(inputs[2] + r * hidden[2])
            kept = z if attention is None else (1 - item[2]) * z
            new_h = candidate + kept * (h - candidate)
            new_h = h + item[1] * (new_h - h)
            gates = (z,) if attention is None else (z, kept)
            return (new_h, *gates, r, candidate, hidden[2])

        count = 5 if attention is None else 6
        results = tf1().scan(step, tuple(items), (h, *((count - 1) * [zero])))
        return node.outputs([results[0], *results])


def _masks(x: typing.Any, seq_length: typing.Any) -> typing.Any:
    """Return for each step and sequence whether it lies within the sequence's length, ``[time, batch, 1]``."""
    time, batch = tf1().shape(x)[0], tf1().shape(x)[1]
    if seq_length is None:
        return tf1().ones(tf1().stack([time, batch, 1]), x.dtype)
    lengths = tf1().cast(tf1().convert_to_tensor(seq_length), tf1().int32)
    within = tf1().range(time)[:, None] < lengths[None, :]
    return tf1().cast(within, x.dtype)[:, :, None]


def _unsupported(
    given: typing.Mapping[str, typing.Any],
    direction: str = "UNIDIRECTIONAL",
    directions: typing.Sequence[str] = ("UNIDIRECTIONAL",),
) -> str:
    """Return what is given that has no emulation, as a clause, empty when there is nothing."""
    found = [f"{name}={value!r}" for name, value in given.items() if not _supports(name, value)]
    if direction not in directions:
        found.append(f"direction={direction!r}")
    return "was given {}, which the vendor's reference does not describe".format(", ".join(found)) if found else ""


def _supports(name: str, value: typing.Any) -> bool:
    if name == "cell_clip":
        return bool(value <= 0)
    return bool(value == _SUPPORTED[name])
