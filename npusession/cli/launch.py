"""``npusession launch``: the ranks of a job as one command."""

from __future__ import annotations

import os
import sys

import click

from ..launch.job import LaunchError, Request


@click.command(
    context_settings={"allow_interspersed_args": False},
    # Options end with the script's name, so that its own are never taken for the launcher's.
    options_metavar="[OPTIONS]",
)
@click.option("--devices", metavar="LIST", help="Devices of this host, such as 0-7 or 0,2,4-5: one process for each.")
@click.option("--nproc", type=click.IntRange(1, 4096), help="Number of processes on this host, for devices 0, 1, ...")
@click.option("--nnodes", type=click.IntRange(1, 32768), help="Number of hosts.  [default: 1, or as in the rank table]")
@click.option("--node-rank", type=click.IntRange(0), help="Number of this host, from 0.")
@click.option("--master-addr", metavar="HOST", help="Address of host 0, the same on all hosts.")
@click.option("--master-port", type=click.IntRange(1, 65535), help="A port that is free there, the same on all hosts.")
@click.option(
    "--rank-table",
    metavar="FILE",
    envvar="RANK_TABLE_FILE",
    show_envvar=True,
    help="Rank table of the job. By default one is made for the devices of this host.",
)
@click.option("--cpu-bind", is_flag=True, help="Give each process a block of processors of its own.")
@click.option("--log-dir", metavar="DIR", help="Add each rank's output to DIR/rank-N.log.")
@click.option(
    "--tee",
    type=click.Choice(["first", "all", "none"]),
    default="first",
    show_default=True,
    help="Whose output the terminal shows: the first rank's of this host, or all with prefixes, or nobody's.",
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop the job after this.")
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between asking ranks to end and killing them.",
)
@click.option("--fake", is_flag=True, help="Run on the fake backend, with collectives between the processes.")
@click.option("--dry-run", is_flag=True, help="Print what would run, as a script for bash, and stop.")
@click.option("-m", "--module", is_flag=True, help="SCRIPT is a module, as for python -m.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def launch(dry_run: bool, **given: object) -> None:
    """Run SCRIPT with its ARGUMENTS in one process for each device, as one job.

    Each rank gets the variables that HCCL and scripts read. The first one that fails stops the others, and its code
    becomes that of the job; no process of the job is left when it ends, whatever ends it. Under srun or mpirun only
    the rank that they have started this process for is run.
    """
    from ..launch.planning import plan

    try:
        job = plan(Request(**given), os.environ)  # type: ignore[arg-type]
        if dry_run:
            from ..launch.script import script

            click.echo(script(job), nl=False)
            return
        from ..launch.running import run

        code = run(job)
    except LaunchError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(code)
