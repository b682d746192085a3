"""``npusession dump``: what dumps on disk hold."""

from __future__ import annotations

import fnmatch
import itertools
import json
import math
import os
import sys
import typing

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..dumps import (
    DumpFile,
    NotADumpError,
    Statistics,
    Tensor,
    describe,
    failure,
    find,
    overflow,
    statistics,
    tensors,
)  # fmt: skip
from ..options.comparison import parse_dump_steps
from ..options.kinds import Refused

#: Elements of a tensor that are shown.
_FIRST = 8


@click.group()
def dump() -> None:
    """Look into data dumps, overflow dumps and dumps of failed operators."""


def _steps(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[tuple[int, int], ...] | None:
    try:
        return None if value is None else parse_dump_steps(value)
    except Refused as error:
        raise click.BadParameter(str(error)) from error


@dump.command("ls")
@click.argument("path", type=click.Path(exists=True))
@click.option("--op", metavar="NAME", help="Only operators of this name or type; * and ? stand for any characters.")
@click.option("--step", "steps", metavar="STEPS", callback=_steps, help="Only these steps, such as 0|5-10.")
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
def ls(path: str, op: str | None, steps: tuple[tuple[int, int], ...] | None, machine: bool) -> None:
    """List the tensors below PATH: a dump directory, any directory in it, or one file."""
    if os.path.isdir(path):
        files = list(find(path))
    else:
        named = describe(path)
        files = [] if named is None else [named]
    if not files:
        form = "<op type>.<op name>.<task>.<stream>.<timestamp>"
        raise click.ClickException(f"{path}: no dump files there; they are called {form}")
    chosen = [file for file in files if _asked(file, op, steps)]
    rows = [(file, row) for file in chosen for row in _rows(file)]
    if machine:
        _print_json([{**_place(file), **row} for file, row in rows])
        return
    if not rows:
        click.echo(f"none of {len(files)} files matches")
        return
    console = Console()
    for directory, group in itertools.groupby(rows, key=lambda row: os.path.dirname(row[0].path)):
        members = list(group)
        place = _place(members[0][0])
        known = [f"{name} {place[name]}" for name in ("run", "device", "model", "step") if place[name]]
        console.print(Text(", ".join(known) or members[0][0].kind, style="bold"))
        console.print(Text(directory or "."), soft_wrap=True)
        table = Table(box=SIMPLE_HEAD)
        for title in ("op type", "op name", "tensor", "dtype", "shape", "size", "file"):
            # What is copied is never cut; it goes last, so that it does not push the rest away.
            table.add_column(title, overflow="fold", justify="right" if title == "size" else "left")
        for file, row in members:
            cells = (file.name.op_type, file.name.op_name, row["tensor"], row["dtype"])
            ends = (_shape(row["shape"]), "" if row["size"] is None else str(row["size"]), os.path.basename(file.path))
            table.add_row(*map(Text, (*map(str, cells), *ends)))
        console.print(table)
        for _, row in members:
            if "error" in row:
                console.print(Text(row["error"]))


@dump.command("show")
@click.argument("file", type=click.Path(exists=True))
@click.option("--tensor", "wanted", metavar="NAME", help="Only this tensor, such as output_0.")
@click.option("--npy", "target", metavar="OUT", type=click.Path(), help="Write the tensor to this .npy file.")
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
def show(file: str, wanted: str | None, target: str | None, machine: bool) -> None:
    """Show what FILE holds: statistics and first values of tensors, a table of statistics, or an overflow."""
    if os.path.isdir(file):
        raise click.ClickException(f"{file}: a directory; npusession dump ls lists the files in it")
    named = describe(file)
    kind = "tensors" if named is None else named.kind
    reader = {"statistics": statistics, "overflow": overflow, "failure": failure}.get(kind)
    if reader is not None:
        if wanted is not None or target is not None:
            raise click.ClickException(f"{file}: holds no tensors, so --tensor and --npy do not apply")
        content: typing.Any = _reading(reader, file)
        _print_json(content) if machine else _table(content)
        return
    found = _reading(tensors, file)
    chosen = [tensor for tensor in found if wanted in (None, tensor.name)]
    if not chosen:
        names = ", ".join(tensor.name for tensor in found) or "none"
        raise click.ClickException(f"{file}: has no tensor {wanted or ''}; it has {names}".replace("  ", " "))
    if target is not None:
        _save(file, chosen, target)
    shown = [_as_json(tensor) for tensor in chosen]
    if machine:
        _print_json({**({} if named is None else _place(named)), "tensors": shown})
        return
    console = Console()
    for row in shown:
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for title, value in row.items():
            text = _shape(value) if title == "shape" else str(value)
            table.add_row(title, Text(", ".join(map(str, value)) if title == "first" else text))
        console.print(table)


def _asked(file: DumpFile, op: str | None, steps: tuple[tuple[int, int], ...] | None) -> bool:
    if steps is not None and not (file.step.isdigit() and any(low <= int(file.step) <= high for low, high in steps)):
        return False
    # A name is taken as the graph has it, or as the file has it.
    patterns = () if op is None else (op, op.replace("/", "_").replace(":", "_"))
    return op is None or any(
        fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (file.name.op_name, file.name.op_type)
    )


def _rows(file: DumpFile) -> list[dict[str, typing.Any]]:
    """Return a row for each tensor; a file that cannot be read has one that says why."""
    try:
        if file.kind == "statistics":
            return [
                _row(f"{row['Input/Output'].lower()}_{row.get('Index', '')}", row.get("Data Type", ""), row["Shape"],
                     row.get("Data Size", ""))
                for row in statistics(file.path)
            ]  # fmt: skip
        if file.kind == "overflow":
            units = ", ".join(name for name, unit in overflow(file.path).items() if unit.get("status"))
            return [_row(f"overflow of {units}", "", "", "")]
        if file.kind == "failure":
            found = failure(file.path)
            return [_row(f"failure of {found.get('op_name')}", "", "", "")]
        return [_row(item.name, item.dtype, list(item.shape), item.size) for item in tensors(file.path)]
    except (NotADumpError, OSError, KeyError) as error:
        return [{**_row("", "unreadable", "", ""), "error": str(error)}]


def _row(tensor: str, dtype: str, shape: typing.Any, size: typing.Any) -> dict[str, typing.Any]:
    if isinstance(shape, str):
        shape = [int(part) for part in shape.split("x") if part.isdigit()] if shape or size else None
    return {"tensor": tensor, "dtype": dtype, "shape": shape, "size": int(size) if str(size).isdigit() else None}


def _place(file: DumpFile) -> dict[str, typing.Any]:
    return {
        "file": file.path,
        "kind": file.kind,
        "run": file.run,
        "device": file.device,
        "model": file.model,
        "model_id": file.model_id,
        "step": file.step,
        "op_type": file.name.op_type,
        "op_name": file.name.op_name,
        "task": file.name.task,
        "stream": file.name.stream,
        "timestamp": file.name.timestamp,
    }


def _as_json(tensor: Tensor) -> dict[str, typing.Any]:
    array = _reading(lambda _: tensor.load(), "")
    found = Statistics.of(array)
    numbers: dict[str, typing.Any] = {"elements": found.elements}
    if array.dtype.kind in "biuf":
        ranges = {"min": found.minimum, "max": found.maximum, "mean": found.mean, "l2norm": found.l2norm}
        numbers.update({name: None if math.isnan(value) else value for name, value in ranges.items()})
        numbers.update({"nan": found.nan, "inf": found.positive_inf, "-inf": found.negative_inf})
    layout = {"layout": tensor.layout} if tensor.layout else {}
    first = [_plain(value) for value in array.ravel()[:_FIRST].tolist()]
    row = {"tensor": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape), "size": tensor.size}
    return {**row, **layout, **numbers, "first": first}


def _plain(value: object) -> object:
    if isinstance(value, float):
        # Six digits tell what there is; NaN and infinities are no JSON.
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, (bool, int, str)) else str(value)


def _save(file: str, chosen: typing.Sequence[Tensor], target: str) -> None:
    import numpy

    if len(chosen) > 1:
        names = ", ".join(tensor.name for tensor in chosen)
        raise click.ClickException(f"{file}: --npy takes one tensor; say which with --tensor: {names}")
    array = _reading(lambda _: chosen[0].load(), file)
    try:
        # Nothing that is there is overwritten.
        with open(target, "xb") as output:
            numpy.save(output, array, allow_pickle=False)
    except OSError as error:
        raise click.ClickException(f"{target}: {error.strerror}; nothing was written") from error


_Content = typing.TypeVar("_Content")


def _reading(read: typing.Callable[[str], _Content], path: str) -> _Content:
    try:
        return read(path)
    except NotADumpError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error


def _table(content: typing.Any) -> None:
    if isinstance(content, dict) and not all(isinstance(values, dict) for values in content.values()):
        _print_json(content)
        return
    rows = content if isinstance(content, list) else [{"unit": unit, **values} for unit, values in content.items()]
    titles = list(dict.fromkeys(title for row in rows for title in row))
    table = Table(box=SIMPLE_HEAD)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(row.get(title, ""))) for title in titles))
    Console().print(table)


def _shape(shape: typing.Any) -> str:
    return "" if shape is None else "x".join(map(str, shape)) or "scalar"


def _print_json(data: object) -> None:
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
