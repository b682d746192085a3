import typing

from tensorflow.python.layers import base as base_layer

DYNAMIC_RNN_UNIDIRECTION: str
DYNAMIC_RNN_BIDIRECTION: str
DYNAMIC_RNN_REDIRECTIONAL: str

class _DynamicBasic(base_layer.Layer):
    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        direction: str = ...,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        is_training: bool = True,
        **more: typing.Any,
    ) -> None: ...
    @property
    def direction(self) -> str: ...
    @property
    def cell_depth(self) -> int: ...
    @property
    def keep_prob(self) -> float: ...
    @property
    def cell_clip(self) -> float: ...
    @property
    def num_proj(self) -> int: ...
    @property
    def time_major(self) -> bool: ...
    @property
    def activation(self) -> str: ...
    @property
    def is_training(self) -> bool: ...
    def check_direction(self) -> None: ...
    def build(self, input_shape: typing.Any) -> None: ...

class _Gru(_DynamicBasic):
    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        direction: str = ...,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "zrh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None: ...
    @property
    def gate_order(self) -> str: ...
    @property
    def reset_after(self) -> bool: ...
    def build(self, input_shape: typing.Any) -> None: ...

class DynamicGRUV2(_Gru):
    def call(self, x: typing.Any, seq_length: typing.Any = None, init_h: typing.Any = None) -> list[typing.Any]: ...

class DynamicAUGRU(_Gru):
    def call(
        self, x: typing.Any, weight_att: typing.Any, seq_length: typing.Any = None, init_h: typing.Any = None
    ) -> list[typing.Any]: ...

class DynamicRNN(_DynamicBasic):
    def __init__(
        self,
        hidden_size: int,
        dtype: typing.Any,
        cell_type: str = "LSTM",
        direction: str = ...,
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None: ...
    @property
    def cell_type(self) -> str: ...
    @property
    def use_peephole(self) -> bool: ...
    @property
    def forget_bias(self) -> float: ...
    def build(self, input_shape: typing.Any) -> None: ...
    def call(
        self,
        x: typing.Any,
        seq_length: typing.Any = None,
        init_h: typing.Any = None,
        init_c: typing.Any = None,
        weight: typing.Any = None,
        bias: typing.Any = None,
    ) -> list[typing.Any]: ...
