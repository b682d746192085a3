"""The rules of the environment of a cluster, and the checks of variables by themselves."""

from __future__ import annotations

import json
import re
import typing

from .._compat import shallow
from ..environment import CHIEF_VARIABLES, whole
from ..options.problems import Problem, Rule, Severity
from ._check_network import impossible, packed
from ._fields import LAST_PORT

MIXED = Rule("NPU441", "conflict", "A job is described by a rank table or by CM_* variables, never by both.")
NO_TABLE = Rule("NPU442", "bad-environment", "RANK_TABLE_FILE names a rank table that HCCL can read.")
NO_RANK = Rule("NPU443", "bad-environment", "RANK_ID is a rank of the table, in container tables a pod_name.")
SIZE = Rule("NPU444", "conflict", "RANK_SIZE is the number of ranks in the table.")
ALONE = Rule("NPU445", "missing-companion", "Ranks find each other by a rank table or by CM_* variables.")
CHIEF_MISSING = Rule("NPU446", "missing-companion", "The CM_* variables count all together.")
CHIEF_VALUE = Rule("NPU447", "bad-environment", "Each CM_* variable has a value in its range.")
CHIEF_PRODUCT = Rule("NPU448", "wrong-product", "CM_* variables are for the Atlas training series and Atlas A2 only.")
INVISIBLE = Rule("NPU449", "bad-environment", "The device of a rank is among those that the process may see.")
RANK_DEVICE = Rule("NPU450", "device-mismatch", "HCCL compares the device of the process with the one in the table.")
HCCL_VALUE = Rule("NPU451", "bad-environment", "HCCL's own variables have values in their ranges.")
TF_CONFIG = Rule("NPU452", "bad-environment", "TF_CONFIG goes with what else describes the job.")
STARTER = Rule("NPU453", "conflict", "Slurm or MPI and the other variables tell the same rank.")
NOT_TOLD = Rule("NPU454", "missing-companion", "HCCL does not read the variables of Slurm and MPI.", Severity.WARNING)
ANSWER = Rule("NPU455", "conflict", "HCCL counts ranks as the environment described them.")

CLUSTER_RULES = (
    MIXED, NO_TABLE, NO_RANK, SIZE, ALONE, CHIEF_MISSING, CHIEF_VALUE, CHIEF_PRODUCT, INVISIBLE, RANK_DEVICE,
    HCCL_VALUE, TF_CONFIG, STARTER, NOT_TOLD, ANSWER,
)  # fmt: skip

#: Whole numbers, with lowest and highest.
_NUMBERS = {
    "HCCL_CONNECT_TIMEOUT": (120, 7200, "seconds"),
    "HCCL_IF_BASE_PORT": (1024, 65520, "the first of 32 ports"),
}
_PORT_RANGES = ("HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_NPU_SOCKET_PORT_RANGE")
_FAMILIES = ("AF_INET", "AF_INET6")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")


def report(
    rule: Rule,
    variable: str,
    message: str,
    value: object = None,
    *,
    allowed: str = "",
    fix: str = "",
    severity: Severity | None = None,
) -> Problem:
    """Build a problem of a variable."""
    return Problem(rule, variable, message, value, allowed, rule.title, fix, severity or rule.severity)


def hccl_values(environ: typing.Mapping[str, str]) -> typing.Iterator[Problem]:
    """Check HCCL's own variables: timeouts, ports, addresses."""
    for name, (low, high, unit) in _NUMBERS.items():
        number = whole(environ.get(name))
        if name in environ and (number is None or not low <= number <= high):
            allowed = f"{low} to {high} ({unit})"
            nearest = low if number is None or number < low else high
            what = "no whole number" if number is None else "out of range"
            yield report(HCCL_VALUE, name, what, environ[name], allowed=allowed, fix=f"export {name}={nearest}")
    for name in _PORT_RANGES:
        fault = _ports_fault(environ.get(name, "auto"))
        if fault:
            allowed = 'ports and ranges of 1 to 65535 with commas between, such as "60000,60050-60100", or auto'
            yield report(HCCL_VALUE, name, fault, environ[name], allowed=allowed)
    family = environ.get("HCCL_SOCKET_FAMILY", _FAMILIES[0])
    if family not in _FAMILIES:
        yield report(HCCL_VALUE, "HCCL_SOCKET_FAMILY", "no such family", family, allowed=" or ".join(_FAMILIES))
    if "HCCL_IF_IP" in environ and packed(environ["HCCL_IF_IP"]) is None:
        yield report(
            HCCL_VALUE, "HCCL_IF_IP", "not an IP address", environ["HCCL_IF_IP"], allowed="an IPv4 or IPv6 address"
        )


def _ports_fault(text: str) -> str:
    if text == "auto":
        return ""
    taken: list[tuple[int, int]] = []
    for part in text.split(","):
        match = _PORTS.fullmatch(part)
        if not match:
            return f"{part!r} is no port and no range"
        low, high = int(match.group(1)), int(match.group(2) or match.group(1))
        if not 1 <= low <= high <= LAST_PORT:
            return f"{part!r} is out of range"
        if any(low <= other_high and other_low <= high for other_low, other_high in taken):
            return f"{part!r} overlaps with another part"
        taken.append((low, high))
    return ""


def chief_values(environ: typing.Mapping[str, str]) -> typing.Iterator[Problem]:
    """Check the CM_* variables, all of which have to be there."""
    ranges = {"CM_CHIEF_PORT": (0, 65520), "CM_CHIEF_DEVICE": (0, 15), "CM_WORKER_SIZE": (0, 32768)}
    examples = {"CM_CHIEF_IP": "192.0.2.1", "CM_WORKER_IP": "192.0.2.1", "CM_CHIEF_PORT": "6000"}
    for name in CHIEF_VARIABLES:
        value = environ.get(name, "")
        if not value:
            yield report(CHIEF_MISSING, name, "not set", fix="export {}={}".format(name, examples.get(name, "...")))
        elif name in ranges:
            number, (low, high) = whole(value), ranges[name]
            if number is None or not low <= number <= high:
                yield report(CHIEF_VALUE, name, "no number in the range", value, allowed=f"{low} to {high}")
        else:
            address = packed(value)
            why = "not an IP address" if address is None else impossible(address)
            # All ranks on one server may meet on its loopback.
            if why and not (address and why.endswith("loopback's")):
                yield report(CHIEF_VALUE, name, why, value, allowed="an IPv4 or IPv6 address of the host")


def tf_config(environ: typing.Mapping[str, str], size: int) -> typing.Iterator[Problem]:
    """Check TF_CONFIG against a job of ``size`` ranks."""
    text = environ.get("TF_CONFIG", "")
    if not text:
        return
    try:
        config = json.loads(shallow(text))
    except ValueError:
        config = None
    if not isinstance(config, dict):
        yield report(TF_CONFIG, "TF_CONFIG", "no JSON object", text, fix="unset TF_CONFIG")
        return
    task = config.get("task", {})
    if not isinstance(task, dict):
        yield report(
            TF_CONFIG, "TF_CONFIG", "a task that is no object ends the process", text,
            allowed='"task": {"type": "worker", "index": 0}', fix="unset TF_CONFIG",
        )  # fmt: skip
        return
    kind = task.get("type")
    if kind == "ps":
        message = "a task of type ps runs on the CPU and takes no part in HCCL"
        yield report(TF_CONFIG, "TF_CONFIG", message, text, fix="unset TF_CONFIG")
    elif kind == "evaluator" and size > 1:
        message = "a task of type evaluator runs without HCCL, so the other ranks wait for it"
        yield report(TF_CONFIG, "TF_CONFIG", message, text, fix="unset TF_CONFIG, or start the evaluator apart")
    cluster = config.get("cluster", {})
    listed = [cluster.get(name, []) for name in ("chief", "master", "worker")] if isinstance(cluster, dict) else []
    workers = sum(len(found) for found in listed if isinstance(found, list))
    if workers > 1 and workers != size:
        message = f"{workers} workers, and {size} ranks elsewhere" if size > 1 else f"{workers} workers, alone in HCCL"
        yield report(TF_CONFIG, "TF_CONFIG", message, text, fix="unset TF_CONFIG", severity=Severity.WARNING)
