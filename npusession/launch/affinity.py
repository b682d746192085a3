"""Blocks of processors, one for each device."""

from __future__ import annotations

import glob
import os
import re
import typing

from .job import LaunchError

_T = typing.TypeVar("_T")


def blocks(count: int) -> list[tuple[int, ...]]:
    """Divide the processors that this process may use into blocks of the same size.

    A block lies within one NUMA node when there are as many blocks as nodes or more, and the threads of one core stay
    together. Nothing is left over when the numbers fit; when they do not, some blocks are larger by one core.

    Args:
        count: how many blocks, at least 1.

    Raises:
        LaunchError: this host cannot bind processes, or has fewer processors.
    """
    if not hasattr(os, "sched_getaffinity"):
        raise LaunchError("--cpu-bind needs Linux; leave it out here")
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < count:
        raise LaunchError(
            f"--cpu-bind: {len(allowed)} processors for {count} devices; each needs one of its own. Leave it out here."
        )
    return divide(_nodes(allowed), count)


def divide(nodes: list[list[list[int]]], count: int) -> list[tuple[int, ...]]:
    """Divide nodes, each a list of cores, each a list of processors, into blocks."""
    cores = [core for node in nodes for core in node]
    if len(cores) < count:
        # Then threads of one core have to part.
        nodes = [[[cpu] for core in node for cpu in core] for node in nodes]
        cores = [core for node in nodes for core in node]
    if len(nodes) > 1 and count >= len(nodes):
        found: list[tuple[int, ...]] = []
        shares = [len(part) for part in _parts(range(count), len(nodes))]
        if all(len(node) >= share for node, share in zip(nodes, shares)):
            for node, share in zip(nodes, shares):
                found += [_flat(part) for part in _parts(node, share)]
            return found
    return [_flat(part) for part in _parts(cores, count)]


def _parts(things: typing.Sequence[_T], count: int) -> list[typing.Sequence[_T]]:
    ends = [len(things) * number // count for number in range(count + 1)]
    return [things[begin:end] for begin, end in zip(ends, ends[1:])]


def _flat(cores: typing.Iterable[typing.Iterable[int]]) -> tuple[int, ...]:
    return tuple(sorted(cpu for core in cores for cpu in core))


def _nodes(allowed: list[int]) -> list[list[list[int]]]:
    """Return the allowed processors as cores of NUMA nodes, as the kernel shows them; else as one node."""
    nodes: list[list[int]] = []
    paths = glob.glob("/sys/devices/system/node/node[0-9]*/cpulist")
    for path in sorted(paths, key=lambda path: int(re.findall(r"\d+", path)[-1])):
        nodes.append([cpu for cpu in _cpu_list(path) if cpu in allowed])
    nodes = [node for node in nodes if node]
    if sorted(cpu for node in nodes for cpu in node) != allowed:
        nodes = [allowed]
    return [_cores(node) for node in nodes]


def _cores(cpus: list[int]) -> list[list[int]]:
    cores: dict[int, list[int]] = {}
    for cpu in cpus:
        siblings = _cpu_list(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(min(siblings, default=cpu), []).append(cpu)
    return [cores[first] for first in sorted(cores)]


def _cpu_list(path: str) -> list[int]:
    """Read a list of the kernel's, such as ``0-3,8``; empty when it is not there."""
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except OSError:
        return []
    cpus: list[int] = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        cpus += range(int(first), int(last or first) + 1)
    return cpus
