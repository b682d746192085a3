"""Ops for the AI cores."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as npu_aicore_ops
from npusession.backends.fake.gen_ops.dropout import drop_out

dtypes = tf1()


def fast_gelu_v2(x: typing.Any, name: str | None = None) -> typing.Any:
    """Return an approximation of GELU by squares."""
    return npu_aicore_ops.fast_gelu_v2(x, name)


def centralization(x: typing.Any, axes: typing.Sequence[int], name: str | None = None) -> typing.Any:
    """Return ``x`` less its mean over ``axes``."""
    return npu_aicore_ops.centralization(x, axes, name=name)


def prelu_grad(op: typing.Any, grad: typing.Any) -> list[typing.Any]:
    """Return the gradients of an op with the inputs of ``prelu``."""
    return npu_aicore_ops.p_relu_grad(grad, op.inputs[0], op.inputs[1])


def prelu(x: typing.Any, weight: typing.Any) -> typing.Any:
    """Return ``x`` where it is positive, elsewhere ``weight x``."""
    return npu_aicore_ops.p_relu(x, weight)


def dropout_v3(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> typing.Any:
    """Keep each number with the probability ``keep_prob``, divided by it; the others become 0.

    Raises:
        ValueError: ``x`` is no float, or ``keep_prob`` a number outside 0 .. 1.
    """
    return drop_out(
        npu_aicore_ops.drop_out_gen_mask_v3, npu_aicore_ops.drop_out_do_mask_v3, x, keep_prob, noise_shape, seed, name
    )


def dropout_v4(
    x: typing.Any,
    keep_prob: typing.Any,
    noise_shape: typing.Any = None,
    seed: int | None = None,
    output_dtype: typing.Any = dtypes.bool,
    name: str | None = None,
) -> typing.Any:
    """As :func:`dropout_v3`; ``output_dtype``, the mask's, is bool."""

    def mask(shape: typing.Any, prob: typing.Any, seed: int | None, seed2: int | None, name: str | None) -> typing.Any:
        return npu_aicore_ops.drop_out_gen_mask_v4(shape, prob, seed, seed2, output_dtype, name)

    return drop_out(mask, npu_aicore_ops.drop_out_do_mask_v3, x, keep_prob, noise_shape, seed, name)


def lru_cache_v2(
    index_list: typing.Any,
    data: typing.Any,
    cache: typing.Any,
    tag: typing.Any,
    is_last_call: typing.Any,
    pre_route_count: int,
    name: str | None = None,
) -> list[typing.Any]:
    """Look up rows through a cache; not emulated."""
    return list(npu_aicore_ops.lru_cache_v2(index_list, data, cache, tag, is_last_call, pre_route_count, name=name))


def nonzero(
    x: typing.Any, transpose: bool = False, output_type: typing.Any = dtypes.int64, name: str | None = None
) -> typing.Any:
    """Return the indices of what is not zero, ``[count, rank]``, or the other way round with ``transpose``."""
    return npu_aicore_ops.non_zero(x, transpose, output_type, name=name)


def nonzerowithvalue(
    x: typing.Any, transpose: bool = False, output_type: typing.Any = dtypes.int64, name: str | None = None
) -> typing.Any:
    """Return what is not zero, its indices and its number; not emulated."""
    return npu_aicore_ops.non_zero_with_value(x, transpose, output_type, name=name)


def layer_norm(
    x: typing.Any,
    gamma: typing.Any,
    beta: typing.Any,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 0.0000001,
    name: str | None = None,
) -> list[typing.Any]:
    """Return the normalised tensor, mean and variance."""
    return npu_aicore_ops.fused_layer_norm(x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon, name)


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
) -> typing.Any:
    """Return the environment matrix of atoms; not emulated."""
    return npu_aicore_ops.prod_env_mat_a(
        coord, types, natoms, box, mesh, davg, dstd, rcut_a, rcut_r, rcut_r_smth, sel_a or [], sel_r or [], name
    )


def prodvirialsea(
    net_deriv: typing.Any,
    in_deriv: typing.Any,
    rij: typing.Any,
    nlist: typing.Any,
    natoms: typing.Any,
    n_a_sel: int = 0,
    n_r_sel: int = 0,
    name: str | None = None,
) -> typing.Any:
    """Return the virial of atoms; not emulated."""
    return npu_aicore_ops.prod_virial_se_a(net_deriv, in_deriv, rij, nlist, natoms, n_a_sel, n_r_sel, name=name)


def prodforcesea(
    net_deriv: typing.Any,
    in_deriv: typing.Any,
    nlist: typing.Any,
    natoms: typing.Any,
    n_a_sel: int = 0,
    n_r_sel: int = 0,
    name: str | None = None,
) -> typing.Any:
    """Return the force on atoms; not emulated."""
    return npu_aicore_ops.prod_force_se_a(net_deriv, in_deriv, nlist, natoms, n_a_sel, n_r_sel, name=name)


def tabulatefusionsea(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    last_layer_size: int = 128,
    name: str | None = None,
) -> typing.Any:
    """Return tabulated descriptors of atoms; not emulated."""
    return npu_aicore_ops.tabulate_fusion_se_a(table, table_info, em_x, em, last_layer_size, name=name)


def tabulatefusionseagrad(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    dy_dem_x: typing.Any,
    dy_dem: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Return the gradients of :func:`tabulatefusionsea`; not emulated."""
    return npu_aicore_ops.tabulate_fusion_se_a_grad(table, table_info, em_x, em, dy_dem_x, dy_dem, name=name)


def tabulatefusion(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    last_layer_size: int = 128,
    name: str | None = None,
) -> typing.Any:
    """Return tabulated descriptors of atoms; not emulated."""
    return npu_aicore_ops.tabulate_fusion(table, table_info, em_x, em, last_layer_size, name=name)


def tabulatefusiongrad(
    table: typing.Any,
    table_info: typing.Any,
    em_x: typing.Any,
    em: typing.Any,
    dy_dem_x: typing.Any,
    dy_dem: typing.Any,
    name: str | None = None,
) -> typing.Any:
    """Return the gradients of :func:`tabulatefusion`; not emulated."""
    return npu_aicore_ops.tabulate_fusion_grad(table, table_info, em_x, em, dy_dem_x, dy_dem, name=name)
