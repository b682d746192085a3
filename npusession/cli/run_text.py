"""The report on a script's run as lines for a reader."""

from __future__ import annotations

import collections
import os
import sys
import typing

from ..backends.fake.run_config import UNASKED
from ..options import TABLE, Scene
from .run_report import Remark, RunReport

#: Lines of one kind that the text has.
_MOST = 20


def as_text(report: RunReport) -> str:
    """Return the report as lines."""
    ended = f"ended by {report.error.splitlines()[0]}" if report.error else f"exit code {report.exit_code}"
    lines = [f"npusession run {' '.join(report.script)}: {ended}", *_life(report), *_sessions(report)]
    for title, found in (
        ("ignored in silence by the real runtime", list(map(_placed, report.ignored))),
        ("left to other sessions", report.leaks),
        ("devices touched besides", report.devices),
        ("dumps", _dumped(report.dumps)),
        ("profiles", report.profiles),
        ("on the host, without an NpuOptimizer entry", [_times(*site) for site in report.on_host.items()]),
        ("note", list(map(_placed, report.notes))),
        ("precision", ["session {session}, from run {run}: {mode}".format(**phase) for phase in report.precision]),
    ):
        lines += _listed(title, found)
    return "\n".join(lines) + "\n"


def _life(report: RunReport) -> typing.Iterator[str]:
    if not report.sessions and not report.initialized:
        yield "  no session was configured for the device in this process"
        if "tensorflow" in sys.modules and not report.adapter:
            yield "  npu_bridge was never imported: without it, an NpuOptimizer entry has no effect"
        return
    if not report.initialized:
        yield "  never initialised: no graph ran on the device"
    by_device: dict[object, list[int]] = collections.defaultdict(list)
    for event in report.initialized:
        by_device[event["device"]].append(typing.cast("int", event["session"]))
    for device, numbers in by_device.items():
        by = [*(["npu_resource_init"] if 0 in numbers else []), *_numbered(filter(None, numbers))]
        yield "  initialised: device {}, by {}".format(device, " and ".join(by))
    if report.shut_down:
        yield f"  shut down: {report.finalized[-1]}"
    elif report.shut_down is not None:
        yield "  not shut down: the device was closed when the process ended"
    if report.shutdown_op is False:
        yield "  the shutdown op was never run"
    for left in _numbered(session["number"] for session in report.sessions if not session["closed"]):
        yield f"  never closed: {left}"


def _sessions(report: RunReport) -> typing.Iterator[str]:
    """Say what the sessions were; those of one line with the same options are one."""
    alike: dict[tuple[object, str], list[dict[str, object]]] = collections.defaultdict(list)
    for session in report.sessions:
        alike[session["site"], _configured(typing.cast("dict[str, object]", session["options"]))].append(session)
    for (site, given), sessions in alike.items():
        runs = [str(session["runs"]) for session in sessions[:_MOST]]
        shown = ", ".join([*runs, "..."] if len(sessions) > _MOST else runs)
        for numbers in _numbered(session["number"] for session in sessions):
            yield f"  {numbers} ({site}): runs: {shown}; {given}"


def _configured(options: typing.Mapping[str, object]) -> str:
    """Say which options are not at their defaults, nor what the estimator writes into each configuration."""
    unasked = UNASKED if UNASKED.items() <= options.items() else {}
    given = [
        f"{name}={value}"
        for name, value in sorted(options.items())
        if name not in unasked and (name not in TABLE or TABLE[name].default(Scene.TRAINING) != value)
    ]
    return " ".join(given) or "all options at their defaults"


def _placed(remark: Remark) -> str:
    where = [", ".join(remark.sites)] if remark.sites else []
    where += _numbered(remark.sessions)
    return f"{remark.text} ({'; '.join(where)})" if where else remark.text


def _numbered(sessions: typing.Iterable[typing.Any]) -> typing.Iterator[str]:
    """Say which sessions, as in ``sessions 1-3, 5``; nothing for none."""
    ranges: list[list[int]] = []
    for number in sessions:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    text = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    if text:
        yield f"session {text}" if text.isdigit() else f"sessions {text}"


def _dumped(dumps: typing.Mapping[str, int]) -> list[str]:
    """Say how many files lie in each directory; those of the runs of one graph are numbered, and counted together."""
    graphs: dict[str, int] = collections.Counter()
    for path, count in dumps.items():
        parent, name = os.path.split(path)
        graphs[parent if name.isdigit() else path] += count
    return [f"{path}: 1 file" if count == 1 else f"{path}: {count} files" for path, count in graphs.items()]


def _times(text: str, count: int) -> str:
    return text if count == 1 else f"{text}, {count} sessions"


def _listed(title: str, found: typing.Sequence[str]) -> list[str]:
    if not found:
        return []
    if len(found) == 1:
        return [f"  {title}: {found[0]}"]
    lines = [f"  {title}:", *(f"    {line}" for line in found[:_MOST])]
    return lines if len(found) <= _MOST else [*lines, f"    and {len(found) - _MOST} more"]
