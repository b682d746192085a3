"""Hooks of monitored sessions and estimators."""

from __future__ import annotations

import os
import threading
import typing

from tensorflow.python.ops import summary_ops_v2
from tensorflow.python.training import basic_session_run_hooks, session_run_hook

from npusession._tensorflow import tf1
from npusession.backends.fake import loops

from ...hccl import hccl_ops
from .. import npu_ops
from . import util

for _name in loops.NAMES:
    util.register_func(_name)


class NPUShutDownHook(session_run_hook.SessionRunHook):
    """Runs the shutdown op when the session ends."""

    def __init__(self, scaffold: typing.Any = None) -> None:
        super().__init__()
        self._scaffold = scaffold
        self._shutdown: typing.Any = None

    def begin(self) -> None:
        """Make the op."""
        if self._shutdown is None or self._shutdown.graph is not tf1().get_default_graph():
            self._shutdown = npu_ops.NPUShutdown()

    def end(self, session: typing.Any) -> None:
        """Run it."""
        session.run(self._shutdown)


class NPUBroadcastGlobalVariablesHook(session_run_hook.SessionRunHook):
    """Gives every rank the initial variables of one rank, where the environment says that there are several."""

    def __init__(self, root_rank: int | None = None, index: typing.Any = None) -> None:
        self._root_rank = root_rank
        self._index = index
        self._broadcast: typing.Any = None
        size = util.get_ranksize()
        self._rank_size = int(size) if size.isdigit() else 1

    def begin(self) -> None:
        """Make the broadcasts."""
        made = self._broadcast is not None and self._broadcast.graph is tf1().get_default_graph()
        if self._rank_size > 1 and not made:
            self._broadcast = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Run them."""
        if self._rank_size > 1:
            session.run(self._broadcast)


class NPUCheckpointSaverHook(basic_session_run_hooks.CheckpointSaverHook):
    """Saves checkpoints; reads the global step in a run of its own after each step, as the real one does."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: typing.Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: typing.Any = None,
        listeners: typing.Any = None,
    ) -> None:
        super().__init__(
            checkpoint_dir=checkpoint_dir,
            save_secs=save_secs,
            save_steps=save_steps,
            saver=saver,
            checkpoint_basename=checkpoint_basename,
            scaffold=scaffold,
            listeners=listeners,
        )

    def after_run(self, run_context: typing.Any, run_values: typing.Any) -> None:
        """Save when it is time."""
        step = run_context.session.run(self._global_step_tensor)
        tf1().logging.info("global_step...%s", step)
        super().after_run(run_context, run_values)

    def end(self, session: typing.Any) -> None:
        """Save a last time."""
        super().end(session)


class SetIterationsVarHook(session_run_hook.SessionRunHook):
    """Sets the steps of a run in each session."""

    def __init__(self, iterations_per_loop: int | None = None) -> None:
        self._iterations_per_loop = iterations_per_loop
        self._variables: list[typing.Any] = []

    def begin(self) -> None:
        """Make the variables."""
        self._variables = [loops.variable(name) for name in loops.NAMES]

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Give them their values."""
        util.check_positive_integer(self._iterations_per_loop, "iterations_per_loop")
        loops.load(self._variables, session, typing.cast(int, self._iterations_per_loop))


def broadcast_global_variables(root_rank: typing.Any) -> typing.Any:
    """Return an op that gives every trainable variable the value that it has on one rank."""
    operations = []
    for variable in tf1().trainable_variables():
        values = hccl_ops.broadcast(tensor=[variable], root_rank=root_rank)
        operations += [values[0].op, tf1().assign(variable, values[0])]
    return tf1().group(operations)


class NPULogOutfeedSessionHook(session_run_hook.SessionRunHook):
    """Prints what ops on the device print; on the CPU they print it themselves, so that nothing is left to do."""

    def __init__(self, output_stream: typing.Any) -> None:
        self._output_stream = output_stream

    def begin(self) -> None:
        """Do nothing."""

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Do nothing."""

    def end(self, session: typing.Any) -> None:
        """Do nothing."""


class NPUInfeedOutfeedSessionHook(session_run_hook.SessionRunHook):
    """Takes what the device sends, in a thread, until the session closes; opens and flushes summary writers."""

    def __init__(self, dequeue_ops: typing.Any, channel_name: str) -> None:
        self._dequeue_ops = dequeue_ops
        self._channel_name = channel_name
        self._initialize: list[typing.Any] = []
        self._flush: list[typing.Any] = []

    def begin(self) -> None:
        """Find the writers."""
        self._initialize = list(summary_ops_v2.summary_writer_initializer_op())
        self._flush = [tf1().raw_ops.FlushSummaryWriter(writer=operation.inputs[0]) for operation in self._initialize]

    def after_create_session(self, session: typing.Any, coord: typing.Any) -> None:
        """Open the writers and start the thread."""
        session.run(self._initialize, options=tf1().RunOptions(timeout_in_ms=5 * 60 * 1000))
        # An empty channel has no thread: there is nothing that it would wait for.
        if self._dequeue_ops:
            threading.Thread(name="OutfeedController", target=self._take, args=(session,), daemon=True).start()

    def end(self, session: typing.Any) -> None:
        """Flush the writers."""
        session.run(self._flush)

    def _take(self, session: typing.Any) -> None:
        try:
            while True:
                session.run(self._dequeue_ops)
        except (tf1().errors.OpError, RuntimeError):
            tf1().logging.info("nothing more comes through the channel %s", self._channel_name)


class NPUOutputTensorHook(basic_session_run_hooks.LoggingTensorHook):
    """Hands the values of tensors to a function, every few steps and at the end.

    Args:
        tensors: tensors by tag.
        dependencies: what runs before them.
        output_fn: gets a list with one dict, of values by tag, for each step.
        output_every_n_steps: how often; the default of 0 works with no steps only, as in the adapter.
    """

    def __init__(
        self,
        tensors: typing.Mapping[str, typing.Any] | None,
        dependencies: typing.Any = None,
        output_fn: typing.Callable[[list[dict[str, typing.Any]]], object] | None = None,
        output_every_n_steps: int = 0,
    ) -> None:
        self._tensors: typing.Any = None
        self._output_fn = output_fn
        self._output_every_n_steps = output_every_n_steps
        self._output_list: list[dict[str, typing.Any]] = []
        self._iter_count = 0
        if tensors is None:
            return
        if dependencies is not None:
            before = dependencies if isinstance(dependencies, (tuple, list)) else [dependencies]
            with tf1().control_dependencies(before):
                tensors = {tag: tf1().identity(tensor) for tag, tensor in tensors.items()}
        self._tensors = tensors
        # The base class is never to log.
        super().__init__(tensors, every_n_iter=2**31)

    def begin(self) -> None:
        """Find the tensors."""
        if self._tensors is not None:
            super().begin()

    def before_run(self, run_context: typing.Any) -> typing.Any:
        """Ask for them."""
        return None if self._tensors is None else tf1().train.SessionRunArgs(self._current_tensors)

    def after_run(self, run_context: typing.Any, run_values: typing.Any) -> None:
        """Keep the values, and hand them over when it is time."""
        if self._tensors is not None:
            self._output_list.append({tag: run_values.results[tag] for tag in self._tag_order})
        self._iter_count += 1
        if not self._output_every_n_steps:
            raise ZeroDivisionError("output_every_n_steps=0, which is its default: give a number of steps")
        if self._iter_count % self._output_every_n_steps == 0:
            self._hand_over()

    def end(self, session: typing.Any) -> None:
        """Hand over what is left."""
        if self._output_list:
            self._hand_over()

    def _hand_over(self) -> None:
        typing.cast("typing.Callable[..., object]", self._output_fn)(self._output_list)
        del self._output_list[:]


class TellMeStepOrLossHook(session_run_hook.SessionRunHook):
    """Keeps the variables that accelerated training reads: STEP_NOW and TOTAL_STEP, LOSS_NOW and TARGET_LOSS.

    Args:
        step: tensor of the step.
        total_step: number of steps.
        loss: tensor of the loss.
        final_loss: the loss to reach.
    """

    def __init__(
        self,
        step: typing.Any = None,
        total_step: int | None = None,
        loss: typing.Any = None,
        final_loss: float | None = None,
    ) -> None:
        if step is None and loss is None:
            raise ValueError("step or loss must be given")
        self._fetches = {
            variable: tensor for variable, tensor in (("STEP_NOW", step), ("LOSS_NOW", loss)) if tensor is not None
        }
        # Known before the first run, which reads them.
        for variable, value in (
            ("STEP_NOW", None if step is None else 0),
            ("TOTAL_STEP", total_step),
            ("LOSS_NOW", None if loss is None else 0.0),
            ("TARGET_LOSS", final_loss),
        ):
            if value is not None:
                os.environ[variable] = str(value)

    def before_run(self, run_context: typing.Any) -> typing.Any:
        """Ask for step and loss."""
        return tf1().train.SessionRunArgs(fetches=self._fetches)

    def after_run(self, run_context: typing.Any, run_values: typing.Any) -> None:
        """Write them into the environment."""
        values = {variable: value for variable, value in run_values.results.items() if value is not None}
        if not values:
            raise ValueError(f"{list(self._fetches.values())} are not tensors: fetching them gives nothing")
        for variable, value in values.items():
            os.environ[variable] = str(value)
