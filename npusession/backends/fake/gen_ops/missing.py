"""The ops that only a device can run, as data: each builds a node that fails when it is run.

An op is written ``Type(inputs; attributes) -> outputs``, in the words of the adapter's op registrations. An input is
``name:dtype``, where ``T`` is any dtype and ``*`` a list of tensors. An attribute is ``name`` or ``name=default``. An
output is ``dtype[shape]``: ``?`` is an unknown length, ``@name`` the dtype or shape of an input, ``*name`` as many as
an attribute says, and the shape is left out where the rank is unknown.
"""

from __future__ import annotations

import ast
import inspect
import re
import typing

from ...._tensorflow import tf1
from .. import not_emulated

_KERNEL = "is a kernel of the device without a counterpart in TensorFlow"
_TABLES = "works on embedding tables in the memory of a device"
_QUEUE = "moves data between a device and its host"
_UNCERTAIN = "is not described well enough by the vendor to be computed elsewhere"

_OPS = {
    _KERNEL: """
        LRUCacheV2(index_list:T data:T cache:T tag:T is_last_call:T; pre_route_count)
            -> @data[@data] @cache[@cache] @tag[@tag] @index_list[@index_list] @index_list[@index_list] @index_list[1]
        ProdEnvMatA(coord:T type:int32 natoms:int32 box:T mesh:int32 davg:T dstd:T;
            rcut_a=0.0 rcut_r=0.0 rcut_r_smth=0.0 sel_a=() sel_r=())
            -> @coord[?,?] @coord[?,?] @coord[?,?] int32[?,?]
        ProdVirialSeA(net_deriv:T in_deriv:T rij:T nlist:int32 natoms:int32; n_a_sel=0 n_r_sel=0)
            -> @net_deriv[?,9] @net_deriv[?,?]
        ProdForceSeA(net_deriv:T in_deriv:T nlist:int32 natoms:int32; n_a_sel=0 n_r_sel=0) -> @net_deriv[?,?]
        TabulateFusionSeA(table:T table_info:T em_x:T em:T; last_layer_size) -> @table[?,4,?]
        TabulateFusionSeAGrad(table:T table_info:T em_x:T em:T dy:T descriptor:T;) -> @em_x[@em_x] @em[@em]
        TabulateFusion(table:T table_info:T em_x:T em:T; last_layer_size) -> @table[?,4,?]
        TabulateFusionGrad(table:T table_info:T em_x:T em:T dy:T descriptor:T;) -> @em_x[@em_x] @em[@em]
        LruCache(; cache_size load_factor=1.0 container='' shared_name='LruCache' dtype=None) -> int64[]
        CacheAdd(cache:T ids:T;) -> @ids[?] @ids[?] @ids[?] @ids[?]
        CacheRemoteIndexToLocal(cache:T ids:T;) -> @ids[?]
        CacheAllIndexToLocal(cache:T; dtype) -> dtype[?]
        OCRRecognitionPreHandle(imgs_data:uint8 imgs_offset:int32 imgs_size:int32 langs:int32 langs_score:T;
            batch_size=8 data_format='NHWC' pad_mode='REPLICATE') -> uint8[?] int32[?] int32[?] int32[?]
        OCRDetectionPreHandle(img:uint8; data_format='NHWC') -> uint8[?,?,?] float32[] float32[]
        OCRIdentifyPreHandle(imgs_data:uint8 imgs_offset:int32 imgs_size:int32; size data_format='NHWC')
            -> uint8[?,?,?,?]
        BatchDilatePolys(polys_data:int32 polys_offset:int32 polys_size:int32 score:float32 min_border:int32
            min_area_thr:int32 score_thr:float32 expand_scale:float32;) -> int32[?] int32[?] int32[?]
        OCRFindContours(img:uint8; value_mode=0) -> int32[?] int32[?] int32[?]
        OCRDetectionPostHandle(img:uint8 polys_data:int32 polys_offset:int32 polys_size:int32; data_format='NHWC')
            -> uint8[?] int32[@polys_offset] int32[?,3] int32[?,4,2]
        ResizeAndClipPolys(polys_data:int32 polys_offset:int32 polys_size:int32 h_scale:float32 w_scale:float32
            img_h:int32 img_w:int32;) -> int32[?] int32[?] int32[?] int32[]
        HcomRemoteRead(remote:T; dtype) -> dtype
        HcomRemoteRefRead(remote:T cache_var:T local_offset:T;) -> @cache_var[@cache_var]
        HcomRemoteWrite(remote:T local:T;) ->
        HcomRemoteScatterWrite(remote:T local:T local_offset:T;) ->
        HcomGatherAllToAllV(addrinfo:uint64 addrinfo_count_per_rank:int64 recv_counts:int64 recv_displacements:int64;
            dtype addr_length group) -> dtype dtype
    """,
    _TABLES: """
        EmbeddingRankId(addr_table:uint64 index:T; row_memory=320 mode='mod') -> uint64[?,?]
        EmbeddingLocalIndex(addr_table:uint64 index:T; row_memory=320 mode='mod')
            -> @index[@index] @index[?] @index[@index]
        EmbeddingHashTableLookupOrInsert(table_handle:int64 keys:int64; bucket_size embedding_dim
            filter_mode='no_filter' filter_freq=0 default_key_or_value=False default_key=0 default_value=0.0
            filter_key_flag=False filter_key=-1) -> float32[?,?]
        InitEmbeddingHashmapV2(table_id:int32; bucket_size load_factor embedding_dim dtype=None) -> int64[]
        DeinitEmbeddingHashmapV2(table_id:int32;) ->
        TableToResourceV2(table_id:int32;) -> int64[]
        EmbeddingHashmapSize(table_ids:int32; filter_export_flag=False export_mode='all') -> int64[@table_ids]
        EmbeddingHashmapExport(file_path:string table_ids:int32 table_names:string global_step:T keys:* counters:*
            filter_flags:* values:*;) ->
        EmbeddingHashmapFileSize(file_path:string table_ids:int32 table_names:string global_step:T; embedding_dims)
            -> int64[@table_ids]
        EmbeddingHashmapImport(file_path:string table_ids:int32 table_sizes:int64 table_names:string global_step:T;
            embedding_dims num) -> int64[?]*num uint64[?]*num uint8[?]*num float32[?]*num
        InitEmbeddingHashTable(table_handle:int64 sampled_values:float32; bucket_size embedding_dim
            initializer_mode='random' constant_value=0.0) ->
        EmbeddingHashTableImport(table_handles:int64 embedding_dims:int64 bucket_sizes:int64 keys:* counters:*
            filter_flags:* values:*;) ->
        EmbeddingHashTableExport(table_handles:int64 table_sizes:int64 embedding_dims:int64 bucket_sizes:int64;
            export_mode='all' filter_export_flag=False num=1) -> int64[?]*num uint64[?]*num uint8[?]*num float32[?]*num
        EmbeddingHashTableApplyAdamW(table_handle:int64 keys:int64 m:T v:T beta1_power:T beta2_power:T lr:T
            weight_decay:T beta1:T beta2:T epsilon:T grad:T max_grad_norm:T; embedding_dim bucket_size amsgrad=False
            maximize=False) ->
        EmbeddingHashTableEvict(table_handle:int64 keys:int64; table_cap embedding_dim init_mode='constant'
            const_val=0.0) ->
        HostFeatureMapping(feature_id:int64; threshold=1 table_name='default_table_name') -> int64[@feature_id]
        EmbeddingFeatureMapping(feature_id:int64;) -> int32[@feature_id]
    """,
    _QUEUE: """
        BatchEnqueue(x:T queue_id:uint32; batch_size=8 queue_name='' queue_depth=100 pad_mode='REPLICATE') -> int32[]
        Dequeue(queue_id:uint32; output_type output_shape queue_name='') -> output_type[output_shape]
        OutfeedEnqueueOp(inputs:*; channel_name) ->
        OutfeedDequeueOp(; channel_name output_types output_shapes) -> output_types[output_shapes]
        StopOutfeedDequeueOp(; channel_name) ->
        GetNext(; channel_name output_types output_shapes) -> output_types[output_shapes]
        NpuOnnxGraphOp(inputs:*; Tout model_path) -> Tout
    """,
    _UNCERTAIN: """
        NonZeroWithValue(x:T; transpose=False output_type=None) -> @x[?] output_type[?] output_type[1]
        NonZeroWithValueShape(value:T index:int32 count:int32;) -> @value[?] int32[?]
        NonZeroWithValueShapeV2(value:T index:int32 count:int32;) -> @value[?] int32[?]
        StatelessDropout(x:T noise_shape:int64 p:T seed:int64 offset:int64;) -> @x[@x]
        StatelessRandomChoiceWithMask(x:bool count:int32 seed:int64 offset:int64;) -> int32[?,?] bool[?]
        WarpAffineV2(x:T matrix:float32 dst_size:T; interpolation border_type border_value=0) -> @x[?,?,?]
        ResizeV2(x:T dst_size:T; interpolation) -> @x[?,?,?]
    """,
}
#: dtypes of attributes that are left out.
_DTYPES = {"InitEmbeddingHashmapV2": "float32", "LruCache": "uint32", "NonZeroWithValue": "int32"}

_OP = re.compile(r"(\w+)\(([^;]*);([^)]*(?:\(\)[^)]*)*)\)\s*->([^(]*)(?=\s\w+\(|\s*$)")
_OUTPUT = re.compile(r"(@?\w+)(?:\[([^\]]*)\])?(?:\*(\w+))?")
Op = typing.Callable[..., typing.Any]


def ops() -> dict[str, Op]:
    """Return the ops, by the names of their functions in the adapter's library."""
    found = {}
    for why, text in _OPS.items():
        for op_type, inputs, attributes, outputs in _OP.findall(text):
            op = _define(op_type, why, inputs.split(), attributes.split(), outputs)
            found[op.__name__] = op
    return found


def _define(op_type: str, why: str, inputs: list[str], attributes: list[str], outputs: str) -> Op:
    dtypes = dict(entry.split(":") for entry in inputs)
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in dtypes]
    for attribute in sorted(attributes, key=lambda attribute: "=" in attribute):
        name, _, default = attribute.partition("=")
        value = ast.literal_eval(default) if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    parameters.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    signature = inspect.Signature(parameters)

    def op(*args: object, **keywords: object) -> typing.Any:
        bound = signature.bind(*args, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        tensors: dict[str, typing.Any] = {}
        for name, dtype in dtypes.items():
            if dtype == "*":
                tensors.update((f"{name}_{k}", tf1().convert_to_tensor(value)) for k, value in enumerate(given[name]))
            else:
                tensors[name] = tf1().convert_to_tensor(given[name], None if dtype == "T" else dtype)
        results = not_emulated.node(
            op_type, why, list(tensors.values()), _outputs(op_type, outputs, tensors, given), given["name"]
        )
        return results[0] if len(results) == 1 and "*" not in outputs else results

    op.__name__ = op.__qualname__ = _snake(op_type)
    op.__signature__ = signature  # type: ignore[attr-defined]
    op.__doc__ = f"{op_type} {why}; it fails when it is run."
    return op


def _outputs(
    op_type: str, text: str, tensors: typing.Mapping[str, typing.Any], given: typing.Mapping[str, typing.Any]
) -> list[not_emulated.Output]:
    """Return dtype and shape of each result."""
    found: list[not_emulated.Output] = []
    for dtype, shape, count in _OUTPUT.findall(text):
        if dtype in given:
            types = given[dtype] if given[dtype] is not None else _DTYPES[op_type]
            shapes = given[shape] if shape in given else _shape(shape, tensors)
            if not isinstance(types, (list, tuple)):
                types, shapes = [types], [shapes]
            elif shape not in given:
                shapes = [shapes] * len(types)
            if len(types) != len(shapes):
                raise ValueError(f"{op_type}: {len(types)} dtypes, but {len(shapes)} shapes")
            found += zip(map(tf1().as_dtype, types), shapes)
        else:
            known = tensors[dtype[1:]].dtype.base_dtype if dtype.startswith("@") else tf1().as_dtype(dtype)
            found += [(known, _shape(shape, tensors))] * (int(given[count]) if count else 1)
    return found


def _shape(text: str, tensors: typing.Mapping[str, typing.Any]) -> typing.Any:
    if text.startswith("@"):
        return tensors[text[1:]].shape
    return [None if length == "?" else int(length) for length in text.split(",") if length] if text else None


def _snake(op_type: str) -> str:
    """Return the name of an op's function as TensorFlow makes it of the op's type."""
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", op_type)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()
