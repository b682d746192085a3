"""What the runtime reads of the environment when it is initialised: device, job, cluster.

The reading is the native code's own: an empty variable counts as none, a number that cannot be read as well, and
variables that contradict each other are passed over with a line in the log at most.
"""

from __future__ import annotations

import json
import re
import typing

from ...environment import DEVICE_VARIABLES, FAKE_HUB
from .verdict_reading import Aborted

_NUMBER = re.compile(r"\s*(-?[0-9]+)\s*")
_INT64 = range(-(2**63), 2**63)


class Startup(typing.NamedTuple):
    """What the environment said.

    Attributes:
        device: logical id of the device to initialise.
        named: whether a variable named it.
        job: JOB_ID, empty when there is none; that is a line in the log and nothing else.
        cluster: ``"rank table"``, ``"chief"`` (the CM variables), ``"hub"`` (a job of the emulation alone),
            or empty for a process on its own.
        hccl: whether collective communication is on.
        needed: whether there is anything to initialise; a parameter server has nothing.
        ignored: variables that were set and are passed over, each with the reason.
    """

    device: int = 0
    named: bool = False
    job: str = ""
    cluster: str = ""
    hccl: bool = True
    needed: bool = True
    ignored: tuple[str, ...] = ()


def read_environment(environ: typing.Mapping[str, str]) -> Startup:
    """Read the environment as the runtime does.

    Raises:
        Aborted: the real process would end: a device id that is no number, a TF_CONFIG whose task is no object.
    """
    task, ignored = _task(environ.get("TF_CONFIG", ""))
    if task == "ps":
        return Startup(needed=False, ignored=tuple(ignored))
    device = _device(environ)
    cluster, reasons = _cluster(environ)
    return Startup(
        device=device or 0,
        named=device is not None,
        job=environ.get("JOB_ID", ""),
        cluster=cluster,
        hccl=task != "evaluator",
        ignored=(*ignored, *reasons),
    )


def _task(text: str) -> tuple[object, list[str]]:
    """Return the type of the task in a TF_CONFIG, and what is passed over."""
    if not text:
        return None, []
    try:
        config = json.loads(text)
    except ValueError as error:
        return None, [f"TF_CONFIG is not JSON ({error})"]
    if not isinstance(config, dict):
        return None, [f"TF_CONFIG is no JSON object but {text[:40]}"]
    task = config.get("task")
    if task is None:
        return None, []
    if not isinstance(task, dict):
        raise Aborted(f'"task" in TF_CONFIG is {task!r}, no object')
    return task.get("type"), []


def _device(environ: typing.Mapping[str, str]) -> int | None:
    for name in DEVICE_VARIABLES:
        text = environ.get(name, "")
        if text:
            number = _number(text)
            if number is None or number < 0:
                raise Aborted(f"{name}={text!r} is no device id")
            return number % 2**32
    return None


def _cluster(environ: typing.Mapping[str, str]) -> tuple[str, list[str]]:
    """Return how the cluster is described, and which descriptions are passed over and why."""
    table, chief = environ.get("RANK_TABLE_FILE", ""), environ.get("CM_CHIEF_IP", "")
    ranks, workers = _number(environ.get("RANK_SIZE", "")), _number(environ.get("CM_WORKER_SIZE", ""))
    if table and chief:
        return "", ["RANK_TABLE_FILE and CM_CHIEF_IP are both set, so neither counts"]
    if table:
        if workers is not None:
            return "", ["RANK_TABLE_FILE does not count beside CM_WORKER_SIZE"]
        if ranks is not None and ranks <= 0:
            return "", [f"RANK_TABLE_FILE does not count with RANK_SIZE={ranks}"]
        return "rank table", []
    if chief:
        missing = [name for name in ("CM_CHIEF_PORT", "CM_CHIEF_DEVICE") if not environ.get(name)]
        if missing:
            return "", ["CM_CHIEF_IP does not count without {}".format(" and ".join(missing))]
        if ranks is not None:
            return "", ["CM_CHIEF_IP does not count beside RANK_SIZE"]
        if workers is not None and workers <= 0:
            return "", [f"CM_CHIEF_IP does not count with CM_WORKER_SIZE={workers}"]
        return "chief", []
    if ranks is not None and ranks > 1:
        if environ.get(FAKE_HUB):
            return "hub", []
        return "", [f"RANK_SIZE={ranks} does not count without RANK_TABLE_FILE"]
    return "", []


def _number(text: str) -> int | None:
    match = _NUMBER.fullmatch(text)
    # A number of more than 64 bits is none; so long a text need not be read to know.
    if match is None or len(match.group(1)) > 20:
        return None
    number = int(match.group(1))
    return number if number in _INT64 else None
