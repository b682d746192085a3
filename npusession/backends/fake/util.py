"""The emulated ``npu_bridge.estimator.npu.util``, as far as sessions need it: several training steps in one run."""

from __future__ import annotations

import typing

from ..._tensorflow import tf1

_SCOPE = "npu_runconfig"
#: The loop's variables, with what they are set to for a number of steps.
_VALUES: dict[str, typing.Callable[[int], int]] = {
    "iterations_per_loop": lambda steps: steps - 1,
    "loop_cond": lambda steps: 0,
    "zero": lambda steps: 0,
    "one": lambda steps: 1,
}


def set_iteration_per_loop(sess: typing.Any, train_op: typing.Any, iterations_per_loop: int = 1) -> typing.Any:
    """Add the loop to the graph, set its number of steps, and return the operation to run."""
    loop = IterationPerLoop()
    looped = loop.create_iteration_per_loop_var(train_op)
    loop.load_iteration_per_loop_var(sess, iterations_per_loop)
    return looped


class IterationPerLoop:
    """The same in two steps, for graphs that become final in between."""

    def create_iteration_per_loop_var(self, train_op: typing.Any) -> typing.Any:
        """Add the loop's variables to the graph, and return the operation to run."""
        if not isinstance(train_op, tf1().Operation):
            raise ValueError(f"train_op is {train_op!r}; it must be an Operation")
        with tf1().variable_scope(_SCOPE, reuse=tf1().AUTO_REUSE):
            self._variables = {name: _variable(name) for name in _VALUES}
        return tf1().group(train_op, name="IterationOp")

    def load_iteration_per_loop_var(self, sess: typing.Any, iterations_per_loop: int = 1) -> None:
        """Set the number of steps in a run."""
        if not isinstance(iterations_per_loop, int) or iterations_per_loop < 1:
            raise ValueError(f"iterations_per_loop={iterations_per_loop!r}; it must be a positive integer")
        for name, variable in self._variables.items():
            variable.load(_VALUES[name](iterations_per_loop), session=sess)


def _variable(name: str) -> typing.Any:
    return tf1().get_variable(
        name,
        shape=[],
        dtype=tf1().int64,
        initializer=tf1().zeros_initializer(),
        trainable=False,
        collections=[tf1().GraphKeys.LOCAL_VARIABLES],
        use_resource=True,
    )
