"""``npusession report``: the page of a record."""

from __future__ import annotations

import os
import typing
import warnings

import click

from ..record import RecordError, read


@click.command()
@click.argument("record", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", help="The page to write; by default beside the record, with .html in place of its ending."
)
@click.option("--png", is_flag=True, help="Write the pictures as PNG files beside the page, too.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
def report(record: str, output: str | None, png: bool, force: bool) -> None:
    """Make one HTML page of RECORD, the file that a session with record="run.jsonl" wrote.

    It shows the loss with precision phases, the distribution of step times, the life cycle, options and warnings.
    """
    output = output or os.path.splitext(record)[0] + ".html"
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sections = read(record)
    except (RecordError, OSError) as error:
        raise click.ClickException(str(error)) from error
    for warning in caught:
        click.echo(f"Warning: {warning.message}", err=True)
    try:
        from ..record.charts import life_chart, loss_chart, time_chart
        from ..record.page import page
    except ImportError as error:
        raise click.ClickException(f'{error}. The page needs matplotlib: pip install "npusession[report]"') from error
    files: dict[str, typing.Any] = {output: page(sections, os.path.basename(record))}
    if png:
        charts = (("loss", loss_chart), ("times", time_chart), ("life", life_chart))
        for number, section in enumerate(sections, 1):
            for name, chart in charts:
                files[f"{os.path.splitext(output)[0]}.{number}.{name}.png"] = chart(section)
    taken = [path for path in files if os.path.exists(path)]
    if taken and not force:
        raise click.ClickException("{} is there already; --force writes over it".format(", ".join(map(repr, taken))))
    try:
        for path, content in files.items():
            if isinstance(content, str):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
            elif content is not None:
                content.savefig(path, dpi=150)
            else:
                continue
            click.echo(path)
    except OSError as error:
        raise click.ClickException(str(error)) from error
