"""Recurrent networks from TensorFlow's cells."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1


def npu_dynamic_rnn(
    cell: typing.Any,
    inputs: typing.Any,
    initial_state: typing.Any = None,
    dtype: typing.Any = None,
    sequence_length: typing.Any = None,
    scope: typing.Any = None,
) -> tuple[typing.Any, typing.Any]:
    """Run a cell over time.

    Args:
        cell: an RNNCell.
        inputs: ``[time, batch, input]`` with a known time.
        initial_state: state before the first step; zeros by default.
        dtype: of the state and the outputs, needed without ``initial_state``.
        sequence_length: length of each sequence, ``[batch]``.
        scope: variable scope, ``"rnn"`` by default.

    Returns:
        The outputs, ``[time, batch, output]``, and the last state.
    """
    outputs, state = tf1().nn.static_rnn(
        cell,
        tf1().unstack(inputs, axis=0),
        initial_state=initial_state,
        dtype=dtype,
        sequence_length=sequence_length,
        scope=scope,
    )
    return tf1().stack(outputs, axis=0), state
