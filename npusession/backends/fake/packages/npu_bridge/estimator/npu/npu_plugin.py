"""The runtime without a session, and memory that other hosts reach."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import adapter, plugin
from npusession.errors import NotEmulatedError

from . import npu_scope, util


def init_op_compiler_cache_mode(init: dict[str, str], op_compiler_cache_mode: str | None) -> None:
    """Add the mode of the cache of compiled operators to options of initialisation."""
    if op_compiler_cache_mode is not None:
        init["ge.op_compiler_cache_mode"] = op_compiler_cache_mode


def init_op_compiler_cache_dir(init: dict[str, str], op_compiler_cache_dir: str | None) -> None:
    """Add the directory of the cache of compiled operators to options of initialisation."""
    if op_compiler_cache_dir is not None:
        init["ge.op_compiler_cache_dir"] = op_compiler_cache_dir


def init_debug_dir(init: dict[str, str], debug_dir: str | None) -> None:
    """Add the directory of debugging files to options of initialisation."""
    if debug_dir is not None:
        init["ge.debugDir"] = debug_dir


def check_graph_run_mode(graph_run_mode: int) -> None:
    """Refuse a mode other than 0 and 1."""
    if graph_run_mode > 1:
        raise ValueError(f"graph_run_mode={graph_run_mode}: 0 is inference, 1 training")


def npu_resource_init(
    graph_run_mode: int = 1,
    op_debug_level: int = 0,
    enable_profiling: bool = False,
    profiling_options: typing.Any = None,
    precision_mode: typing.Any = None,
    enable_scope_fusion_passes: typing.Any = None,
    enable_exception_dump: int = 2,
    aoe_mode: typing.Any = None,
    work_path: typing.Any = None,
    op_compiler_cache_mode: typing.Any = None,
    op_compiler_cache_dir: typing.Any = None,
    debug_dir: typing.Any = None,
    hcom_multi_mode: bool = False,
    distribute_config: typing.Any = None,
    aoe_config_file: typing.Any = None,
    precision_mode_v2: typing.Any = None,
    export_compile_stat: int = 1,
    aicore_num: typing.Any = None,
    oo_constant_folding: bool = True,
    input_batch_cpy: bool = False,
    oo_level: str = "O3",
    optimization_switch: typing.Any = None,
) -> None:
    """Initialise the runtime without a session.

    Raises:
        TypeError: an argument has another type.
        ValueError: an argument is out of range, or profiling is enabled without options.
    """
    keywords = dict(locals())
    util.check_nonnegative_integer(graph_run_mode, "graph_run_mode")
    check_graph_run_mode(graph_run_mode)
    util.check_nonnegative_integer(enable_exception_dump, "enable_exception_dump")
    util.check_nonnegative_integer(op_debug_level, "op_debug_level")
    for name in ("enable_profiling", "hcom_multi_mode"):
        util.check_bool_type(keywords[name], name)
    for name in ("oo_constant_folding", "input_batch_cpy"):
        if keywords[name] is not None:
            util.check_bool_type(keywords[name], name)
    if enable_profiling and profiling_options is None:
        raise ValueError("profiling_options must be given where enable_profiling is True")
    if aoe_mode is not None:
        util.check_aoe_mode(aoe_mode)
        util.check_path("./" if work_path is None else work_path)
    plugin.initialize(keywords)


def npu_resource_shutdown() -> None:
    """Finalise the runtime; harmless when it is not initialised."""
    plugin.finalize("npu_resource_shutdown")


def npu_close() -> None:
    """Close the device; the adapter does so at exit."""
    plugin.finalize("exit")


def _remote(name: str) -> NotEmulatedError:
    return NotEmulatedError(f"{name} needs memory of a device that other hosts reach; the emulation has none")


def init_rdma_pool(mem_size: int) -> None:
    """Make a pool of memory that other hosts reach; not emulated."""
    raise _remote("init_rdma_pool")


def rdma_remote_register(remote_var_list: typing.Sequence[typing.Any]) -> None:
    """Register variables that other hosts reach; not emulated."""
    raise _remote("rdma_remote_register")


def rdma_remote_init(remote_var_list: typing.Sequence[typing.Any], mem_size: int) -> None:
    """Make a pool and register variables in it; not emulated."""
    raise _remote("rdma_remote_init")


def get_var_addr_and_size(var_name: str) -> tuple[int, int]:
    """Return where a variable is on the device; not emulated."""
    raise _remote("get_var_addr_and_size")


def malloc_shared_memory(var_name: str, shape: typing.Sequence[int], data_type: typing.Any) -> tuple[int, int]:
    """Allocate memory that other processes reach; not emulated."""
    raise _remote("malloc_shared_memory")


def get_rdma_cache(data_type: typing.Any, shape: typing.Sequence[int], name: str = "rdma_w") -> typing.Any:
    """Return a variable of zeros, in memory of the kind that other hosts reach on a device."""
    with npu_scope.npu_mem_type_scope():
        return tf1().get_variable(name=name, shape=shape, dtype=data_type, initializer=tf1().zeros_initializer())


def set_device_sat_mode(mode: int) -> None:
    """Choose what overflow gives: 0 the largest number, 1 infinity.

    The emulation computes on the CPU, where it is infinity in both.
    """
    adapter.sat_mode = mode


def is_inf_nan_enabled() -> bool:
    """Return whether overflow gives infinity."""
    return adapter.sat_mode == adapter.INF_NAN
