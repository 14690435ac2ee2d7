"""Charts of the report, by Altair, as Vega-Lite specifications.

A colour "@accent" is one of the page's own, which depend on whether it is light or dark: page.js puts
them in. All charts are as wide as the page allows. Labels stand above bars, where a narrow screen has room.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

Spec = Mapping[str, Any]
ACCENT, REJECTED, PAPER, QUIET, INK = "@accent", "@rejected", "@paper", "@quiet", "@ink"
_ROW_HEIGHT = 38
_HEIGHT = 240
_BAR = 10
_LABEL_LIMIT = 1_000


class Figure(NamedTuple):
    """A chart with the words around it."""

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
    behind: float = 0  # end of a pale bar behind it


class Pair(NamedTuple):
    """A size of a build beside the same of the paper."""

    label: str
    ours: float
    paper: float
    text: str


def bars(rows: Sequence[Bar], most: float | None = None) -> Spec:
    """Horizontal bars, one below the other, in their order.

    Args:
      most: the number at the right edge; by default the greatest.
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
        stroke=alt.Stroke("colour:N", scale=None),  # the smallest bar is seen by its edge
    )
    pale = pale.transform_calculate(zero="0")
    return _finished(alt.layer(pale, solid, *_labels(base)), len(rows) * _ROW_HEIGHT)


def pairs(rows: Sequence[Pair]) -> Spec:
    """A filled point for the build, a ring for the paper, and a line between them; on a logarithmic scale."""
    data = [row._asdict() | {"place": place} for place, row in enumerate(rows)]
    numbers = [number for row in rows for number in (row.ours, row.paper)]
    low, high = min(numbers), max(numbers)
    scale = alt.Scale(type="log", domain=[low / 2, high * 2], nice=False)
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("place:O", axis=None), tooltip=_tooltip("label", "text")
    )
    axis = alt.Axis(format="~s", title=None, tickCount=5, labelOverlap="greedy")
    x = alt.X("ours:Q", scale=scale, axis=axis)
    line = base.mark_rule(color=QUIET, strokeWidth=2, yOffset=_BAR).encode(x=x, x2="paper:Q")
    ring = base.mark_point(
        color=PAPER, filled=False, size=90, strokeWidth=2, yOffset=_BAR, opacity=1
    ).encode(x=alt.X("paper:Q", scale=scale, axis=axis))
    point = base.mark_point(color=ACCENT, filled=True, size=100, yOffset=_BAR, opacity=1)
    return _finished(
        alt.layer(line, ring, point.encode(x=x), *_labels(base)), len(rows) * (_ROW_HEIGHT + 4)
    )


def columns(
    rows: Iterable[Mapping[str, Any]],
    x: str,
    y: str,
    *,
    colour: str = "",
    order: Sequence[str] = (),
) -> Spec:
    """Vertical columns over names, stacked by another name where there is one.

    Args:
      x: key of the names, which is the title of the axis, too.
      y: key of the counts.
      colour: key of what they are stacked by.
      order: of the values of `colour`.
    """
    encoded: dict[str, Any] = {
        "x": alt.X(
            f"{x}:O", sort=None, axis=alt.Axis(labelAngle=0, labelOverlap="greedy", tickSize=0)
        ),
        "y": alt.Y(f"{y}:Q", axis=_count_axis(y)),
        "tooltip": _tooltip(x, *([colour] if colour else []), y),
    }
    if colour:
        encoded["color"] = alt.Color(
            f"{colour}:N",
            scale=alt.Scale(domain=list(order)),
            legend=alt.Legend(orient="top", columns=3, title=None, labelLimit=_LABEL_LIMIT),
        )
        encoded["order"] = alt.Order("place:Q")
        rows = [{**row, "place": list(order).index(row[colour])} for row in rows]
    mark = alt.Chart(alt.Data(values=list(rows))).mark_bar(
        **({} if colour else {"color": ACCENT}), cornerRadiusTopLeft=2, cornerRadiusTopRight=2
    )
    return _finished(mark.encode(**encoded), _HEIGHT)


def steps(
    rows: Iterable[Mapping[str, Any]], x: str, y: str, colour: str, order: Sequence[str]
) -> Spec:
    """Lines over numbers, one for each value of `colour`."""
    encoded = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:Q", axis=alt.Axis(grid=False)),
        y=alt.Y(f"{y}:Q", axis=alt.Axis(format="~%", tickCount=4)),
        color=alt.Color(
            f"{colour}:N",
            scale=alt.Scale(domain=list(order)),
            legend=alt.Legend(orient="top", title=None, columns=2, labelLimit=_LABEL_LIMIT),
        ),
        tooltip=_tooltip(colour, x, y),
    )
    return _finished(encoded.mark_line(interpolate="monotone", strokeWidth=2), _HEIGHT)


def curve(rows: Iterable[Mapping[str, Any]], x: str, y: str) -> Spec:
    """Points over two logarithmic scales."""
    encoded = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:Q", scale=alt.Scale(type="log"), axis=_log_axis()),
        y=alt.Y(f"{y}:Q", scale=alt.Scale(type="log"), axis=_log_axis()),
        tooltip=[*_tooltip("word"), *_tooltip(x, y)],
    )
    return _finished(encoded.mark_point(color=ACCENT, filled=True, size=24, opacity=0.9), _HEIGHT)


def scatter(
    rows: Sequence[Mapping[str, Any]],
    x: str,
    y: str,
    *,
    colour: str,
    order: Sequence[tuple[str, str]],
    line: Sequence[Mapping[str, float]],
    tooltip: Sequence[str],
) -> Spec:
    """Points by kind over two logarithmic scales, and a line.

    Args:
      order: kinds, each with its colour.
      line: its points, with the keys `x` and `y`.
    """
    scales = {
        name: alt.Scale(type="log", domain=_around([row[name] for row in rows]), nice=False)
        for name in (x, y)
    }
    encoding = {
        "x": alt.X(f"{x}:Q", scale=scales[x], axis=_log_axis()),
        "y": alt.Y(f"{y}:Q", scale=scales[y], axis=_log_axis()),
    }
    points = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_point(filled=True, size=36, opacity=0.8)
        .encode(
            **encoding,
            color=alt.Color(
                f"{colour}:N",
                scale=alt.Scale(
                    domain=[name for name, _ in order], range=[shade for _, shade in order]
                ),
                legend=alt.Legend(orient="top", title=None, columns=2, labelLimit=_LABEL_LIMIT),
            ),
            tooltip=_tooltip(*tooltip),
        )
    )
    ruled = (
        alt.Chart(alt.Data(values=list(line)))
        .mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.5, clip=True)
        .encode(**encoding)
    )
    return _finished(alt.layer(points, ruled), _HEIGHT + 80)


def against(rows: Sequence[Mapping[str, Any]], x: str, y: str, label: str, *, log: bool) -> Spec:
    """A labelled point for each row, and the diagonal on which both numbers are the same."""
    domain = _around([row[name] for row in rows for name in (x, y)], log=log)
    scale = alt.Scale(type="log" if log else "linear", domain=domain, nice=False, zero=False)
    axis = _log_axis() if log else alt.Axis(tickCount=5)
    base = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:Q", scale=scale, axis=axis),
        y=alt.Y(f"{y}:Q", scale=scale, axis=axis),
        tooltip=_tooltip(label, x, y),
    )
    ends = [{x: end, y: end} for end in domain]
    same = (
        alt.Chart(alt.Data(values=ends))
        .mark_line(color=QUIET, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=alt.X(f"{x}:Q", scale=scale), y=alt.Y(f"{y}:Q", scale=scale))
    )
    names = base.mark_text(dy=-10, color=INK).encode(text=f"{label}:N")
    points = base.mark_point(color=ACCENT, filled=True, size=70, opacity=1)
    return _finished(alt.layer(same, points, names), _HEIGHT + 80)


def over_time(rows: Sequence[Mapping[str, Any]], x: str, y: str, colour: str) -> Spec:
    """A line through the builds of each edition, with a point a build."""
    encoded = alt.Chart(alt.Data(values=list(rows))).encode(
        x=alt.X(f"{x}:O", axis=alt.Axis(labelAngle=0, labelOverlap="greedy")),
        y=alt.Y(f"{y}:Q", scale=alt.Scale(zero=False), axis=_count_axis(y)),
        color=alt.Color(
            f"{colour}:N",
            legend=alt.Legend(orient="top", title=None, columns=3, labelLimit=_LABEL_LIMIT),
        ),
        tooltip=_tooltip(colour, x, y),
    )
    return _finished(encoded.mark_line(point={"size": 60, "filled": True}), _HEIGHT)


def _labels(base: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """The label at the left and the number at the right, above what is drawn in a row."""
    left = base.mark_text(align="left", dy=-6, color=INK, limit=_LABEL_LIMIT)
    right = base.mark_text(align="right", dy=-6, color=INK, limit=_LABEL_LIMIT)
    return (
        left.encode(x=alt.value(0), text="label:N"),
        right.encode(x=alt.value("width"), text="text:N"),
    )


def _tooltip(*names: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(field=name, title=name) for name in names]


def _around(numbers: Sequence[float], *, log: bool = True) -> list[float]:
    """The range of some numbers, and a little more."""
    low, high = min(numbers), max(numbers)
    if log:
        return [low / 1.5, high * 1.5]
    more = (high - low or high) * 0.12
    return [low - more, high + more]


def _log_axis() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5, labelOverlap="greedy")


def _count_axis(title: str) -> alt.Axis:
    return alt.Axis(format="~s", tickCount=4, title=title)


def _finished(chart: Any, height: int) -> Spec:
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    return spec
