"""Checks, loops of steps in one run, attributes of graphs, and values that the adapter keeps."""

from __future__ import annotations

import os
import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import adapter, loops, sharding


def check_not_none(value: object, name: str) -> None:
    """Refuse ``None`` with ValueError."""
    if value is None:
        raise ValueError(f"{name} must not be None")


def check_positive_integer(value: object, name: str) -> None:
    """Refuse what is no int with TypeError, and less than 1 with ValueError."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not a {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"{name}={value}: it must be positive")


def check_nonnegative_integer(value: object, name: str) -> None:
    """Refuse what is no int with TypeError, and less than 0 with ValueError."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not a {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name}={value}: it must not be negative")


def check_bool_type(value: object, name: str) -> None:
    """Refuse what is neither True nor False with TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {value!r}")


def convert_bool_to_int(value: object) -> int:
    """Return 1 for True, 0 for False, -1 for everything else."""
    return int(value) if isinstance(value, bool) else -1


def format_string(value: str | None, name: str) -> str:
    """Return text as it is, and an empty one for ``None``; TypeError for everything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not a {type(value).__name__}")
    return value


def check_profiling_options(profiling_options: typing.Sequence[str] = ()) -> str:
    """Return old profiling options, joined with colons; ValueError when there are none, or unknown ones."""
    allowed = ("training_trace", "task_time", "op_trace")
    if not profiling_options or any(option not in allowed for option in profiling_options):
        raise ValueError(f"profiling_options={profiling_options!r}: each is one of {', '.join(allowed)}")
    return ":".join(profiling_options)


def check_path(path: str) -> str:
    """Return the real path of a directory that can be read and written; ValueError for everything else."""
    real = os.path.realpath(path)
    if not os.path.exists(path):
        raise ValueError(f"path={path!r} does not exist")
    if not os.path.isdir(real):
        raise ValueError(f"path={path!r} is not a directory")
    if not os.access(real, os.R_OK | os.W_OK):
        raise ValueError(f"path={path!r} cannot be read and written")
    return real


def check_aoe_mode(aoe_mode: str) -> None:
    """Refuse a tuning mode other than "1", "2" and "4" with ValueError."""
    if aoe_mode not in ("1", "2", "4"):
        raise ValueError(f"aoe_mode={aoe_mode!r}: it is '1', '2' or '4'")


def register_func(var_name: str) -> None:
    """Have a variable of the loop exported with a graph's collections."""
    from tensorflow.core.framework.variable_pb2 import VariableDef
    from tensorflow.python.framework import ops

    collection, variables = f"{loops.SCOPE}_{var_name}", tf1().GraphKeys.LOCAL_VARIABLES
    # Once per process, however often this module is imported.
    if ops.get_from_proto_function(collection) is None:
        ops.register_proto_function(
            collection,
            proto_type=VariableDef,
            to_proto=ops.get_to_proto_function(variables),
            from_proto=ops.get_from_proto_function(variables),
        )


def create_or_get_var(var_name: str) -> typing.Any:
    """Return a variable of the loop in the default graph, made at the first call."""
    return loops.variable(var_name)


def set_iteration_per_loop(sess: typing.Any, train_op: typing.Any, iterations_per_loop: int = 1) -> typing.Any:
    """Have every run of a train op make several steps.

    Args:
        sess: the session, whose graph can still be changed.
        train_op: an Operation.
        iterations_per_loop: steps per run.

    Returns:
        The op to run in place of ``train_op``; ``train_op`` itself for 1 step.

    Raises:
        TypeError: the number of steps is no int.
        ValueError: it is not positive, or ``train_op`` is no Operation.
    """
    if not isinstance(train_op, tf1().Operation):
        # Says what it is instead.
        return loops.group(train_op)
    check_positive_integer(iterations_per_loop, "iterations_per_loop")
    if iterations_per_loop == 1:
        return train_op
    loops.load([loops.variable(name) for name in loops.NAMES], sess, iterations_per_loop)
    return loops.group(train_op)


def get_ranksize() -> str:
    """Return the number of ranks that the environment gives, as text; ValueError when it gives two."""
    if "CM_WORKER_SIZE" in os.environ and "RANK_SIZE" in os.environ:
        raise ValueError("RANK_SIZE and CM_WORKER_SIZE cannot both be set")
    return os.environ.get("RANK_SIZE", os.environ.get("CM_WORKER_SIZE", "1"))


class IterationPerLoop:
    """:func:`set_iteration_per_loop` in two parts, for graphs that are final before the session is there."""

    def __init__(self) -> None:
        self._variables: list[typing.Any] = []

    def create_iteration_per_loop_var(self, train_op: typing.Any) -> typing.Any:
        """Return the op to run in place of ``train_op``; ValueError when that is no Operation."""
        grouped = loops.group(train_op)
        self._variables = [loops.variable(name) for name in loops.NAMES]
        return grouped

    def load_iteration_per_loop_var(self, sess: typing.Any, iterations_per_loop: int = 1) -> None:
        """Set the steps per run in a session.

        Raises:
            RuntimeError: create_iteration_per_loop_var was not called before.
            TypeError: the number of steps is no int.
            ValueError: it is not positive.
        """
        check_positive_integer(iterations_per_loop, "iterations_per_loop")
        if not self._variables:
            raise RuntimeError("create_iteration_per_loop_var(train_op) comes before load_iteration_per_loop_var")
        loops.load(self._variables, sess, iterations_per_loop)


def variable_initializer_in_host(var_list: typing.Sequence[typing.Any]) -> typing.Any:
    """Return an op that initialises variables, under the name that keeps it on the host."""
    return tf1().variables_initializer(var_list, name="var_in_host")


def fair_division(inputs: list[typing.Any], number: int) -> list[typing.Any]:
    """Give each gradient the rank that updates its variable, so that ranks have about the same amount of data.

    Args:
        inputs: gradients as :class:`GradDivisionItem`, changed in place.
        number: of ranks.

    Raises:
        ValueError: there are fewer gradients than ranks.
    """
    sharding.divide(inputs, number)
    return inputs


class GradDivisionItem:
    """A gradient, its variable, its size in bytes, and the rank that updates the variable."""

    def __init__(self, grad: typing.Any, var: typing.Any) -> None:
        self.grad = grad
        self.var = var
        self.size = sharding.size_of(grad)
        self.root_rank_id = -1


def add_grads_and_vars(grads_and_vars: typing.Iterable[tuple[typing.Any, typing.Any]], rank_size: int) -> None:
    """Divide the update of variables among ranks, in place of an earlier division."""
    items = [GradDivisionItem(grad, var) for grad, var in grads_and_vars if grad is not None]
    adapter.GRADIENTS[:] = fair_division(items, rank_size)


def get_gid_by_grad(grad: typing.Any) -> int:
    """Return the rank that updates the variable of a gradient, -1 for none."""
    found = [item.root_rank_id for item in adapter.GRADIENTS if item.grad.name == grad.name]
    return found[-1] if found else -1


def get_gid_by_weight(weight: typing.Any) -> int:
    """Return the rank that updates a variable, -1 for none."""
    found = [item.root_rank_id for item in adapter.GRADIENTS if item.var.name == weight.name]
    return found[-1] if found else -1


def get_all_grad_item() -> list[typing.Any]:
    """Return the gradients of the last division."""
    return adapter.GRADIENTS


def set_graph_exec_config(
    fetch: typing.Any,
    dynamic_input: bool = False,
    dynamic_graph_execute_mode: str = "dynamic_execute",
    dynamic_inputs_shape_range: str | None = None,
    is_train_graph: bool = False,
    experimental_config: typing.Any = None,
) -> typing.Any:
    """Mark what is fetched with the way in which its graph runs; the CPU runs it in the only way it has.

    Args:
        fetch: an Operation, a tensor, a list of them, or the name of a tensor.
        dynamic_input: whether shapes of inputs change.
        dynamic_graph_execute_mode: ``"lazy_recompile"`` or ``"dynamic_execute"``.
        dynamic_inputs_shape_range: ranges of the shapes.
        is_train_graph: whether the graph trains.
        experimental_config: an ExperimentalConfig, of which recomputation counts.

    Returns:
        What was given; for a name, its tensor.

    Raises:
        ValueError: the mode or what is fetched is of another kind.
    """
    if dynamic_graph_execute_mode not in ("lazy_recompile", "dynamic_execute"):
        raise ValueError(
            f"dynamic_graph_execute_mode={dynamic_graph_execute_mode!r}: it is 'lazy_recompile' or 'dynamic_execute'"
        )
    attributes = {
        "_graph_dynamic_input": {"b": dynamic_input},
        "_graph_dynamic_graph_execute_mode": {"s": tf1().compat.as_bytes(dynamic_graph_execute_mode)},
        "_graph_dynamic_inputs_shape_range": {"s": tf1().compat.as_bytes(dynamic_inputs_shape_range or "")},
        "_is_train_graph": {"b": is_train_graph},
    }
    recompute = _recompute(experimental_config)
    if recompute is not None:
        attributes["_recompute_mode"] = {"s": tf1().compat.as_bytes(recompute)}
    if isinstance(fetch, str):
        fetch = tf1().get_default_graph().get_tensor_by_name(fetch)
    for item in fetch if isinstance(fetch, (tuple, list)) else (fetch,):
        if isinstance(item, str):
            item = tf1().get_default_graph().get_tensor_by_name(item)
        if not isinstance(item, (tf1().Operation, tf1().Tensor)):
            raise ValueError(f"fetch is an Operation, a tensor, its name, or a list of them, not {item!r}")
        for name, value in attributes.items():
            _set_attribute(item, name, **value)
    return fetch


def _recompute(experimental_config: typing.Any) -> str | None:
    from .npu_config import ExperimentalConfig

    if experimental_config is None:
        return None
    if not isinstance(experimental_config, ExperimentalConfig):
        raise ValueError(f"experimental_config is an ExperimentalConfig, not a {type(experimental_config).__name__}")
    memory = experimental_config._graph_memory_optimize_config
    return None if memory is None else memory._recompute


def npu_compile(sess: typing.Any, *fetches: typing.Any) -> None:
    """Compile what would be fetched, by running it."""
    sess.run(fetches)


def global_dict_init() -> None:
    """Forget every value that was set."""
    adapter.VALUES.clear()


def set_value(key: str, value: object) -> None:
    """Keep a value under a name."""
    adapter.VALUES[key] = value


def get_value(key: str, def_value: typing.Any = None) -> typing.Any:
    """Return the value of a name, or a default."""
    return adapter.VALUES.get(key, def_value)


def keep_tensors_dtypes(graph: typing.Any, input_tensors: typing.Sequence[str]) -> None:
    """Have tensors, given by name, keep their precision.

    Raises:
        ValueError: ``graph`` is no Graph, or the names are no list or tuple.
    """
    if not isinstance(graph, tf1().Graph):
        raise ValueError(f"graph is a tf.Graph, not a {type(graph).__name__}")
    if not isinstance(input_tensors, (tuple, list)):
        raise ValueError(f"input_tensors is a list or a tuple of names, not a {type(input_tensors).__name__}")
    for name in input_tensors:
        _set_attribute(graph.get_tensor_by_name(name), "_keep_dtype", i=1)


def set_op_tensor_max_range(tensor: typing.Any, max_shape: str) -> None:
    """Mark an op with the largest shapes of its outputs."""
    _set_attribute(tensor, "_op_max_shape", s=tf1().compat.as_bytes(max_shape))


def set_op_input_tensor_multi_dims(tensor: typing.Any, input_shape: str, input_dims: str) -> None:
    """Mark an op with the gears of its inputs."""
    _set_attribute(tensor, "_subgraph_multi_dims_input_shape", s=tf1().compat.as_bytes(input_shape))
    _set_attribute(tensor, "_subgraph_multi_dims_input_dims", s=tf1().compat.as_bytes(input_dims))


def set_op_tensor_max_size(tensor: typing.Any, max_size: int) -> None:
    """Mark an op with the largest size of its outputs."""
    _set_attribute(tensor, "_op_max_size", i=max_size)


def _set_attribute(item: typing.Any, name: str, **value: typing.Any) -> None:
    operation = item if isinstance(item, tf1().Operation) else item.op
    operation._set_attr(name, tf1().AttrValue(**value))
