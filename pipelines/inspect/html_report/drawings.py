"""Makes the charts of the report: Vega-Lite specifications, built with Altair.

Colours are variables of page.css, which differ in the light and the dark theme. Charts are as wide as the
page. Labels are above the bars, because there is no space beside them on narrow screens.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

Spec = Mapping[str, Any]
ACCENT, REJECTED, PAPER = "var(--accent)", "var(--rejected)", "var(--paper)"
QUIET, INK = "var(--quiet)", "var(--ink)"
_ROW_HEIGHT = 38
_HEIGHT = 240
_BAR = 10
_CHARACTER_WIDTH = 6.6  # pixels of a digit of a label
_LABEL_LIMIT = 1_000
_FEW_POWERS = 3  # an axis with more powers of ten has no ticks between them


class Figure(NamedTuple):
    """A chart, its title, and an optional explanation (`note`) for the reader."""

    title: str
    spec: Spec
    note: str = ""


class Bar(NamedTuple):
    """A bar with a label and a number above it."""

    label: str
    end: float
    text: str  # the number, as it is shown
    start: float = 0
    colour: str = ACCENT
    behind: float = 0  # end of a pale bar in the background


class Bin(NamedTuple):
    """A column of a histogram, or the part of a column that belongs to one group."""

    start: float
    end: float
    number: int  # number of counted things in the range
    name: str  # name of the range: "16-23"
    group: str = ""


class Pair(NamedTuple):
    """A number of a build, and the corresponding number in the paper about the corpus."""

    label: str
    ours: float
    paper: float
    text: str


def bars(rows: Sequence[Bar], most: float | None = None) -> Spec:
    """Returns a chart of horizontal bars, in the order of `rows`.

    Args:
      most: The number at the right edge of the chart; by default the greatest number in `rows`.
    """
    data = [row._asdict() | {"place": place} for place, row in enumerate(rows)]
    edge = most or max((max(row.end, row.behind) for row in rows), default=1) or 1
    y = alt.Y("place:O", axis=None)
    x_scale = alt.Scale(domain=[0, edge], nice=False, zero=True)
    base = alt.Chart(alt.Data(values=data)).encode(y=y, tooltip=_tooltip("label", "text"))
    bar = {"height": _BAR, "yOffset": _BAR, "cornerRadius": 2}
    pale = base.mark_bar(**bar, color=QUIET, opacity=0.5).encode(
        x=alt.X("zero:Q", scale=x_scale, axis=None), x2="behind:Q"
    )
    solid = base.mark_bar(**bar).encode(
        x=alt.X("start:Q", scale=x_scale, axis=None),
        x2="end:Q",
        color=alt.Color("colour:N", scale=None),
        stroke=alt.Stroke("colour:N", scale=None),  # makes even the smallest bar visible
    )
    pale = pale.transform_calculate(zero="0")
    return _finished(alt.layer(pale, solid, *_labels(base, rows)), len(rows) * _ROW_HEIGHT)


def pairs(rows: Sequence[Pair]) -> Spec:
    """Returns a chart that compares the numbers of a build with those of the paper, on a logarithmic scale.

    Filled points are the numbers of the build, rings the numbers of the paper.
    """
    data = [row._asdict() | {"place": place} for place, row in enumerate(rows)]
    numbers = [number for row in rows for number in (row.ours, row.paper)]
    low, high = min(numbers), max(numbers)
    scale = alt.Scale(type="log", domain=[low / 2, high * 2], nice=False)
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("place:O", axis=None), tooltip=_tooltip("label", "text")
    )
    axis = _log_axis(low / 2, high * 2, title=None)
    x = alt.X("ours:Q", scale=scale, axis=axis)
    line = base.mark_rule(color=QUIET, strokeWidth=2, yOffset=_BAR).encode(x=x, x2="paper:Q")
    ring = base.mark_point(
        color=PAPER, filled=False, size=90, strokeWidth=2, yOffset=_BAR, opacity=1
    ).encode(x=alt.X("paper:Q", scale=scale, axis=axis))
    point = base.mark_point(color=ACCENT, filled=True, size=100, yOffset=_BAR, opacity=1)
    return _finished(
        alt.layer(line, ring, point.encode(x=x), *_labels(base, rows)),
        len(rows) * (_ROW_HEIGHT + 4),
    )


def histogram(
    bins: Sequence[Bin], title: str, unit: str, *, log: bool = False, rule: float | None = None
) -> Spec:
    """Returns a histogram. Groups are stacked in the order in which they first appear in `bins`.

    Args:
      title: The title of the horizontal axis.
      unit: The name of the things that are counted.
      log: Whether the horizontal axis is logarithmic. If so, no bin may begin at 0.
      rule: The position of a dashed vertical line.
    """
    groups = list(dict.fromkeys(one.group for one in bins))
    heights: dict[float, float] = {}
    data = []
    for one in bins:
        low = heights.get(one.start, 0)
        heights[one.start] = low + one.number
        of_bin = {"start": one.start, "end": one.end, "low": low, "high": low + one.number}
        text = {"range": one.name, unit: f"{one.number:,}", "group": one.group}
        data.append(of_bin | text)
    x_scale = _scale(log, nice=False)
    described: dict[str, Any] = {"title": title, "grid": False}
    if log:
        ends = min(one.start for one in bins), max(one.end for one in bins)
        axis = _log_axis(*ends, **described)
    else:
        axis = alt.Axis(format="d", tickCount=6, labelOverlap="greedy", **described)
    x = alt.X("start:Q", scale=x_scale, axis=axis)
    mark = (
        alt.Chart(alt.Data(values=data))
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("low:Q", axis=_count_axis(unit)),
            y2="high:Q",
            color=alt.Color("group:N", scale=alt.Scale(domain=groups), legend=_legend())
            if len(groups) > 1
            else alt.value(ACCENT),
            tooltip=_tooltip("range", *(["group"] if len(groups) > 1 else []), unit),
        )
    )
    if rule is None:
        return _finished(mark, _HEIGHT)
    line = (
        alt.Chart(alt.Data(values=[{"start": rule}]))
        .mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=x)
    )
    return _finished(alt.layer(mark, line), _HEIGHT)


def steps(
    rows: Iterable[Mapping[str, Any]], x: str, y: str, colour: str, order: Sequence[str]
) -> Spec:
    """Returns a line chart with one line for each value of the field `colour`.

    Args:
      x, y, colour: Names of fields of `rows`. The values of `y` are shares from 0 to 1.
      order: The values of `colour`, in the order of the legend.
    """
    encoded = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:Q", axis=alt.Axis(grid=False)),
        y=alt.Y(f"{y}:Q", axis=alt.Axis(format="~%", tickCount=4)),
        color=alt.Color(
            f"{colour}:N",
            scale=alt.Scale(domain=list(order)),
            legend=_legend() if len(order) > 1 else None,
        ),
        tooltip=_tooltip(colour, x, y),
    )
    return _finished(encoded.mark_line(strokeWidth=2), _HEIGHT)


def points(
    rows: Sequence[Mapping[str, Any]],
    x: str,
    y: str,
    tooltip: Sequence[str],
    *,
    colour: str = "",
    order: Sequence[tuple[str, str]] = (),
    line: Sequence[Mapping[str, float]] = (),
    label: str = "",
    log: bool = True,
) -> Spec:
    """Returns a chart of points, and one dashed line.

    Args:
      x, y: Names of fields of `rows`.
      tooltip: Names of the fields that the tooltip of a point displays.
      colour: Name of the field that determines the colour of a point; "" for one colour.
      order: A pair (value of the field `colour`, colour code) for each group of points.
      line: The points of the line, with the fields `x` and `y`.
      label: Name of the field with the text above a point. With it, the two axes are the same, and the line
        is their diagonal.
      log: Whether the axes are logarithmic.
    """
    numbers = {name: [row[name] for row in rows] for name in (x, y)}
    ends = {name: _around(numbers[name], log=log) for name in numbers}
    if label:
        ends = dict.fromkeys(ends, _around(numbers[x] + numbers[y], log=log))
        line = [{x: end, y: end} for end in ends[x]]
    encoding = {
        channel: kind(
            f"{name}:Q",
            scale=_scale(log, domain=ends[name], nice=False),
            axis=_log_axis(*ends[name]) if log else alt.Axis(tickCount=5),
        )
        for channel, kind, name in (("x", alt.X, x), ("y", alt.Y, y))
    }
    scale = alt.Scale(domain=[name for name, _ in order], range=[shade for _, shade in order])
    shade = alt.Color(f"{colour}:N", scale=scale, legend=_legend()) if colour else alt.value(ACCENT)
    base = alt.Chart(alt.Data(values=list(rows))).encode(**encoding, tooltip=_tooltip(*tooltip))
    layers = [base.mark_point(filled=True, size=36, opacity=0.8).encode(color=shade)]
    if line:
        rule = alt.Chart(alt.Data(values=list(line))).encode(**encoding)
        layers.append(rule.mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.5, clip=True))
    if label:
        layers.append(base.mark_text(dy=-10, color=INK).encode(text=f"{label}:N"))
    return _finished(alt.layer(*layers), _HEIGHT + 80)


def over_time(rows: Sequence[Mapping[str, Any]], x: str, y: str, colour: str) -> Spec:
    """Returns a line chart with a line for each value of the field `colour` and a point for each row.

    `x`, `y` and `colour` are names of fields of `rows`.
    """
    encoded = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:O", axis=alt.Axis(labelAngle=0, labelOverlap="greedy")),
        y=alt.Y(f"{y}:Q", scale=alt.Scale(zero=False), axis=_count_axis(y)),
        color=alt.Color(
            f"{colour}:N",
            legend=_legend(),
        ),
        tooltip=_tooltip(colour, x, y),
    )
    return _finished(encoded.mark_line(point={"size": 60, "filled": True}), _HEIGHT)


def _labels(base: alt.Chart, rows: Sequence[Bar] | Sequence[Pair]) -> tuple[alt.Chart, alt.Chart]:
    """Returns two layers of text above each row of a chart: the label at the left, the number at the right.

    A label that would overlap the number is truncated. The tooltip of the row shows both in full.
    """
    taken = _CHARACTER_WIDTH * max((len(row.text) for row in rows), default=0) + _ROW_HEIGHT
    room = alt.ExprRef(expr=f"max(width - {taken:.0f}, 80)")
    left = base.mark_text(align="left", dy=-6, color=INK, limit=room)
    right = base.mark_text(align="right", dy=-6, color=INK, limit=_LABEL_LIMIT)
    return (
        left.encode(x=alt.value(0), text="label:N"),
        right.encode(x=alt.value("width"), text="text:N"),
    )


def _tooltip(*names: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(field=name, title=name) for name in names]


def _around(numbers: Sequence[float], *, log: bool = True) -> list[float]:
    """Returns the two ends of an axis that has room for all `numbers` and a margin at each end.

    On a logarithmic axis (`log`), the ends are the smallest number divided by 1.5 and the largest number
    multiplied by 1.5. On a linear axis, each margin is 12 % of the difference between the smallest and the
    largest number. If the two are equal, each margin is 12 % of that number.
    """
    low, high = min(numbers), max(numbers)
    if log:
        return [low / 1.5, high * 1.5]
    more = (high - low or high) * 0.12
    return [low - more, high + more]


def _scale(log: bool, **others: Any) -> alt.Scale:
    return alt.Scale(type="log", **others) if log else alt.Scale(zero=False, **others)


def _log_axis(low: float, high: float, **others: Any) -> alt.Axis:
    """Returns a logarithmic axis with one to three ticks per power of ten, instead of Vega's nine.

    Args:
      low, high: The ends of the axis.
      others: More arguments for `alt.Axis`.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= _FEW_POWERS else (1,)
    values = [digit * 10**power for power in powers for digit in digits]
    shown = [value for value in values if low <= value <= high]
    return alt.Axis(format="~s", values=shown, labelOverlap="greedy", **others)


def _legend() -> alt.Legend:
    return alt.Legend(orient="top", columns=3, title=None, labelLimit=_LABEL_LIMIT)


def _count_axis(title: str) -> alt.Axis:
    return alt.Axis(format="~s", tickCount=4, title=title)


def _finished(chart: Any, height: int) -> Spec:
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    return spec
