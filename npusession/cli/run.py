"""``npusession run``: a script on the emulation."""

from __future__ import annotations

import atexit
import functools
import os
import signal
import sys
import typing

import click

from ..backends import VARIABLE
from ..errors import BackendError
from ..products import Product
from .options import product_argument
from .script import Outcome
from .script import run as run_script

#: Launch scripts put a JOB_ID into the environment, which NPUEstimator wants to find there; any value will do.
_JOB = "npusession"
#: What they export for a job of one rank, and nearly all scripts that read it read without a default.
_ALONE = {"RANK_SIZE": "1", "RANK_ID": "0"}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--devices", type=click.IntRange(min=1), metavar="N", help="How many devices the emulated host has; 8 by default."
)
@click.option("--product", callback=product_argument, metavar="NAME", help="Product family or SoC version of them.")
@click.option("--strict", is_flag=True, help="Options that the runtime ignores in silence are errors.")
@click.option(
    "--simulate-precision", is_flag=True, help="Really compute in low precision, to see what becomes of a loss."
)
@click.option("--shadow", is_flag=True, help="Hide an adapter that is installed.")
@click.option(
    "--report",
    type=click.Choice(["text", "json", "none"]),
    default="text",
    show_default=True,
    help="Form of the report.",
)
@click.option("--report-file", type=click.Path(dir_okay=False), help="Write the report there, not to the error output.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    devices: int | None,
    product: Product | None,
    strict: bool,
    simulate_precision: bool,
    shadow: bool,
    report: str,
    report_file: str | None,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT unmodified on this machine's CPU, with npu_bridge and hccl emulated.

    Everything after SCRIPT is the script's own, as with python. It fails where and how it would fail on an NPU host; a
    report at the end says what was configured, ignored, initialised and left behind. Without --strict, RANK_SIZE=1 and
    RANK_ID=0 are set where the environment describes no cluster, as launch scripts do.
    """
    try:
        # Open until the very end of the process.
        output = sys.stderr if report_file is None else open(report_file, "w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise click.ClickException(f"--report-file: {error}") from error
    # The first handler that is registered is the last one that runs: it sees what all others do.
    state: dict[str, typing.Any] = {"pid": os.getpid()}
    atexit.register(_end, state, None if report == "none" else functools.partial(_write, report, output))

    from ..backends.fake import importing
    from ..backends.fake.runtime import RUNTIME

    settings = {"strict": strict, "simulate_precision": simulate_precision, "product": product}
    RUNTIME.configure(
        **settings, **({} if devices is None else {"devices": devices}), **({} if strict else {"job": _JOB})
    )
    try:
        importing.enable(shadow=shadow)
    except BackendError as error:
        raise click.ClickException(str(error).replace("shadow=True", "--shadow")) from error
    # A script that uses npusession itself is on the emulation as well.
    os.environ[VARIABLE] = "fake"
    # And so are the processes that it starts. Those of multiprocessing take over sys.path.
    RUNTIME.settings.hand_on()
    os.environ.update(importing.on_path(os.environ))
    sys.path.insert(1, importing.PACKAGES)
    if not strict:
        state["given"] = _give_rank()
    state["script"] = [script, *arguments]
    state["outcome"] = outcome = run_script(script, arguments)
    sys.exit(outcome.code)


def _end(state: dict[str, typing.Any], write: typing.Callable[..., None] | None) -> None:
    """End the process as Python does after the script, with the report."""
    # A fork of the script is none of it, nor is a script that was never begun.
    outcome = state.get("outcome")
    if outcome is None or os.getpid() != state["pid"]:
        return
    sys.stdout.flush()
    if write is not None:
        write(state["script"], outcome, state.get("given", {}))
    if outcome.interrupted and sys.version_info >= (3, 8):
        # So that the shell knows, which does not see an exit code then but the signal.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def _give_rank() -> dict[str, str]:
    """Give a process whose environment describes no cluster its rank, and return the variables that were set."""
    from ..hccl._sources import resolve
    from ..hccl.cluster import Source

    cluster, problems = resolve(os.environ, None)
    if cluster is None or cluster.source is not Source.SINGLE or problems:
        return {}
    given = {name: value for name, value in _ALONE.items() if not os.environ.get(name)}
    os.environ.update(given)
    return given


def _write(form: str, output: typing.TextIO, script: list[str], outcome: Outcome, given: dict[str, str]) -> None:
    from .run_report import RunReport
    from .run_text import as_text

    report = RunReport.of_this_process(script, outcome, given)
    output.write(report.as_json() if form == "json" else as_text(report))
    output.flush()
