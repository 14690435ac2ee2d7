"""Records of a review of translations: the sheets for reviewers, and the errors that reviewers mark.

Categories and severities are those of Goyal et al. 2022 (FLORES-101), section 3.3.

Samples the sentences whose translations are reviewed. They are the same in all languages.

Computes the Translation Quality Score of a language, from 0 to 100, from the errors marked by reviewers.

Goyal et al. 2022 (FLORES-101, section 3.3) define the categories and severities of errors, the share of
sentences to review (20 %) and the threshold of 90, but no formula. The formula used here has the usual
weights of MQM:

    points of an error       1 minor, 5 major, 10 critical
    points of a sentence     the points of all errors marked by a reviewer; the mean over its reviewers
    score                    100 × (1 − Σ points / Σ words of the reviewed source sentences), not below 0

Words are separated by white space in the English source. All numbers are exact fractions, and the score is
rounded down: 89.96 is below 90 and is printed as 89.9.

The formula agrees with the paper. In the paper's accepted languages, 15 % of the reviewed sentences have
major or critical errors and 2 % have critical errors, so 13 % have only major ones. With one such error in
each of these sentences, the mean is 0.13 × 5 + 0.02 × 10 = 0.85 points per sentence. With 20 words per
sentence, the score is 95.75. If every sentence has a minor error in addition, the score is 90.75. In the
paper, accepted languages have scores of 90 or more, and half of them are above 95 (section 4.4).

Writes and reads the sheet that a reviewer fills in.

It has one row per sentence. If a sentence has several errors, the reviewer adds a row for each further error.

    id            language  source  target "fra"  category  severity  comment  reviewer  legend
    devtest-0042  fra       Dogs.   Chins.        spelling  minor     Chiens   Ama       category: …
    devtest-0042  fra                             register  major              Ama
    devtest-0057  fra       Cats.   Chats.        ok                           Ama
    devtest-0063  fra       Birds.  Aves.

The format is that of packets (see packet_files.py) or, if the header has no quotation marks, that of a
project's tables (see markup.py). The column `legend` lists the values allowed in the other columns, one line
per row; it is ignored when the sheet is read.

If a sentence has no error, the reviewer writes "ok" in the column `category`. A row without category,
severity and comment has not been reviewed yet.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from corpusmill.transforms.files.markup import protect, read_table
from corpusmill.transforms.files.records import ReadError, SourceSentence
from corpusmill.transforms.files.text import fingerprint

from .packet_files import find_layout, read_rows, write_quoted

CATEGORIES = {
    "grammar": "agreement, case, tense, word order",
    "punctuation": "a sign that is wrong, missing or too many",
    "spelling": "a word that is written wrongly",
    "capitalisation": "a capital where none belongs, or the reverse",
    "addition-or-omission": "the translation says more than the source, or less",
    "mistranslation": "the meaning is another one",
    "unnatural": "correct, but nobody would say it like this",
    "untranslated": "text of the source that was left",
    "register": "too formal or too familiar for news and encyclopaedias",
}
"""Category → meaning."""
SEVERITIES = {
    "minor": "a blemish: the meaning is clear",
    "major": "the meaning is hard to see, or partly wrong",
    "critical": "the reader is misled, or cannot understand the sentence",
}
"""Severity → meaning, in ascending order."""


class ReviewLine(NamedTuple):
    """A sentence that a reviewer is to check."""

    id: str  # of the source sentence
    source: str
    target: str  # the translation, unchanged


class ReviewError(NamedTuple):
    """An error that a reviewer has marked."""

    id: str  # of the source sentence
    category: str  # one of CATEGORIES
    severity: str  # one of SEVERITIES
    comment: str  # comment of the reviewer; may be ""
    line: int  # line in the sheet, from 1


class ReviewedSheet(NamedTuple):
    """The content of a sheet: one reviewer's review of sentences in one language."""

    reviewer: str  # name as written by the reviewer; "" if nothing is reviewed yet
    language: str  # language code
    reviewed: tuple[str, ...]  # ids in the order of the sheet, including sentences without errors
    errors: tuple[ReviewError, ...]  # in the order of the sheet
    targets: Mapping[str, str]  # id → the translation in the sheet


def choose_sample(sources: Iterable[SourceSentence], share: Fraction, seed: int) -> tuple[str, ...]:
    """Returns the ids of the sentences to review, in the order of the sources.

    The sample has ceil(share × n) of the n sentences: those with the smallest fingerprints of
    "<seed>\\t<id>". So the sample for a larger share includes the sample for a smaller one, and the sample
    depends neither on texts nor on their order. FLORES-101 reviews 20 %.

    Args:
      sources: the source sentences, with unique ids.
      share: the share of the sentences to review, above 0 and at most 1.
      seed: a number; another seed gives another sample.
    """
    ids = [source.id for source in sources]
    chosen = sorted(ids, key=lambda id_: (fingerprint(f"{seed}\t{id_}"), id_))
    kept = set(chosen[: math.ceil(share * len(ids))])
    return tuple(id_ for id_ in ids if id_ in kept)


POINTS: Mapping[str, int] = dict(zip(SEVERITIES, (1, 5, 10), strict=True))


class ReviewerShare(NamedTuple):
    """The sentences and errors of one reviewer, and the score computed from these alone."""

    reviewed: int  # number of sentences
    errors: int
    # score from this reviewer's sentences and errors only; it shows which reviewers are stricter
    score: Fraction


class QualityScore(NamedTuple):
    """The score of a language, and the figures from which it was computed."""

    accepted: bool  # True if the whole sample is reviewed and the score reaches the threshold
    score: Fraction  # from 0 to 100
    shown: str  # the score with one decimal, rounded down
    accepted_from: Fraction
    words: int  # number of words of the reviewed source sentences
    points: Fraction  # sum of the points of all reviewed sentences
    # An error marked by two reviewers is counted twice.
    errors_by_category: Mapping[str, int]  # for all CATEGORIES
    errors_by_severity: Mapping[str, int]  # for all SEVERITIES
    # sentences with such an error from any reviewer; 15 % in the paper
    sentences_major_or_critical: int
    sentences_critical: int  # 2 % in the paper
    # Sentences with an error of this category, of any severity; 3 % in the paper.
    sentences_unnatural: int
    reviewers: Mapping[str, ReviewerShare]  # by name


# The errors of each sentence, by reviewer; an empty list means reviewed without error.
_Marked = dict[str, dict[str, list[ReviewError]]]  # id → reviewer → errors


def score_quality(
    sources: Mapping[str, str],
    sample: Sequence[str],
    sheets: Iterable[ReviewedSheet],
    accepted_from: Fraction = Fraction(90),
) -> QualityScore:
    """Computes the Translation Quality Score of a language.

    Args:
      sources: id → English text; must include the sentences of the sample.
      sample: ids of the sentences to review.
      sheets: the returned sheets of one language, in the order of their return. A later review of a sentence
        replaces an earlier one by the same reviewer. The order has no other effect. At least one sentence
        must be reviewed.
      accepted_from: the lowest score that is accepted.
    """
    marked = _merge(sheets)
    words = {id_: len(sources[id_].split()) for id_ in marked}
    total_words = sum(words.values())
    errors = [one for by in marked.values() for errors in by.values() for one in errors]
    weights = (Fraction(POINTS[one.severity], len(marked[one.id])) for one in errors)
    points = sum(weights, Fraction(0))
    score = _score(points, total_words)
    tenths = score * 10 // 1
    categories, severities = (
        Counter(getattr(one, name) for one in errors) for name in ("category", "severity")
    )
    return QualityScore(
        accepted=len(marked) == len(set(sample)) and score >= accepted_from,
        score=score,
        shown=f"{tenths // 10}.{tenths % 10}",
        accepted_from=accepted_from,
        words=total_words,
        points=points,
        errors_by_category={name: categories[name] for name in CATEGORIES},
        errors_by_severity={name: severities[name] for name in SEVERITIES},
        sentences_major_or_critical=len({one.id for one in errors if one.severity != "minor"}),
        sentences_critical=len({one.id for one in errors if one.severity == "critical"}),
        sentences_unnatural=len({one.id for one in errors if one.category == "unnatural"}),
        reviewers=_shares(marked, words),
    )


def _merge(sheets: Iterable[ReviewedSheet]) -> _Marked:
    marked: _Marked = {}
    for sheet in sheets:
        for id_ in sheet.reviewed:
            marked.setdefault(id_, {})[sheet.reviewer] = []
        for error in sheet.errors:
            marked[error.id][sheet.reviewer].append(error)
    return marked


def _score(points: Fraction, words: int) -> Fraction:
    return max(Fraction(0), 100 * (1 - points / words))


def _shares(marked: _Marked, words: Mapping[str, int]) -> dict[str, ReviewerShare]:
    shares = {}
    for name in sorted({name for by_reviewer in marked.values() for name in by_reviewer}):
        said = {id_: by[name] for id_, by in marked.items() if name in by}
        errors = [error for errors in said.values() for error in errors]
        points = sum(POINTS[error.severity] for error in errors)
        read = sum(words[id_] for id_ in said)
        score = _score(Fraction(points), read) if read else Fraction(100)
        shares[name] = ReviewerShare(len(said), len(errors), score)
    return shares


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
    legend = make_legend()
    for row in rows:  # one line of the legend each; the last row gets all remaining lines
        notes = legend if row is rows[-1] else [legend.pop(0)] if legend else []
        row.append(" | ".join(notes))
    return write_quoted([*columns, _LEGEND], rows)


def make_legend() -> list[str]:
    """Returns the lines of the legend: the allowed values of the columns that a reviewer fills in."""
    return [
        f"category: {OK}, if the sentence has no error; else one of those below, a row for each error",
        *(f"category {name}: {meaning}" for name, meaning in CATEGORIES.items()),
        *(f"severity {name}: {meaning}" for name, meaning in SEVERITIES.items()),
        "comment: what it should be, or why; may be blank",
        "reviewer: your name, in every row that you fill in",
    ]


class _Row(NamedTuple):
    line: int
    id: str
    language: str
    target: str
    category: str
    severity: str
    comment: str
    reviewer: str


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
    reviewed = [row for row in rows if row.category or row.severity or row.comment]
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
        found = ", ".join(layout.columns)
        raise ReadError(1, f"missing columns: {', '.join(missing)}; found {found}")
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
            message = f"must not have a severity: remove {row.severity!r}"
            raise ReadError(row.line, f"a sentence marked as {OK} {message}")


def _check_slug(row: _Row, column: str, slug: str, allowed: Collection[str]) -> None:
    if slug not in allowed:
        written = getattr(row, column)
        said = f"{written!r} is not a {column}" if written else f"the column {column} is empty"
        raise ReadError(row.line, f"{said}; expected one of {', '.join(allowed)}")


def _slug(text: str) -> str:
    return _SEPARATORS.sub("-", text.lower()).strip("-")
