"""Charts of the report, by Altair, as Vega-Lite specifications.

A colour "@accent" is one of the page's own, which depend on whether it is light or dark: page.js puts
them in. All charts are as wide as the page allows. Labels are above bars, where a narrow screen has room.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

Spec = Mapping[str, Any]
ACCENT, REJECTED, PAPER, QUIET, INK = "@accent", "@rejected", "@paper", "@quiet", "@ink"
_ROW_HEIGHT = 38
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


def _finished(chart: Any, height: int) -> Spec:
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    return spec
