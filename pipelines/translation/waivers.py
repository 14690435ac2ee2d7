"""Reads waivers: the findings that a person accepts, named one by one, by rule, or in a table."""

import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation import files
from corpusmill.pipelines.translation.decoding import decode_sheet
from corpusmill.pipelines.translation.state import LanguageState, Waiver
from corpusmill.transforms.files.cells import unprotect
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.tables import read_table
from corpusmill.transforms.files.translation_records import Finding, ReadError

ALL = "*"  # takes the place of an id, for all findings of a rule
_LINE = re.compile("[0-9]{1,9}")
BECAUSE = "because"  # the column for reasons that users add to findings.tsv
NEVER = (
    "disputed",
    "not-back",
    "missing",
)  # rules that cannot be waived: there is no text to accept


class Named(NamedTuple):
    """A finding, or all findings of a rule, given on the command line."""

    id: str  # id of a line; "" for findings about the whole file; ALL for all findings of the rule
    rule: str
    because: str


class Row(NamedTuple):
    """A row of a copy of findings.tsv in which the column `because` has a reason."""

    path: str
    line: int
    finding: Finding  # the finding that the row describes
    because: str


class Waive(NamedTuple):
    """All findings that a person accepts in one command, and the name of the person."""

    named: Sequence[Named]
    rows: Sequence[Row]
    by: str


def make_waive(named: Sequence[str], because: str, tables: Iterable[str], by: str) -> Waive | None:
    """Returns the findings to accept, as given in the flags of a command; None if there are none.

    Args:
      named: findings like "devtest-0042:numbers-differ", or "*:numbers-differ" for all findings of a rule.
      because: the reason for the named findings.
      tables: paths of copies of findings.tsv, with a reason in the column `because` for each finding to
        accept.
      by: name of the person who accepts the findings.

    Raises ValueError if a flag lacks another one that it needs, and InputError for a table that cannot be
    read.
    """
    rows = [row for table in tables for row in read_waivers(table)]
    if because and not named:
        raise ValueError(
            "--because needs --waive; with --waive-table, the reasons are in the table"
        )
    parsed = [_parse(text, because) for text in named]
    if named and not (because.strip() and by.strip()):
        raise ValueError("--waive needs --because TEXT and --by NAME")
    if rows and not by.strip():
        raise ValueError("--waive-table needs --by NAME")
    return Waive(parsed, rows, by) if named or rows else None


def _parse(text: str, because: str) -> Named:
    name, colon, rule = text.rpartition(":")
    if not colon or not rule:
        raise ValueError(f"--waive must be ID:RULE, got {text!r}")
    return Named(name, rule, because)


def read_waivers(path: str) -> list[Row]:
    """Returns the rows of a table that have a reason in the column `because`.

    Raises InputError if no row has a reason.
    """
    data = files.read_bytes(pathlib.Path(path))
    rows = []
    with files.naming(path):
        for number, fields in read_table(decode_sheet(data), (*Finding._fields, BECAUSE)):
            because = _unquoted(fields[BECAUSE]).strip()
            if because:
                rows.append(Row(path, number, _finding_of(number, fields), because))
        if not rows:
            raise ReadError(
                0, f"the column `{BECAUSE}` is empty in every row; enter at least one reason"
            )
    return rows


def _finding_of(number: int, fields: Mapping[str, str]) -> Finding:
    if not _LINE.fullmatch(fields["line"]):
        raise ReadError(number, f"the column `line` must be a number, got {fields['line']!r}")
    name, rule, severity, message, file = (_unquoted(fields[one]) for one in Finding._fields[:-1])
    return Finding(name, rule, severity, message, file, int(fields["line"]))


def _unquoted(field: str) -> str:
    """Removes the quotation marks that a spreadsheet adds around a field that contains quotation marks."""
    if len(field) > 1 and field[0] == field[-1] == '"':
        inner = field[1:-1]
        if '"' not in inner.replace('""', ""):
            return unprotect(inner.replace('""', '"'))
    return field


def find_waivers(state: LanguageState, found: Sequence[Finding], waive: Waive) -> list[Waiver]:
    """Returns a waiver for each finding to accept.

    A waiver is left out if the same waiver, by the same person and with the same reason, is already valid.

    Args:
      found: all findings of the current check.
      waive: the findings to accept.

    Raises an error for a finding that does not exist or cannot be waived: ValueError if it was named in a
    flag, InputError with the line if it is in a table. Also raises InputError if a row of a table gives a
    finding a second, different reason.
    """
    asked: dict[tuple[str, str], str] = {}
    for named in waive.named:
        asked |= {
            (finding.id, finding.rule): named.because for finding in _findings(state, found, named)
        }
    present = set(map(_without_quotes, found))
    for row in waive.rows:
        finding = row.finding
        why = _why_not(finding, present)
        if not why and asked.setdefault((finding.id, finding.rule), row.because) != row.because:
            why = f"{finding.id}:{finding.rule} is waived twice with different reasons; use one reason"
        if why:
            raise InputError(f"{row.path}, line {row.line}", why)
    waivers = [
        Waiver(name, rule, state.text_sha256(name), because, waive.by)
        for (name, rule), because in asked.items()
    ]
    return [one for one in waivers if state.waivers.get((one.id, one.rule)) != one]


def _findings(state: LanguageState, found: Sequence[Finding], named: Named) -> Iterable[Finding]:
    """Returns the findings in `found` that `named` selects.

    If `named` selects all findings of a rule, those that are already waived are left out.

    Raises ValueError if it selects no finding, or if findings of this rule cannot be waived.
    """
    of_rule = [one for one in found if one.rule == named.rule]
    those = of_rule if named.id == ALL else [one for one in of_rule if one.id == named.id]
    if not those:
        raise ValueError(f"there is no finding {named.id}:{named.rule} to waive")
    if named.rule in NEVER:
        raise ValueError(f"{named.id}:{named.rule} {_CANNOT}")
    if named.id == ALL:
        return [one for one in those if (one.id, one.rule) not in state.waivers]
    return those


def _why_not(finding: Finding, present: set[Finding]) -> str:
    name = f"{finding.id}:{finding.rule}"
    if finding.rule in NEVER:
        return f"{name} {_CANNOT}"
    if _without_quotes(finding) in present:
        return ""
    if any((one.id, one.rule) == (finding.id, finding.rule) for one in present):
        return f"{name} now has another message: use the findings.tsv of the newest check"
    return f"there is no finding {name} to waive"


def _without_quotes(finding: Finding) -> Finding:
    """Removes the quotation marks of the message: a spreadsheet drops those at the beginning of a cell."""
    return finding._replace(message=finding.message.replace('"', ""))


_CANNOT = "cannot be waived: a translation must be imported"
