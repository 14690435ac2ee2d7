"""Scores of translations as tables: for people, for spreadsheets, for programs."""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from pipelines.inspect.score_translations import Report, Scored
from transforms.text.translation.tables import write_table

UNKNOWN = "–"
MOST_TARGETS = 16  # of a table of directions on a screen; the file has all
MOST_TOPICS = 20  # likewise; released metadata has hundreds

_WIDEST = 10_000  # columns


def render_text(report: Report) -> str:
    """What a person wants to see: tables, then the model and a signature a line."""
    parts = [_scores(report)] if len(report.scored) == 1 else _many(report)
    model = report.model
    parts.append(f"model  {model.name}  {model.path}  SHA-256 {model.sha256}\n")
    if len(report.scored) == 1:
        parts.append("".join(f"{line}\n" for line in report.scored[0].scores.citations))
    else:
        parts.append("".join(f"{name}|{text}\n" for name, text in report.signatures.items()))
    return "\n".join(parts)


def _scores(report: Report) -> str:
    """The groups of the only direction."""
    [one] = report.scored
    groups = one.scores.groups
    topics = [group for group in groups if group.kind == "topic"]
    shown = {
        group.name for group in sorted(topics, key=lambda g: (-g.sentences, g.name))[:MOST_TOPICS]
    }
    rows = [
        [group.kind, group.name or UNKNOWN, f"{group.sentences:,}"]
        + [f"{group.scores[metric]:.2f}" for metric in report.metrics]
        for group in groups
        if group.kind != "topic" or group.name in shown
    ]
    text = _table(["group", "name", "sentences", *report.metrics], rows, left=2)
    if len(topics) > len(shown):
        text += f"the {len(shown)} largest of {len(topics)} topics; --json and --output have all\n"
    return text


def _many(report: Report) -> list[str]:
    if not all(one.direction.source for one in report.scored):
        return [_systems(report)]
    parts = []
    for (system, split), scored in _by_system(report.scored).items():
        title = " ".join(filter(None, (system, split)))
        for metric in report.metrics:
            if len({one.direction.target for one in scored}) <= MOST_TARGETS:
                matrix = direction_matrix(scored, metric)
                parts.append(f"{title} {metric}, from row into column\n{_table(*_rounded(matrix))}")
        parts.append(f"{title} averages\n{_averages(scored, report.metrics)}")
        parts += [
            f"{title} averages by domain\n{text}" for text in _domains(scored, report.metrics)
        ]
    return parts


def _systems(report: Report) -> str:
    rows = [
        [one.direction.system, *(f"{_corpus(one)[metric]:.2f}" for metric in report.metrics)]
        for one in report.scored
    ]
    return _table(["system", *report.metrics], rows)


def _by_system(scored: Iterable[Scored]) -> dict[tuple[str, str], list[Scored]]:
    found: dict[tuple[str, str], list[Scored]] = {}
    for one in scored:
        found.setdefault((one.direction.system, one.direction.split), []).append(one)
    return found


def _corpus(one: Scored) -> Mapping[str, float]:
    return one.scores.groups[0].scores


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def direction_matrix(
    scored: Iterable[Scored], metric: str
) -> tuple[list[str], list[list[str | float | None]]]:
    """Head and rows of the table from languages (rows) into languages (columns), with averages.

    The last column is the average out of a language, the last row that into one, the last cell that of
    all directions. None where a direction was not scored.
    """
    values = {(one.direction.source, one.direction.target): _corpus(one)[metric] for one in scored}
    sources = sorted({source for source, _ in values})
    targets = sorted({target for _, target in values})

    rows: list[list[str | float | None]] = [
        [
            source,
            *(values.get((source, target)) for target in targets),
            _mean([value for pair, value in values.items() if pair[0] == source]),
        ]
        for source in sources
    ]
    into = [
        _mean([value for pair, value in values.items() if pair[1] == target]) for target in targets
    ]
    rows.append(["average", *into, _mean(list(values.values()))])
    return ["from", *targets, "average"], rows


def _rounded(
    matrix: tuple[list[str], list[list[str | float | None]]],
) -> tuple[list[str], list[list[str]]]:
    head, rows = matrix
    return head, [[cell if isinstance(cell, str) else _show(cell) for cell in row] for row in rows]


def _show(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _averages(scored: Sequence[Scored], metrics: Sequence[str]) -> str:
    def means(kept: Sequence[Scored]) -> list[str]:
        return [_show(_mean([_corpus(one)[metric] for one in kept])) for metric in metrics]

    rows = [
        [
            code,
            *means([one for one in scored if one.direction.source == code]),
            *means([one for one in scored if one.direction.target == code]),
        ]
        for code in sorted({code for one in scored for code in one.direction[2:4]})
    ]
    rows.append([f"all {len(scored):,} directions", *means(scored), *means(scored)])
    head = [f"{way} {metric}" for way in ("out", "into") for metric in metrics]
    return _table(["language", *head], rows)


def _domains(scored: Sequence[Scored], metrics: Sequence[str]) -> Iterable[str]:
    """As Table 8 of the paper: the average over directions of the scores of each domain."""
    by_name: dict[str, list[Mapping[str, float]]] = {}
    for one in scored:
        for group in one.scores.groups:
            if group.kind == "domain":
                by_name.setdefault(group.name, []).append(group.scores)
    rows = [
        [name, *(_show(_mean([scores[metric] for scores in found])) for metric in metrics)]
        for name, found in sorted(by_name.items())
    ]
    if rows:
        yield _table(["domain", *metrics], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    table = Table(box=box.SIMPLE)
    for number, title in enumerate(head):
        justify: Any = "left" if number < left else "right"
        table.add_column(title, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    drawing = io.StringIO()
    console = Console(file=drawing, width=_WIDEST, force_terminal=False, color_system=None)
    console.width = Measurement.get(console, console.options, table).maximum
    console.print(table, markup=False)
    lines = [line.rstrip() for line in drawing.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


# For spreadsheets and programs.

_COLUMNS = ("system", "split", "source", "target", "group", "name", "sentences")


def render_tsv(report: Report) -> str:
    """A row for each group of each direction."""
    return write_table(
        (*_COLUMNS, *report.metrics),
        (
            [
                *one.direction[:4],
                group.kind,
                group.name,
                str(group.sentences),
                *(f"{group.scores[metric]:.4f}" for metric in report.metrics),
            ]
            for one in report.scored
            for group in one.scores.groups
        ),
    )


def render_json(report: Report) -> str:
    """Everything, numbers as they are."""
    value = {
        "model": {
            "name": report.model.name,
            "path": report.model.path,
            "sha256": report.model.sha256,
        },
        "signatures": report.signatures,
        "directions": [
            {
                **one.direction._asdict(),
                "groups": [group._asdict() for group in one.scores.groups],
                "citations": list(one.scores.citations),
            }
            for one in report.scored
        ],
        "warnings": list(report.warnings),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def render_files(report: Report) -> dict[str, str]:
    """File name → content: the scores, and tables of directions where there are directions."""
    files = {"scores.tsv": render_tsv(report), "scores.json": render_json(report)}
    if not all(one.direction.source for one in report.scored):
        return files
    for (system, split), scored in _by_system(report.scored).items():
        for metric in report.metrics:
            head, rows = direction_matrix(scored, metric)
            cells = [
                [
                    "" if cell is None else cell if isinstance(cell, str) else f"{cell:.4f}"
                    for cell in row
                ]
                for row in rows
            ]
            name = "-".join(filter(None, ("directions", system.replace("/", "-"), split, metric)))
            while f"{name}.tsv" in files:  # of systems a/b and a-b
                name += "-"
            files[f"{name}.tsv"] = write_table(head, cells)
    return files
