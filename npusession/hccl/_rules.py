"""The rules of rank tables, and problems that know their place in the file."""

from __future__ import annotations

import typing

from ..options.problems import Rule, Severity

#: Where something is in a rank table: keys and indices from the top.
Path = typing.Tuple[typing.Union[str, int], ...]

NOT_JSON = Rule("NPU601", "not-json", "A rank table is JSON, without comments, and HCCL reads nothing else.")
PLACEHOLDER = Rule("NPU602", "placeholder", "A placeholder of a template was never filled in.")
KEY_TWICE = Rule("NPU603", "given-twice", "An object has a key twice, and only one of them counts.")
VERSION = Rule("NPU604", "bad-value", "The version is none that HCCL knows.")
MISSING = Rule("NPU605", "missing-field", "A field is missing that HCCL needs.")
MISTYPED = Rule("NPU606", "bad-value", "A field has another type than HCCL reads.")
QUOTES = Rule(
    "NPU607", "bad-value", "Numbers are text in double quotes, except in version 2.0, which has them without."
)
BAD_NUMBER = Rule("NPU608", "bad-value", "An id, a count or a port is no whole number in its range.")
NOT_READY = Rule("NPU609", "not-ready", "A table counts from the moment when its status is completed.")
BAD_WORD = Rule("NPU610", "bad-value", "The word is none that the reference lists for this place.")
COUNT = Rule("NPU611", "count-mismatch", "A count says how many entries there are.")
RANK_IDS = Rule("NPU612", "rank-ids", "The ranks of a job are 0 to n-1, each once.")
RANK_TWICE = Rule("NPU613", "duplicate-rank", "Every rank id is there once.")
INTERLEAVED = Rule("NPU614", "interleaved", "The rank ids of one server follow each other, without another's between.")
DEVICE_TWICE = Rule("NPU615", "duplicate-device", "Every device of a server is there once.")
ADDRESS_TWICE = Rule("NPU616", "duplicate-address", "Every device has a device_ip of its own.")
NAME_TWICE = Rule("NPU617", "duplicate-name", "Servers, pods, groups and super pods have names of their own.")
BAD_ADDRESS = Rule("NPU618", "bad-address", "An address is one that a network port can have.")
NO_ADDRESS = Rule("NPU619", "missing-address", "Devices on several servers reach each other by their device_ip.")
POD_SERVERS = Rule("NPU620", "super-pod", "Every server belongs to one super pod, and each super pod lists its own.")
SUPER_DEVICE = Rule("NPU621", "super-pod", "In super pods every device has a super_device_id, unique in its super pod.")
POD_ORDER = Rule("NPU622", "super-pod", "The servers of a super pod stand together in server_list.")
POD_SIZES = Rule(
    "NPU623", "super-pod", "Some releases want the same number of servers in each super pod.", Severity.WARNING
)
POD_VERSION = Rule("NPU624", "super-pod", "HCCL reads super_pod_list in version 1.2 only.")
DEVICE_SET = Rule(
    "NPU625",
    "device-set",
    "On the Atlas training series a server has 1, 2, 4 or 8 devices, and 2 or 4 lie within 0-3 or within 4-7.",
)
UNEVEN = Rule("NPU626", "device-set", "On the Atlas training series all servers have the same number of devices.")
DEVICE_RANGE = Rule("NPU627", "device-set", "The server has no device of this id.")
PRODUCT_VERSION = Rule("NPU628", "wrong-product", "Each product documents the versions that it reads.")
PORTS = Rule("NPU629", "ports", "Ports that are used side by side differ.")
RESERVED_PORT = Rule("NPU630", "ports", "Ports 1 to 1023 are the system's.", Severity.WARNING)
FAMILY = Rule("NPU631", "bad-address", "All device_ip are IPv4, or all are IPv6.")
LAYERS = Rule("NPU632", "network-layers", "The layers of a rank rise from 0, and a port has one address in each.")
UNKNOWN_KEY = Rule("NPU633", "unknown-key", "HCCL passes over a name that it does not know.", Severity.WARNING)
BAD_NAME = Rule("NPU634", "bad-value", "A name has 1 to 64 characters.")
UNWRITABLE = Rule("NPU635", "not-expressible", "Not every version has a place for everything.")

TABLE_RULES = (
    NOT_JSON, PLACEHOLDER, KEY_TWICE, VERSION, MISSING, MISTYPED, QUOTES, BAD_NUMBER, NOT_READY, BAD_WORD, COUNT,
    RANK_IDS, RANK_TWICE, INTERLEAVED, DEVICE_TWICE, ADDRESS_TWICE, NAME_TWICE, BAD_ADDRESS, NO_ADDRESS, POD_SERVERS,
    SUPER_DEVICE, POD_ORDER, POD_SIZES, POD_VERSION, DEVICE_SET, UNEVEN, DEVICE_RANGE, PRODUCT_VERSION, PORTS,
    RESERVED_PORT, FAMILY, LAYERS, UNKNOWN_KEY, BAD_NAME, UNWRITABLE,
)  # fmt: skip


class Fault(typing.NamedTuple):
    """A problem whose place in the text has not been looked up yet."""

    rule: Rule
    path: Path
    message: str
    value: object = None
    allowed: str = ""
    fix: str = ""
    severity: Severity | None = None
    #: Whether the key is the place, and not its value.
    at_key: bool = False


def json_path(path: Path) -> str:
    """Return a path as JSONPath."""
    return "$" + "".join(
        f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r}]" for step in path
    )
