"""Writes and reads the sheet that a reviewer fills in.

It has one row per sentence. If a sentence has several errors, the reviewer adds a row for each further error.

    id            language  source  target "fra"  category  severity  comment  reviewer  legend
    devtest-0042  fra       Dogs.   Chins.        spelling  minor     Chiens   Ama       category: …
    devtest-0042  fra                             register  major              Ama
    devtest-0057  fra       Cats.   Chats.        ok                           Ama
    devtest-0063  fra       Birds.  Aves.

The format is that of packets (see packets/sheet.py) or, if the header has no quotation marks, that of a
project's tables (see tables.py). The column `legend` lists the values allowed in the other columns, one line
per row; it is ignored when the sheet is read.

If a sentence has no error, the reviewer writes "ok" in the column `category`. A row without category,
severity and comment has not been reviewed yet.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation.packets_sheet import find_layout, read_rows, write_quoted
from corpusmill.pipelines.translation.review_records import (
    CATEGORIES,
    SEVERITIES,
    ReviewedSheet,
    ReviewError,
    ReviewLine,
)
from corpusmill.transforms.files.cells import protect
from corpusmill.transforms.files.tables import read_table
from corpusmill.transforms.files.translation_records import ReadError

OK = "ok"
COLUMNS = ("id", "language", "source", "target", "category", "severity", "comment", "reviewer")
_LEGEND = "legend"
_NEEDED = ("id", "category", "severity", "reviewer", "language", "target")
_SEPARATORS = re.compile(r"[\W_]+")
# Other names of categories that reviewers write: American spelling, and the full names of the paper.
_SYNONYMS = {
    "capitalization": "capitalisation",
    "addition": "addition-or-omission",
    "omission": "addition-or-omission",
    "addition-omission": "addition-or-omission",
    "addition-or-omission-of-information": "addition-or-omission",
    "unnatural-translation": "unnatural",
    "untranslated-text": "untranslated",
}


def write_review_sheet(language: str, lines: Iterable[ReviewLine], reviewer: str = "") -> str:
    """Returns the sheet in which a reviewer marks the errors of translations into one language.

    If the name `reviewer` is not empty, it is written in every row.
    """
    columns = [f'target "{language}"' if name == "target" else name for name in COLUMNS]
    rows = [[line.id, language, line.source, line.target, "", "", "", reviewer] for line in lines]
    return write_quoted([*columns, _LEGEND], _with_legend(rows))


def make_legend() -> list[str]:
    """Returns the lines of the legend: the allowed values of the columns that a reviewer fills in."""
    return [
        f"category: {OK}, if the sentence has no error; else one of those below, a row for each error",
        *(f"category {name}: {meaning}" for name, meaning in CATEGORIES.items()),
        *(f"severity {name}: {meaning}" for name, meaning in SEVERITIES.items()),
        "comment: what it should be, or why; may be blank",
        "reviewer: your name, in every row that you fill in",
    ]


def _with_legend(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Appends a line of the legend (see `make_legend`) to each row. The last row gets all remaining lines."""
    legend = make_legend()
    for number, row in enumerate(rows, 1):
        is_last = number == len(rows)
        yield [*row, " | ".join(legend) if is_last else legend.pop(0) if legend else ""]


class _Row(NamedTuple):
    line: int
    id: str
    language: str
    target: str
    category: str
    severity: str
    comment: str
    reviewer: str

    @property
    def is_reviewed(self) -> bool:
        return bool(self.category or self.severity or self.comment)


def read_review_sheet(text: str) -> ReviewedSheet:
    """Reads a sheet that a reviewer has filled in.

    Categories and severities may be in upper or lower case, with spaces or other signs between words, in
    British or American spelling. In rows that a reviewer adds, `language`, `source` and `target` may be
    empty.

    Raises ReadError with the line number in these cases: a category or severity is not allowed, the sheet has
    two reviewers or two languages, a sentence has both "ok" and an error, or the name of the reviewer is
    missing.
    """
    rows = list(_read_rows(text))
    reviewed = [row for row in rows if row.is_reviewed]
    reviewer = _only_value(reviewed, "reviewer")
    if reviewed and not reviewer:
        raise ReadError(reviewed[0].line, "the column `reviewer` is empty: write your name in it")
    return ReviewedSheet(
        reviewer,
        language=_only_value(rows, "language"),
        reviewed=tuple(dict.fromkeys(row.id for row in reviewed)),
        errors=tuple(_errors(reviewed)),
        targets=_targets(rows),
    )


def is_same_target(written: str, text: str) -> bool:
    """Returns True if the target in a returned sheet is the same as the translation that was sent.

    The target also counts as the same if a spreadsheet program has put quotation marks around it and doubled
    the quotation marks in it. Then it may also begin with the apostrophe that `protect` adds.

    Args:
      written: the target in the returned sheet.
      text: the translation that was sent.
    """
    quoted = ('"' + one.replace('"', '""') + '"' for one in (text, protect(text)))
    return written in (text, *quoted)


def _read_rows(text: str) -> Iterator[_Row]:
    for line, fields in _read_fields(text):
        if not any(fields.values()):
            continue  # spreadsheets leave empty rows below a table
        values = (fields.get(name, "") for name in _Row._fields[1:])
        row = _Row(line, *(value.strip() for value in values))._replace(target=fields["target"])
        if not row.id:
            raise ReadError(line, "the column `id` is empty")
        yield row


def _read_fields(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields (line number, column → field) for each row of a sheet.

    The format is detected from the header.
    """
    text = text.removeprefix("\ufeff")
    header = text.split("\n", 1)[0].removesuffix("\r")
    if '"' not in header:
        yield from read_table(text, _NEEDED)
        return
    layout = find_layout(header)
    if missing := [name for name in _NEEDED if name not in (*layout.columns, "target")]:
        raise ReadError(
            1, f"missing columns: {', '.join(missing)}; found {', '.join(layout.columns)}"
        )
    for line, row in read_rows(text, layout):
        yield line, {**row, "target": row[layout.target]}


def _only_value(rows: Iterable[_Row], column: str) -> str:
    """Returns the value of a column that must be equal in all rows, such as the language.

    Rows in which the column is empty are ignored. Returns "" if it is empty in all rows. Raises ReadError if
    there are several different values.
    """
    lines: dict[str, int] = {}
    for row in rows:
        lines.setdefault(getattr(row, column), row.line)
    lines.pop("", None)
    if len(lines) > 1:
        (first, line), (second, other), *_ = lines.items()
        message = (
            f"{column} is {second!r}, but {first!r} in line {line}: write a separate sheet for each"
        )
        raise ReadError(other, message)
    return next(iter(lines), "")


def _targets(rows: Iterable[_Row]) -> dict[str, str]:
    targets: dict[str, _Row] = {}
    for row in rows:
        if not row.target:
            continue
        first = targets.setdefault(row.id, row)
        if first.target != row.target:
            message = f"the target of {row.id} differs from its target in line {first.line}"
            raise ReadError(row.line, message)
    return {id_: row.target for id_, row in targets.items()}


def _errors(reviewed: Iterable[_Row]) -> Iterator[ReviewError]:
    said: dict[str, tuple[bool, int]] = {}  # id → (True for ok, line)
    for row in reviewed:
        slug = _slug(row.category)
        category = _SYNONYMS.get(slug, slug)
        _check_slug(row, "category", category, (OK, *CATEGORIES))
        is_ok, line = said.setdefault(row.id, (category == OK, row.line))
        if is_ok != (category == OK):
            message = f"{row.id} has both {OK} and an error (see line {line}): remove one of them"
            raise ReadError(row.line, message)
        severity = _slug(row.severity)
        if not is_ok:
            _check_slug(row, "severity", severity, SEVERITIES)
            yield ReviewError(row.id, category, severity, row.comment, row.line)
        elif severity:
            raise ReadError(
                row.line,
                f"a sentence marked as {OK} must not have a severity: remove {row.severity!r}",
            )


def _check_slug(row: _Row, column: str, slug: str, allowed: Collection[str]) -> None:
    if slug not in allowed:
        written = getattr(row, column)
        said = f"{written!r} is not a {column}" if written else f"the column {column} is empty"
        raise ReadError(row.line, f"{said}; expected one of {', '.join(allowed)}")


def _slug(text: str) -> str:
    return _SEPARATORS.sub("-", text.lower()).strip("-")
