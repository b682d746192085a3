"""What Slurm, Open MPI and PMI tell a process of its place among its siblings."""

from __future__ import annotations

import itertools
import re
import typing

from ._notes import whole

_BRACKETS = re.compile(r"([^,\[\]]*)(?:\[([^\]]*)\])?")
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")


class Place(typing.NamedTuple):
    """The place of a process, as its starter tells it.

    Attributes:
        name: of the starter.
        rank_variable: what says the rank.
        rank: from 0.
        size: the number of processes.
        local_rank: among those on this server, ``None`` when it is not told.
        local_size: how many those are, ``None`` when it is not told.
        servers: names of all servers in the order of ranks, empty when they are not told.
    """

    name: str
    rank_variable: str
    rank: int
    size: int
    local_rank: int | None = None
    local_size: int | None = None
    servers: typing.Tuple[str, ...] = ()


class _Variables(typing.NamedTuple):
    rank: str
    size: str
    local_rank: str
    local_size: str


#: The first one whose rank and size are there counts: mpirun within a Slurm job knows better than the job.
_MPI = {
    "Open MPI": _Variables(
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"
    ),
    "PMI": _Variables("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
}


def place_in(environ: typing.Mapping[str, str]) -> Place | None:
    """Return the place of this process among several; ``None`` when nobody started it as one of several."""
    for name, variables in _MPI.items():
        rank, size, local_rank, local_size = (whole(environ.get(variable)) for variable in variables)
        if rank is not None and size is not None and rank < size and size > 1:
            return Place(name, variables.rank, rank, size, local_rank, local_size)
    return _slurm(environ)


def _slurm(environ: typing.Mapping[str, str]) -> Place | None:
    if environ.get("ENVIRONMENT") == "BATCH" and "SLURM_STEP_ID" not in environ:
        # The batch script itself, which is one process whatever the job will start.
        return None
    rank = whole(environ.get("SLURM_PROCID"))
    size = whole(_first(environ, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"))
    if rank is None or size is None or size < 2 or rank >= size:
        return None
    node = whole(environ.get("SLURM_NODEID"))
    tasks = _tasks(_first(environ, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"))
    local_size = tasks[node] if node is not None and node < len(tasks) else None
    servers = tuple(hosts(_first(environ, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")))
    return Place("Slurm", "SLURM_PROCID", rank, size, whole(environ.get("SLURM_LOCALID")), local_size, servers)


def _first(environ: typing.Mapping[str, str], *names: str) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _tasks(text: str) -> list[int]:
    """Read Slurm's ``8(x2),4`` as ``[8, 8, 4]``."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        match = _TASKS.fullmatch(part)
        if not match or int(match.group(2) or 1) > 65536:
            return []
        found += [int(match.group(1))] * int(match.group(2) or 1)
    return found


def hosts(text: str) -> list[str]:
    """Read Slurm's list of nodes: ``node[01-03,7],login`` names five; what is no such list is taken as one name."""
    found: list[str] = []
    # Commas between names, not those in brackets.
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        choices = []
        for prefix, numbers in _BRACKETS.findall(part):
            choices.append([prefix])
            if numbers:
                choices.append(list(_numbers(numbers)))
        found += map("".join, itertools.islice(itertools.product(*choices), 65536))
    return found


def _numbers(text: str) -> typing.Iterator[str]:
    for part in text.split(","):
        low, _, high = part.partition("-")
        if whole(low) is None or whole(high) is None or int(high) - int(low) > 65535:
            yield part
        else:
            # Leading zeros belong to the names.
            yield from (str(number).zfill(len(low)) for number in range(int(low), int(high) + 1))
