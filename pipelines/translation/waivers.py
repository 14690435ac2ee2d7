"""Waivers: findings that a person accepts. They are accepted one by one, for a whole rule, or in a table."""

import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pipelines.translation import files
from pipelines.translation.state import LanguageState, Waiver
from transforms.files.open_input import InputError
from transforms.text.files.cells import unprotect
from transforms.text.translation.packets.decoding import decode_sheet
from transforms.text.translation.records import Finding, ReadError
from transforms.text.translation.tables import read_table

ALL = "*"  # instead of an id: all findings of a rule
_LINE = re.compile("[0-9]{1,9}")
BECAUSE = "because"  # the column for reasons that users add to findings.tsv
NEVER = ("disputed", "not-back", "missing")  # rules that cannot be waived: there is no text


class Named(NamedTuple):
    """A finding given on the command line."""

    id: str  # "" for findings about the whole file; ALL
    rule: str
    because: str


class Row(NamedTuple):
    """A row of a findings.tsv in which the column `because` is filled in."""

    path: str
    line: int
    finding: Finding  # as in the row
    because: str


class Waive(NamedTuple):
    """The findings that a person accepts in one command."""

    named: Sequence[Named]
    rows: Sequence[Row]
    by: str


def make_waive(named: Sequence[str], because: str, tables: Iterable[str], by: str) -> Waive | None:
    """Returns the findings to accept from the flags of a command; None if the flags name no findings.

    Args:
      named: findings like "devtest-0042:numbers-differ", or "*:numbers-differ" for all findings of a rule.
      because: the reason for the named findings.
      tables: paths of copies of findings.tsv in which the column `because` is filled in for accepted
        findings.
      by: name of the person who accepts the findings.

    Raises ValueError if a flag is missing, and InputError for a table that cannot be read.
    """
    rows = [row for table in tables for row in read_waivers(table)]
    if because and not named:
        raise ValueError("--because needs --waive; a table has its own column for reasons")
    parsed = [_parse(text, because) for text in named]
    if named and not (because.strip() and by.strip()):
        raise ValueError("--waive needs --because TEXT and --by NAME")
    if rows and not by.strip():
        raise ValueError("--waive-table needs --by NAME")
    return Waive(parsed, rows, by) if named or rows else None


def _parse(text: str, because: str) -> Named:
    name, colon, rule = text.rpartition(":")
    if not colon or not rule:
        raise ValueError(f"--waive takes ID:RULE, not {text!r}")
    return Named(name, rule, because)


def read_waivers(path: str) -> list[Row]:
    """Returns the rows of a table in which the column `because` is filled in. Raises InputError if there are
    none.
    """
    data = files.read_bytes(pathlib.Path(path))
    rows = []
    with files.naming(path):
        for number, fields in read_table(decode_sheet(data), (*Finding._fields, BECAUSE)):
            because = _unquoted(fields[BECAUSE]).strip()
            if because:
                rows.append(Row(path, number, _finding_of(number, fields), because))
        if not rows:
            raise ReadError(0, f"waives nothing: the column {BECAUSE} is empty in every row")
    return rows


def _finding_of(number: int, fields: Mapping[str, str]) -> Finding:
    if not _LINE.fullmatch(fields["line"]):
        raise ReadError(number, f"the column line has {fields['line']!r}, expected a number")
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
    """Returns waivers for the findings to accept. Waivers that are already in force are left out.

    Raises an error for a finding that does not exist or cannot be waived: ValueError if it was named in a
    flag, InputError with the line if it is in a table.
    """
    asked: dict[tuple[str, str], str] = {}
    for named in waive.named:
        asked |= {
            (finding.id, finding.rule): named.because for finding in _findings(state, found, named)
        }
    present = set(found)
    for row in waive.rows:
        finding = row.finding
        why = _why_not(finding, present)
        if not why and asked.setdefault((finding.id, finding.rule), row.because) != row.because:
            why = f"{finding.id}:{finding.rule} is waived twice, for different reasons; give one reason"
        if why:
            raise InputError(f"{row.path}, line {row.line}", why)
    waivers = [
        Waiver(name, rule, state.text_sha256(name), because, waive.by)
        for (name, rule), because in asked.items()
    ]
    return [one for one in waivers if state.waivers.get((one.id, one.rule)) != one]


def _findings(state: LanguageState, found: Sequence[Finding], named: Named) -> Iterable[Finding]:
    """Returns the findings with a given name. If the name stands for all findings of a rule, skips findings
    that are already waived.
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
    if finding in present:
        return ""
    if any((one.id, one.rule) == (finding.id, finding.rule) for one in present):
        return f"{name} has another message now: use the table of the newest check"
    return f"there is no finding {name} to waive"


_CANNOT = "cannot be waived: a translation must be imported"
