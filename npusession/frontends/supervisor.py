"""Supervisor and its managed session."""

from __future__ import annotations

import contextlib
import time
import typing

from .._tensorflow import tf1
from ..errors import GraphRequiredError, OptionsError
from ..opening import graph_of
from ..options.model import problem
from ..options.problems import BAD_VALUE
from ..system import System
from .arguments import check
from .leaving import entered

if typing.TYPE_CHECKING:
    from ..session import NpuSession

_DECIDED = {
    "graph": "it is the plan's graph=, or the default graph",
    "is_chief": "rank 0 is the chief",
}


@contextlib.contextmanager
def supervisor(
    plan: NpuSession, logdir: str | None, keywords: dict[str, typing.Any]
) -> typing.Iterator[tuple[typing.Any, typing.Any]]:
    """Run in a supervisor's session; see :meth:`npusession.NpuSession.supervisor`."""
    check(plan, keywords, _DECIDED)
    accelerate = plan.accelerate
    if accelerate is not None and accelerate.train_op is None:
        message = "a Supervisor runs no hooks, so that the training is followed by its train op, which is not named"
        fix = f"AcceleratedTraining.by_{accelerate.trigger}(..., train_op=train_op), or plan.monitored(...)"
        raise OptionsError([problem(BAD_VALUE, "accelerate", message, value=accelerate.mode, fix=fix)])
    if tf1().executing_eagerly():
        raise GraphRequiredError(
            "TensorFlow executes eagerly, and so would the threads of a Supervisor, outside of the graph. Call "
            "tf.compat.v1.disable_eager_execution() before anything is built, or use plan.monitored(...)."
        )
    graph = graph_of(plan)
    with System(plan) as system, graph.as_default():
        # The Supervisor makes the graph final.
        follow = system.follower(graph)
        if system.rank_id != 0 and logdir is not None:
            # Only rank 0 writes; the others restore what it wrote.
            keywords["init_fn"] = _restoring(str(logdir), keywords.get("saver"), keywords.get("init_fn"))
            logdir = None
        began = time.perf_counter()
        made = tf1().train.Supervisor(logdir=logdir, **keywords)
        session = made.managed_session(master=plan.target, config=system.plan.config_proto())
        with entered(session, "close the supervisor's session", system.stage("close the session")) as opened:
            if follow is not None:
                # It goes with the session, which is the Supervisor's own.
                follow.install(opened)
            recorder = system.recorder(graph)
            if recorder is not None:
                recorder.start(opened, tf1().train.get_global_step(graph), began)
            yield made, opened
            if follow is not None:
                follow.look_back()


def _restoring(folder: str, saver: typing.Any, init_fn: typing.Any) -> typing.Callable[[typing.Any], None]:
    """Return a function that restores the newest checkpoint of a directory, as a Supervisor does by itself."""
    saver = saver or tf1().train.Saver()

    def restore(session: typing.Any) -> None:
        checkpoint = tf1().train.latest_checkpoint(folder)
        if checkpoint is not None:
            saver.restore(session, checkpoint)
        elif init_fn is not None:
            init_fn(session)

    return restore
