"""Pictures of a record: the loss, the step times, the life cycle."""

from __future__ import annotations

import itertools
import typing

import numpy as np
from matplotlib.figure import Figure

from .reader import Section, Step

#: More points than these cannot be seen in a picture; of more, the lowest and highest of each stretch are drawn.
_POINTS = 4000
_LOW = "#f2b84b"
_BAD = "#c0392b"
_LINE = "#1f6f8b"
_WIDTH, _HEIGHT = 9.0, 3.2


def loss_chart(section: Section) -> Figure | None:
    """Draw the loss over the steps, with low-precision phases shaded; ``None`` when no loss was recorded."""
    known = [step for step in section.steps if step.loss is not None]
    if not known:
        return None
    figure, axes = _axes("Loss", "step", "loss")
    steps, losses = _thinned(np.array([step.step for step in known]), np.array([step.loss for step in known]))
    axes.plot(steps, losses, color=_LINE, linewidth=1.2)
    axes.xaxis.get_major_locator().set_params(integer=True)
    labelled = False
    for phase, group in itertools.groupby(section.steps, key=lambda step: step.phase):
        if phase == "low":
            stretch: list[Step] = list(group)
            label = None if labelled else "low precision"
            first, last = stretch[0].step - 0.5, stretch[-1].step + section.loop - 0.5
            axes.axvspan(first, last, color=_LOW, alpha=0.3, lw=0, label=label)
            labelled = True
    finite_ones = itertools.groupby(known, key=lambda step: bool(np.isfinite(typing.cast(float, step.loss))))
    bad = [[step.step for step in group] for finite, group in finite_ones if not finite]
    for number, numbers in enumerate(bad):
        ends = numbers[0] - 0.5, numbers[-1] + 0.5
        axes.axvspan(*ends, color=_BAD, alpha=0.5, label=None if number else "not a finite number")
    if labelled or bad:
        axes.legend(loc="best", frameon=False)
    finite = losses[np.isfinite(losses)]
    if finite.size and finite.min() > 0 and finite.max() > 100 * finite.min():
        axes.set_yscale("log")
        axes.set_ylabel("loss, logarithmic")
    return figure


def time_chart(section: Section) -> Figure | None:
    """Draw how step times are distributed; ``None`` without steps."""
    # The first step compiles the graph; it would leave the others a line at the edge.
    times = later = np.array([step.seconds for step in section.steps[1:]]) * 1000
    if later.size == 0 or later.max() <= 0:
        return None
    figure, axes = (
        _axes("Step times, without the first", "milliseconds", "steps")
        if section.loop == 1
        else _axes("Times of runs, without the first", f"milliseconds for {section.loop} steps", "runs")
    )
    usual = float(np.percentile(later, 99))
    wide = usual > 20 * max(np.median(later), 1e-6)
    low, high = max(later.min(), 1e-4), max(later.max(), 1.001 * later.min(), 2e-4)
    if high > 2 * usual > 2.002 * low:
        # A few slow steps would press all others together at the edge.
        high = 2 * usual
        beyond = later[later > high]
        axes.plot([], [], " ", label=f"not shown: {beyond.size}, up to {beyond.max():.3g} ms")
        later = later[later <= high]
    bins = np.geomspace(low, high, 60) if wide else np.linspace(0 if low < high / 2 else low, high, 60)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.hist(np.maximum(later, low), bins=bins, color=_LINE)
    if wide:
        axes.set_xscale("log")
    for share, style in ((50, "-"), (95, "--"), (99, ":")):
        value = float(np.percentile(times, share))
        name = "median:" if share == 50 else f"{share} % within"
        axes.axvline(value, color="#333333", linestyle=style, lw=1, label=f"{name} {value:.3g} ms")
    axes.legend(loc="best", frameon=False)
    return figure


def life_chart(section: Section) -> Figure | None:
    """Draw when the parts of the life cycle took place; ``None`` when none was recorded."""
    bars = [(stage.name, stage.at, stage.seconds) for stage in section.stages]
    if section.steps:
        first, last = section.steps[0], section.steps[-1]
        bars.append(("first step", first.at, first.seconds))
        if len(section.steps) > 1:
            start = section.steps[1].at
            bars.append(("other steps", start, last.at + last.seconds - start))
    if not bars:
        return None
    bars.sort(key=lambda bar: bar[1])
    figure, axes = _axes("Life cycle", "seconds since the session began to open", "")
    figure.set_size_inches(_WIDTH, 0.9 + 0.34 * max(len(bars), 3))
    longest = max(at + seconds for _, at, seconds in bars) or 1.0
    for row, (_, at, seconds) in enumerate(bars):
        # A stage that took no time to speak of still is a mark to see.
        axes.barh(row, max(seconds, longest / 400), left=at, color=_LINE, height=0.6)
        # Beside the bar where there is room, and in one that leaves none.
        side, place = (1, at + max(seconds, longest / 400)) if at + seconds < 0.85 * longest else (-1, at)
        within = side < 0 and at < 0.15 * longest
        axes.text(
            at + 0.01 * longest if within else place + side * 0.01 * longest,
            row,
            _duration(seconds),
            va="center",
            ha="left" if within or side > 0 else "right",
            color="white" if within else "black",
            fontsize=8,
        )
    axes.set_yticks(range(len(bars)))
    axes.set_yticklabels([name for name, _, _ in bars])
    axes.invert_yaxis()
    axes.grid(False)
    return figure


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _axes(title: str, x: str, y: str) -> tuple[Figure, typing.Any]:
    figure = Figure(figsize=(_WIDTH, _HEIGHT), constrained_layout=True)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep the lowest and the highest of each stretch, so that peaks stay."""
    if x.size <= _POINTS:
        return x, y
    size = -(-x.size // (_POINTS // 2))
    kept = []
    for start in range(0, x.size, size):
        stretch = y[start : start + size]
        finite = np.where(np.isfinite(stretch), stretch, 0)
        kept += sorted({start + int(finite.argmin()), start + int(finite.argmax())})
    return x[kept], y[kept]
