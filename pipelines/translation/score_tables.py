"""Formats translation scores as tables for people, spreadsheets and programs.

Average scores are computed for groups of languages, by family and by resource level, which are from Tables 1,
6 and 7 of Goyal et al. 2022.
"""

import bisect
import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpusmill.transforms.files.markup import read_toml, write_table
from corpusmill.transforms.files.terminal import draw, screen_columns
from corpusmill.transforms.files.text import grouped

from .score_translations import Report, Scored

UNKNOWN = "–"
MOST_TARGETS = 16  # maximum number of target languages in a table on a screen; files have all
LEAST_CORRELATED = 3  # minimum number of translations of a correlation
MOST_TOPICS = 20  # maximum number of topics on a screen; released metadata has hundreds

RESOURCE_LEVELS = {"very low": 100_000, "low": 1_000_000, "medium": 100_000_000, "high": None}
"""Level → exclusive upper bound of its number of bitext sentences with English (Table 7 of the paper).

The bound of the highest level is None.
"""


def _groups(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_toml(__package__, "language_groups.toml")[name]
    return table


def family_of(code: str) -> str | None:
    """Returns the family of a language in Table 6 of Goyal et al. 2022, or None if it is not in the table."""
    return _groups("subgroupings").get(code)


def resource_level_of(code: str) -> str | None:
    """Returns a language's resource level as in Table 7 of Goyal et al. 2022, or None if it is unknown.

    The level depends on the number of sentence pairs with English, which is given in Table 1.
    """
    if (sentences := _groups("bitext").get(code)) is None:
        return None
    return next(level for level, end in RESOURCE_LEVELS.items() if end is None or sentences < end)


GROUPINGS: Mapping[str, Callable[[str], str | None]] = {
    "family": family_of,
    "resource level": resource_level_of,
}

Row = list[str | float | None]
"""A row of a table. Cells are names or scores, or None for missing scores."""


def render_text(report: Report) -> str:
    """Formats a report for a terminal: tables of scores, the model, and the signature of each metric."""
    first = report.scored[0]
    is_named = first.direction.system and first.direction.source  # a participant
    if len(report.scored) == 1 and not is_named:
        parts, lines = [_scores(report)], first.scores.citations
    else:
        signatures = report.signatures.items()
        parts, lines = _many(report), tuple(f"{name}|{text}" for name, text in signatures)
    model = report.model
    parts.append(f"model  {model.name}  {model.path}  SHA-256 {model.sha256}\n")
    return "\n".join([*parts, "".join(f"{line}\n" for line in lines)])


def _scores(report: Report) -> str:
    """Formats the scores of a report with one direction: for all sentences, by domain and by topic."""
    [one] = report.scored
    groups = one.scores.groups
    topics = [group for group in groups if group.kind == "topic"]
    shown = {
        group.name for group in sorted(topics, key=lambda g: (-g.sentences, g.name))[:MOST_TOPICS]
    }
    rows: list[Row] = [
        [
            *(group.kind, group.name or UNKNOWN, f"{group.sentences:,}"),
            *(group.scores[metric] for metric in report.metrics),
        ]
        for group in groups
        if group.kind != "topic" or group.name in shown
    ]
    text = _table(["group", "name", "sentences", *report.metrics], rows, left=2)
    if len(topics) > len(shown):
        text += f"the {len(shown)} largest of {len(topics)} topics; --json and --output have all\n"
    return text


def _many(report: Report) -> list[str]:
    metrics = report.metrics
    if not all(one.direction.source for one in report.scored):
        systems: list[Row] = [
            [one.direction.system, *_means([one], metrics)] for one in report.scored
        ]
        return [_table(["system", *metrics], systems)]
    parts = []
    for (system, split), scored in _by_system(report):
        title = " ".join(filter(None, (system, split)))
        for metric in metrics:
            if len({one.direction.target for one in scored}) <= MOST_TARGETS:
                matrix = score_matrix(scored, metric)
                parts.append(f"{title} {metric}, from row into column\n{_table(*matrix)}")
        parts.append(f"{title} averages\n{_averages(scored, metrics)}")
        for name, group_of in GROUPINGS.items():
            for metric in metrics:
                head, rows = score_matrix(scored, metric, group_of)
                if len(rows) > 2:  # several groups, and a row of averages
                    table = _table([f"from {name}", *head[1:]], rows)
                    parts.append(f"{title} {metric} by {name}, from row into column\n{table}")
        if domains := _domains(scored, metrics):
            table = _table(["domain", *metrics], domains)
            parts.append(f"{title} averages by domain\n{table}")
    return [*parts, *_correlations(report)]


def correlations(scored: Iterable[Scored], metrics: Sequence[str]) -> list[Row]:
    """Returns a row for each target language: Spearman's correlation of spBLEU with each of the other
    metrics, over all systems and source languages, as in Table 5 of Goyal et al. 2022.

    It is None for fewer than three translations, and if a metric gives all of them the same score. The last
    row has the correlations over all target languages.
    """
    by_target = grouped((one.direction.target, _corpus(one)) for one in scored)
    everything = [scores for those in by_target.values() for scores in those]
    rows = [*sorted(by_target.items()), ("all", everything)]
    return [
        [
            *(target, f"{len(those):,}"),
            *(
                spearman(*([one[name] for one in those] for name in ("spBLEU", metric)))
                for metric in metrics
            ),
        ]
        for target, those in rows
    ]


def spearman(*values: Sequence[float]) -> float | None:
    """Returns Spearman's rank correlation of two lists; None if it is undefined, or of too few values."""
    if any(len(set(one)) < 2 or len(one) < LEAST_CORRELATED for one in values):
        return None
    # A rank is the mean of the places that equal values have.
    orders = (sorted(one) for one in values)
    ranks = (
        [bisect.bisect_left(order, value) + bisect.bisect_right(order, value) for value in one]
        for one, order in zip(values, orders, strict=True)
    )
    return statistics.correlation(*ranks)


def _correlations(report: Report) -> Iterator[str]:
    metrics = [metric for metric in report.metrics if metric != "spBLEU"]
    for split, scored in grouped((one.direction.split, one) for one in report.scored).items():
        rows = correlations(scored, metrics)
        if any(cell is not None for row in rows for cell in row[2:]):
            head = ["into", "translations", *(f"spBLEU, {metric}" for metric in metrics)]
            title = f"{split} rank correlation (Spearman) by target language".strip()
            yield f"{title}\n{_table(head, rows)}"


def _by_system(report: Report) -> Iterator[tuple[tuple[str, ...], list[Scored]]]:
    """Groups the scores of a report by system and split.

    Yields a pair ((system, split), scores of all directions) for each group. The scores of a group must be
    adjacent in the report.
    """
    for place, scored in itertools.groupby(report.scored, key=lambda one: one.direction[:2]):
        yield place, list(scored)


def _corpus(one: Scored) -> Mapping[str, float]:
    return one.scores.groups[0].scores


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _means(scored: Iterable[Scored], metrics: Sequence[str]) -> Row:
    of_all = list(map(_corpus, scored))
    return [_mean([scores[metric] for scores in of_all]) for metric in metrics]


def score_matrix(
    scored: Iterable[Scored], metric: str, group_of: Callable[[str], str | None] = str
) -> tuple[list[str], list[Row]]:
    """Returns the header and rows of a table of languages, or of language groups as in Tables 6 and 7 of
    Goyal et al. 2022.

    There is a row for each (group of) source languages and a column for each (group of) target languages. A
    cell is the average over the directions from one into the other; None if none was scored. Languages
    without a group are left out. Groups in RESOURCE_LEVELS come first, in this order; others follow, sorted
    by name. The last column has the averages over all targets, and the last row those over all sources.

    Args:
      scored: The scores of each direction.
      metric: The name of the metric in the table.
      group_of: A function that returns the group of a language; None if it has none. By default, each
        language is a group.
    """
    cells: dict[tuple[str, str], list[float]] = {}
    for one in scored:
        source, target = group_of(one.direction.source), group_of(one.direction.target)
        if source and target:
            cells.setdefault((source, target), []).append(_corpus(one)[metric])
    order = [*RESOURCE_LEVELS, *sorted({group for pair in cells for group in pair})]
    sources = sorted({source for source, _ in cells}, key=order.index)
    targets = sorted({target for _, target in cells}, key=order.index)

    def mean_of(is_in: Callable[[str, str], bool]) -> float | None:
        return _mean([value for pair, found in cells.items() if is_in(*pair) for value in found])

    rows: list[Row] = [
        [
            row,
            *(_mean(cells.get((row, column), [])) for column in targets),
            mean_of(lambda source, _, row=row: source == row),  # type: ignore[misc]
        ]
        for row in sources
    ]
    into = (mean_of(lambda _, target, column=column: target == column) for column in targets)  # type: ignore[misc]
    rows.append(["average", *into, mean_of(lambda *_: True)])
    return ["from", *targets, "average"], rows


def _averages(scored: Sequence[Scored], metrics: Sequence[str]) -> str:
    rows: list[Row] = [
        [
            code,
            *_means((one for one in scored if one.direction.source == code), metrics),
            *_means((one for one in scored if one.direction.target == code), metrics),
        ]
        for code in sorted({code for one in scored for code in one.direction[2:4]})
    ]
    rows.append([f"all {len(scored):,} directions", *_means(scored, metrics) * 2])
    head = [f"{way} {metric}" for way in ("out", "into") for metric in metrics]
    return _table(["language", *head], rows)


def _domains(scored: Sequence[Scored], metrics: Sequence[str]) -> list[Row]:
    """Returns a row for each domain: its average scores over all directions, as in Table 8 of Goyal et al."""
    groups = (group for one in scored for group in one.scores.groups)
    by_name = grouped((one.name, one.scores) for one in groups if one.kind == "domain")
    return [
        [name, *(_mean([scores[metric] for scores in found]) for metric in metrics)]
        for name, found in sorted(by_name.items())
    ]


def _table(head: Sequence[str], rows: Iterable[Row], left: int = 1) -> str:
    cells = _formatted(rows, 2, UNKNOWN)
    return draw(head, cells, numbers=len(head) - left, width=screen_columns())


def _formatted(rows: Iterable[Row], digits: int, unknown: str) -> list[list[str]]:
    return [
        [
            unknown if cell is None else cell if isinstance(cell, str) else f"{cell:.{digits}f}"
            for cell in row
        ]
        for row in rows
    ]


# Formats for spreadsheets and programs.

_COLUMNS = ("system", "split", "source", "target", "group", "name", "sentences")


def render_tsv(report: Report) -> str:
    """Formats the scores of a report as tab-separated lines.

    Each direction has a line for all sentences, and a line for each domain and each topic.
    """
    rows: Iterable[Row] = (
        [
            *(*one.direction[:4], group.kind, group.name, str(group.sentences)),
            *(group.scores[metric] for metric in report.metrics),
        ]
        for one in report.scored
        for group in one.scores.groups
    )
    return write_table((*_COLUMNS, *report.metrics), _formatted(rows, 4, ""))


def render_json(report: Report) -> str:
    """Formats a report as JSON with unrounded numbers."""
    value = {
        "model": {name: getattr(report.model, name) for name in ("name", "path", "sha256")},
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
    """Returns the files of a report, as file name → contents: the scores as TSV and as JSON.

    If the languages of all files are known, also returns tables with a row for each source language or
    group of languages.
    """
    files = {"scores.tsv": render_tsv(report), "scores.json": render_json(report)}
    if not all(one.direction.source for one in report.scored):
        return files
    groupings: Mapping[str, Callable[[str], str | None]] = {
        "directions": str,
        "families": family_of,
        "resource-levels": resource_level_of,
    }
    for (system, split), scored in _by_system(report):
        for metric, (kind, group_of) in itertools.product(report.metrics, groupings.items()):
            head, rows = score_matrix(scored, metric, group_of)
            name = "-".join(filter(None, (kind, system.replace("/", "-"), split, metric)))
            while f"{name}.tsv" in files:  # systems such as a/b and a-b have the same file name
                name += "-"
            files[f"{name}.tsv"] = write_table(head, _formatted(rows, 4, ""))
    return files
