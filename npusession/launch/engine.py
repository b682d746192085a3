"""The place of this process among others that Slurm or MPI has started."""

from __future__ import annotations

import dataclasses
import re
import typing

from .job import LaunchError


@dataclasses.dataclass(frozen=True)
class Place:
    """Which of how many processes this is.

    Attributes:
        engine: what started it, for messages.
        rank: its number among all.
        size: how many there are.
        local_rank: its number among those of this host; ``None`` when the engine does not tell.
        local_size: how many are on this host; ``None`` when the engine does not tell.
        job: what the engine calls the job, the same for all; empty when it does not tell.
    """

    engine: str
    rank: int
    size: int
    local_rank: int | None
    local_size: int | None
    job: str


def place_in(environ: typing.Mapping[str, str]) -> Place | None:
    """Return the place that the environment describes, ``None`` when no engine has started this process.

    Open MPI and PMI come before Slurm: they may run within an allocation, whose own numbers mean something else then.

    Raises:
        LaunchError: a variable of an engine is no number, or one is missing.
    """

    def number(name: str) -> int | None:
        text = environ.get(name, "")
        if text and not re.fullmatch(r"\d{1,9}", text, re.ASCII):
            raise LaunchError(f"{name}={text!r} is no number; unset it, or start this through the engine that sets it")
        return int(text) if text else None

    slurm_job = "{}.{}".format(environ.get("SLURM_JOB_ID", ""), environ.get("SLURM_STEP_ID", ""))
    slurm_job = "" if slurm_job == "." else slurm_job
    rank = number("OMPI_COMM_WORLD_RANK")
    if rank is not None:
        return _place(
            "mpirun",
            "OMPI_COMM_WORLD_SIZE",
            rank,
            number("OMPI_COMM_WORLD_SIZE"),
            number("OMPI_COMM_WORLD_LOCAL_RANK"),
            number("OMPI_COMM_WORLD_LOCAL_SIZE"),
            next(filter(None, (environ.get(name, "") for name in _OPEN_MPI_JOB)), ""),
        )
    slurm_rank = number("SLURM_PROCID")
    # A batch script has a rank as well, but nobody has started others beside it: only srun does.
    if "SLURM_STEP_ID" not in environ and environ.get("ENVIRONMENT") == "BATCH":
        slurm_rank = None
    rank = number("PMI_RANK")
    if rank is not None:
        same = rank == slurm_rank
        return _place(
            "mpiexec",
            "PMI_SIZE",
            rank,
            number("PMI_SIZE"),
            _first(number("MPI_LOCALRANKID"), number("SLURM_LOCALID") if same else None),
            _first(number("MPI_LOCALNRANKS"), _tasks_here(environ) if same else None),
            slurm_job if same else "",
        )
    if slurm_rank is not None:
        return _place(
            "srun",
            "SLURM_NTASKS",
            slurm_rank,
            _first(number("SLURM_STEP_NUM_TASKS"), number("SLURM_NTASKS"), number("SLURM_NPROCS")),
            number("SLURM_LOCALID"),
            _tasks_here(environ),
            slurm_job,
        )
    return None


_OPEN_MPI_JOB = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid")


def _place(
    engine: str, variable: str, rank: int, size: int | None, local: int | None, beside: int | None, job: str
) -> Place:
    if size is None:
        raise LaunchError(f"this process is rank {rank} of {engine}, but {variable}, the number of ranks, is not set")
    if rank >= size:
        raise LaunchError(f"this process is rank {rank} of {engine}, but {variable}={size}: ranks are 0 to {size - 1}")
    return Place(engine, rank, size, local, beside, job)


def _first(*numbers: int | None) -> int | None:
    return next((number for number in numbers if number is not None), None)


def _tasks_here(environ: typing.Mapping[str, str]) -> int | None:
    """Return the number of tasks on this node, from a list such as ``4(x2),1``."""
    text = environ.get("SLURM_STEP_TASKS_PER_NODE") or environ.get("SLURM_TASKS_PER_NODE") or ""
    counts: list[int] = []
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        counts += [int(count)] * int(times or 1)
    node = environ.get("SLURM_NODEID", "")
    return counts[int(node)] if node.isdigit() and int(node) < len(counts) else None
