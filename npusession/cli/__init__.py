"""The ``npusession`` command."""

from __future__ import annotations

import click

from .._version import __version__
from .dump import dump
from .explain import explain
from .launch import launch
from .options import options
from .ranktable import ranktable
from .report import report
from .run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="npusession")
def main() -> None:
    """TensorFlow sessions on Ascend NPUs: options, plans, rank tables, scripts on the emulation, records, dumps."""


main.add_command(dump)
main.add_command(explain)
main.add_command(launch)
main.add_command(options)
main.add_command(ranktable)
main.add_command(run)
main.add_command(report)
