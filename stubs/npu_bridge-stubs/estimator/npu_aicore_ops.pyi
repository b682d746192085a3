import typing

dtypes: typing.Any

def fast_gelu_v2(x: typing.Any, name: str | None = None) -> typing.Any: ...
def centralization(x: typing.Any, axes: typing.Sequence[int], name: str | None = None) -> typing.Any: ...
def prelu_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]: ...
def prelu(x: typing.Any, weight: typing.Any) -> typing.Any: ...
def dropout_v3(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> typing.Any: ...
def dropout_v4(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    output_dtype: typing.Any = ...,
    name: str | None = None,
) -> typing.Any: ...
def lru_cache_v2(
    index_list: typing.Any,
    data: typing.Any,
    cache: typing.Any,
    tag: typing.Any,
    is_last_call: typing.Any,
    pre_route_count: int,
    name: str | None = None,
) -> list[typing.Any]: ...
def nonzero(
    x: typing.Any, transpose: bool = False, output_type: typing.Any = ..., name: str | None = None
) -> typing.Any: ...
def nonzerowithvalue(
    x: typing.Any, transpose: bool = False, output_type: typing.Any = ..., name: str | None = None
) -> typing.Any: ...
def layer_norm(
    x: typing.Any,
    gamma: typing.Any,
    beta: typing.Any,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 1e-07,
    name: str | None = None,
) -> list[typing.Any]: ...
def prod_env_mat_a(
    coord: typing.Any,
    types: typing.Any,
    natoms: typing.Any,
    box: typing.Any,
    mesh: typing.Any,
    davg: typing.Any,
    dstd: typing.Any,
    rcut_a: float = 0.0,
    rcut_r: float = 0.0,
    rcut_r_smth: float = 0.0,
    sel_a: typing.Sequence[int] | None = None,
    sel_r: typing.Sequence[int] | None = None,
    name: str | None = None,
) -> typing.Any: ...
def prodvirialsea(
    net_deriv: typing.Any,
    in_deriv: typing.Any,
    rij: typing.Any,
    nlist: typing.Any,
    natoms: typing.Any,
    n_a_sel: int = 0,
    n_r_sel: int = 0,
    name: str | None = None,
) -> typing.Any: ...
def prodforcesea(
    net_deriv: typing.Any,
    in_deriv: typing.Any,
    nlist: typing.Any,
    natoms: typing.Any,
    n_a_sel: int = 0,
    n_r_sel: int = 0,
    name: str | None = None,
) -> typing.Any: ...
def tabulatefusionsea(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    last_layer_size: int = 128,
    name: str | None = None,
) -> typing.Any: ...
def tabulatefusionseagrad(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    dy_dem_x: typing.Any,
    dy_dem: typing.Any,
    name: str | None = None,
) -> typing.Any: ...
def tabulatefusion(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    last_layer_size: int = 128,
    name: str | None = None,
) -> typing.Any: ...
def tabulatefusiongrad(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    dy_dem_x: typing.Any,
    dy_dem: typing.Any,
    name: str | None = None,
) -> typing.Any: ...
