"""``npusession explain``: what a plan comes to."""

from __future__ import annotations

import json
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
            "problems": [_as_json(problem) for problem in report],
        }
        _dump(data)
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
        _print(report)
    sys.exit(1 if report else 0)


def _problems(problems: typing.Sequence[Problem], machine: bool) -> None:
    if machine:
        _dump({"problems": [_as_json(problem) for problem in problems]})
    else:
        _print(problems)


def _print(problems: typing.Iterable[Problem]) -> None:
    for problem in problems:
        click.echo(f"{problem.severity.value}\n{problem}")


def _as_json(problem: Problem) -> dict[str, typing.Any]:
    return {
        "code": problem.code,
        "rule": problem.slug,
        "severity": problem.severity.value,
        "option": problem.option,
        "message": problem.message,
        "value": problem.value if isinstance(problem.value, (bool, int, str, type(None))) else repr(problem.value),
        "allowed": problem.allowed,
        "why": problem.why,
        "fix": problem.fix,
    }


def _dump(data: object) -> None:
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
