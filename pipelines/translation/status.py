"""Formats the state of all languages as a table or JSON, and the journal of one language as a table."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.manifest import to_json
from corpusmill.transforms.files.terminal import count_of, draw, fold, name_some
from corpusmill.transforms.files.text import grouped

from . import journal, workflow
from .checks import SETTLE
from .imports import tell_changes
from .journal import Entry
from .language_state import STATES, LanguageState, read_state
from .project import Project
from .reviews import reviewed_ids
from .target_languages import find_language
from .workflow import RECORD, REQUIREMENTS, Measures, People, Record

UNKNOWN = "–"
_NUMBERS = 9  # columns of numbers, at the end of the table
_NEXT = {  # state → next command for the project manager
    "new": "`packets` sends the sentences",
    "back": "`packets --edit` sends the translations to an editor, or `check` checks them",
    "edited": "`check` checks the translations",
    "checks failed": "`packets` sends the lines with errors back, `check --waive` accepts correct lines",
    "checked": "`review --sheets` writes sheets for reviewers",
    "in review": "`review --import` imports the completed sheets",
    "sent back": "`packets` begins the next round",
    "accepted": "`package` writes the data set",
}


class LanguageStatus(NamedTuple):
    """The state of a language."""

    language: str  # code
    name: str
    state: str  # from STATES
    round: int
    sentences: int
    translated: int
    awaited: int  # lines that were sent, but not answered yet
    disputed: int
    edited: int  # lines whose translation was returned by an editor
    errors: int | None  # open errors; None if the current translations are not checked
    warnings: int | None
    reviewed: int
    sample: int  # number of sentences to review
    score: str | None  # "95.7"
    since: str  # time of the last entry
    days: float | None  # from the first packet to the last entry
    people: People = MappingProxyType({})  # who translated or edited it
    measures: Measures = MappingProxyType({})


def find_status(project: Project) -> list[LanguageStatus]:
    """Returns the state of each language that has a journal, sorted by code."""
    record = workflow.read_record(project)
    found = (_status(project, code, record) for code in project.languages)
    return [status for status in found if status]


def _status(project: Project, code: str, record: Record) -> LanguageStatus | None:
    state = read_state(project, code)
    if not state.entries:
        return None  # the journal is empty: its first writer was killed
    check, verdict = state.check, state.verdict
    return LanguageStatus(
        language=code,
        name=_name_of(code),
        state=state.name,
        round=state.round,
        sentences=len(project.ids),
        translated=len(state.answers),
        awaited=len(state.awaited),
        disputed=len(state.disputed),
        edited=len(state.edited),
        errors=check.facts["errors"] if check else None,
        warnings=check.facts["warnings"] if check else None,
        reviewed=len(reviewed_ids(state, project)),
        sample=math.ceil(project.rules.review_share * len(project.ids)),
        score=verdict.facts["shown"] if verdict else None,
        since=state.entries[-1].time,
        days=state.days,
        people=workflow.find_people(state, code, record),
        measures=workflow.measure(state),
    )


def _name_of(code: str) -> str:
    try:
        return find_language(code).name
    except ValueError:
        return UNKNOWN  # the journal was written by a version that supports more languages


def render_text(project: Project, found: Sequence[LanguageStatus], width: int | None = None) -> str:
    """Returns a table of the languages, the number of languages in each state, and the commands to run next.

    Args:
      width: width of the screen in characters; None for no limit. A wider table is divided.
    """
    languages = count_of(len(found), "language")
    head = f"{project.rules.name}: {len(project.ids):,} sentences, {languages}"
    if not found:
        return f"{head}; no packet was sent yet\n"
    states = Counter(status.state for status in found)
    told = ", ".join(f"{states[state]:,} {state}" for state in STATES if states[state])
    rows = [list(_cells(status).values()) for status in found]
    total = list(_totals(found).values()) if len(found) > 1 else ()
    table = draw(list(_cells(found[0])), rows, numbers=_NUMBERS, total=total, width=width)
    said = fold(f"{told}\n{_to_do(found)}", width)
    return f"{head}\n{table}{said}{_people(project, found, width)}"


def _people(project: Project, found: Sequence[LanguageStatus], width: int | None) -> str:
    """Returns a table of the people who do not meet all requirements, if the organiser keeps a record."""
    shown = {True: "yes", False: "no", None: UNKNOWN}
    rows = [
        [status.language, name or UNKNOWN, *(shown[is_met] for is_met in met.values())]
        for status in found
        for name, met in status.people.items()
        if not all(met.values())
    ]
    if not (rows and (project.folder / RECORD).exists()):
        return ""
    table = draw(("language", "person", *REQUIREMENTS), rows, width=width, key=2)
    return f"\nrequirements of the paper that are not met (no), or not in {RECORD} (–)\n{table}"


def render_totals(found: Sequence[LanguageStatus], width: int | None = None) -> str:
    """Returns the totals of the workflow, and how many people meet each requirement, as two tables."""
    rows = workflow.totals([status.measures for status in found])
    people = workflow.count_people(status.people for status in found)
    columns = ("people", "met", "not met", "not known")
    return "\n{}days and errors are of accepted languages\n\n{}".format(
        draw(("workflow", "value", "languages"), rows, numbers=2, width=width),
        draw(columns, people, numbers=3, width=width),
    )


def _to_do(found: Sequence[LanguageStatus]) -> str:
    lines = []
    for state, what in _NEXT.items():
        if codes := [status.language for status in found if status.state == state]:
            lines.append(f"next for {name_some(codes)}: {what}\n")
    return "".join(lines)


def _cells(status: LanguageStatus) -> dict[str, str]:
    def count(number: int | None) -> str:
        return UNKNOWN if number is None else f"{number:,}"

    return {
        "language": status.language,
        "name": status.name,
        "state": status.state,
        "round": str(status.round),
        "since": _minute(status.since),
        "days": UNKNOWN if status.days is None else f"{status.days:.1f}",
        "score": status.score or UNKNOWN,
        "translated": f"{status.translated:,}/{status.sentences:,}",
        "awaited": count(status.awaited),
        "disputed": count(status.disputed),
        "edited": count(status.edited),
        "errors": count(status.errors),
        "warnings": count(status.warnings),
        "reviewed": f"{status.reviewed:,}/{status.sample:,}",
    }


def _totals(found: Sequence[LanguageStatus]) -> dict[str, str]:
    def add(name: str) -> int | None:
        known = [getattr(one, name) for one in found if getattr(one, name) is not None]
        return sum(known) if known else None

    counted = ("sentences", "translated", "awaited", "disputed", "edited", "errors", "warnings")
    sums: dict[str, Any] = {name: add(name) for name in (*counted, "reviewed", "sample")}
    total = found[0]._replace(language="total", name="", state="", since="", **sums)
    return _cells(total) | {"round": "", "days": "", "score": ""}


def render_json(project: Project, found: Iterable[LanguageStatus]) -> str:
    """Returns the state of all languages as JSON. Unknown values are null."""
    return to_json(
        {
            "project": project.rules.name,
            "source_sha256": project.source_sha256,
            "sentences": len(project.ids),
            "languages": [status._asdict() for status in found],
        }
    )


def render_story(project: Project, code: str, width: int | None = None) -> str:
    """Returns the journal of a language as a table, followed by its state.

    Raises ValueError for a language without a journal.
    """
    record = workflow.read_record(project)
    status = _status(project, code, record) if code in project.languages else None
    if not status:
        known = ", ".join(project.languages)
        raise ValueError(f"no packet was sent for {code}; languages of the project: {known}")
    state = read_state(project, code)
    rows = [row for entry in state.entries for row in _story_of(entry)]
    columns = ("entry", "time (UTC)", "round", "kind", "what")
    table = draw(columns, rows, width=width, key=len(columns))
    return f"{table}{render_text(project, [status], width)}{fold(_disputes(state), width)}"


def _story_of(entry: Entry) -> Iterator[Sequence[str]]:
    """Yields the rows that the table of a journal has for one entry.

    All rows after the first one are empty, except for their last column.
    """
    cells = [entry.name, _minute(entry.time), str(entry.round), entry.kind]
    told = _TELLERS[entry.kind](entry.facts) if entry.kind in _TELLERS else ""
    by = f"{entry.by}: " if entry.by else ""
    for line in [told] if isinstance(told, str) else told:
        yield [*cells, f"{by}{line}"]
        cells, by = [""] * len(cells), ""


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _disputes(state: LanguageState) -> str:
    answers = ((name, answer) for name in state.disputed for answer in state.answers[name])
    lines = [
        f"disputed: {name}: “{one.text}” ({one.file}:{one.line}, {journal.name_of(answer.entry)})\n"
        for name, answer in answers
        for one in [answer.translation(name)]
    ]
    return "".join([*lines, f"{SETTLE}\n"] if lines else [])


def _tell_check(facts: Mapping[str, Any]) -> list[str]:
    by_reason = grouped(
        ((one["rule"], one["by"], one["because"]), one["id"]) for one in facts["waivers"]
    )
    return [
        *(_tell_rules(severity, facts) for severity in ("error", "warning")),
        *(
            f"waived {rule} of {name_some(ids)} ({by}: {because})"
            for (rule, by, because), ids in by_reason.items()
        ),
    ]


def _tell_rules(severity: str, facts: Mapping[str, Any]) -> str:
    told = ", ".join(f"{rule} {count:,}" for rule, count in facts["rules"][severity].items())
    return f"{count_of(facts[f'{severity}s'], severity)}{f' ({told})' if told else ''}"


def _tell_sheets(facts: Mapping[str, Any]) -> str:
    who = f" for {facts['reviewer']}" if facts["reviewer"] else ""
    return f"a sheet of {count_of(facts['lines'], 'sentence')}{who}"


def _tell_review(facts: Mapping[str, Any]) -> str:
    sentences = count_of(len(facts["reviewed"]), "sentence")
    return f"{facts['reviewer']} reviewed {sentences}, {count_of(facts['errors'], 'error')}"


def _tell_verdict(facts: Mapping[str, Any]) -> str:
    said = "accepted" if facts["accepted"] else "sent back"
    return f"score {facts['shown']}, {said}; {float(Fraction(facts['accepted_from'])):g} is needed"


_TELLERS: Mapping[str, Callable[[Mapping[str, Any]], str | list[str]]] = {
    "packet": lambda facts: str(facts["why"]),
    "check": _tell_check,
    "import": lambda facts: f"{facts['file']['name']} {tell_changes(facts)}",
    "sheets": _tell_sheets,
    "review": _tell_review,
    "verdict": _tell_verdict,
}
