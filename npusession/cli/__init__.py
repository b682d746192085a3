"""The ``npusession`` command."""

from __future__ import annotations

import click

from .._version import __version__
from .explain import explain
from .launch import launch
from .options import options


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="npusession")
def main() -> None:
    """Options of TensorFlow sessions on Ascend NPUs: look them up, and check plans."""


main.add_command(explain)
main.add_command(launch)
main.add_command(options)
