"""Layers over sequences: LSTM, GRU and GRU with attention."""

from __future__ import annotations

import math
import typing

from tensorflow.python.layers import base as base_layer

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as gen_npu_ops

DYNAMIC_RNN_UNIDIRECTION = "UNIDIRECTIONAL"
DYNAMIC_RNN_BIDIRECTION = "BIDIRECTIONAL"
DYNAMIC_RNN_REDIRECTIONAL = "REDIRECTIONAL"

#: Size of the batch that a layer supposes where it is not known, as the adapter does.
_BATCH = 16


class _DynamicBasic(base_layer.Layer):
    """What the layers have in common.

    Args:
        hidden_size: size of the output.
        dtype: of weights and outputs, float16 or float32.
        direction: from the first step on, or both ways.
        cell_depth: only 1 is emulated.
        keep_prob: only 1 is emulated.
        cell_clip: only -1, which does not clip, is emulated.
        num_proj: only 0 is emulated.
        time_major: only ``True`` is emulated.
        activation: only ``"tanh"`` is emulated.
        is_training: without effect.
    """

    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        is_training: bool = True,
        **more: typing.Any,
    ) -> None:
        super().__init__()
        self._hidden_size = hidden_size
        self._type = tf1().as_dtype(dtype)
        self._args: dict[str, typing.Any] = {
            "direction": direction,
            "cell_depth": cell_depth,
            "keep_prob": keep_prob,
            "cell_clip": cell_clip,
            "num_proj": num_proj,
            "time_major": time_major,
            "activation": activation,
            "is_training": is_training,
            **more,
        }
        self._seq_length: typing.Any = None

    @property
    def direction(self) -> str:
        """The direction."""
        return str(self._args["direction"])

    @property
    def cell_depth(self) -> int:
        """The number of layers."""
        return int(self._args["cell_depth"])

    @property
    def keep_prob(self) -> float:
        """The probability of dropout to keep a number."""
        return float(self._args["keep_prob"])

    @property
    def cell_clip(self) -> float:
        """Where the state is clipped."""
        return float(self._args["cell_clip"])

    @property
    def num_proj(self) -> int:
        """The size of the projection."""
        return int(self._args["num_proj"])

    @property
    def time_major(self) -> bool:
        """Whether time is the first axis."""
        return bool(self._args["time_major"])

    @property
    def activation(self) -> str:
        """The activation."""
        return str(self._args["activation"])

    @property
    def is_training(self) -> bool:
        """Whether the layer is trained."""
        return bool(self._args["is_training"])

    def check_direction(self) -> None:
        """Refuse other directions with a ValueError."""
        if self.direction not in (DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_BIDIRECTION):
            raise ValueError(
                f"direction={self.direction!r}; it is {DYNAMIC_RNN_UNIDIRECTION} or {DYNAMIC_RNN_BIDIRECTION}"
            )

    def build(self, input_shape: typing.Any) -> None:
        """Make the lengths of sequences that count where none are given: the whole time."""
        time, batch, _ = _lengths(input_shape)
        self._seq_length = self.add_weight(
            "dynamicbase/seq_length",
            shape=[batch or _BATCH],
            dtype=tf1().int32,
            initializer=tf1().constant_initializer(time or 1, dtype=tf1().int32),
            trainable=False,
        )
        super().build(input_shape)

    def _weights(
        self, prefix: str, shapes: typing.Mapping[str, typing.Sequence[int]], initializer: object
    ) -> dict[str, typing.Any]:
        return {
            name: self.add_weight(f"{prefix}/{name}", shape=shape, dtype=self._type, initializer=initializer)
            for name, shape in shapes.items()
        }


class _Gru(_DynamicBasic):
    """What the two GRU layers have in common.

    Args:
        hidden_size: size of the output.
        dtype: of weights and outputs, float16 or float32.
        direction: only ``"UNIDIRECTIONAL"`` is emulated.
        cell_depth: only 1 is emulated.
        keep_prob: only 1 is emulated.
        cell_clip: only -1, which does not clip, is emulated.
        num_proj: only 0 is emulated.
        time_major: only ``True`` is emulated.
        activation: only ``"tanh"`` is emulated.
        gate_order: ``"zrh"`` or ``"rzh"``: update, reset and candidate among the weights.
        reset_after: only ``True``, the reset gate acts after the product with the weights, is emulated.
        is_training: without effect.
    """

    #: Scope of the weights.
    _PREFIX = ""

    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "zrh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            hidden_size, dtype, direction, cell_depth, keep_prob, cell_clip, num_proj, time_major, activation,
            is_training, gate_order=gate_order, reset_after=reset_after,
        )  # fmt: skip

    @property
    def gate_order(self) -> str:
        """The order of the gates among the weights."""
        return str(self._args["gate_order"])

    @property
    def reset_after(self) -> bool:
        """Whether the reset gate acts after the product with the weights."""
        return bool(self._args["reset_after"])

    def build(self, input_shape: typing.Any) -> None:
        """Make the weights, uniform between plus and minus ``1 / sqrt(hidden_size)``."""
        _, batch, size = _lengths(input_shape)
        bound = 1 / math.sqrt(self._hidden_size)
        gates = 3 * self._hidden_size
        shapes = {
            "weight_input": [size, gates],
            "weight_hidden": [self._hidden_size, gates],
            "bias_input": [gates],
            "bias_hidden": [gates],
        }
        self._gates = self._weights(self._PREFIX, shapes, tf1().random_uniform_initializer(-bound, bound))
        self._init_h = tf1().zeros([batch, self._hidden_size], dtype=self._type)
        super().build(input_shape)

    def _arguments(self, x: typing.Any, seq_length: typing.Any, init_h: typing.Any) -> dict[str, typing.Any]:
        self.check_direction()
        return {
            "x": x,
            "seq_length": self._seq_length if seq_length is None else seq_length,
            "init_h": self._init_h if init_h is None else init_h,
            **self._gates,
            **self._args,
        }


class DynamicGRUV2(_Gru):
    """A GRU over sequences ``[time, batch, input]``."""

    _PREFIX = "dynamicgruv2"

    def call(self, x: typing.Any, seq_length: typing.Any = None, init_h: typing.Any = None) -> list[typing.Any]:
        """Return the outputs, twice, the update and reset gates, the candidate and its recurrent part."""
        return gen_npu_ops.dynamic_gru_v2(**self._arguments(x, seq_length, init_h))


class DynamicAUGRU(_Gru):
    """A GRU over sequences ``[time, batch, input]`` whose update gate attention weakens."""

    _PREFIX = "dynamicaugru"

    def call(
        self, x: typing.Any, weight_att: typing.Any, seq_length: typing.Any = None, init_h: typing.Any = None
    ) -> list[typing.Any]:
        """As of :class:`DynamicGRUV2`, with the weakened update gate; ``weight_att`` is ``[time, batch]``, 0 to 1."""
        return gen_npu_ops.dynamic_augru(weight_att=weight_att, **self._arguments(x, seq_length, init_h))


class DynamicRNN(_DynamicBasic):
    """An LSTM over sequences ``[time, batch, input]``, in one direction or both.

    Args:
        hidden_size: size of the output.
        dtype: of weights and outputs, float16 or float32.
        cell_type: only ``"LSTM"`` is emulated.
        direction: ``"UNIDIRECTIONAL"`` or ``"BIDIRECTIONAL"``.
        cell_depth: only 1 is emulated.
        use_peephole: only ``False`` is emulated.
        keep_prob: only 1 is emulated.
        cell_clip: only -1, which does not clip, is emulated.
        num_proj: only 0 is emulated.
        time_major: only ``True`` is emulated.
        activation: only ``"tanh"`` is emulated.
        forget_bias: added to the forget gate.
        is_training: without effect.
    """

    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        cell_type: str = "LSTM",
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            hidden_size, dtype, direction, cell_depth, keep_prob, cell_clip, num_proj, time_major, activation,
            is_training, cell_type=cell_type, use_peephole=use_peephole, forget_bias=forget_bias,
        )  # fmt: skip

    @property
    def cell_type(self) -> str:
        """The type of the cell."""
        return str(self._args["cell_type"])

    @property
    def use_peephole(self) -> bool:
        """Whether the gates see the state."""
        return bool(self._args["use_peephole"])

    @property
    def forget_bias(self) -> float:
        """What is added to the forget gate."""
        return float(self._args["forget_bias"])

    def build(self, input_shape: typing.Any) -> None:
        """Make the weights, by Glorot's rule, and the biases, zero; two of each for both directions."""
        size = _lengths(input_shape)[2]
        twice = [2] if self.direction == DYNAMIC_RNN_BIDIRECTION else []
        gates = 4 * self._hidden_size
        glorot = tf1().glorot_uniform_initializer(seed=10, dtype=self._type)
        zeros = tf1().zeros_initializer(dtype=self._type)
        self._rnn_w = self._weights("dynamicrnn", {"w": [*twice, size + self._hidden_size, gates]}, glorot)["w"]
        self._rnn_b = self._weights("dynamicrnn", {"b": [*twice, gates]}, zeros)["b"]
        super().build(input_shape)

    def call(
        self,
        x: typing.Any,
        seq_length: typing.Any = None,
        init_h: typing.Any = None,
        init_c: typing.Any = None,
        weight: typing.Any = None,
        bias: typing.Any = None,
    ) -> list[typing.Any]:
        """Return outputs, outputs and states as carried on, the gates i, j, f and o, and tanh of the states.

        With two directions each has a first axis of 2.
        """
        self.check_direction()
        both = self.direction == DYNAMIC_RNN_BIDIRECTION
        shape = [2 if both else 1, tf1().dimension_value(x.shape[1]) or tf1().shape(x)[1], self._hidden_size]
        init_h = tf1().zeros(shape, dtype=self._type) if init_h is None else init_h
        init_c = tf1().zeros(shape, dtype=self._type) if init_c is None else init_c
        weight = self._rnn_w if weight is None else weight
        bias = self._rnn_b if bias is None else bias
        if not both:
            return self._one_way(x, weight, bias, seq_length, init_h, init_c, DYNAMIC_RNN_UNIDIRECTION)
        ways = [
            self._one_way(x, weight[k], bias[k], seq_length, init_h[k : k + 1], init_c[k : k + 1], direction)
            for k, direction in enumerate((DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_REDIRECTIONAL))
        ]
        return [tf1().stack(pair) for pair in zip(*ways)]

    def _one_way(
        self,
        x: typing.Any,
        weight: typing.Any,
        bias: typing.Any,
        seq_length: typing.Any,
        init_h: typing.Any,
        init_c: typing.Any,
        direction: str,
    ) -> list[typing.Any]:
        arguments = {**self._args, "direction": direction}
        if seq_length is None:
            return gen_npu_ops.dynamic_rnn_v2(x, weight, bias, init_h, init_c, **arguments)
        return gen_npu_ops.dynamic_rnn(x, weight, bias, seq_length, init_h, init_c, **arguments)


def _lengths(shape: typing.Any) -> tuple[int | None, int | None, int]:
    """Return time, batch and input size of a shape; ValueError when the last is not known."""
    time, batch, size = tf1().TensorShape(shape).as_list()
    if size is None:
        raise ValueError(f"the size of the input, the last axis, must be known; the shape is {shape}")
    return time, batch, size
