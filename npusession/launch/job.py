"""A job as it was planned: what to start on this host, and how to watch it."""

from __future__ import annotations

import dataclasses
import os
import typing

from ..errors import NpuSessionError


class LaunchError(NpuSessionError, ValueError):
    """A job that cannot be started as it was asked for; nothing has been started."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What was asked for, as on the command line; ``None`` is what was not said."""

    script: str
    arguments: tuple[str, ...] = ()
    module: bool = False
    devices: str | None = None
    nproc: int | None = None
    nnodes: int | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    rank_table: str | None = None
    cpu_bind: bool = False
    log_dir: str | None = None
    tee: str = "first"
    timeout: float | None = None
    grace: float = 5.0
    fake: bool = False


@dataclasses.dataclass(frozen=True)
class Rank:
    """One process of a job.

    Attributes:
        number: its rank in the whole job.
        device: the device that it uses, by its number on this host.
        environ: the variables that are its own.
        cpus: the processors that it may run on; ``None`` for those of the launcher.
    """

    number: int
    device: int
    environ: typing.Mapping[str, str]
    cpus: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Job:
    """What runs on this host.

    Attributes:
        command: program and arguments of every rank.
        ranks: the ranks that are started here.
        environ: variables that all ranks share.
        removed: variables that no rank inherits.
        rank_table: text of the rank table that was made for this job, else ``None``.
        log_dir: directory of the ranks' logs.
        tee: what the terminal shows: ``"first"`` for the first rank of this host, ``"all"`` or ``"none"``.
        timeout: seconds that the job may take.
        grace: seconds between asking ranks to end and killing them.
    """

    command: tuple[str, ...]
    ranks: tuple[Rank, ...]
    environ: typing.Mapping[str, str]
    removed: tuple[str, ...] = ()
    rank_table: str | None = None
    log_dir: str | None = None
    tee: str = "first"
    timeout: float | None = None
    grace: float = 5.0

    def environment(self, rank: Rank, base: typing.Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment of a rank, made from the launcher's."""
        kept = {name: value for name, value in base.items() if name not in self.removed}
        return {**kept, **self.environ, **rank.environ}

    def log(self, rank: Rank) -> str | None:
        """Return the path of a rank's log."""
        return None if self.log_dir is None else os.path.join(self.log_dir, f"rank-{rank.number}.log")

    def shown(self, rank: Rank) -> bool:
        """Return whether the terminal shows a rank's output."""
        return self.tee == "all" or (self.tee == "first" and rank is self.ranks[0])
