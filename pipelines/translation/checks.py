"""Checks the current translations of languages, several at once in parallel processes.

The findings of a language are recorded in its journal. A table of findings by rule, the first findings and
the next steps are printed.
"""

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Finding
from corpusmill.transforms.files.terminal import count_of, draw, fold, name_some

from . import journal
from .journal import Draft, Entry, Waiver
from .language_state import Answer, LanguageState, Waive, find_waivers, locked_state
from .processes import in_processes
from .project import Project
from .target_languages import TargetLanguage

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
    with locked_state(project, language.code) as state:
        if not state.answers:
            raise ValueError(f"{language.code}: no translation was imported yet")
        found = _as_errors(_find(project, state, language), send_back)
        waivers = find_waivers(state, found, waive) if waive else []
        judged = _judge(state, found, waivers)
        rows = ([*map(str, one.finding), one.waived] for one in judged)
        table = write_table(_COLUMNS, rows).encode("utf-8")
        check = state.check
        if check and not waivers and journal.read_bytes(check.folder / FINDINGS) == table:
            return Checked(language.code, check, False, judged)
        draft = Draft("check", state.round, _facts(state, judged, waivers), {FINDINGS: table})
        entry = journal.append(folder, by, state.last, lambda _: draft)
        return Checked(language.code, entry, True, judged)


def _find(project: Project, state: LanguageState, language: TargetLanguage) -> list[Finding]:
    """Returns all findings: first those about the whole file, then those about lines, in the order of the
    lines.
    """
    # Imported here because its libraries take a second to import.
    from .run_checks import check_translations

    found = [
        *check_translations(project.sentences, state.translations, language),
        *(dispute_of(name, state.answers[name]) for name in state.disputed),
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


def dispute_of(name: str, answers: Sequence[Answer]) -> Finding:
    """Returns the finding for a disputed line, with all its answers."""
    first = answers[0].translation(name)
    told = "; ".join(
        f"“{one.text}” ({one.file}, line {one.line}, {journal.name_of(answer.entry)})"
        for one, answer in ((answer.translation(name), answer) for answer in answers)
    )
    message = f"the same packet has different answers; send the correct one: {told}"
    return Finding(name, "disputed", "error", message, first.file, first.line)


def _not_back(state: LanguageState, name: str) -> Finding:
    one = state.translations[name]
    sent = f"was sent again in round {state.round}, packet {journal.name_of(state.sent[name])}"
    message = f"{sent}, but no answer was imported yet"
    return Finding(name, "not-back", "error", message, one.file, one.line)


def _judge(
    state: LanguageState, found: Iterable[Finding], waivers: Iterable[Waiver]
) -> list[JudgedFinding]:
    known = {**state.waivers, **{(one.id, one.rule): one for one in waivers}}
    pairs = ((finding, known.get((finding.id, finding.rule))) for finding in found)
    return [JudgedFinding(one, f"{by.by}: {by.because}" if by else "") for one, by in pairs]


def _facts(
    state: LanguageState, judged: Sequence[JudgedFinding], waivers: Iterable[Waiver]
) -> dict[str, object]:
    is_open = [one.finding for one in judged if not one.waived]
    rules = {
        severity: dict(sorted(Counter(o.rule for o in is_open if o.severity == severity).items()))
        for severity in SEVERITIES
    }
    return {
        "digest": state.digest,
        **{f"{severity}s": sum(counts.values()) for severity, counts in rules.items()},
        "waived": len(judged) - len(is_open),
        "rules": rules,
        "waivers": [msgspec.structs.asdict(waiver) for waiver in waivers],
    }


def open_errors(check: Entry) -> list[Finding]:
    """Returns the findings of a check that are errors and were not accepted.

    Raises InputError for a damaged file.
    """
    rows = journal.read_rows(check.folder / FINDINGS, _COLUMNS)
    is_open = (row for row in rows if not row.pop("waived") and row["severity"] == "error")
    return [Finding(**row) for row in is_open]


SHOWN = 10  # number of findings to print if one language is checked
SHOWN_OF_MANY = 3  # number of findings to print per language if several are checked


def print_checked(checked: Checked, shown: int = SHOWN, place: str = "") -> None:
    """Prints the result of a check: the number of findings for each rule, and the first findings.

    Args:
      shown: maximum number of findings to print, each with its file and line.
      place: place of the language among several, such as ", 3 of 101 languages".
    """
    facts = checked.entry.facts
    verdict = "failed" if checked.has_errors else "passed"
    again = "" if checked.is_new else ", nothing has changed since then"
    errors = count_of(facts["errors"], "error")
    warnings = count_of(facts["warnings"], "warning")
    print(
        f"{checked.code}: {verdict}, {errors}, {warnings}, {facts['waived']:,} waived"
        f" (check {checked.entry.name}{again}){place}"
    )
    if not checked.findings:
        return
    _print_rules(checked)
    errors_first = sorted(
        (one.finding for one in checked.findings if not one.waived),
        key=lambda finding: finding.severity,
    )
    for finding in errors_first[:shown]:
        where = f"{finding.file}:{finding.line}" if finding.file else ""
        place = " ".join(filter(None, (where, finding.id))) or "all lines"
        print(fold(f"  {place}: {finding.severity}: {finding.rule}: {finding.message}"))
    if len(errors_first) > shown:
        print(f"  … and {len(errors_first) - shown:,} more")
    print(f"  all findings: {checked.entry.folder / FINDINGS}")


def _print_rules(checked: Checked) -> None:
    counts = Counter(
        (one.finding.severity, one.finding.rule, bool(one.waived)) for one in checked.findings
    )
    rules = dict.fromkeys((severity, rule) for severity, rule, _ in sorted(counts))
    rows = [
        [rule, severity, f"{counts[severity, rule, False]:,}", f"{counts[severity, rule, True]:,}"]
        for severity, rule in rules
    ]
    print(draw(("rule", "severity", "open", "waived"), rows, numbers=2), end="")


def print_summary(checked: Sequence[Checked]) -> None:
    """Prints the languages that have passed, and the next steps for the others."""
    failed = [one.code for one in checked if one.has_errors]
    if len(checked) > 1:
        passed = len(checked) - len(failed)
        print(f"{len(checked):,} languages: {passed:,} passed, {len(failed):,} failed")
    if failed:
        then = "if a line is correct, accept it with `check --waive ID:RULE`, or many with `--waive-table`"
        print(
            fold(
                f"next for {name_some(failed)}: `packets` sends the lines with errors back; {then}"
            )
        )
    if any(one.finding.rule == "disputed" for each in checked for one in each.findings):
        print(fold(SETTLE))


SETTLE = (
    "to settle a disputed line, send it again (`packets`) and import the answer; or, if one of the files is a"
    " correction of the other, use `import FILE --corrects NUMBER` with the number of the wrong import"
)


# If all languages together have fewer lines, starting processes takes longer than the checks.
MIN_LINES = 1_500


def check_languages(
    project: Project,
    languages: Sequence[TargetLanguage],
    *,
    workers: int = 1,
    waive: Waive | None = None,
    send_back: Collection[str] = (),
    by: str = "",
) -> Iterator[Checked]:
    """Checks languages. Yields the results in the order of the languages.

    Args:
      workers: number of processes; the results do not depend on it.
      waive: findings to accept; only allowed if one language is checked.
      send_back: rules whose warnings count as errors in this check.
      by: name of the person who checks.

    Raises the errors of `check_language`, and InputError if a process is killed. The languages before the
    failed one are then already checked.
    """
    inner = functools.partial(check_language, project, waive=waive, send_back=send_back, by=by)
    check = functools.partial(_check, inner)
    count = min(workers, len(languages))
    # Always reads the ids here, so that the workers do not read them again.
    if len(languages) * len(project.ids) < MIN_LINES or count < 2:
        return map(check, languages)
    return in_processes(check, languages, count, str(project.folder), "languages")


def _check(check: Callable[[TargetLanguage], Checked], language: TargetLanguage) -> Checked:
    try:
        return check(language)
    except ValueError as error:
        if language.code in str(error):
            raise
        raise ValueError(f"{language.code}: {error}") from error
    except InputError:
        raise
    except Exception as error:
        error.add_note(f"This happened in the check of {language.code}.")
        raise
