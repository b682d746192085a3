"""From the environment to a cluster: which source counts, and what contradicts it."""

from __future__ import annotations

import dataclasses
import os
import time
import typing

from .._schedulers import Place, PlaceError, place_in
from .._visible import logical, physical, visible_in
from ..environment import CHIEF_VARIABLES, DEVICE_VARIABLES, FAKE_HUB, RANK_VARIABLES, device_in, whole
from ..options.basic import bad_device
from ..options.problems import Problem, Report, Severity
from ..products import Product
from ._environ_rules import (
    ALONE,
    CHIEF_PRODUCT,
    INVISIBLE,
    MIXED,
    NO_RANK,
    NO_TABLE,
    NOT_TOLD,
    RANK_DEVICE,
    SIZE,
    STARTER,
    chief_values,
    hccl_values,
    report,
    tf_config,
)
from .cluster import Chief, Cluster, Source
from .model import Rank
from .ranktable import RankTable, RankTableError

_CHIEF_PRODUCTS = (Product.ATLAS_TRAINING, Product.ATLAS_A2)


#: A file that has changed within as many seconds may change again without a trace in its times.
_SETTLED = 2.0
#: The rank table that was read last, and what was found: the file as it was, the product, and both.
_recent: tuple[object, RankTable, Report] | None = None


def resolve(
    environ: typing.Mapping[str, str], product: Product | None, *, host: bool = True
) -> tuple[Cluster | None, list[Problem]]:
    """Return the cluster, ``None`` when it cannot be made out, and every problem.

    Args:
        environ: the environment.
        product: the product family, if it is known.
        host: whether this is the host that it is for, so that its rank table can be read.
    """
    # The adapter takes an empty value for none.
    given = {name: value for name, value in environ.items() if value}
    resolver = _Resolver(given, product, host=host)
    cluster = resolver.cluster()
    problems = resolver.problems
    problems += hccl_values(given)
    problems += tf_config(given, cluster.size if cluster else 1)
    return cluster, problems


def _checked(path: str, product: Product | None) -> tuple[RankTable, Report]:
    """Read and check a rank table: once, though a session that opens asks several times, if the file does not change.

    Raises:
        OSError: the file cannot be read.
        RankTableError: it is no rank table.
    """
    global _recent
    now, status = time.time(), os.stat(path)
    key = (os.path.abspath(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, product)
    if _recent is not None and _recent[0] == key:
        return _recent[1:]
    table = RankTable.read(path)
    found = table.check(product)
    if status.st_mtime < now - _SETTLED:
        _recent = key, table, found
    return table, found


class _Resolver:
    def __init__(self, environ: typing.Mapping[str, str], product: Product | None, *, host: bool) -> None:
        self.environ, self.product, self.host = environ, product, host
        self.problems: list[Problem] = []
        self.place = self._find_place()
        self.visible = visible_in(environ)
        bad = bad_device(environ)
        named = device_in(environ)
        if bad:
            self.problems.append(bad)
        #: What the environment names as the device, if it is one, and the variable.
        self.named = (named[0], int(named[1])) if named and not bad else None
        first, second = (environ.get(name) for name in DEVICE_VARIABLES)
        if first and second and first != second:
            name = DEVICE_VARIABLES[1]
            message = f"{DEVICE_VARIABLES[0]} is {first}, and goes before it"
            self._add(RANK_DEVICE, name, message, second, fix=f"unset {name}", severity=Severity.WARNING)

    def _find_place(self) -> Place | None:
        """Return the place among several that Slurm or MPI tell; HCCL reads nothing of it, so a faulty one is none."""
        try:
            place = place_in(self.environ)
        except PlaceError as error:
            value = self.environ.get(error.variable)
            fix = f"unset {error.variable}" if value else "start it through the engine that sets it"
            self._add(STARTER, error.variable, error.message, value, fix=fix, severity=Severity.WARNING)
            return None
        return None if place is None or place.size == 1 else place

    def cluster(self) -> Cluster | None:
        """Return the cluster of the first source that is there."""
        chiefs = [name for name in CHIEF_VARIABLES if name in self.environ]
        ranks = [name for name in RANK_VARIABLES if name in self.environ]
        if chiefs and ranks:
            kept = "RANK_TABLE_FILE" if "RANK_TABLE_FILE" in ranks else "CM_CHIEF_IP"
            unset = chiefs if kept in ranks else ranks
            self._add(
                MIXED, kept, "given beside {}".format(", ".join(unset)), self.environ.get(kept),
                fix="unset {}".format(" ".join(unset)),
            )  # fmt: skip
        if "RANK_TABLE_FILE" in self.environ:
            return self._of_table() if self.host else None
        if chiefs:
            return self._of_chief()
        if FAKE_HUB in self.environ and "RANK_SIZE" in self.environ:
            return self._of_hub()
        self._check_alone()
        if self.place:
            return self._of_place(self.place)
        return Cluster(Source.SINGLE, device=self._device(0))

    def _add(self, rule: typing.Any, variable: str, message: str, value: object = None, **more: typing.Any) -> None:
        self.problems.append(report(rule, variable, message, value, **more))

    def _device(self, default: int) -> int:
        """Return the device that the environment names, checked against those that are visible."""
        name, device = self.named or ("", default)
        if physical(self.visible, device) is None:
            assert self.visible
            count = len(self.visible.devices)
            self._add(
                INVISIBLE, name or self.visible.variable, f"no device {device} among those of {self.visible.variable}, "
                "which the process counts from 0", device, allowed=f"0 to {count - 1}" if count else "none",
                fix=f"export ASCEND_DEVICE_ID={logical(self.visible, device)}",
            )  # fmt: skip
        return device

    def _of_table(self) -> Cluster | None:
        path = self.environ["RANK_TABLE_FILE"]
        try:
            table, found = _checked(path, self.product)
        except OSError as error:
            self._add(NO_TABLE, "RANK_TABLE_FILE", str(error.strerror or error), path, fix="the path of a rank table")
            return None
        except RankTableError as error:
            self._add_table(path, error.problems)
            return None
        self._add_table(path, [problem for problem in found if problem.severity is Severity.ERROR])
        if found:
            return None
        entry = self._entry(table)
        self._check_size(table)
        if entry is None:
            return None
        cluster = Cluster.from_table(table, path, entry.rank_id, self.environ)
        return dataclasses.replace(cluster, device=self._device_of(entry, cluster.device))

    def _add_table(self, path: str, problems: typing.Sequence[Problem]) -> None:
        if not problems:
            return
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        first = str(problems[0]).strip().splitlines()[0]
        self._add(NO_TABLE, "RANK_TABLE_FILE", f"{first}{more}", path, fix=f"npusession ranktable check {path}")

    def _entry(self, table: RankTable) -> Rank | None:
        """Return the entry of this process, by RANK_ID or else by what Slurm or MPI says."""
        name = self.environ.get("RANK_ID")
        if name is None:
            place = self.place
            if place is None or place.size != table.size:
                fix = f"export RANK_ID=..., 0 to {table.size - 1}" if table.version != "container" else "the pod_name"
                self._add(NO_RANK, "RANK_ID", "not set, and the table does not tell which rank this is", fix=fix)
                return None
            self._add(
                NOT_TOLD, "RANK_ID", f"not set; {place.rank_variable} is taken for it, which HCCL does not do",
                fix=f"export RANK_ID=${place.rank_variable}",
            )  # fmt: skip
            return table.ranks[place.rank]
        pods = table.version == "container"
        entries = [rank for rank in table.ranks if (rank.pod == name if pods else rank.rank_id == whole(name))]
        if not entries:
            known = sorted({rank.pod for rank in table.ranks}) if pods else []
            allowed = ", ".join(known[:8]) if known else f"0 to {table.size - 1}"
            what = "no pod_name of the table" if known else "no rank of the table"
            self._add(NO_RANK, "RANK_ID", what, name, allowed=allowed)
            return None
        entry = entries[0] if len(entries) == 1 else self._in_pod(entries)
        if entry:
            self._check_place(table, entry)
        return entry

    def _in_pod(self, entries: typing.Sequence[Rank]) -> Rank | None:
        """Choose among the devices of a container by the one that the environment names."""
        name, device = self.named or ("ASCEND_DEVICE_ID", 0)
        seen = physical(self.visible, device)
        by_device = {rank.device_id: rank for rank in entries}
        if seen in by_device:
            return by_device[seen]
        if device < len(entries):
            # Inside a container devices are counted from 0.
            return sorted(entries, key=lambda rank: rank.device_id)[device]
        self._add(
            NO_RANK, name, f"pod {entries[0].pod!r} has no such device", device,
            allowed=", ".join(map(str, sorted(by_device))),
        )  # fmt: skip
        return None

    def _check_size(self, table: RankTable) -> None:
        text = self.environ.get("RANK_SIZE")
        right = f"export RANK_SIZE={table.size}"
        if text is None:
            message = "not set; scripts and the adapter read it"
            self._add(SIZE, "RANK_SIZE", message, fix=right, severity=Severity.WARNING)
        elif whole(text) != table.size:
            self._add(SIZE, "RANK_SIZE", f"the table has {table.size} ranks", text, allowed=str(table.size), fix=right)

    def _check_place(self, table: RankTable, entry: Rank) -> None:
        """Compare with Slurm or MPI, if they started as many processes as there are ranks."""
        place = self.place
        if place and place.size == table.size and place.rank != entry.rank_id and table.version != "container":
            self._add(
                STARTER, "RANK_ID", f"{place.rank_variable} is {place.rank}", self.environ["RANK_ID"],
                fix=f"export RANK_ID=${place.rank_variable}",
            )  # fmt: skip

    def _device_of(self, entry: Rank, default: int) -> int:
        """Return the device of a rank, checked against the environment."""
        if self.visible and entry.device_id not in self.visible.devices:
            listed = ",".join(map(str, self.visible.devices))
            self._add(
                INVISIBLE, self.visible.variable, f"rank {entry.rank_id} is device {entry.device_id}, which is not "
                "among them", listed, fix=f"add {entry.device_id}, or change the device_id in the table",
            )  # fmt: skip
            return default
        if self.named is None:
            if default != 0:
                self._add(
                    RANK_DEVICE, "ASCEND_DEVICE_ID", f"not set, so it would be device 0; rank {entry.rank_id} is "
                    f"device {entry.device_id}", fix=f"export ASCEND_DEVICE_ID={default}", severity=Severity.WARNING,
                )  # fmt: skip
            return default
        name, device = self.named
        seen = physical(self.visible, device, entry)
        if seen is None:
            return self._device(default)
        if seen != entry.device_id and not self._within(entry, device):
            self._add(
                RANK_DEVICE, name, f"rank {entry.rank_id} is device {entry.device_id} in the table, not {seen}",
                device, allowed=str(default), fix=f"export {name}={default}",
            )  # fmt: skip
        return device

    def _within(self, entry: Rank, device: int) -> bool:
        """Tell whether a device may be counted within a container that shows its devices in no variable."""
        return bool(entry.pod) and self.visible is None and device < entry.device_id

    def _of_chief(self) -> Cluster | None:
        faults = list(chief_values(self.environ))
        self.problems += faults
        if self.product not in (None, *_CHIEF_PRODUCTS):
            assert self.product
            self._add(
                CHIEF_PRODUCT, "CM_CHIEF_IP", f"not for {self.product.title}", self.environ.get("CM_CHIEF_IP"),
                fix="describe the job by a rank table: RANK_TABLE_FILE, RANK_ID, RANK_SIZE",
            )  # fmt: skip
        if faults:
            return None
        size = max(1, int(self.environ["CM_WORKER_SIZE"]))
        place = self.place
        if place and place.size > size:
            # Fewer may each start several.
            message = f"{place.name} started {place.size} processes"
            self._add(STARTER, "CM_WORKER_SIZE", message, size, fix=f"export CM_WORKER_SIZE={place.size}")
        chief = Chief(
            self.environ["CM_CHIEF_IP"], int(self.environ["CM_CHIEF_PORT"]), int(self.environ["CM_CHIEF_DEVICE"]),
            self.environ["CM_WORKER_IP"],
        )  # fmt: skip
        # HCCL counts the ranks when they have met.
        alone = 0 if size == 1 else None
        local_size = 1 if size == 1 else place.local_size if place else None
        device = self._device((place.local_rank if place else None) or 0)
        if self.named is None and size > 1:
            self._add(
                RANK_DEVICE, "ASCEND_DEVICE_ID", "not set, so it would be device 0 in every process",
                fix=f"export ASCEND_DEVICE_ID={device}", severity=Severity.WARNING,
            )  # fmt: skip
        return Cluster(Source.CHIEF, alone, size, alone, local_size, device, chief=chief)

    def _check_alone(self) -> None:
        """Report a rank or a size that nothing leads to."""
        size = self.environ.get("RANK_SIZE", "1")
        number = whole(size)
        if number is None:
            self._add(SIZE, "RANK_SIZE", "no whole number", size, allowed="1 or more", fix="unset RANK_SIZE")
        elif number > 1:
            self._add(
                ALONE, "RANK_SIZE", "neither RANK_TABLE_FILE nor CM_CHIEF_IP is set, so each process would train alone",
                size, fix="export RANK_TABLE_FILE=..., or unset RANK_SIZE and RANK_ID",
                severity=Severity.WARNING if self.place else None,
            )  # fmt: skip

    def _of_hub(self) -> Cluster | None:
        rank, size = (whole(self.environ.get(name, "")) for name in ("RANK_ID", "RANK_SIZE"))
        if not size or rank is None or rank >= size:
            allowed = f"0 to {size - 1}" if size else "a rank below RANK_SIZE, which is 1 or more"
            message = f"no rank of a job with RANK_SIZE={self.environ['RANK_SIZE']}"
            self._add(
                NO_RANK,
                "RANK_ID",
                message,
                self.environ.get("RANK_ID"),
                allowed=allowed,
                fix="npusession launch --fake",
            )
            return None
        local, local_size = (whole(self.environ.get(name, "")) for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
        if local_size == size:
            # MPI may count the processes of a host in another order than HCCL, which takes that of the ranks.
            local = rank
        return Cluster(Source.HUB, rank, size, local, local_size, self._device(0))

    def _of_place(self, place: Place) -> Cluster:
        for name, expected in (("RANK_ID", place.rank), ("RANK_SIZE", place.size)):
            text = self.environ.get(name)
            if text is not None and whole(text) != expected:
                message = f"{place.name} says {expected}"
                self._add(STARTER, name, message, text, allowed=str(expected), fix=f"unset {name}")
        self._add(
            NOT_TOLD, place.rank_variable, f"{place.name} started {place.size} ranks, of which HCCL is told nothing",
            place.rank, fix="npusession launch, or RANK_TABLE_FILE, RANK_ID and RANK_SIZE",
        )  # fmt: skip
        source = Source.SLURM if place.name == "Slurm" else Source.MPI
        device = self._device(place.local_rank or 0)
        return Cluster(source, place.rank, place.size, place.local_rank, place.local_size, device, place.servers)
