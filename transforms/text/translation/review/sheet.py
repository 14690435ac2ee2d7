"""The sheet that a reviewer fills in: a table, a row per sentence, further rows for further errors.

    id            language  source  target  category  severity  comment  reviewer
    devtest-0042  fra       Dogs.   Chins.  spelling  minor     Chiens   Ama
    devtest-0042  fra                       register  major              Ama
    devtest-0057  fra       Cats.   Chats.  ok                           Ama
    devtest-0063  fra       Birds.  Aves.

A sentence without an error is marked "ok" in the column `category`. A row whose category, severity and
comment are blank is not reviewed yet: silence is no approval.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from transforms.text.translation.review.records import (
    CATEGORIES,
    SEVERITIES,
    ReviewedSheet,
    ReviewError,
    ReviewLine,
    SheetError,
)
from transforms.text.translation.tables import TableError, read_table, write_table

OK = "ok"
COLUMNS = ("id", "language", "source", "target", "category", "severity", "comment", "reviewer")
_NEEDED = ("id", "category", "severity", "reviewer", "language", "target")
_SEPARATORS = re.compile(r"[\W_]+")
# What reviewers write for a category: American spelling, and the names of the paper in full.
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
    """The sheet of a language. A name that is given stands in every row."""
    return write_table(
        COLUMNS,
        ((line.id, language, line.source, line.target, "", "", "", reviewer) for line in lines),
    )


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


def read_review_sheet(text: str, file: str) -> ReviewedSheet:
    """What a reviewer says.

    Categories and severities may be written in any case, with blanks or other signs between words, in
    British or American spelling. In rows that a reviewer adds, `language`, `source` and `target` may be
    blank. Raises SheetError, which names the line and what is allowed, for anything else, for a sheet of
    two reviewers or two languages, for "ok" beside an error, and for a review without a name.
    """
    rows = list(_read_rows(text, file))
    return ReviewedSheet(
        reviewer=_reviewer(rows, file),
        language=_only((row.line, row.language) for row in rows).of("language", file),
        reviewed=tuple(dict.fromkeys(row.id for row in rows if row.is_reviewed)),
        errors=tuple(_errors(rows, file)),
        targets=_targets(rows, file),
    )


def is_same_target(written: str, text: str) -> bool:
    """Whether a target in a sheet that came back is this translation.

    A spreadsheet puts quotation marks around a field that has some, and doubles those in it.
    """
    quoted = '"' + text.replace('"', '""') + '"'
    return written in (text, quoted)


def _read_rows(text: str, file: str) -> Iterable[_Row]:
    try:
        for line, fields in read_table(text, _NEEDED):
            if not any(fields.values()):
                continue  # spreadsheets leave such rows below a table
            row = _Row(line, *(_field(fields, name) for name in _Row._fields[1:]))
            if not row.id:
                raise SheetError(file, line, "the column id is blank")
            yield row
    except TableError as error:
        message = str(error).removeprefix(f"line {error.line}: ")
        raise SheetError(file, error.line, message) from None


def _field(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name, "")
    return value if name == "target" else value.strip()


class _Values(NamedTuple):
    """Different values of a column that should have one, and where each is first."""

    lines: Mapping[str, int]

    def of(self, column: str, file: str) -> str:
        values = list(self.lines)
        if len(values) > 1:
            first, second = values[:2]
            raise SheetError(
                file,
                self.lines[second],
                f"{column} is {second!r}, and {first!r} in line {self.lines[first]}:"
                " make it a sheet of its own",
            )
        return values[0] if values else ""


def _only(values: Iterable[tuple[int, str]]) -> _Values:
    lines: dict[str, int] = {}
    for line, value in values:
        if value:
            lines.setdefault(value, line)
    return _Values(lines)


def _reviewer(rows: Iterable[_Row], file: str) -> str:
    reviewed = [row for row in rows if row.is_reviewed]
    name = _only((row.line, row.reviewer) for row in reviewed).of("reviewer", file)
    if reviewed and not name:
        raise SheetError(file, reviewed[0].line, "no name in the column reviewer")
    return name


def _targets(rows: Iterable[_Row], file: str) -> dict[str, str]:
    targets: dict[str, tuple[str, int]] = {}
    for row in rows:
        if not row.target:
            continue
        target, line = targets.setdefault(row.id, (row.target, row.line))
        if target != row.target:
            raise SheetError(
                file, row.line, f"target of {row.id} is another one than in line {line}"
            )
    return {id_: target for id_, (target, _) in targets.items()}


def _errors(rows: Iterable[_Row], file: str) -> Iterable[ReviewError]:
    said: dict[str, tuple[bool, int]] = {}  # id → whether it is ok, line
    for row in rows:
        if not row.is_reviewed:
            continue
        category = _category(row, file)
        is_ok, line = said.setdefault(row.id, (category == OK, row.line))
        if is_ok != (category == OK):
            raise SheetError(
                file, row.line, f"{row.id} is both {OK} and wrong: see line {line}; which is it?"
            )
        severity = _severity(row, category, file)
        if category != OK:
            yield ReviewError(row.id, category, severity, row.comment, row.line)


def _category(row: _Row, file: str) -> str:
    slug = _slug(row.category)
    slug = _SYNONYMS.get(slug, slug)
    if slug not in (OK, *CATEGORIES):
        said = f"{row.category!r} is no category" if row.category else "category is blank"
        raise SheetError(file, row.line, f"{said}: it is {OK}, {', '.join(CATEGORIES)}")
    return slug


def _severity(row: _Row, category: str, file: str) -> str:
    slug = _slug(row.severity)
    if category == OK:
        if slug:
            raise SheetError(file, row.line, f"{OK} has no severity, and {row.severity!r} is given")
    elif slug not in SEVERITIES:
        said = f"{row.severity!r} is no severity" if row.severity else "severity is blank"
        raise SheetError(file, row.line, f"{said}: it is {', '.join(SEVERITIES)}")
    return slug


def _slug(text: str) -> str:
    return _SEPARATORS.sub("-", text.lower()).strip("-")
