"""Writes sheets for reviewers, imports the completed sheets, and computes whether a language is accepted."""

import math
import pathlib
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.files.records import ReadError
from corpusmill.transforms.files.terminal import count_of, draw

from . import journal, review
from .journal import Draft, Entry, Sent, paths_of
from .language_state import LanguageState, locked_state, read_state
from .packet_files import decode_sheet
from .project import Project
from .review import QualityScore, ReviewedSheet, ReviewError, ReviewerShare
from .target_languages import TargetLanguage

ERRORS = "errors.tsv"
_COLUMNS = ReviewError._fields
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


class Reviewed(NamedTuple):
    """The result of importing one review sheet."""

    path: str
    code: str
    entry: Entry
    is_new: bool  # False if the file was imported before, as `entry`
    reviewed: int  # sentences of the sample that are reviewed so far, by all reviewers
    sample: int  # number of sentences in the sample
    verdict: Entry | None  # None until the whole sample is reviewed


def write_sheets(
    project: Project,
    languages: Iterable[TargetLanguage],
    *,
    reviewer: str = "",
    to: str = "",
    by: str = "",
) -> list[Sent]:
    """Writes review sheets: adds one to the journal of each language that has passed the checks.

    Returns a result for each language. Raises TargetError if `to` has a file with the same name and other
    content.

    Args:
      reviewer: name of the reviewer, which is written to every row; "" for none.
      to: folder for copies of the sheets; "" to make no copies.
      by: name of the person who sends the sheets.
    """
    return [_write(project, language.code, reviewer, to, by) for language in languages]


def _write(project: Project, code: str, reviewer: str, to: str, by: str) -> Sent:
    folder = project.journal(code)
    if not folder.is_dir():
        return Sent(code, None, "no sheet: no packet was sent yet")
    with locked_state(project, code) as state:
        if refusal := why_not_reviewed(state):
            return Sent(code, None, f"no sheet: {refusal}")
        digest = state.digest_of(project.sample)
        sheets = _of_round(state, "sheets", digest)
        if entry := next((one for one in sheets if one.facts["reviewer"] == reviewer), None):
            message = f"the sheet was already written as {entry.name}"
        else:
            contents = _sheet(project, state, code, reviewer)
            journal.check_copies(to, contents)
            facts = {
                "reviewer": reviewer,
                "sample_digest": digest,
                "lines": len(project.sample),
                "files": {name: journal.sha256_of(data) for name, data in contents.items()},
            }
            draft = Draft("sheets", state.round, facts, contents)
            entry = journal.append(folder, by, state.last, lambda _: draft)
            message = f"{entry.name}, a sheet of {len(project.sample):,} sentences"
        return Sent(code, entry, message, paths_of(entry, to))


def why_not_reviewed(state: LanguageState) -> str:
    """Returns the reason why the current translations cannot be reviewed; "" if they can be reviewed."""
    if not state.answers:
        return "no translation was imported yet"
    if not state.check:
        return "the current translations are not checked yet; run `check`"
    if not state.has_passed:
        errors = count_of(state.check.facts["errors"], "error")
        return f"the checks have found {errors}; run `check` to see them"
    return ""


def _sheet(project: Project, state: LanguageState, code: str, reviewer: str) -> dict[str, bytes]:
    texts = {source.id: source.text for source in project.sentences}
    lines = [
        review.ReviewLine(name, texts[name], state.translations[name].text)
        for name in project.sample
    ]
    who = _NOT_IN_A_NAME.sub("-", reviewer).strip("-")
    name = f"{code}-review-round{state.round}{f'-{who}' if who else ''}.tsv"
    return {name: review.write_review_sheet(code, lines, reviewer).encode("utf-8")}


def import_reviews(project: Project, paths: Iterable[str], *, by: str = "") -> list[Reviewed]:
    """Imports review sheets: adds an entry to the journal for each new sheet.

    When the whole sample is reviewed, also adds the verdict. All files are read before the first entry is
    written.

    Args:
      paths: the files of the sheets.
      by: name of the person who imports the sheets. If it is "", the reviewer's name is used.

    Raises InputError for a sheet that cannot be read, or if a reviewed translation has changed in the
    meantime.
    """
    read = [_read(project, pathlib.Path(path)) for path in dict.fromkeys(paths)]
    return [_add(project, path, data, sheet, by) for path, data, sheet in read]


def _read(project: Project, path: pathlib.Path) -> tuple[pathlib.Path, bytes, ReviewedSheet]:
    data = journal.read_bytes(path)
    with journal.naming(path):
        sheet = review.read_review_sheet(decode_sheet(data))
        if not sheet.reviewed:
            raise ReadError(0, "no sentence is reviewed; mark sentences without errors as “ok”")
        if not sheet.language:
            raise ReadError(0, "the column `language` is empty; enter the code of the language")
        try:
            sheet = sheet._replace(language=project.language(sheet.language).code)
        except ValueError as error:
            raise ReadError(0, str(error)) from None
        state = read_state(project, sheet.language)
        if not _imported_before(state, data):
            _check(project, state, sheet)
    return path, data, sheet


def _check(project: Project, state: LanguageState, sheet: ReviewedSheet) -> None:
    """Raises ReadError if a sheet has sentences that are not in the sample, or translations that have
    changed.
    """
    if refusal := why_not_reviewed(state):
        raise ReadError(0, f"the review cannot be imported: {refusal}")
    sample = frozenset(project.sample)
    for name in sheet.reviewed:
        if name not in sample:
            raise ReadError(0, f"{name} is not in the sample to review")
        written, text = sheet.targets.get(name, ""), state.translations[name].text
        if not review.is_same_target(written, text):
            message = f"the sheet is outdated: {name} is now {text!r}, but {written!r} was reviewed"
            raise ReadError(0, message)


def _imported_before(state: LanguageState, data: bytes) -> Entry | None:
    sha256 = journal.sha256_of(data)
    reviews = state.of_kind("review")
    return next((one for one in reviews if one.facts["file"]["sha256"] == sha256), None)


def _add(
    project: Project, path: pathlib.Path, data: bytes, sheet: ReviewedSheet, by: str
) -> Reviewed:
    folder = project.journal(sheet.language)
    with journal.naming(path), locked_state(project, sheet.language) as state:
        earlier = _imported_before(state, data)
        entry = earlier
        if not entry:
            _check(project, state, sheet)
            draft = _draft(project, state, path, data, sheet)
            entry = journal.append(folder, by or sheet.reviewer, state.last, lambda _: draft)
            state = read_state(project, sheet.language)
        verdict = _judge(project, state, folder, by)
        reviewed = len(reviewed_ids(state, project))
        return Reviewed(
            str(path), sheet.language, entry, not earlier, reviewed, len(project.sample), verdict
        )


def _draft(
    project: Project, state: LanguageState, path: pathlib.Path, data: bytes, sheet: ReviewedSheet
) -> Draft:
    facts = {
        "reviewer": sheet.reviewer,
        "reviewed": list(sheet.reviewed),
        "errors": len(sheet.errors),
        "sample_digest": state.digest_of(project.sample),
        "file": journal.describe(path, data),
    }
    rows = (list(map(str, error)) for error in sheet.errors)
    errors = write_table(_COLUMNS, rows, for_people=False)
    contents = {ERRORS: errors.encode("utf-8"), f"original/{path.name}": data}
    return Draft("review", state.round, facts, contents)


def _of_round(state: LanguageState, kind: str, digest: str) -> list[Entry]:
    """Returns the entries of a kind in the current round that were made for the current translations.

    Args:
      kind: "sheets" or "review".
      digest: SHA-256 of the current translations of the sample.
    """
    return [
        entry
        for entry in state.of_kind(kind)
        if entry.round == state.round and entry.facts["sample_digest"] == digest
    ]


def reviewed_ids(state: LanguageState, project: Project) -> frozenset[str]:
    """Returns the ids of the sampled sentences whose current translation is reviewed."""
    if not state.newest("review"):
        return frozenset()
    reviews = _of_round(state, "review", state.digest_of(project.sample))
    return frozenset(name for entry in reviews for name in entry.facts["reviewed"])


def current_reviews(state: LanguageState) -> list[ReviewedSheet]:
    """Returns the sheets from which the verdict of the current round was computed."""
    verdict = state.verdict
    numbers = verdict.facts["reviews"] if verdict else ()
    return [_sheet_of(state.entries[number - 1]) for number in numbers]


def _sheet_of(entry: Entry) -> ReviewedSheet:
    rows = journal.read_rows(entry.folder / ERRORS, _COLUMNS, for_people=False)
    errors = tuple(ReviewError(**row) for row in rows)
    facts, language = entry.facts, entry.folder.parent.name
    return ReviewedSheet(facts["reviewer"], language, tuple(facts["reviewed"]), errors, {})


def _judge(project: Project, state: LanguageState, folder: pathlib.Path, by: str) -> Entry | None:
    """Returns the verdict of the current round; None if a part of the sample is not reviewed yet.

    If there are new reviews, computes a new verdict and adds it to the journal.

    Args:
      folder: the folder of the journal.
      by: name of the person who imports the reviews.
    """
    digest = state.digest_of(project.sample)
    reviews = _of_round(state, "review", digest)
    numbers = [entry.number for entry in reviews]
    if reviewed_ids(state, project) != frozenset(project.sample) or why_not_reviewed(state):
        return None
    if state.verdict and state.verdict.facts["reviews"] == numbers:
        return state.verdict
    quality = review.score_quality(
        {source.id: source.text for source in project.sentences},
        project.sample,
        [_sheet_of(entry) for entry in reviews],
        project.rules.accepted_score,
    )
    facts = {
        **_plain(quality),
        "reviewers": {name: _plain(share) for name, share in quality.reviewers.items()},
        "reviews": numbers,
        "sample_digest": digest,
        "sample": list(project.sample),
    }
    draft = Draft("verdict", state.round, facts, {})
    return journal.append(folder, by, state.last, lambda _: draft)


def _plain(record: QualityScore | ReviewerShare) -> dict[str, Any]:
    """Returns the fields of a record as name → value. Fractions are converted to strings."""
    values = record._asdict().items()
    return {name: str(one) if isinstance(one, Fraction) else one for name, one in values}


def print_reviewed(reviewed: Iterable[Reviewed]) -> None:
    """Prints a line for each imported sheet, and the verdicts."""
    for one in reviewed:
        done = "imported as" if one.is_new else "already imported as"
        print(f"{one.path}: {one.code}, {done} {one.entry.name}")
        share = f"{one.reviewed:,} of {one.sample:,} sentences of the sample"
        print(f"{one.code}: {share} are reviewed")
        if one.verdict:
            facts = one.verdict.facts
            said = "accepted" if facts["accepted"] else "sent back: `packets` begins the next round"
            needed = f"{float(Fraction(facts['accepted_from'])):g} is needed"
            score = f"score {facts['shown']}, {needed}"
            print(f"{one.code}: {score}: {said} (verdict {one.verdict.name})")
            for counts in (facts["errors_by_severity"], facts["errors_by_category"]):
                if told := ", ".join(f"{n:,} {name}" for name, n in counts.items() if n):
                    print(f"  errors: {told}")
            rows = [
                (
                    *(name, f"{share['reviewed']:,}", f"{share['errors']:,}"),
                    f"{math.floor(Fraction(share['score']) * 10) / 10:.1f}",  # never rounded up
                )
                for name, share in facts["reviewers"].items()
            ]
            print(
                draw(("reviewer", "sentences", "errors", "score of these"), rows, numbers=3), end=""
            )
