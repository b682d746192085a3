"""``npusession ranktable``: check, show, make and convert rank tables."""

from __future__ import annotations

import sys

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import NpuSessionError
from ..hccl import DeviceAddressError, RankTable, RankTableError, read_hccn_conf
from ..hccl._examine import VERSIONS
from ..hccl.ranktable import Version, device_ids
from ..options.problems import Problem, Report
from ..products import Product, detect
from .options import product_argument
from .problems import as_data, print_json, print_problems

#: How many problems are printed for people.
_SHOWN = 50
_FILE = click.Path(exists=True, dir_okay=False)
_version = click.option("--version", type=click.Choice(VERSIONS), help="The version to write.")
_output = click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write; by default, print.")
_force = click.option("--force", is_flag=True, help="Replace a file that is there.")


@click.group()
def ranktable() -> None:
    """Check, show, make and convert rank tables.

    Versions are 1.0, 1.2 (super pods) and 2.0 (network layers), and the forms that declare none: group (2019, with
    rank ids) and container (with pod names).
    """


@ranktable.command()
@click.argument("file", type=_FILE)
@click.option(
    "--product", callback=product_argument, help="The product family or SoC version; by default this host's, if any."
)
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
def check(file: str, product: Product | None, machine: bool) -> None:
    """Say everything that is wrong with FILE, and where.

    The exit code is 1 when HCCL would refuse it.
    """
    report = RankTable.check_file(file, product or detect())
    if machine:
        print_json({"file": file, "problems": [as_data(problem) for problem in report]})
    else:
        print_problems(report[:_SHOWN])
        if len(report) > _SHOWN:
            click.echo(f"... and {len(report) - _SHOWN} more; --json prints all")
        click.echo(_summary(file, report))
    sys.exit(1 if report else 0)


def _summary(file: str, report: Report) -> str:
    errors, warnings = len(report.errors), len(report.warnings)
    if report:
        return f"{file}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"
    table = RankTable.read(file)
    found = f"{_name(table)}, {_count(len(table.servers), 'server')}, {_count(table.size, 'rank')}"
    return f"{file}: {found}; no errors, {_count(warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return "{} {}{}".format(number or "no", what, "" if number == 1 else "s")


def _name(table: RankTable) -> str:
    return f"version {table.version}" if table.version[0].isdigit() else f"{table.version} form"


@ranktable.command()
@click.argument("file", type=_FILE)
def show(file: str) -> None:
    """Show the ranks of FILE, one line for each."""
    table = _read(file)
    ranks = [(server, rank) for server in table.servers for rank in server.ranks]
    optional = {
        "pod": [rank.pod for _, rank in ranks],
        "super pod": [server.super_pod for server, _ in ranks],
        "super device": ["" if rank.super_device_id is None else str(rank.super_device_id) for _, rank in ranks],
        "address": [rank.device_ip for _, rank in ranks],
        "layers": [
            ", ".join(address.addr for level in rank.levels for address in level.addresses) for _, rank in ranks
        ],
    }
    shown = {name: column for name, column in optional.items() if any(column)}
    grid = Table(box=SIMPLE_HEAD, title=f"{_name(table)}, {table.status}", title_justify="left")
    for name in ("rank", "server", "device", *shown):
        grid.add_column(name, overflow="fold", justify="right" if name in ("rank", "device") else "left")
    for number in sorted(range(len(ranks)), key=lambda number: ranks[number][1].rank_id):
        server, rank = ranks[number]
        cells = [
            str(rank.rank_id),
            server.server_id,
            str(rank.device_id),
            *(column[number] for column in shown.values()),
        ]
        grid.add_row(*map(Text, cells))
    Console().print(grid)


@ranktable.command()
@click.option("--devices", help='Devices of this server, such as "0-7" or "0,1"; their addresses are looked up here.')
@click.option("--server", default="127.0.0.1", show_default=True, help="Name or address of this server.")
@click.option("--without-addresses", is_flag=True, help="Leave out device_ip; fine on one A2 or A3 server.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="SERVER=DEVICES",
    help="A server, with its devices as id:address with commas between, as ids, or as @FILE, a copy of its "
    "/etc/hccn.conf. Ranks are counted in the order of the servers.",
)
@click.option("--product", callback=product_argument, help="The product family or SoC version that it is for.")
@_version
@_output
@_force
def make(
    devices: str | None,
    server: str,
    without_addresses: bool,
    hosts: tuple[str, ...],
    product: Product | None,
    version: Version | None,
    output: str | None,
    force: bool,
) -> None:
    """Make a rank table, of this server or of several, and check it.

    \b
    npusession ranktable make --devices 0-7 -o rank_table.json
    npusession ranktable make --host node_0=@node_0.conf --host node_1=@node_1.conf
    npusession ranktable make --host node_0=0:192.0.2.10,1:192.0.2.11 --host node_1=0:192.0.2.12,1:192.0.2.13
    """
    if bool(devices) == bool(hosts):
        raise click.UsageError("give either --devices or --host")
    try:
        if devices:
            addresses: dict[int, str] | None = {} if without_addresses else None
            table = RankTable.single_server(devices, server, addresses, version or "1.0")
        else:
            table = RankTable.from_hosts(dict(map(_host, hosts)), version or "1.0")
        _emit(table, product or detect(), output, force)
    except DeviceAddressError as error:
        raise click.ClickException(f"{error} On the command line that is --without-addresses.") from error
    except (NpuSessionError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _host(text: str) -> tuple[str, dict[int, str]]:
    """Read SERVER=DEVICES."""
    server, equals, devices = text.partition("=")
    if not server or not equals:
        raise ValueError(f"{text!r} is no server with devices; write node_0=0:192.0.2.10,1:192.0.2.11")
    if devices.startswith("@"):
        return server, read_hccn_conf(devices[1:])
    if ":" not in devices:
        return server, dict.fromkeys(device_ids(devices), "")
    pairs = [part.partition(":") for part in devices.split(",")]
    ids = device_ids(",".join(device for device, _, _ in pairs))
    return server, dict(zip(ids, (address for _, _, address in pairs)))


@ranktable.command()
@click.argument("file", type=_FILE)
@click.option("--version", type=click.Choice(VERSIONS), required=True, help="The version to write.")
@_output
@_force
def convert(file: str, version: Version, output: str | None, force: bool) -> None:
    """Write FILE in another version, or say what that version has no place for."""
    try:
        _emit(_read(file).convert(version), None, output, force)
    except (NpuSessionError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _read(file: str) -> RankTable:
    try:
        return RankTable.read(file)
    except RankTableError as error:
        raise click.ClickException(str(error)) from error


def _emit(table: RankTable, product: Product | None, output: str | None, force: bool) -> None:
    """Write a table that is right, or print it."""
    report = table.check(product)
    if report:
        raise RankTableError([_unplaced(problem) for problem in report.errors], "to be written")
    for warning in report.warnings:
        click.echo(f"{warning.severity.value}\n{_unplaced(warning)}", err=True)
    if output is None:
        click.echo(table.text(), nl=False)
        return
    try:
        click.echo(table.write(output, overwrite=force), err=True)
    except FileExistsError:
        raise click.ClickException(f"{output} is there already; --force replaces it") from None


def _unplaced(problem: Problem) -> Problem:
    """Return a problem without a line in a file that is not there."""
    return problem._replace(source="", line=0, column=0)
