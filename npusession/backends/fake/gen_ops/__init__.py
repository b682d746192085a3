"""What stands in for the library of the adapter's ops: a function for each, under the name that TensorFlow gives it.

``npu_bridge.helper.helper.get_gen_ops()`` returns this package. What has a meaning on the CPU is computed there by the
vendor's formula; the rest builds nodes that fail when they are run.
"""

from __future__ import annotations

import typing

from ..npu_ops import initialize_system as npu_init
from ..npu_ops import shutdown_system as npu_shutdown
from . import missing
from .activations import fast_gelu, fast_gelu_grad, fast_gelu_v2, gelu, gelu_grad, p_relu, p_relu_grad
from .dropout import (
    drop_out_do_mask,
    drop_out_do_mask_v3,
    drop_out_gen_mask,
    drop_out_gen_mask_v3,
    drop_out_gen_mask_v4,
)
from .float_status import (
    npu_alloc_float_status,
    npu_clear_float_status,
    npu_clear_float_status_v2,
    npu_get_float_status,
    npu_get_float_status_v2,
)
from .hcom import (
    hcom_all_gather,
    hcom_all_reduce,
    hcom_all_to_all_v,
    hcom_all_to_all_vc,
    hcom_broadcast,
    hcom_receive,
    hcom_reduce,
    hcom_reduce_scatter,
    hcom_send,
)
from .images import (
    decode_and_crop_and_resize_jpeg,
    decode_and_resize_jpeg,
    decode_image_v3,
    deformable_offsets,
    deformable_offsets_grad,
    dense_image_warp,
    dense_image_warp_grad,
)
from .indexing import (
    file_constant,
    get_shape,
    k_means_centroids,
    k_means_centroids_v2,
    non_zero,
    random_choice_with_mask,
    scatter_elements,
)
from .normalization import centralization, fused_layer_norm
from .recurrent import basic_lstm_cell, dynamic_augru, dynamic_gru_v2, dynamic_rnn, dynamic_rnn_v2
from .updates import (
    adam_apply_one_assign,
    adam_apply_one_with_decay_assign,
    lamb_apply_optimizer_assign,
    lamb_apply_weight_assign,
    lars,
    lars_v2,
)

__all__ = [
    "adam_apply_one_assign",
    "adam_apply_one_with_decay_assign",
    "basic_lstm_cell",
    "centralization",
    "decode_and_crop_and_resize_jpeg",
    "decode_and_resize_jpeg",
    "decode_image_v3",
    "deformable_offsets",
    "deformable_offsets_grad",
    "dense_image_warp",
    "dense_image_warp_grad",
    "drop_out_do_mask",
    "drop_out_do_mask_v3",
    "drop_out_gen_mask",
    "drop_out_gen_mask_v3",
    "drop_out_gen_mask_v4",
    "dynamic_augru",
    "dynamic_gru_v2",
    "dynamic_rnn",
    "dynamic_rnn_v2",
    "fast_gelu",
    "fast_gelu_grad",
    "fast_gelu_v2",
    "file_constant",
    "fused_layer_norm",
    "gelu",
    "gelu_grad",
    "get_shape",
    "hcom_all_gather",
    "hcom_all_reduce",
    "hcom_all_to_all_v",
    "hcom_all_to_all_vc",
    "hcom_broadcast",
    "hcom_receive",
    "hcom_reduce",
    "hcom_reduce_scatter",
    "hcom_send",
    "k_means_centroids",
    "k_means_centroids_v2",
    "lamb_apply_optimizer_assign",
    "lamb_apply_weight_assign",
    "lars",
    "lars_v2",
    "non_zero",
    "npu_alloc_float_status",
    "npu_clear_float_status",
    "npu_clear_float_status_v2",
    "npu_get_float_status",
    "npu_get_float_status_v2",
    "npu_init",
    "npu_shutdown",
    "p_relu",
    "p_relu_grad",
    "random_choice_with_mask",
    "scatter_elements",
]

_MISSING = missing.ops()


def __getattr__(name: str) -> typing.Callable[..., typing.Any]:
    if name in _MISSING:
        return _MISSING[name]
    raise AttributeError(f"the adapter's library has no op {name!r}, or the emulation does not know it")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MISSING])
