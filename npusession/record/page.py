"""The page that shows a record: one HTML file that needs nothing else."""

from __future__ import annotations

import html
import io
import time
import typing

import numpy as np

from .charts import life_chart, loss_chart, time_chart
from .reader import Section

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }}
h2 {{ font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }}
svg {{ width: 100%; height: auto; }}
table {{ border-collapse: collapse; margin: 0.5rem 0 1.5rem; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.2rem 1.2rem 0.2rem 0; border-bottom: 1px solid #eee; }}
td {{ font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }}
pre {{ white-space: pre-wrap; background: #fff8e6; padding: 0.6rem 0.8rem; }}
.error {{ background: #fdecea; padding: 0.6rem 0.8rem; white-space: pre-wrap; }}
</style>
</head>
<body>
<h1>{title}</h1>
{sections}
</body>
</html>
"""


def page(sections: typing.Sequence[Section], title: str) -> str:
    """Return the HTML page of a record.

    Args:
        sections: what was read.
        title: its heading.
    """
    body = "\n".join(_section(section, number) for number, section in enumerate(sections, 1))
    return _PAGE.format(title=html.escape(title), sections=body)


def _section(section: Section, number: int) -> str:
    about = section.about
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about.get("time", 0)))
    parts = [f"<h2>Session {number}, {began}</h2>"]
    if section.error:
        parts.append(f'<p class="error">It ended with {html.escape(section.error)}</p>')
    elif section.ended is None:
        parts.append(
            '<p class="error">The record breaks off: the session is still open, or its process was killed.</p>'
        )
    parts.append(_table(_summary(section)))
    if not section.steps:
        parts.append(f"<p>{_NO_STEPS}</p>")
    for chart in (loss_chart(section), time_chart(section), life_chart(section)):
        if chart is not None:
            parts.append(_svg(chart))
    options = sorted(about.get("options", {}).items())
    if options:
        parts.append("<h3>Options</h3>" + _table(options))
    warnings = [*map(str, about.get("warnings", ())), *(f"{at:.4g} s: {text}" for at, text in section.warnings)]
    parts += ["<h3>Warnings</h3>"] if warnings else []
    parts += [f"<pre>{html.escape(text)}</pre>" for text in warnings]
    return "\n".join(parts)


def _summary(section: Section) -> list[tuple[str, object]]:
    about = section.about
    device, size = about.get("device"), about.get("rank_size")
    rows = [
        ("runs on", f"{_BACKENDS.get(str(about.get('backend')), 'a backend that is not known')}, device {device}"),
        ("rank", f"{about.get('rank') if about.get('rank') is not None else 'not known'} of {size}"),
        ("scene", about.get("scene")),
        ("product", about.get("product") or "not given"),
    ]
    if section.steps:
        seconds = np.array([step.seconds for step in section.steps])
        of = f" of {about['total_steps']}" if about.get("total_steps") else ""
        first = "first step" if section.loop == 1 else f"first run of {section.loop} steps"
        rows.append(("steps", f"{len(seconds) * section.loop}{of}, from step {section.steps[0].step}"))
        if len(seconds) > 1 and seconds[1:].sum() > 0:
            rate = (len(seconds) - 1) * section.loop / seconds[1:].sum()
            rows.append(("steps per second", f"{rate:.4g}, without the {first}"))
        rows.append((first, f"{seconds[0]:.4g} s"))
        losses = [step.loss for step in section.steps if step.loss is not None]
        if losses:
            rows.append(("loss", f"{losses[0]:.6g} at first, {losses[-1]:.6g} at last"))
        back = [step.step for before, step in zip(section.steps, section.steps[1:])
                if (before.phase, step.phase) == ("low", "original")]  # fmt: skip
        if any(step.phase == "low" for step in section.steps):
            rows.append(("original precision", f"from step {back[0]}" if back else "did not come back"))
    if section.ended is not None:
        rows.append(("whole time", f"{section.ended:.4g} s"))
    rows.append(("written by", f"npusession {about.get('version')}, process {about.get('process')}"))
    return rows


_NO_STEPS = (
    "No step is on record. Steps are the turns of s.steps() and s.run_for(), and runs of a train op: for "
    "MonitoredSession and Estimator with hooks=system.hooks(), for Keras within plan.keras()."
)
_BACKENDS = {"npu": "the NPU", "fake": "the fake backend (TensorFlow's CPU)"}


def _table(rows: typing.Iterable[tuple[str, object]]) -> str:
    cells = "".join(
        f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows
    )
    return f"<table>{cells}</table>"


def _svg(figure: typing.Any) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
