"""Addresses of this host's devices, as the driver knows them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import typing

from ..errors import NpuSessionError

#: Where the driver keeps the addresses of the network ports.
HCCN_CONF = "/etc/hccn.conf"
#: Where the driver installs its tool, which need not be on PATH.
_TOOLS = ("/usr/local/Ascend/driver/tools/hccn_tool", "/usr/local/bin/hccn_tool", "/usr/bin/hccn_tool")
_TIMEOUT = 20
_ENTRY = re.compile(r"address_(\d+)\s*=\s*([0-9A-Fa-f.:]+)")
_ANSWER = re.compile(r"ipaddr\s*:\s*([0-9A-Fa-f.:]+)")


class DeviceAddressError(NpuSessionError, LookupError):
    """This host does not tell the addresses of its devices; the message says where it was looked for."""


def read_hccn_conf(path: str | os.PathLike[str] = HCCN_CONF) -> dict[int, str]:
    """Return the address of each device that a hccn.conf names, by physical device id.

    Args:
        path: the file, by default this host's; one that was copied from another server will do.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, encoding="utf-8", errors="replace") as file:
        entries = [_ENTRY.fullmatch(line.split("#")[0].strip()) for line in file]
    return {int(entry.group(1)): entry.group(2) for entry in entries if entry}


def device_addresses(devices: typing.Iterable[int], conf: str | os.PathLike[str] | None = None) -> dict[int, str]:
    """Return the address of each device of this host, from hccn.conf or else from ``hccn_tool``.

    Args:
        devices: physical device ids.
        conf: the file to look in first, by default this host's.

    Raises:
        DeviceAddressError: a device has no address in either.
    """
    wanted = list(devices)
    conf = HCCN_CONF if conf is None else conf
    try:
        known = read_hccn_conf(conf)
        looked = [f"{os.fspath(conf)} has {_listed(known)}"]
    except OSError as error:
        known = {}
        looked = [f"{os.fspath(conf)}: {error.strerror}"]
    missing = [device for device in wanted if device not in known]
    if missing:
        tool = shutil.which("hccn_tool") or next((path for path in _TOOLS if os.access(path, os.X_OK)), None)
        if tool is None:
            looked.append("no hccn_tool on PATH, nor where the driver installs it")
        else:
            answers = {device: _ask(tool, device) for device in missing}
            known.update({device: answer for device, (answer, _) in answers.items() if answer})
            looked += [f"{tool} -i {device} -ip -g: {why}" for device, (answer, why) in answers.items() if not answer]
    missing = [device for device in wanted if device not in known]
    if missing:
        raise DeviceAddressError(
            "no address of device {}: {}. Set one with hccn_tool -i N -ip -s address A netmask M, or give the "
            "addresses yourself: device_ips={{{}: '192.0.2.10', ...}}. On a single server of the A2 or A3 series none "
            "are needed: device_ips={{}}.".format(", ".join(map(str, missing)), "; ".join(looked), missing[0])
        )
    return {device: known[device] for device in wanted}


def _listed(known: typing.Mapping[int, str]) -> str:
    return "address_" + ", address_".join(map(str, sorted(known))) if known else "no addresses"


def _ask(tool: str, device: int) -> tuple[str, str]:
    """Ask the tool for one address; return it, or an empty text with the reason."""
    command = [tool, "-i", str(device), "-ip", "-g"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return "", f"no answer within {_TIMEOUT} s"
    except OSError as error:
        return "", str(error.strerror)
    output = result.stdout.decode("utf-8", "replace").strip()
    answer = _ANSWER.search(output)
    return (
        (answer.group(1), "") if answer else ("", output.replace("\n", " ")[:200] or f"exit code {result.returncode}")
    )
