"""Ops that open and close the runtime, and ops for training."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as gen_npu_ops
from npusession.backends.fake import npu_ops as lifecycle
from npusession.backends.fake.gen_ops._gradients import attributes, recomputed
from npusession.backends.fake.gen_ops._node import graph_only
from npusession.backends.fake.gen_ops.dropout import drop_out

_SEQUENCE = ("direction", "cell_depth", "keep_prob", "cell_clip", "num_proj", "time_major")


def NPUInit(name: str | None = None) -> typing.Any:
    """Return an op that initialises the runtime when it is run; RuntimeError when TensorFlow executes eagerly."""
    return lifecycle.initialize_system(name)


def NPUShutdown(name: str | None = None) -> typing.Any:
    """Return an op that finalises the runtime when it is run; RuntimeError when TensorFlow executes eagerly."""
    return lifecycle.shutdown_system(name)


def initialize_system(name: str | None = None) -> typing.Any:
    """Return an op that initialises the runtime when it is run; RuntimeError when TensorFlow executes eagerly."""
    return NPUInit(name)


def shutdown_system(name: str | None = None) -> typing.Any:
    """Return an op that finalises the runtime when it is run; RuntimeError when TensorFlow executes eagerly."""
    return NPUShutdown(name)


def LARS(
    inputs_w: typing.Sequence[typing.Any],
    inputs_g: typing.Sequence[typing.Any],
    weight_decay: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    name: str | None = None,
) -> list[typing.Any]:
    """Return the gradients of several weights, scaled by layer-wise adaptive rates."""
    graph_only("LARS")
    return gen_npu_ops.lars(inputs_w, inputs_g, weight_decay, hyperpara, epsilon, name)


def LARSV2(
    input_weight: typing.Any,
    input_grad: typing.Any,
    weight_decay: typing.Any,
    learning_rate: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    use_clip: bool = False,
    name: str | None = None,
) -> typing.Any:
    """Return the gradient of a weight, scaled by its layer-wise adaptive rate."""
    graph_only("LARSV2")
    return gen_npu_ops.lars_v2(
        input_weight, input_grad, weight_decay, learning_rate, hyperpara, epsilon, use_clip, name
    )


def outfeed_dequeue_op(
    channel_name: str,
    output_types: typing.Sequence[typing.Any],
    output_shapes: typing.Sequence[typing.Any],
    name: str | None = None,
) -> typing.Any:
    """Return what the device sends through a channel; not emulated."""
    return gen_npu_ops.outfeed_dequeue_op(channel_name, output_types, output_shapes, name)


def outfeed_enqueue_op(channel_name: str, inputs: typing.Sequence[typing.Any], name: str | None = None) -> typing.Any:
    """Send tensors from the device through a channel; not emulated."""
    return gen_npu_ops.outfeed_enqueue_op(inputs, channel_name, name)


def stop_outfeed_dequeue_op(channel_name: str, name: str | None = None) -> typing.Any:
    """End a channel; not emulated."""
    return gen_npu_ops.stop_outfeed_dequeue_op(channel_name, name)


def dropout(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> typing.Any:
    """Keep each number with the probability ``keep_prob``, divided by it; the others become 0.

    Raises:
        RuntimeError: TensorFlow executes eagerly.
        ValueError: ``x`` is no float, or ``keep_prob`` a number outside 0 .. 1.
    """
    graph_only("npu_ops.dropout")
    return drop_out(gen_npu_ops.drop_out_gen_mask, gen_npu_ops.drop_out_do_mask, x, keep_prob, noise_shape, seed, name)


def basic_lstm_cell(
    x: typing.Any,
    h: typing.Any,
    c: typing.Any,
    w: typing.Any,
    b: typing.Any,
    keep_prob: float,
    forget_bias: float,
    state_is_tuple: bool,
    activation: str,
    name: str | None = None,
) -> list[typing.Any]:
    """Return new state, new output, the gates i, j, f and o, and tanh of the state."""
    graph_only("basic_lstm_cell")
    return gen_npu_ops.basic_lstm_cell(x, h, c, w, b, keep_prob, forget_bias, state_is_tuple, activation, name)


def basic_lstm_cell_grad(
    op: typing.Any,
    dct: typing.Any,
    dht: typing.Any,
    dit: typing.Any,
    djt: typing.Any,
    dft: typing.Any,
    dot: typing.Any,
    dtanhct: typing.Any,
) -> list[typing.Any]:
    """Return the gradients of an op with the inputs and attributes of ``basic_lstm_cell``."""
    given = attributes(op, "keep_prob", "forget_bias", "activation")
    return recomputed(
        lambda *inputs: gen_npu_ops.basic_lstm_cell(*inputs, **given),
        op.inputs,
        (dct, dht, dit, djt, dft, dot, dtanhct),
    )


def adam_apply_one_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    mul0_x: typing.Any,
    mul1_x: typing.Any,
    mul2_x: typing.Any,
    mul3_x: typing.Any,
    add2_y: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Return the operation of one step of Adam, which assigns to the variables ``input1`` to ``input3``."""
    graph_only("adam_apply_one_assign")
    return gen_npu_ops.adam_apply_one_assign(
        input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, name
    )


def adam_apply_one_with_decay_assign(
    input0: typing.Any,
    input1: typing.Any,
    input2: typing.Any,
    input3: typing.Any,
    input4: typing.Any,
    mul0_x: typing.Any,
    mul1_x: typing.Any,
    mul2_x: typing.Any,
    mul3_x: typing.Any,
    mul4_x: typing.Any,
    add2_y: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """As :func:`adam_apply_one_assign`, with decay of the weight."""
    graph_only("adam_apply_one_with_decay_assign")
    return gen_npu_ops.adam_apply_one_with_decay_assign(
        input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, mul4_x, add2_y, name
    )


def dynamic_gru_v2_grad(
    op: typing.Any,
    dy: typing.Any,
    doutput_h: typing.Any,
    dupdate: typing.Any,
    dreset: typing.Any,
    dnew: typing.Any,
    dhidden_new: typing.Any,
) -> tuple[typing.Any, ...]:
    """Return the gradients of an op with the inputs and attributes of a GRU."""
    given = attributes(op, *_SEQUENCE, "gate_order", "reset_after")
    gradients = (dy, doutput_h, dupdate, dreset, dnew, dhidden_new)
    return tuple(recomputed(lambda *inputs: gen_npu_ops.dynamic_gru_v2(*inputs, **given), op.inputs, gradients))


def dynamic_augru_grad(
    op: typing.Any,
    dy: typing.Any,
    doutput_h: typing.Any,
    dupdate: typing.Any,
    dupdate_att: typing.Any,
    dreset: typing.Any,
    dnew: typing.Any,
    dhidden_new: typing.Any,
) -> tuple[typing.Any, ...]:
    """Return the gradients of an op with the inputs and attributes of a GRU with attention."""
    given = attributes(op, *_SEQUENCE, "gate_order", "reset_after")
    gradients = (dy, doutput_h, dupdate, dupdate_att, dreset, dnew, dhidden_new)
    return tuple(recomputed(lambda *inputs: gen_npu_ops.dynamic_augru(*inputs, **given), op.inputs, gradients))


def dynamic_rnn_grad(
    op: typing.Any,
    dy: typing.Any,
    dh: typing.Any,
    dc: typing.Any,
    di: typing.Any,
    dj: typing.Any,
    df: typing.Any,
    do: typing.Any,
    dtanhc: typing.Any,
) -> tuple[typing.Any, ...]:
    """Return the gradients of an op with the inputs and attributes of an LSTM over sequences."""
    given = attributes(op, *_SEQUENCE, "cell_type", "use_peephole", "forget_bias")
    gradients = (dy, dh, dc, di, dj, df, do, dtanhc)
    return tuple(recomputed(lambda *inputs: gen_npu_ops.dynamic_rnn(*inputs, **given), op.inputs, gradients))


def dynamic_rnn_v2_grad(
    op: typing.Any,
    dy: typing.Any,
    dh: typing.Any,
    dc: typing.Any,
    di: typing.Any,
    dj: typing.Any,
    df: typing.Any,
    do: typing.Any,
    dtanhc: typing.Any,
) -> tuple[typing.Any, ...]:
    """As :func:`dynamic_rnn_grad`, for an op without lengths of sequences."""
    given = attributes(op, *_SEQUENCE, "cell_type", "use_peephole", "forget_bias")
    gradients = (dy, dh, dc, di, dj, df, do, dtanhc)
    return tuple(recomputed(lambda *inputs: gen_npu_ops.dynamic_rnn_v2(*inputs, **given), op.inputs, gradients))


def scatter_elements(
    data: typing.Any, indices: typing.Any, updates: typing.Any, axis: int = 0, name: str | None = None
) -> typing.Any:
    """Return a copy of ``data`` with the elements at ``indices`` along ``axis`` replaced."""
    return gen_npu_ops.scatter_elements(data, indices, updates, axis, name)


def k_means_centroids(
    x: typing.Any,
    y: typing.Any,
    sum_square_y: typing.Any,
    sum_square_x: typing.Any,
    use_actual_distance: bool = False,
    name: str | None = None,
) -> list[typing.Any]:
    """Give each sample to its nearest centroid; distances are complete where ``sum_square_x`` is not ``None``."""
    graph_only("k_means_centroids")
    if sum_square_x is None:
        return gen_npu_ops.k_means_centroids_v2(x, y, sum_square_y, False, name)
    return gen_npu_ops.k_means_centroids(x, y, sum_square_y, sum_square_x, True, name)


def npu_onnx_graph_op(
    inputs: typing.Sequence[typing.Any], tout: typing.Sequence[typing.Any], model_path: str, name: str | None = None
) -> typing.Any:
    """Run an ONNX model on the device; not emulated."""
    return gen_npu_ops.npu_onnx_graph_op(inputs, tout, model_path, name)


def channel_get_next(
    channel_name: str, output_types: typing.Sequence[typing.Any], output_shapes: typing.Sequence[typing.Any]
) -> typing.Any:
    """Return what comes through a channel of the device; not emulated."""
    return gen_npu_ops.get_next(channel_name=channel_name, output_types=output_types, output_shapes=output_shapes)
