"""``npusession explain``: what a plan comes to."""

from __future__ import annotations

import sys
import typing
import warnings

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import NpuSessionError, OptionsError, OptionsWarning
from ..explain import Origin
from ..options import Problem
from ..products import Product
from ..session import NpuSession
from .options import product_argument
from .problems import as_data, print_json, print_problems
from .words import Words


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--product", callback=product_argument, help="The product family or SoC version that it will run on.")
@click.option(
    "--given", is_flag=True, help="Only options that the file or the environment sets, or that have problems."
)
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the text.")
def explain(file: str, product: Product | None, given: bool, machine: bool, lang: str) -> None:
    """Show the effective value of each option of a plan, where it comes from, and what is wrong.

    FILE is a plan in TOML or JSON, or a ConfigProto, serialised or in text format. The exit code is 1 when the plan
    has errors.
    """
    changes = {} if product is None else {"product": product}
    try:
        with warnings.catch_warnings():
            # They come again, as problems, from the check below.
            warnings.simplefilter("ignore", OptionsWarning)
            plan = NpuSession.from_config(file, **changes)
    except OptionsError as error:
        _problems(error.problems, machine)
        sys.exit(1)
    except (NpuSessionError, OSError, TypeError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    report = plan.check()
    rows = [row for row in plan.explain() if not given or row.origin in (Origin.GIVEN, Origin.ENVIRONMENT)]
    if machine:
        data = {
            "scene": plan.scene.value,
            "options": [
                {
                    "name": row.name,
                    "value": row.value,
                    "origin": row.origin.value,
                    "detail": row.detail,
                    "over": row.over,
                    "scope": None if row.option is None else row.option.scope.value,
                }
                for row in rows
            ],
            "problems": [as_data(problem) for problem in report],
        }
        print_json(data)
    else:
        words = Words(lang)
        table = Table(box=SIMPLE_HEAD)
        for title in ("name", "value", "origin", "scope", "problems"):
            table.add_column(words(title), no_wrap=title == "name", overflow="fold")
        for row in rows:
            # A problem of a key or of a side file names its place after the option.
            codes = ", ".join(problem.code for problem in report if problem.option.partition("[")[0] == row.name)
            origin = f"{words(row.origin.value)} {words(row.detail)}".strip()
            if row.over:
                origin += f", {words('before')} {row.over}"
            scope = "" if row.option is None else words(row.option.scope.value)
            table.add_row(row.name, Text("" if row.value is None else str(row.value)), origin, scope, codes)
        Console().print(table)
        print_problems(report)
    sys.exit(1 if report else 0)


def _problems(problems: typing.Sequence[Problem], machine: bool) -> None:
    if machine:
        print_json({"problems": [as_data(problem) for problem in problems]})
    else:
        print_problems(problems)
