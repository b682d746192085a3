"""A session that is the default one from line to line, for notebooks."""

from __future__ import annotations

import typing
import weakref

from .._defaults import Defaults

if typing.TYPE_CHECKING:
    from ..running import RunningSession
    from ..session import NpuSession


def interactive(plan: NpuSession) -> RunningSession:
    """Open a session and make it the default one; see :meth:`npusession.NpuSession.interactive`."""
    session = plan.start()
    session._self_defaults.append(Defaults(session))
    session._self_opening.at_close(weakref.WeakMethod(session._self_defaults[0].end))
    return session
