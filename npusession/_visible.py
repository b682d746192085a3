"""Which devices a process may see, and how they are counted there."""

from __future__ import annotations

import re
import typing

from .environment import whole

if typing.TYPE_CHECKING:
    from .hccl.model import Rank

RUNTIME, CONTAINER = "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES"
_ENTRY = re.compile(r"(?:Ascend\w*-)?(\d{1,5})(?:-(\d{1,5}))?")


class Visible(typing.NamedTuple):
    """The devices that a process may see.

    Attributes:
        variable: what says so.
        devices: their physical ids; the process counts them from 0 in this order.
    """

    variable: str
    devices: typing.Tuple[int, ...]


def visible_in(environ: typing.Mapping[str, str]) -> Visible | None:
    """Return the devices that the environment leaves visible; ``None`` when it leaves all, or cannot be read."""
    container = _container(environ.get(CONTAINER, ""))
    runtime = _runtime(environ.get(RUNTIME, ""))
    if runtime is None:
        return None if container is None else Visible(CONTAINER, container)
    if container and max(runtime, default=0) < len(container):
        # Counted within the container.
        runtime = tuple(container[device] for device in runtime)
    return Visible(RUNTIME, runtime)


def physical(visible: Visible | None, device: int, rank: Rank | None = None) -> int | None:
    """Return the physical id of a device of the process, ``None`` when it sees no such device.

    Args:
        visible: what the process sees.
        device: the id by which the process calls it.
        rank: the rank that it is for: some container platforms keep physical ids inside, too.
    """
    if visible is None:
        return device
    if visible.variable == CONTAINER and rank is not None and rank.device_id == device and device in visible.devices:
        return device
    return visible.devices[device] if device < len(visible.devices) else None


def logical(visible: Visible | None, device: int) -> int:
    """Return the id by which the process calls a physical device."""
    if visible is None or device not in visible.devices:
        return device
    return visible.devices.index(device)


def _runtime(text: str) -> tuple[int, ...] | None:
    if not text:
        return None
    found: list[int] = []
    for part in text.split(","):
        number = whole(part)
        if number is None:
            # The runtime reads up to here, too.
            break
        found.append(number)
    return tuple(found)


def _container(text: str) -> tuple[int, ...] | None:
    found: list[int] = []
    for part in text.split(",") if text else ():
        match = _ENTRY.fullmatch(part.strip())
        if not match:
            return None
        found += range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1)
    return tuple(found) or None
