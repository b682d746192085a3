"""``npusession options``: the option table."""

from __future__ import annotations

import json
import sys
import typing

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..options import GROUPS, TABLE, Option, Scene, unknown_name
from ..options.model import Status
from ..products import Product
from .words import Words, as_json, values_of


def product_argument(context: click.Context, parameter: click.Parameter, value: str | None) -> Product | None:
    """Read ``--product``."""
    try:
        return None if value is None else Product.of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.argument("name", required=False)
@click.option("--product", callback=product_argument, help="Only what this product family or SoC version supports.")
@click.option("--scene", type=click.Choice(["training", "inference"]), help="Only what applies to this scene.")
@click.option("--changed", is_flag=True, help="Only what changed: deprecated options and those of earlier releases.")
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the text.")
def options(
    name: str | None, product: Product | None, scene: str | None, changed: bool, machine: bool, lang: str
) -> None:
    """List the session options, those of a group, or explain one.

    NAME is an option, a key of the profiling options, or a group such as precision.
    """
    wanted = None if scene is None else Scene(scene)
    chosen = [
        (group.name, option)
        for group in GROUPS
        for option in group.options
        if name in (None, group.name, group.title_zh, option.name) and _fits(option, product, wanted, changed)
    ]
    # Some names of earlier releases are keys of profiling_options today.
    chosen += [(group.name, key) for group in GROUPS for key in group.keys if key.name == name]
    if not chosen and name is not None and name not in {group.name for group in GROUPS} | set(TABLE):
        problem = unknown_name(name)
        raise click.UsageError(
            "{}: {}; groups are {}".format(name, problem.message, ", ".join(group.name for group in GROUPS))
        )
    if machine:
        json.dump([as_json(option, group) for group, option in chosen], sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    elif chosen and all(option.name == name for _, option in chosen):
        for position, (_, option) in enumerate(chosen):
            if position:
                click.echo()
            show(Console(), option, Words(lang), wanted, product)
            if option.keys:
                click.echo()
                _list_keys(Console(), option, Words(lang), wanted, product)
    else:
        _list(Console(), chosen, Words(lang), wanted, product)


def _fits(option: Option, product: Product | None, scene: Scene | None, changed: bool) -> bool:
    return (
        (product is None or product in option.products)
        and (scene is None or scene in option.scenes)
        and (not changed or option.status in (Status.DEPRECATED, Status.LEGACY))
    )


def _list(
    console: Console,
    chosen: typing.Sequence[tuple[str, Option]],
    words: Words,
    scene: Scene | None,
    product: Product | None,
) -> None:
    table = Table(box=SIMPLE_HEAD)
    for title in ("name", "group", "default", "summary"):
        # Names are there to be copied, so they are never cut.
        table.add_column(words(title), no_wrap=title == "name", overflow="fold")
    for group, option in chosen:
        # Deprecated names are marked in words, not by colour alone.
        mark = "" if option.status is Status.CURRENT else f" ({words.status(option.status)})"
        found = "\n".join(text for text, _ in defaults(option, words, scene, product))
        table.add_row(option.name, group, Text(found), Text(words.summary(option) + mark))
    console.print(table)


def _list_keys(console: Console, option: Option, words: Words, scene: Scene | None, product: Product | None) -> None:
    """Print all that the table knows of what stands within an option's value, a row each."""
    table = Table(box=SIMPLE_HEAD)
    for title in ("name", "default", "values", "summary"):
        table.add_column(words(title), no_wrap=title == "name", overflow="fold")
    for key in option.keys:
        if _fits(key, product, scene, False):
            found = "\n".join(text for text, _ in defaults(key, words, scene, product))
            remarks = [words.summary(key), *(f"- {note}" for note in words.notes(key))]
            if key.products != option.products:
                remarks.append("- {}: {}".format(words("products"), words.products(key.products)))
            if key.instead:
                remarks.append(f"- {words.status(key.status)}: {words(key.instead)}")
            table.add_row(key.name, Text(found), Text("\n".join(_values(key, words))), Text("\n".join(remarks)))
    console.print(table)


def _values(option: Option, words: Words) -> list[str]:
    """Return the allowed values: a line for each of a choice."""
    lines = []
    for value in values_of(option):
        only = "" if value.products >= option.products else f" [{words.products(value.products)}]"
        lines.append(f"{value.value}: {words.summary(value)}{only}")
    return lines or [words.allowed(option)]


def show(console: Console, option: Option, words: Words, scene: Scene | None, product: Product | None) -> None:
    """Print all that the table knows of one option."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    # Without it a long Chinese word is cut at the margin.
    table.add_column(overflow="fold")

    def add(title: str, text: str) -> None:
        if text:
            # As Text: markup would swallow the square brackets of shapes and ranges.
            table.add_row(words(title), Text(text))

    add("name", f"{option.name}  ({words.place(option)})")
    add("summary", words.summary(option))
    add("values", "\n".join(_values(option, words)))
    add("default", "\n".join(f"{text}{where}" for text, where in defaults(option, words, scene, product)))
    add("scope", words(option.scope.value))
    add("scenes", words.scenes(option.scenes))
    add("products", words.products(option.products))
    add("status", "" if option.status is Status.CURRENT else words.status(option.status))
    add("instead", words(option.instead))
    add("since", option.since)
    variables = [f"{name}: {words('counts when not given')}" for name in option.replaces]
    variables += [f"{name}: {words('goes before the option')}" for name in option.yields_to]
    add("environment", "\n".join(variables))
    add("side file", option.file_format)
    add("notes", "\n".join(f"- {note}" for note in words.notes(option)))
    add("source", words.source(option))
    console.print(table)


def defaults(option: Option, words: Words, scene: Scene | None, product: Product | None) -> list[tuple[str, str]]:
    """Return each default as text, with where it holds in brackets; narrowed to a scene and a product."""
    found = []
    for default in option.defaults:
        if (scene is not None and scene not in default.scenes) or (
            product is not None and product not in default.products
        ):
            continue
        where = []
        if not default.scenes >= option.scenes and scene is None:
            where.append(words.scenes(default.scenes))
        if not default.products >= option.products and product is None:
            where.append(words.products(default.products))
        found.append((str(default.value), " [{}]".format("; ".join(where)) if where else ""))
    return found
