import typing

def embedding_hashtable_lookup_or_insert(
    table_handle: typing.Any,
    keys: typing.Any,
    bucket_size: typing.Any,
    embedding_dim: typing.Any,
    filter_mode: typing.Any,
    filter_freq: typing.Any,
    default_key_or_value: typing.Any,
    default_key: typing.Any,
    default_value: typing.Any,
    filter_key_flag: typing.Any,
    filter_key: typing.Any,
) -> typing.Any: ...
def embeddingrankid(
    addr_tensor: typing.Any, index: typing.Any, row_memory: int = 320, mode: str = "mod"
) -> typing.Any: ...
def embedding_local_index(
    addr_tensor: typing.Any, index: typing.Any, row_memory: int = 320, mode: str = "mod"
) -> typing.Any: ...
def randomchoicewithmask(x: typing.Any, count: typing.Any, seed: int = 0, seed2: int = 0) -> typing.Any: ...
def dense_image_warp(image: typing.Any, flow: typing.Any, name: str | None = None) -> typing.Any: ...
def stateless_dropout(
    x: typing.Any, noise_shape: typing.Any, p: typing.Any, seed: typing.Any, offset: typing.Any
) -> typing.Any: ...
def dense_image_warp_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]: ...
def batch_enqueue(
    x: typing.Any,
    queue_id: int = 0,
    batch_size: int = 8,
    queue_name: str = "",
    queue_depth: int = 100,
    pad_mode: str = "REPLICATE",
) -> typing.Any: ...
def ocr_recognition_pre_handle(
    imgs_data: typing.Any,
    imgs_offset: typing.Any,
    imgs_size: typing.Any,
    langs: typing.Any,
    langs_score: typing.Any,
    batch_size: int = 8,
    data_format: str = "NHWC",
    pad_mode: str = "REPLICATE",
) -> typing.Any: ...
def ocr_detection_pre_handle(img: typing.Any, data_format: str = "NHWC") -> typing.Any: ...
def ocr_identify_pre_handle(
    imgs_data: typing.Any, imgs_offset: typing.Any, imgs_size: typing.Any, size: typing.Any, data_format: str = "NHWC"
) -> typing.Any: ...
def batch_dilate_polys(
    polys_data: typing.Any,
    polys_offset: typing.Any,
    polys_size: typing.Any,
    score: typing.Any,
    min_border: typing.Any,
    min_area_thr: typing.Any,
    score_thr: typing.Any,
    expand_scale: typing.Any,
) -> typing.Any: ...
def ocr_find_contours(img: typing.Any, value_mode: int = 0) -> typing.Any: ...
def dequeue(
    queue_id: typing.Any, output_type: typing.Any, output_shape: typing.Any, queue_name: str = ""
) -> typing.Any: ...
def ocr_detection_post_handle(
    img: typing.Any, polys_data: typing.Any, polys_offset: typing.Any, polys_size: typing.Any, data_format: str = "NHWC"
) -> typing.Any: ...
def warp_affine_v2(
    x: typing.Any,
    matrix: typing.Any,
    dst_size: typing.Any,
    interploation: str = "INTEL_BILINEAR",
    border_type: str = "BORDER_CONSTANT",
    border_value: int = 0,
) -> typing.Any: ...
def resize_v2(x: typing.Any, dst_size: typing.Any, interploation: str = "INTEL_BILINEAR") -> typing.Any: ...
def resize_and_clip_polys(
    polys_data: typing.Any,
    polys_offset: typing.Any,
    polys_size: typing.Any,
    h_scale: typing.Any,
    w_scale: typing.Any,
    img_h: typing.Any,
    img_w: typing.Any,
) -> typing.Any: ...
def non_zero_with_value_shape(value: typing.Any, index: typing.Any, count: typing.Any) -> typing.Any: ...
def non_zero_with_value_shape_v2(value: typing.Any, index: typing.Any, count: typing.Any) -> typing.Any: ...
def host_feature_mapping(
    feature_id: typing.Any, threshold: int = 1, table_name: str = "default_table_name"
) -> typing.Any: ...
def device_feature_mapping(feature_id: typing.Any) -> typing.Any: ...
def init_embedding_hashmap_v2(
    table_id: typing.Any, bucket_size: typing.Any, load_factor: typing.Any, embedding_dim: typing.Any, dtype: typing.Any
) -> typing.Any: ...
def deinit_embedding_hashmap_v2(table_id: typing.Any) -> typing.Any: ...
def table_to_resource_v2(
    table_id: typing.Any, bucket_size: typing.Any, load_factor: typing.Any, embedding_dim: typing.Any, dtype: typing.Any
) -> typing.Any: ...
def embedding_hashmap_table_size_v2(
    table_ids: typing.Any, filter_export_flag: typing.Any, export_mode: typing.Any
) -> typing.Any: ...
def embedding_hashmap_export_v2(
    file_path: typing.Any,
    table_ids: typing.Any,
    table_names: typing.Any,
    global_step: typing.Any,
    keys: typing.Any,
    counters: typing.Any,
    filter_flag: typing.Any,
    values: typing.Any,
    num: typing.Any,
) -> typing.Any: ...
def embedding_hashmap_file_size_v2(
    file_path: typing.Any,
    table_ids: typing.Any,
    table_names: typing.Any,
    global_step: typing.Any,
    embedding_dims: typing.Any,
) -> typing.Any: ...
def embedding_hashmap_import_v2(
    file_path: typing.Any,
    table_ids: typing.Any,
    table_sizes: typing.Any,
    table_names: typing.Any,
    global_step: typing.Any,
    embedding_dims: typing.Any,
    num: typing.Any,
) -> typing.Any: ...
def init_embedding_hashtable(
    table_handle: typing.Any,
    sampled_values: typing.Any,
    bucket_size: typing.Any,
    embedding_dim: typing.Any,
    initializer_mode: typing.Any,
    constant_value: typing.Any,
) -> typing.Any: ...
def embedding_hash_table_import(
    table_handles: typing.Any,
    embedding_dims: typing.Any,
    bucket_sizes: typing.Any,
    keys: typing.Any,
    counters: typing.Any,
    filter_flags: typing.Any,
    values: typing.Any,
) -> typing.Any: ...
def stateless_random_choice_with_mask(
    x: typing.Any, count: typing.Any, seed: typing.Any, offset: typing.Any
) -> typing.Any: ...
def embedding_hash_table_export(
    table_handles: typing.Any,
    table_sizes: typing.Any,
    embedding_dims: typing.Any,
    bucket_sizes: typing.Any,
    export_mode: str = "all",
    filter_export_flag: bool = False,
) -> typing.Any: ...
def embedding_hashtable_apply_adam_w(
    table_handle: typing.Any,
    keys: typing.Any,
    m: typing.Any,
    v: typing.Any,
    beta1_power: typing.Any,
    beta2_power: typing.Any,
    lr: typing.Any,
    weight_decay: typing.Any,
    beta1: typing.Any,
    beta2: typing.Any,
    epsilon: typing.Any,
    grad: typing.Any,
    max_grad_norm: typing.Any,
    embedding_dim: typing.Any,
    bucket_size: typing.Any,
    amsgrad: typing.Any,
    maximize: typing.Any,
) -> typing.Any: ...
