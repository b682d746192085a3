"""Problems as the commands print them, for people and as JSON."""

from __future__ import annotations

import json
import sys
import typing

import click

from ..options import Problem


def print_problems(problems: typing.Iterable[Problem]) -> None:
    """Print problems for people."""
    for problem in problems:
        click.echo(f"{problem.severity.value}\n{problem}")


def as_data(problem: Problem) -> dict[str, typing.Any]:
    """Return a problem as JSON has it; one that has a place in a file with source, line and column."""
    data: dict[str, typing.Any] = {
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
    data.update({name: getattr(problem, name) for name in ("source", "line", "column") if hasattr(problem, name)})
    return data


def print_json(data: object) -> None:
    """Print data as JSON."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
