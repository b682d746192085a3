"""Checkpoints, by TensorFlow's own saver."""

from __future__ import annotations

import os
import typing

from .._tensorflow import tf1

if typing.TYPE_CHECKING:
    from ..running import RunningSession

#: What tells that there is a checkpoint: the file of its index, or in the older format the only one.
_ENDINGS = (".index", "")


def save(session: RunningSession, path: str, step: int | None, saver: typing.Any) -> str | None:
    """Save; see :meth:`npusession.RunningSession.save`."""
    saver = _saver(session.graph, saver)
    if step is None:
        variable = _global_step(session.graph)
        # On every rank, since all of them have to run the same graphs.
        step = None if variable is None else int(session.run(variable))
    if session.rank_id != 0:
        return None
    folder = os.path.dirname(path)
    if folder:
        tf1().gfile.MakeDirs(folder)
    return str(saver.save(session, path, global_step=step))


def restore(session: RunningSession, path: str, saver: typing.Any) -> int | None:
    """Restore; see :meth:`npusession.RunningSession.restore`."""
    checkpoint = tf1().train.latest_checkpoint(path) if tf1().gfile.IsDirectory(path) else path
    if checkpoint is None or not any(tf1().gfile.Exists(checkpoint + ending) for ending in _ENDINGS):
        raise FileNotFoundError(f"no checkpoint at {path}")
    step = _step_in(checkpoint, session.graph)
    if step is not None:
        # Before the first run, which may compile the first graph, and which the runtime looks at the step for.
        session._self_opening.training.go_on_from(step)
    _saver(session.graph, saver).restore(session, checkpoint)
    return step


def _saver(graph: typing.Any, saver: typing.Any) -> typing.Any:
    key = tf1().GraphKeys.SAVERS
    savers = graph.get_collection(key)
    if saver is not None or savers:
        return saver or savers[0]
    if graph.finalized:
        raise ValueError("the graph is final and has no saver; make a tf.train.Saver() before, and pass it as saver=")
    with graph.as_default():
        saver = tf1().train.Saver()
    graph.add_to_collection(key, saver)
    return saver


def _global_step(graph: typing.Any) -> typing.Any:
    return tf1().train.get_global_step(graph)


def _step_in(checkpoint: str, graph: typing.Any) -> int | None:
    """Return the global step in a checkpoint, read from the file and not by a run."""
    variable = _global_step(graph)
    name = tf1().GraphKeys.GLOBAL_STEP if variable is None else variable.op.name
    reader = tf1().train.NewCheckpointReader(checkpoint)
    return int(reader.get_tensor(name)) if reader.has_tensor(name) else None
