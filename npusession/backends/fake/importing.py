"""The adapter's packages under their own names, as long as the emulation is on.

``packages/`` holds ordinary source trees. A finder at the front of ``sys.meta_path`` answers for their three top-level
names and no other; what lies within them is found through their ``__path__``, as everywhere.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
import typing

from ...errors import BackendError

#: The packages that are emulated.
NAMES = ("hccl", "npu_bridge", "npu_device")
PACKAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packages")
#: How the folder of any installation's emulated packages ends.
_EMULATED = os.sep + os.path.join(*__name__.split(".")[:-1], "packages")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the emulated packages."""

    def find_spec(
        self, fullname: str, path: typing.Any, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where one of the three packages is, ``None`` for every other module."""
        return importlib.machinery.PathFinder.find_spec(fullname, [PACKAGES]) if fullname in NAMES else None


_FINDER = _Finder()
#: Who enabled the packages and did not disable them yet.
_users = 0
#: Modules of a real adapter that make way, by name.
_set_aside: dict[str, types.ModuleType] = {}


def enable(*, shadow: bool = False) -> None:
    """Make the emulated packages importable; :func:`disable` once for each call ends it.

    Args:
        shadow: hide a real adapter that is installed, until the emulation is disabled.

    Raises:
        BackendError: a real package of one of the names is installed or imported, and ``shadow`` is not set.
    """
    global _users
    if not _users:
        found = {} if shadow else _real()
        if found:
            raise BackendError(
                "the emulated adapter would hide a real one:\n{}\n  Run without the emulation to use it, or take it "
                "out of this environment; shadow=True hides it as long as the emulation is on.".format(
                    "\n".join(f"  {name}: {where}" for name, where in found.items())
                )
            )
        _set_aside.update(_take_out())
        sys.meta_path.insert(0, _FINDER)
    _users += 1


def disable() -> None:
    """End what :func:`enable` began; the last one removes every emulated module.

    What importing the packages did to TensorFlow stays, as it does with the real adapter.
    """
    global _users
    if not _users:
        return
    _users -= 1
    if not _users:
        sys.meta_path.remove(_FINDER)
        _take_out()
        sys.modules.update(_set_aside)
        _set_aside.clear()


@contextlib.contextmanager
def emulated(*, shadow: bool = False) -> typing.Iterator[None]:
    """Have the emulated packages importable within a ``with`` statement; arguments and errors as :func:`enable`."""
    enable(shadow=shadow)
    try:
        yield
    finally:
        disable()


def _real() -> dict[str, str]:
    """Return the real packages and where they are; a folder that merely bears such a name is none."""
    found = {}
    for name in NAMES:
        module = sys.modules.get(name)
        spec = None if module is not None else importlib.util.find_spec(name)
        where = getattr(module, "__file__", None) if spec is None else spec.origin
        if where is not None and os.path.dirname(os.path.dirname(where)).endswith(_EMULATED):
            # The launcher, or a script on the emulation, has put them on the path, perhaps of another installation.
            continue
        if module is not None:
            found[name] = f"imported from {where or 'an unknown place'}"
        elif spec is not None and where not in (None, "namespace"):
            found[name] = f"installed in {where}"
    return found


def on_path(environ: typing.Mapping[str, str]) -> dict[str, str]:
    """Return the variable that puts the packages before all others for processes that get it beside an environment."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [PACKAGES, environ.get("PYTHONPATH")]))}


def _take_out() -> dict[str, types.ModuleType]:
    """Remove every module of the three packages from ``sys.modules``, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] in NAMES]
    return {name: sys.modules.pop(name) for name in names}
