"""What Slurm, Open MPI and PMI tell a process of its place among its siblings."""

from __future__ import annotations

import itertools
import re
import typing

from .environment import whole

_BRACKETS = re.compile(r"([^,\[\]]*)(?:\[([^\]]*)\])?")
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")


class PlaceError(ValueError):
    """Variables of a starter that contradict themselves.

    Attributes:
        variable: the one that is wrong or missing.
        message: what is wrong with it.
    """

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable
        self.message = message


class Place(typing.NamedTuple):
    """The place of a process, as its starter tells it.

    Attributes:
        name: of the starter.
        command: what starts processes with it.
        rank_variable: what says the rank.
        rank: from 0.
        size: the number of processes.
        local_rank: among those on this server, ``None`` when it is not told.
        local_size: how many those are, ``None`` when it is not told.
        servers: names of all servers in the order of ranks, empty when they are not told.
        job: what the starter calls the job, the same for all; empty when it is not told.
    """

    name: str
    command: str
    rank_variable: str
    rank: int
    size: int
    local_rank: int | None = None
    local_size: int | None = None
    servers: typing.Tuple[str, ...] = ()
    job: str = ""


_OPEN_MPI_JOB = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid")
_SLURM_SIZE = ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS")


def place_in(environ: typing.Mapping[str, str]) -> Place | None:
    """Return the place of this process; ``None`` when nobody started it as one of several, or as the only one.

    Open MPI and PMI come before Slurm: within an allocation they know better than the job, whose numbers may be those
    of their own daemons.

    Raises:
        PlaceError: a number is none, is missing, or the rank is not below the size.
    """
    if environ.get("OMPI_COMM_WORLD_RANK"):
        return Place(
            "Open MPI",
            "mpirun",
            *_ranks(environ, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            _number(environ, "OMPI_COMM_WORLD_LOCAL_RANK"),
            _number(environ, "OMPI_COMM_WORLD_LOCAL_SIZE"),
            job=_first(environ, *_OPEN_MPI_JOB),
        )
    if environ.get("PMI_RANK"):
        found = Place(
            "PMI",
            "mpiexec",
            *_ranks(environ, "PMI_RANK", "PMI_SIZE"),
            _number(environ, "MPI_LOCALRANKID"),
            _number(environ, "MPI_LOCALNRANKS"),
        )
        if environ.get("SLURM_PROCID") != environ["PMI_RANK"]:
            return found
        # Slurm itself speaks PMI, and tells more by its own variables.
        slurm = _slurm(environ)
        return found._replace(
            local_rank=slurm.local_rank if found.local_rank is None else found.local_rank,
            local_size=slurm.local_size if found.local_size is None else found.local_size,
            job=slurm.job,
        )
    # The batch script has a rank, too, and is one process whatever the job will start.
    if not environ.get("SLURM_PROCID") or (environ.get("ENVIRONMENT") == "BATCH" and "SLURM_STEP_ID" not in environ):
        return None
    return _slurm(environ)


def _slurm(environ: typing.Mapping[str, str]) -> Place:
    node = _number(environ, "SLURM_NODEID")
    tasks = _tasks(_first(environ, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"))
    size = next((name for name in _SLURM_SIZE if environ.get(name)), "SLURM_NTASKS")
    parts = [environ[name] for name in ("SLURM_JOB_ID", "SLURM_STEP_ID") if environ.get(name)]
    return Place(
        "Slurm",
        "srun",
        *_ranks(environ, "SLURM_PROCID", size),
        _number(environ, "SLURM_LOCALID"),
        tasks[node] if node is not None and node < len(tasks) else None,
        tuple(hosts(_first(environ, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"))),
        ".".join(parts),
    )


def _ranks(environ: typing.Mapping[str, str], rank_variable: str, size_variable: str) -> tuple[str, int, int]:
    rank, size = _number(environ, rank_variable), _number(environ, size_variable)
    if size is None:
        raise PlaceError(size_variable, f"not set, but {rank_variable} is {environ[rank_variable]}")
    if rank is None or rank >= size:
        raise PlaceError(rank_variable, f"{environ[rank_variable]}, but {size_variable} is {size}: 0 to {size - 1}")
    return rank_variable, rank, size


def _number(environ: typing.Mapping[str, str], name: str) -> int | None:
    text = environ.get(name)
    number = whole(text)
    if text and number is None:
        raise PlaceError(name, f"{text!r} is no number")
    return number


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
