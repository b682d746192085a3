"""The rules of super pods."""

from __future__ import annotations

import typing

from ..options.problems import Severity
from ._content import Content, Placed
from ._notes import Notes
from ._rules import (
    NAME_TWICE,
    POD_ORDER,
    POD_SERVERS,
    POD_SIZES,
    POD_VERSION,
    SUPER_DEVICE,
    Path,
    json_path,
)

_ASK = "the SDID of npu-smi info -t spod-info -i ID -c CHIP"


def check_super_pods(notes: Notes, content: Content) -> None:
    """Check super pods against the servers and devices."""
    if not content.pods:
        return
    if content.version != "1.2":
        notes.add(
            POD_VERSION, ("super_pod_list",), f"version {content.version} passes over it", fix='"version": "1.2"'
        )  # fmt: skip
    listed = {host.server_id for host in content.hosts}
    pod_of: dict[str, str] = {}
    names: dict[str, Path] = {}
    faulty = False
    for pod in content.pods:
        if pod.super_pod in names:
            message = f"{json_path(names[pod.super_pod])} has this super_pod_id too"
            notes.add(NAME_TWICE, (*pod.path, "super_pod_id"), message, pod.super_pod, fix="give each its own")
        names.setdefault(pod.super_pod, pod.path)
        faulty = faulty or (*pod.path, "server_list") in notes.lost
        for server_id, path in pod.servers:
            place = (*path, "server_id")
            faulty = faulty or server_id not in listed or server_id in pod_of
            if path in notes.lost or place in notes.lost:
                continue
            if server_id not in listed:
                notes.add(POD_SERVERS, place, "no such server in server_list", server_id, _some(listed))
            elif server_id in pod_of:
                message = f"already in super pod {pod_of[server_id]!r}"
                notes.add(POD_SERVERS, place, message, server_id, fix="list each server once")
            else:
                pod_of[server_id] = pod.super_pod
    for host in content.hosts:
        # What a super pod lists wrongly may be the server that is missing.
        if host.server_id not in pod_of and not faulty:
            notes.add(POD_SERVERS, (*host.path, "server_id"), "in no super pod", host.server_id, _some(names))
    _check_pod_order(notes, content, pod_of)
    _check_super_devices(notes, content, pod_of)
    sizes = {len(pod.servers) for pod in content.pods}
    if len(sizes) > 1 and not faulty:
        numbers = ", ".join(f"{pod.super_pod!r} has {len(pod.servers)}" for pod in content.pods[:8])
        notes.add(
            POD_SIZES, ("super_pod_list",), f"super pods differ in size: {numbers}", fix="as many servers in each"
        )


def _check_pod_order(notes: Notes, content: Content, pod_of: dict[str, str]) -> None:
    done: set[str] = set()
    current = ""
    for host in content.hosts:
        pod = pod_of.get(host.server_id, current)
        if pod == current:
            continue
        if pod in done:
            message = f"servers of super pod {current!r} lie between those of super pod {pod!r}"
            notes.add(POD_ORDER, (*host.path, "server_id"), message, host.server_id, fix="list super pod by super pod")
        done.add(current)
        current = pod


def _check_super_devices(notes: Notes, content: Content, pod_of: dict[str, str]) -> None:
    seen: dict[tuple[str, int], Placed] = {}
    if all(placed.rank.super_device_id is None for placed in content.placed):
        message = "no device has a super_device_id, so that HCCL passes over super pods, or refuses them"
        notes.add(SUPER_DEVICE, ("super_pod_list",), message, fix=_ASK, severity=Severity.WARNING)
        return
    for placed in content.placed:
        number, pod = placed.rank.super_device_id, pod_of.get(placed.server_id)
        if pod is None:
            continue
        if number is None:
            notes.add(SUPER_DEVICE, (*placed.path, "super_device_id"), "missing", fix=_ASK)
            continue
        if (pod, number) in seen:
            first = json_path((*seen[pod, number].path, "super_device_id"))
            message = f"{first} has it in super pod {pod!r} too"
            notes.add(SUPER_DEVICE, (*placed.path, "super_device_id"), message, number, fix=_ASK)
        seen.setdefault((pod, number), placed)


def _some(names: typing.Iterable[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")
