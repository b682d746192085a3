"""Device numbers: as they are written on the command line, and those of this host."""

from __future__ import annotations

import os
import re

from .job import LaunchError

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


def of_this_host() -> list[int]:
    """Return the devices that the driver shows under /dev, none where there is no driver."""
    try:
        names = os.listdir("/dev")
    except OSError:
        return []
    return sorted(int(name[7:]) for name in names if re.fullmatch(r"davinci\d+", name, re.ASCII))


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
