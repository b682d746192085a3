import typing

def NPUInit(name: str | None = None) -> typing.Any: ...
def NPUShutdown(name: str | None = None) -> typing.Any: ...
def initialize_system(name: str | None = None) -> typing.Any: ...
def shutdown_system(name: str | None = None) -> typing.Any: ...
def LARS(
    inputs_w: typing.Sequence[typing.Any],
    inputs_g: typing.Sequence[typing.Any],
    weight_decay: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> list[typing.Any]: ...
def LARSV2(
    input_weight: typing.Any,
    input_grad: typing.Any,
    weight_decay: typing.Any,
    learning_rate: typing.Any,
    hyperpara: float = 0.001,
    epsilon: float = 1e-05,
    use_clip: bool = False,
    name: str | None = None,
) -> typing.Any: ...
def outfeed_dequeue_op(
    channel_name: str,
    output_types: typing.Sequence[typing.Any],
    output_shapes: typing.Sequence[typing.Any],
    name: str | None = None,
) -> typing.Any: ...
def outfeed_enqueue_op(
    channel_name: str, inputs: typing.Sequence[typing.Any], name: str | None = None
) -> typing.Any: ...
def stop_outfeed_dequeue_op(channel_name: str, name: str | None = None) -> typing.Any: ...
def dropout(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> typing.Any: ...
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
) -> list[typing.Any]: ...
def basic_lstm_cell_grad(
    op: typing.Any,
    dct: typing.Any,
    dht: typing.Any,
    dit: typing.Any,
    djt: typing.Any,
    dft: typing.Any,
    dot: typing.Any,
    dtanhct: typing.Any,
) -> list[typing.Any]: ...
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
) -> typing.Any: ...
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
) -> typing.Any: ...
def dynamic_gru_v2_grad(
    op: typing.Any,
    dy: typing.Any,
    doutput_h: typing.Any,
    dupdate: typing.Any,
    dreset: typing.Any,
    dnew: typing.Any,
    dhidden_new: typing.Any,
) -> tuple[typing.Any, ...]: ...
def dynamic_augru_grad(
    op: typing.Any,
    dy: typing.Any,
    doutput_h: typing.Any,
    dupdate: typing.Any,
    dupdate_att: typing.Any,
    dreset: typing.Any,
    dnew: typing.Any,
    dhidden_new: typing.Any,
) -> tuple[typing.Any, ...]: ...
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
) -> tuple[typing.Any, ...]: ...
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
) -> tuple[typing.Any, ...]: ...
def scatter_elements(
    data: typing.Any, indices: typing.Any, updates: typing.Any, axis: int = 0, name: str | None = None
) -> typing.Any: ...
def k_means_centroids(
    x: typing.Any,
    y: typing.Any,
    sum_square_y: typing.Any,
    sum_square_x: typing.Any,
    use_actual_distance: bool = False,
    name: str | None = None,
) -> list[typing.Any]: ...
def npu_onnx_graph_op(
    inputs: typing.Sequence[typing.Any], tout: typing.Sequence[typing.Any], model_path: str, name: str | None = None
) -> typing.Any: ...
def channel_get_next(
    channel_name: str, output_types: typing.Sequence[typing.Any], output_shapes: typing.Sequence[typing.Any]
) -> typing.Any: ...
