"""MonitoredTrainingSession."""

from __future__ import annotations

import contextlib
import typing

from .._tensorflow import tf1
from ..opening import graph_of
from ..system import System
from .arguments import check
from .leaving import entered

if typing.TYPE_CHECKING:
    from ..session import NpuSession

_DECIDED = {
    "config": "it is made from the plan, which takes a ConfigProto to extend as its config=",
    "master": "it is the plan's target=",
    "is_chief": "rank 0 is the chief",
}
#: What writes files, which only rank 0 does.
_WRITING = (
    "chief_only_hooks", "save_checkpoint_secs", "save_checkpoint_steps", "save_summaries_secs", "save_summaries_steps",
    "log_step_count_steps",
)  # fmt: skip


@contextlib.contextmanager
def monitored(
    plan: NpuSession,
    checkpoint_dir: str | None,
    hooks: typing.Iterable[typing.Any],
    step: typing.Any,
    loss: typing.Any,
    keywords: dict[str, typing.Any],
) -> typing.Iterator[typing.Any]:
    """Run in a monitored session; see :meth:`npusession.NpuSession.monitored`."""
    check(plan, keywords, _DECIDED)
    graph = graph_of(plan)
    with System(plan) as system, graph.as_default():
        if system.rank_id != 0:
            # TensorFlow's other workers wait for the chief to initialise variables that they share. Ranks share none:
            # each initialises and restores its own.
            keywords.update(dict.fromkeys(_WRITING))
        session = tf1().train.MonitoredTrainingSession(
            master=plan.target,
            checkpoint_dir=checkpoint_dir,
            hooks=[*hooks, *system.hooks(step=step, loss=loss)],
            config=system.plan.config_proto(),
            **keywords,
        )
        with entered(session, "close the monitored session", system.stage("close the session")):
            yield session
