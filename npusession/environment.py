"""Environment variables that a session sets for the runtime, and puts back exactly as they were.

Sessions may overlap, and need not end in the opposite order of their start. So each variable keeps a stack of
layers over the value that the process had: a layer that goes uncovers the one below, and the last one to go
uncovers the original, absence included.
"""

from __future__ import annotations

import os
import threading
import typing

from ._counting import counting

#: Where the runtime looks for the device to initialise, first hit first.
DEVICE_VARIABLES = ("ASCEND_DEVICE_ID", "DEVICE_ID")
#: Where it looks for the cluster that the process is a rank of: a rank table, or else a chief to ask.
RANK_VARIABLES = ("RANK_TABLE_FILE", "RANK_ID", "RANK_SIZE")
CHIEF_VARIABLES = ("CM_CHIEF_IP", "CM_CHIEF_PORT", "CM_CHIEF_DEVICE", "CM_WORKER_SIZE", "CM_WORKER_IP")
CLUSTER_VARIABLES = (*RANK_VARIABLES, "CM_CHIEF_IP", "CM_WORKER_SIZE")
#: Where the ranks of an emulated job meet, as ``host:port``; beside RANK_ID and RANK_SIZE it stands for a rank table.
FAKE_HUB = "NPUSESSION_FAKE_HUB"
#: The same for ranks of one host, which find each other by the variables that describe their job.
THIS_HOST = "this-host"
#: The name of the process in which they meet; the kernel keeps 15 characters.
HUB_PROCESS = "npusession-hub"

_lock = threading.RLock()
_originals: dict[str, str | None] = {}
_layers: dict[str, list[Layer]] = {}


class Layer:
    """Some variables, set until :meth:`restore`."""

    def __init__(self, values: typing.Mapping[str, str]) -> None:
        for name, value in values.items():
            # What the environment cannot hold is refused before the first of them is set.
            os.fsencode(name + value)
            if "\0" in name + value:
                raise ValueError(f"the value of {name} has a null character in it")
        self._values = {name: os.fsencode(value) for name, value in values.items()}
        with _lock:
            for name, value in values.items():
                if not _layers.get(name):
                    _originals[name] = os.environ.get(name)
                _layers.setdefault(name, []).append(self)
                os.environ[name] = value

    def set(self, name: str, value: str) -> None:
        """Give one of the layer's variables another value, visible at once if no later layer covers it.

        After :meth:`restore` it does nothing.
        """
        if name not in self._values:
            return
        self._values[name] = os.fsencode(value)
        if _layers[name][-1] is self:
            os.environ[name] = value

    def counter(self, name: str) -> typing.Callable[[float], None]:
        """Return a function that gives one of the variables a number, like :meth:`set` but made for every step.

        It takes an ``int`` or a ``float``, no other kind of number.
        """
        layers, values, assign = _layers[name], self._values, counting(name)

        def export(number: float) -> None:
            # Nothing is left in them after restore().
            if name in values:
                text = values[name] = repr(number).encode()
                if layers[-1] is self:
                    assign(text)

        return export

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def restore(self) -> None:
        """Take the layer away; a second call does nothing."""
        with _lock:
            for name in list(self._values):
                layers = _layers[name]
                layers.remove(self)
                below = os.fsdecode(layers[-1]._values[name]) if layers else _originals[name]
                if below is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = below
            self._values.clear()


def device_in(environ: typing.Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable that names the device to initialise, and its value; ``None`` when none does.

    An empty one counts as none, as it does for the runtime.
    """
    for name in DEVICE_VARIABLES:
        if environ.get(name):
            return name, environ[name]
    return None


def whole(value: object) -> int | None:
    """Return a whole number that is given as such or as text, ``None`` for anything else."""
    if type(value) is str:
        # Longer ones are out of every range.
        return int(value) if value.isdigit() and value.isascii() and len(value) <= 20 else None
    return value if type(value) is int else None


def original() -> dict[str, str]:
    """Return the environment as it is without the layers of sessions that are open."""
    with _lock:
        environ = dict(os.environ)
        for name, layers in _layers.items():
            if layers:
                environ.pop(name, None)
                value = _originals[name]
                if value is not None:
                    environ[name] = value
        return environ
