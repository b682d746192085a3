"""Device numbers: as they are written on the command line, and those of this host."""

from __future__ import annotations

import os
import re

from .._visible import Visible, logical
from .job import LaunchError, Request

_FORM = "write numbers and ranges with commas between, such as 0-7 or 0,2,4-5"


def parse(text: str) -> tuple[int, ...]:
    """Return the devices of a list such as ``"0-3,6"``, in its order.

    Raises:
        LaunchError: it is no such list, a range runs backwards, or a device occurs twice.
    """
    devices: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part, re.ASCII)
        if match is None:
            raise LaunchError(f"--devices {text}: {part.strip()!r} is no device; {_FORM}")
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if last < first:
            raise LaunchError(f"--devices {text}: the range {part.strip()} runs backwards; {_FORM}")
        devices += range(first, last + 1)
    twice = sorted({device for device in devices if devices.count(device) > 1})
    if twice:
        raise LaunchError(
            f"--devices {text}: device {', '.join(map(str, twice))} is there twice; a device serves one process only"
        )
    return tuple(devices)


def asked_for(request: Request, visible: Visible | None) -> tuple[int, ...] | None:
    """Return the devices of the flags, by their physical ids; ``None`` when no flag says which or how many.

    Raises:
        LaunchError: the flags contradict each other, are malformed, or want more than is visible.
    """
    if request.devices is not None and request.nproc is not None:
        raise LaunchError("--devices and --nproc both say how many processes to start; give one of them")
    if request.devices is not None:
        return parse(request.devices)
    if request.nproc is None:
        return None
    if visible is None:
        return tuple(range(request.nproc))
    if len(visible.devices) < request.nproc:
        raise LaunchError(f"--nproc {request.nproc}, but only {_visible(visible)}")
    return visible.devices[: request.nproc]


def of_this_host() -> list[int]:
    """Return the devices that the driver shows under /dev, none where there is no driver."""
    try:
        names = os.listdir("/dev")
    except OSError:
        return []
    return sorted(int(name[7:]) for name in names if re.fullmatch(r"davinci\d+", name, re.ASCII))


def as_counted(device: int, visible: Visible | None) -> int:
    """Return the id by which a process calls a device.

    Raises:
        LaunchError: it does not see the device.
    """
    if visible is not None and device not in visible.devices:
        raise LaunchError(f"device {device} is not visible: only {_visible(visible)}")
    return logical(visible, device)


def _visible(visible: Visible) -> str:
    listed = ",".join(map(str, visible.devices))
    return f"{listed or 'none'} is ({visible.variable}); change that, or --devices, which has the host's own numbers"


def check(devices: tuple[int, ...]) -> None:
    """Refuse devices that this host does not have; where it has none at all, there is nothing to compare with.

    Raises:
        LaunchError: some are not there.
    """
    present = of_this_host()
    missing = [device for device in devices if present and device not in present]
    if missing:
        raise LaunchError(
            f"device {', '.join(map(str, missing))} is not there: this host has {', '.join(map(str, present))} "
            "(/dev/davinci*). Choose others with --devices, or use --fake to run without."
        )
