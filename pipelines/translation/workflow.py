"""Summarises the work in a project: who did it, whether they met the requirements of the paper, and how long
it took.

The organiser keeps a record of the translators and editors, `translators.tsv`, in the folder of the project.
It is the only file of a project that people write and change:

    name  language  native  english  degree  years  tested
    Ama   fra       yes     C2       yes     4      2026-03-01

The names are those in the journal, given with `import --by`. An empty cell means that a fact is unknown.

Computes the totals of Table 4 of Goyal et al. 2022 (FLORES-101).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from corpusmill.transforms.files.markup import read_table
from corpusmill.transforms.files.records import ReadError

from . import journal
from .language_state import LanguageState
from .packet_files import decode_sheet
from .project import Project

RECORD = "translators.tsv"
_YES_OR_NO = {"yes": True, "no": False}
_CELLS = {  # column → pattern of its cells, what they must be
    "native": ("yes|no", "yes or no"),
    "english": ("[ABC][12]", "a level from A1 to C2"),
    "degree": ("yes|no", "yes or no"),
    "years": (r"\d{1,2}(\.\d)?", "a number of years"),
    "tested": (r"20\d\d-(0[1-9]|1[012])-(0[1-9]|[12]\d|3[01])", "a date such as 2026-03-01"),
}
_UNKNOWN = dict.fromkeys(_CELLS, "")
REQUIREMENTS = {  # name → what Goyal et al. 2022 require in section 3.2
    "native": "native speaker, educated in the language",
    "english": "C1 or C2 in English",
    "experience": "2 years of experience with a degree, 3 without",
    "tested": "a test in the 18 months before the work",
}
Record = Mapping[tuple[str, str], Mapping[str, str]]  # name and language of a person → row
People = Mapping[str, Mapping[str, bool | None]]  # name of a person → requirement → is met
Measures = Mapping[str, float | None]


def read_record(project: Project) -> Record:
    """Reads the record of translators. It is empty if there is no file.

    Raises InputError, which names the line, if a cell is wrong or a person has two rows for a language.
    """
    path = project.folder / RECORD
    record: dict[tuple[str, str], Mapping[str, str]] = {}
    with journal.naming(path):
        text = decode_sheet(journal.read_bytes(path)) if path.exists() else ""
        for line, cells in read_table(text, ("name", "language", *_CELLS)) if text else ():
            row = {name: cell.strip() for name, cell in cells.items()}
            for column, (pattern, what) in {"name": (".+", "a name"), **_CELLS}.items():
                if (row[column] or column == "name") and not re.fullmatch(pattern, row[column]):
                    message = f"the column `{column}` must be {what}, got {row[column]!r}"
                    raise ReadError(line, f"{message}; leave unknown facts empty")
            try:
                person = row["name"], project.language(row["language"]).code
            except ValueError as error:
                raise ReadError(line, str(error)) from None
            if record.setdefault(person, row) is not row:
                raise ReadError(line, f"{row['name']} already has a row for {person[1]}")
    return record


def find_people(state: LanguageState, code: str, record: Record) -> People:
    """Returns the people whose files were imported for a language, and which requirements each of them meets.

    The value is None if the record does not say it.
    """
    days = {one.by: one.time[:10] for one in state.of_kind("import")}  # of the last import
    return {name: compare(record.get((name, code), _UNKNOWN), days[name]) for name in sorted(days)}


def compare(row: Mapping[str, str], day: str) -> dict[str, bool | None]:
    """Returns requirement → whether a person meets it; None if the row of the record does not say it.

    Args:
      row: the cells of the record.
      day: the day of the last work of this person, such as "2026-03-01".
    """
    english, years, tested = row["english"], row["years"], row["tested"]
    has_degree = _YES_OR_NO.get(row["degree"])
    year, month = divmod(int(day[:4]) * 12 + int(day[5:7]) - 1 - 18, 12)
    earliest = f"{year}-{month + 1:02}-{day[8:]}"
    return {
        "native": _YES_OR_NO.get(row["native"]),
        "english": english >= "C" if english else None,
        "experience": float(years) >= 3 or (float(years) >= 2 and has_degree) if years else None,
        "tested": earliest <= tested if tested and tested <= day else None,
    }


def count_people(people: Iterable[People]) -> list[list[str]]:
    """Returns a row for each requirement: what it is, and the number of people who meet it, who do not, and
    for whom the record does not say it.
    """
    met = [one for of_language in people for one in of_language.values()]
    return [
        [what, *(f"{[one[name] for one in met].count(value):,}" for value in (True, False, None))]
        for name, what in REQUIREMENTS.items()
    ]


def measure(state: LanguageState) -> Measures:
    """Returns measures of the work on a language, for `totals`. Those that are not known yet are None."""
    verdicts = state.of_kind("verdict")
    accepted = state.verdict if state.is_accepted else None
    first = state.days_to(verdicts[0]) if accepted else None
    whole = state.days_to(accepted) if accepted else None
    edited = [(name, state.answers[name][0]) for name in state.edited]
    sent = {base: state.before(base).answers for base in {one.base for _, one in edited}}
    edits = [one.raw_text != sent[one.base][name][0].raw_text for name, one in edited]
    facts = accepted.facts if accepted else {}
    return {
        "again": state.round - 1 if verdicts else None,
        "first": first,
        "further": None if whole is None or first is None else whole - first,
        "whole": whole,
        "changed": _mean(edits) if edits else None,
        **{
            name: facts[f"sentences_{name}"] / len(facts["sample"]) if facts else None
            for name in ("major_or_critical", "critical", "unnatural")
        },
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


_ROWS: Sequence[tuple[str, str, Callable[[Sequence[float]], float], str]] = (
    ("languages translated again", "again", lambda known: sum(map(bool, known)), "{:,}"),
    ("times a language was translated again, average", "again", _mean, "{:.2f}"),
    ("times a language was translated again, most", "again", max, "{:,}"),
    ("days to the first verdict, average", "first", _mean, "{:.1f}"),
    ("days from the first verdict to acceptance, average", "further", _mean, "{:.1f}"),
    ("days for a language, average", "whole", _mean, "{:.1f}"),
    ("days for a language, least", "whole", min, "{:.1f}"),
    ("days for a language, most", "whole", max, "{:.1f}"),
    ("sentences changed by editors", "changed", _mean, "{:.1%}"),
    ("sentences with a major or critical error (paper: 15%)", "major_or_critical", _mean, "{:.1%}"),
    ("sentences with a critical error (paper: 2%)", "critical", _mean, "{:.1%}"),
    ("sentences with an unnatural translation (paper: 3%)", "unnatural", _mean, "{:.1%}"),
)


def totals(languages: Sequence[Measures]) -> list[list[str]]:
    """Returns the rows of Table 4: measure, value, and the number of languages for which it is known.

    The days are those of accepted languages. So the days to the first verdict and those from there to
    acceptance add up to the days for a language.
    """
    rows = []
    for what, name, find, form in _ROWS:
        known = [value for one in languages if (value := one[name]) is not None]
        found = form.format(find(known)) if known else "–"
        rows.append([what, found, f"{len(known):,} of {len(languages):,}"])
    return rows
