"""Checks the current translations of a language, and records the findings in its journal."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation import files, journal
from corpusmill.pipelines.translation.journal import Draft, Entry
from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.project import Project
from corpusmill.pipelines.translation.state import Answer, LanguageState, Waiver
from corpusmill.pipelines.translation.waivers import Waive, find_waivers
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.tables import read_table, write_table
from corpusmill.transforms.files.translation_records import Finding, ReadError

FINDINGS = "findings.tsv"
SEVERITIES = ("error", "warning")
_COLUMNS = (*Finding._fields, "waived")


class JudgedFinding(NamedTuple):
    """A finding of a check. If a person has accepted it, `waived` contains the reason."""

    finding: Finding
    waived: str  # "name of the person: reason"; "" for an open finding


class Checked(NamedTuple):
    """The result of checking a language."""

    code: str
    entry: Entry
    is_new: bool  # False if nothing has changed since the earlier check `entry`
    findings: Sequence[JudgedFinding]

    @property
    def has_errors(self) -> bool:
        """True if there are errors that were not accepted."""
        return bool(self.entry.facts["errors"])


def check_language(
    project: Project,
    language: TargetLanguage,
    *,
    waive: Waive | None = None,
    send_back: Collection[str] = (),
    by: str = "",
) -> Checked:
    """Checks the current translations of a language. Adds an entry to its journal if the findings have
    changed.

    Args:
      waive: findings to accept.
      send_back: rules whose warnings count as errors in this check.
      by: name of the person who checks.

    Raises ValueError if the language has no translations yet. Raises ValueError or InputError if `waive` has
    a finding that does not exist.
    """
    folder = project.journal(language.code)
    if not folder.is_dir():
        raise ValueError(f"{language.code}: no packet was sent yet; send one with `packets`")
    with journal.locked(folder):
        state = LanguageState(journal.read_entries(folder), project.ids)
        if not state.answers:
            raise ValueError(f"{language.code}: no translation was imported yet")
        found = _as_errors(_find(project, state, language), send_back)
        waivers = find_waivers(state, found, waive) if waive else []
        judged = _judge(state, found, waivers)
        table = write_findings(judged).encode("utf-8")
        check = state.check
        if check and not waivers and files.read_bytes(check.folder / FINDINGS) == table:
            return Checked(language.code, check, False, judged)
        facts = _facts(state, judged, waivers)
        draft = Draft("check", state.round, facts, {FINDINGS: table})
        entry, _ = journal.append(folder, by, state.last, lambda _: draft)
        return Checked(language.code, entry, True, judged)


def _find(project: Project, state: LanguageState, language: TargetLanguage) -> list[Finding]:
    """Returns all findings: first those about the whole file, then those about lines, in the order of the
    lines.
    """
    # Imported here because its libraries take a second to import.
    from corpusmill.pipelines.translation.run import check_translations

    found = [
        *check_translations(project.sentences, state.translations, language),
        *(_dispute(name, state.answers[name]) for name in state.disputed),
        *(_not_back(state, name) for name in state.not_back),
    ]
    place = {name: number for number, name in enumerate(project.ids, 1)}
    return sorted(found, key=lambda one: (place.get(one.id, 0), one.severity, one.rule))


def _as_errors(found: Sequence[Finding], rules: Collection[str]) -> list[Finding]:
    """Returns the findings, with the warnings of the given rules changed to errors.

    Raises ValueError for a rule without findings.
    """
    if unknown := set(rules) - {finding.rule for finding in found}:
        known = ", ".join(sorted({one.rule for one in found if one.severity == "warning"}))
        raise ValueError(
            f"--send-back: there are no warnings of these rules: {', '.join(sorted(unknown))}; rules with"
            f" warnings: {known or 'none'}"
        )
    return [one._replace(severity="error") if one.rule in rules else one for one in found]


def _dispute(name: str, answers: Sequence[Answer]) -> Finding:
    first = answers[0].translation(name)
    told = "; ".join(_tell(name, answer) for answer in answers)
    message = f"the same packet has different answers; send the correct one: {told}"
    return Finding(name, "disputed", "error", message, first.file, first.line)


def _tell(name: str, answer: Answer) -> str:
    one = answer.translation(name)
    return f"“{one.text}” ({one.file}, line {one.line}, {journal.name_of(answer.entry)})"


def _not_back(state: LanguageState, name: str) -> Finding:
    one = state.translations[name]
    packet = journal.name_of(state.sent[name])
    message = (
        f"was sent again in round {state.round}, packet {packet}, but no answer was imported yet"
    )
    return Finding(name, "not-back", "error", message, one.file, one.line)


def _judge(
    state: LanguageState, found: Iterable[Finding], waivers: Iterable[Waiver]
) -> list[JudgedFinding]:
    known = {**state.waivers, **{(one.id, one.rule): one for one in waivers}}
    judged = []
    for finding in found:
        waiver = known.get((finding.id, finding.rule))
        judged.append(JudgedFinding(finding, f"{waiver.by}: {waiver.because}" if waiver else ""))
    return judged


def _facts(
    state: LanguageState, judged: Sequence[JudgedFinding], waivers: Iterable[Waiver]
) -> dict[str, object]:
    is_open = [one.finding for one in judged if not one.waived]
    rules = Counter((one.severity, one.rule) for one in is_open)
    by_severity = {
        severity: {rule: n for (of, rule), n in sorted(rules.items()) if of == severity}
        for severity in SEVERITIES
    }
    return {
        "digest": state.digest,
        "errors": sum(one.severity == "error" for one in is_open),
        "warnings": sum(one.severity == "warning" for one in is_open),
        "waived": len(judged) - len(is_open),
        "rules": by_severity,
        "waivers": [waiver._asdict() for waiver in waivers],
    }


def write_findings(judged: Iterable[JudgedFinding]) -> str:
    """Returns the content of findings.tsv, with a row for each finding."""
    rows = ([*map(str, one.finding), one.waived] for one in judged)
    return write_table(_COLUMNS, rows)


def read_findings(check: Entry) -> list[JudgedFinding]:
    """Reads the findings of a check. Raises InputError for a damaged file."""
    path = check.folder / FINDINGS
    try:
        table = read_table(files.read_text(path), _COLUMNS)
        return [
            JudgedFinding(Finding._make([*fields, int(line)]), waived)
            for *fields, line, waived in ([row[name] for name in _COLUMNS] for _, row in table)
        ]
    except (ReadError, ValueError) as error:
        raise InputError(str(path), f"is damaged: {error}") from None


def open_errors(check: Entry) -> list[Finding]:
    """Returns the findings of a check that are errors and were not accepted."""
    return [
        one.finding
        for one in read_findings(check)
        if one.finding.severity == "error" and not one.waived
    ]
