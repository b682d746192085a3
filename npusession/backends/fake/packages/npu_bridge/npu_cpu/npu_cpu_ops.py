"""Ops of the host of the device: warping, choices at random, embeddings, text in images."""

from __future__ import annotations

import typing

from npusession.backends.fake import gen_ops as gen_npu_cpu_ops


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
) -> typing.Any:
    """Look up rows of a hash table, and add those that are missing; not emulated."""
    return gen_npu_cpu_ops.embedding_hash_table_lookup_or_insert(
        table_handle=table_handle,
        keys=keys,
        bucket_size=bucket_size,
        embedding_dim=embedding_dim,
        filter_mode=filter_mode,
        filter_freq=filter_freq,
        default_key_or_value=default_key_or_value,
        default_key=default_key,
        default_value=default_value,
        filter_key_flag=filter_key_flag,
        filter_key=filter_key,
    )


def embeddingrankid(addr_tensor: typing.Any, index: typing.Any, row_memory: int = 320, mode: str = "mod") -> typing.Any:
    """Return the rank that has each row of an embedding; not emulated."""
    return gen_npu_cpu_ops.embedding_rank_id(addr_table=addr_tensor, index=index, row_memory=row_memory, mode=mode)


def embedding_local_index(
    addr_tensor: typing.Any, index: typing.Any, row_memory: int = 320, mode: str = "mod"
) -> typing.Any:
    """Return where each row of an embedding is on its rank; not emulated."""
    return gen_npu_cpu_ops.embedding_local_index(addr_table=addr_tensor, index=index, row_memory=row_memory, mode=mode)


def randomchoicewithmask(x: typing.Any, count: typing.Any, seed: int = 0, seed2: int = 0) -> typing.Any:
    """Choose ``count`` of the true elements of ``x`` at random, 0 for all of them.

    Returns:
        Their indices, int32 ``[count, rank]``, and whether each is a choice; zeros fill up.
    """
    return gen_npu_cpu_ops.random_choice_with_mask(x=x, count=count, seed=seed, seed2=seed2)


def dense_image_warp(image: typing.Any, flow: typing.Any, name: str | None = None) -> typing.Any:
    """Move the pixels of images by ``flow``, ``[batch, height, width, 2]``: how far up and to the left each looks."""
    return gen_npu_cpu_ops.dense_image_warp(image=image, flow=flow, name=name)


def stateless_dropout(
    x: typing.Any, noise_shape: typing.Any, p: typing.Any, seed: typing.Any, offset: typing.Any
) -> typing.Any:
    """Dropout with a state of the caller's; not emulated."""
    return gen_npu_cpu_ops.stateless_dropout(x=x, noise_shape=noise_shape, p=p, seed=seed, offset=offset)


def dense_image_warp_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]:
    """Return the gradients of an op with the inputs of ``dense_image_warp``."""
    return gen_npu_cpu_ops.dense_image_warp_grad(grad, op.inputs[0], op.inputs[1])


def batch_enqueue(
    x: typing.Any,
    queue_id: int = 0,
    batch_size: int = 8,
    queue_name: str = "",
    queue_depth: int = 100,
    pad_mode: str = "REPLICATE",
) -> typing.Any:
    """Gather images in a queue of the device; not emulated."""
    return gen_npu_cpu_ops.batch_enqueue(
        x=x, queue_id=queue_id, batch_size=batch_size, queue_name=queue_name, queue_depth=queue_depth, pad_mode=pad_mode
    )


def ocr_recognition_pre_handle(
    imgs_data: typing.Any,
    imgs_offset: typing.Any,
    imgs_size: typing.Any,
    langs: typing.Any,
    langs_score: typing.Any,
    batch_size: int = 8,
    data_format: str = "NHWC",
    pad_mode: str = "REPLICATE",
) -> typing.Any:
    """Prepare images for the recognition of text; not emulated."""
    return gen_npu_cpu_ops.ocr_recognition_pre_handle(
        imgs_data=imgs_data,
        imgs_offset=imgs_offset,
        imgs_size=imgs_size,
        langs=langs,
        langs_score=langs_score,
        batch_size=batch_size,
        data_format=data_format,
        pad_mode=pad_mode,
    )


def ocr_detection_pre_handle(img: typing.Any, data_format: str = "NHWC") -> typing.Any:
    """Prepare an image for the detection of text; not emulated."""
    return gen_npu_cpu_ops.ocr_detection_pre_handle(img=img, data_format=data_format)


def ocr_identify_pre_handle(
    imgs_data: typing.Any, imgs_offset: typing.Any, imgs_size: typing.Any, size: typing.Any, data_format: str = "NHWC"
) -> typing.Any:
    """Prepare images for the identification of text; not emulated."""
    return gen_npu_cpu_ops.ocr_identify_pre_handle(
        imgs_data=imgs_data, imgs_offset=imgs_offset, imgs_size=imgs_size, size=size, data_format=data_format
    )


def batch_dilate_polys(
    polys_data: typing.Any,
    polys_offset: typing.Any,
    polys_size: typing.Any,
    score: typing.Any,
    min_border: typing.Any,
    min_area_thr: typing.Any,
    score_thr: typing.Any,
    expand_scale: typing.Any,
) -> typing.Any:
    """Enlarge polygons; not emulated."""
    return gen_npu_cpu_ops.batch_dilate_polys(
        polys_data=polys_data,
        polys_offset=polys_offset,
        polys_size=polys_size,
        score=score,
        min_border=min_border,
        min_area_thr=min_area_thr,
        score_thr=score_thr,
        expand_scale=expand_scale,
    )


def ocr_find_contours(img: typing.Any, value_mode: int = 0) -> typing.Any:
    """Find the contours in an image; not emulated."""
    return gen_npu_cpu_ops.ocr_find_contours(img=img, value_mode=value_mode)


def dequeue(
    queue_id: typing.Any, output_type: typing.Any, output_shape: typing.Any, queue_name: str = ""
) -> typing.Any:
    """Take data from a queue of the device; not emulated."""
    return gen_npu_cpu_ops.dequeue(
        queue_id=queue_id, output_type=output_type, output_shape=output_shape, queue_name=queue_name
    )


def ocr_detection_post_handle(
    img: typing.Any, polys_data: typing.Any, polys_offset: typing.Any, polys_size: typing.Any, data_format: str = "NHWC"
) -> typing.Any:
    """Cut the polygons out of an image; not emulated."""
    return gen_npu_cpu_ops.ocr_detection_post_handle(
        img=img, polys_data=polys_data, polys_offset=polys_offset, polys_size=polys_size, data_format=data_format
    )


def warp_affine_v2(
    x: typing.Any,
    matrix: typing.Any,
    dst_size: typing.Any,
    interploation: str = "INTEL_BILINEAR",
    border_type: str = "BORDER_CONSTANT",
    border_value: int = 0,
) -> typing.Any:
    """Warp an image by a matrix; not emulated."""
    return gen_npu_cpu_ops.warp_affine_v2(
        x=x,
        matrix=matrix,
        dst_size=dst_size,
        interpolation=interploation,
        border_type=border_type,
        border_value=border_value,
    )


def resize_v2(x: typing.Any, dst_size: typing.Any, interploation: str = "INTEL_BILINEAR") -> typing.Any:
    """Resize an image; not emulated."""
    return gen_npu_cpu_ops.resize_v2(x=x, dst_size=dst_size, interpolation=interploation)


def resize_and_clip_polys(
    polys_data: typing.Any,
    polys_offset: typing.Any,
    polys_size: typing.Any,
    h_scale: typing.Any,
    w_scale: typing.Any,
    img_h: typing.Any,
    img_w: typing.Any,
) -> typing.Any:
    """Resize polygons and clip them to an image; not emulated."""
    return gen_npu_cpu_ops.resize_and_clip_polys(
        polys_data=polys_data,
        polys_offset=polys_offset,
        polys_size=polys_size,
        h_scale=h_scale,
        w_scale=w_scale,
        img_h=img_h,
        img_w=img_w,
    )


def non_zero_with_value_shape(value: typing.Any, index: typing.Any, count: typing.Any) -> typing.Any:
    """Cut what ``nonzerowithvalue`` returns to its length; not emulated."""
    return gen_npu_cpu_ops.non_zero_with_value_shape(value=value, index=index, count=count)


def non_zero_with_value_shape_v2(value: typing.Any, index: typing.Any, count: typing.Any) -> typing.Any:
    """Cut what ``nonzerowithvalue`` returns to its length; not emulated."""
    return gen_npu_cpu_ops.non_zero_with_value_shape_v2(value=value, index=index, count=count)


def host_feature_mapping(
    feature_id: typing.Any, threshold: int = 1, table_name: str = "default_table_name"
) -> typing.Any:
    """Give features consecutive numbers, on the host; not emulated."""
    return gen_npu_cpu_ops.host_feature_mapping(feature_id=feature_id, threshold=threshold, table_name=table_name)


def device_feature_mapping(feature_id: typing.Any) -> typing.Any:
    """Give features consecutive numbers, on the device; not emulated."""
    return gen_npu_cpu_ops.embedding_feature_mapping(feature_id=feature_id)


def init_embedding_hashmap_v2(
    table_id: typing.Any, bucket_size: typing.Any, load_factor: typing.Any, embedding_dim: typing.Any, dtype: typing.Any
) -> typing.Any:
    """Make a hash map for an embedding; not emulated."""
    return gen_npu_cpu_ops.init_embedding_hashmap_v2(
        table_id=table_id, bucket_size=bucket_size, load_factor=load_factor, embedding_dim=embedding_dim, dtype=dtype
    )


def deinit_embedding_hashmap_v2(table_id: typing.Any) -> typing.Any:
    """Free the hash map of an embedding; not emulated."""
    return gen_npu_cpu_ops.deinit_embedding_hashmap_v2(table_id=table_id)


def table_to_resource_v2(
    table_id: typing.Any, bucket_size: typing.Any, load_factor: typing.Any, embedding_dim: typing.Any, dtype: typing.Any
) -> typing.Any:
    """Return the handle of a hash map; not emulated."""
    return gen_npu_cpu_ops.table_to_resource_v2(table_id=table_id)


def embedding_hashmap_table_size_v2(
    table_ids: typing.Any, filter_export_flag: typing.Any, export_mode: typing.Any
) -> typing.Any:
    """Return the sizes of hash maps; not emulated."""
    return gen_npu_cpu_ops.embedding_hashmap_size(
        table_ids=table_ids, filter_export_flag=filter_export_flag, export_mode=export_mode
    )


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
) -> typing.Any:
    """Write hash maps to files; not emulated."""
    return gen_npu_cpu_ops.embedding_hashmap_export(
        file_path=file_path,
        table_ids=table_ids,
        table_names=table_names,
        global_step=global_step,
        keys=keys,
        counters=counters,
        filter_flags=filter_flag,
        values=values,
    )


def embedding_hashmap_file_size_v2(
    file_path: typing.Any,
    table_ids: typing.Any,
    table_names: typing.Any,
    global_step: typing.Any,
    embedding_dims: typing.Any,
) -> typing.Any:
    """Return the sizes of hash maps in files; not emulated."""
    return gen_npu_cpu_ops.embedding_hashmap_file_size(
        file_path=file_path,
        table_ids=table_ids,
        table_names=table_names,
        global_step=global_step,
        embedding_dims=embedding_dims,
    )


def embedding_hashmap_import_v2(
    file_path: typing.Any,
    table_ids: typing.Any,
    table_sizes: typing.Any,
    table_names: typing.Any,
    global_step: typing.Any,
    embedding_dims: typing.Any,
    num: typing.Any,
) -> typing.Any:
    """Read hash maps from files; not emulated."""
    return gen_npu_cpu_ops.embedding_hashmap_import(
        file_path=file_path,
        table_ids=table_ids,
        table_sizes=table_sizes,
        table_names=table_names,
        global_step=global_step,
        embedding_dims=embedding_dims,
        num=num,
    )


def init_embedding_hashtable(
    table_handle: typing.Any,
    sampled_values: typing.Any,
    bucket_size: typing.Any,
    embedding_dim: typing.Any,
    initializer_mode: typing.Any,
    constant_value: typing.Any,
) -> typing.Any:
    """Fill a hash table with first values; not emulated."""
    return gen_npu_cpu_ops.init_embedding_hash_table(
        table_handle=table_handle,
        sampled_values=sampled_values,
        bucket_size=bucket_size,
        embedding_dim=embedding_dim,
        initializer_mode=initializer_mode,
        constant_value=constant_value,
    )


def embedding_hash_table_import(
    table_handles: typing.Any,
    embedding_dims: typing.Any,
    bucket_sizes: typing.Any,
    keys: typing.Any,
    counters: typing.Any,
    filter_flags: typing.Any,
    values: typing.Any,
) -> typing.Any:
    """Put rows into hash tables; not emulated."""
    return gen_npu_cpu_ops.embedding_hash_table_import(
        table_handles=table_handles,
        embedding_dims=embedding_dims,
        bucket_sizes=bucket_sizes,
        keys=keys,
        counters=counters,
        filter_flags=filter_flags,
        values=values,
    )


def stateless_random_choice_with_mask(
    x: typing.Any, count: typing.Any, seed: typing.Any, offset: typing.Any
) -> typing.Any:
    """Choose true elements at random, with a state of the caller's; not emulated."""
    return gen_npu_cpu_ops.stateless_random_choice_with_mask(x=x, count=count, seed=seed, offset=offset)


def embedding_hash_table_export(
    table_handles: typing.Any,
    table_sizes: typing.Any,
    embedding_dims: typing.Any,
    bucket_sizes: typing.Any,
    export_mode: str = "all",
    filter_export_flag: bool = False,
) -> typing.Any:
    """Return the rows of hash tables; not emulated."""
    return gen_npu_cpu_ops.embedding_hash_table_export(
        table_handles=table_handles,
        table_sizes=table_sizes,
        embedding_dims=embedding_dims,
        bucket_sizes=bucket_sizes,
        export_mode=export_mode,
        filter_export_flag=filter_export_flag,
    )


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
) -> typing.Any:
    """Update rows of a hash table by AdamW; not emulated."""
    return gen_npu_cpu_ops.embedding_hash_table_apply_adam_w(
        table_handle=table_handle,
        keys=keys,
        m=m,
        v=v,
        beta1_power=beta1_power,
        beta2_power=beta2_power,
        lr=lr,
        weight_decay=weight_decay,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        grad=grad,
        max_grad_norm=max_grad_norm,
        embedding_dim=embedding_dim,
        bucket_size=bucket_size,
        amsgrad=amsgrad,
        maximize=maximize,
    )
