"""Reading a whole table: its version, then the layout of that version, then the rules between its parts."""

from __future__ import annotations

import difflib
import typing

from ..options.problems import Problem
from ..products import Product
from . import _groups, _ranks, _servers
from ._check_network import check_addresses, check_layers, check_ports
from ._check_super_pods import check_super_pods
from ._checks import check_devices, check_names, check_ranks, check_version
from ._content import Content
from ._document import Document
from ._notes import Notes, is_placeholder
from ._reader import HOLE
from ._rules import (
    BAD_WORD,
    COUNT,
    DEVICE_SET,
    MISSING,
    NOT_READY,
    PLACEHOLDER,
    QUOTES,
    RANK_IDS,
    UNEVEN,
    VERSION,
)

#: The versions that tables declare, and names for the two forms that declare none.
VERSIONS = ("1.0", "1.2", "2.0", "group", "container")
_DECLARED = VERSIONS[:3]
#: Rules of which a part of a table tells nothing.
_OF_THE_WHOLE = (MISSING, COUNT, RANK_IDS, UNEVEN, DEVICE_SET)
COMPLETED, INITIALIZING = "completed", "initializing"


class Reading(typing.NamedTuple):
    """A text that was read.

    Attributes:
        document: the text.
        content: what it says.
        notes: what kept some of it from being read.
    """

    document: Document
    content: Content
    notes: Notes

    @property
    def complete(self) -> bool:
        """Whether it is JSON, and all of it could be read."""
        return self.notes.complete and not self.document.slips

    def problems(self, product: Product | None = None) -> list[Problem]:
        """Check it by all rules; return everything that is wrong, in the order of the text."""
        content, notes = self.content, self.notes.copy()
        if content.placed:
            check_version(notes, content, product)
            check_names(notes, content)
            check_ranks(notes, content)
            check_devices(notes, content, product)
            check_super_pods(notes, content)
            check_addresses(notes, content, product)
            if content.version == "2.0":
                check_layers(notes, content)
            check_ports(notes, content)
        faults = notes.faults
        if self.document.cut_off or content.status == INITIALIZING:
            # The rest may still come.
            faults = [fault for fault in faults if fault.rule not in _OF_THE_WHOLE]
        found = [*self.document.slips, *self.document.problems(faults)]
        return sorted(found, key=lambda problem: (problem.line, problem.column))


def read(text: str | bytes, source: str) -> Reading:
    """Read a text, whatever is wrong with it; bytes are taken for UTF-8."""
    document = Document(text, source)
    data = document.load()
    notes = Notes()
    version = _version(notes, data)
    notes.quoted = version != "2.0"
    if data is HOLE or (document.slips and not isinstance(data, dict)):
        # What it is instead was said.
        content = Content(version)
        notes.complete = False
    elif version == "2.0":
        content = _ranks.read(notes, data)
    elif version in _DECLARED:
        content = _servers.read(notes, data, version)
    else:
        content = _groups.read(notes, data, version)
    content.status = _status(notes, data, version)
    return Reading(document, content, notes)


def _version(notes: Notes, data: object) -> str:
    """Return the version of a table, for one that declares none or an unknown one the likeliest."""
    if not isinstance(data, dict):
        return "1.0"
    if "group_list" in data and "server_list" not in data and "version" not in data:
        return "group" if _is_labelled(data) else "container"
    likely = "2.0" if "rank_list" in data else "1.2" if "super_pod_list" in data else "1.0"
    if "version" not in data:
        notes.add(MISSING, ("version",), "missing", allowed=", ".join(_DECLARED), fix=f'"version": "{likely}"')
        return likely
    declared = data["version"]
    if isinstance(declared, (int, float)) and not isinstance(declared, bool):
        declared = str(float(declared))
        notes.add(QUOTES, ("version",), "a number without quotes", data["version"], "text", f'"{declared}"')
    if declared in _DECLARED:
        return str(declared)
    if declared is not HOLE:
        filler = isinstance(declared, str) and is_placeholder(declared)
        rule, message = (PLACEHOLDER, "never filled in") if filler else (VERSION, "no such version")
        shown = declared if isinstance(declared, str) else None
        notes.add(rule, ("version",), message, shown, ", ".join(_DECLARED), f'"version": "{likely}"')
    return likely


def _is_labelled(data: dict[str, typing.Any]) -> bool:
    """Tell the form of 2019, in which instances have rank ids, from that of containers."""
    if _groups.MARK in data:
        return True
    groups = data["group_list"] if isinstance(data["group_list"], list) else []
    lists = [group["instance_list"] for group in groups if isinstance(group, dict) and "instance_list" in group]
    instances = [item for found in lists if isinstance(found, list) for item in found if isinstance(item, dict)]
    return any("rank_id" in item and "pod_name" not in item for item in instances)


def _status(notes: Notes, data: object, version: str) -> str:
    if not isinstance(data, dict):
        return ""
    if "status" not in data:
        if version != "2.0":
            notes.add(MISSING, ("status",), "missing", allowed=COMPLETED, fix=f'"status": "{COMPLETED}"')
        return COMPLETED
    status = data["status"]
    if status == INITIALIZING:
        notes.add(
            NOT_READY, ("status",), "the platform has not finished the table", status, COMPLETED,
            "wait for it: RankTable.wait_until_ready(path)",
        )  # fmt: skip
    elif status != COMPLETED and status is not HOLE:
        filler = isinstance(status, str) and is_placeholder(status)
        shown = status if isinstance(status, (str, int, float)) else None
        close = isinstance(status, str) and difflib.get_close_matches(status.lower(), (COMPLETED, INITIALIZING), 1)
        notes.add(
            PLACEHOLDER if filler else BAD_WORD, ("status",), "never filled in" if filler else "no such status",
            shown, f"{COMPLETED} or {INITIALIZING}", f'"status": "{close[0] if close else COMPLETED}"',
        )  # fmt: skip
    return status if isinstance(status, str) else ""
