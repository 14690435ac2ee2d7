"""Computes the state of a language from its journal: the current translations, and the open tasks.

The state is not stored. Each translation answers a packet, which is called its base. A file that names no
packet answers the newest packet at the time of its import.

The current translation of a line is the answer to the newest packet, whatever the order of the imports. If
there are different answers to this packet, the line is disputed until an answer to a later packet is
imported. An import that corrects other imports replaces their texts in the lines that it contains. A line
that an editor returns as it was sent does not replace what was imported in the meantime.

Reads waivers: the findings that a person accepts, named one by one, by rule, or in a table.
"""

import contextlib
import datetime
import functools
import hashlib
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.markup import read_table, unprotect, write_table
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Finding, ReadError, Translation

from . import journal
from .journal import Entry, Waiver, read_bytes
from .packet_files import decode_sheet
from .project import Project

TRANSLATIONS = "translations.tsv"
REFUSED = "refused.tsv"  # the lines of an imported file that were not imported
_COLUMNS = ("id", "text", "file", "line")
_HEADER = "\t".join(_COLUMNS).encode()


class Answer(NamedTuple):
    """A translation of a line that was imported as the answer to a packet."""

    entry: int  # number of the import
    base: int  # number of the packet that the translation answers
    row: bytes  # text, file and line, escaped and separated by tabs
    path: pathlib.Path  # path of the table that contains the row

    @property
    def raw_text(self) -> bytes:
        """The text of the translation, escaped as in translations.tsv."""
        return self.row.partition(b"\t")[0]

    def translation(self, name: str) -> Translation:
        """Parses the row of translations.tsv, and returns the translation of the line with the id `name`.

        Raises InputError if the row is damaged.
        """
        table = _HEADER + b"\n" + name.encode() + b"\t" + self.row
        try:
            ((_, row),) = read_table(table.decode("utf-8"), _COLUMNS, for_people=False)
            return Translation(row["id"], row["text"], row["file"], int(row["line"]))
        except (ReadError, ValueError):
            raise InputError(str(self.path), f"is damaged: cannot read the row of {name}") from None


class LanguageState:
    """The state of a language, computed from the entries of its journal.

    Translations are read when they are first used.

    Args:
      entries: all entries of the journal, in order.
      ids: ids of all sentences of the project, in order.
    """

    def __init__(self, entries: Sequence[Entry], ids: Sequence[str]) -> None:
        self.entries = entries
        self.ids = ids

    def of_kind(self, *kinds: str) -> list[Entry]:
        """Returns the entries of the given kinds, in order."""
        return [entry for entry in self.entries if entry.kind in kinds]

    def newest(self, *kinds: str) -> Entry | None:
        """Returns the last entry of the given kinds; None if there is none."""
        return next((entry for entry in reversed(self.entries) if entry.kind in kinds), None)

    def number_of(self, *kinds: str) -> int:
        """Returns the number of the last entry of the given kinds; 0 if there is none."""
        entry = self.newest(*kinds)
        return entry.number if entry else 0

    @property
    def last(self) -> int:
        """The number of the last entry; 0 if there is none."""
        return len(self.entries)

    @property
    def round(self) -> int:
        """The round of the newest packet; 0 before the first packet."""
        packet = self.newest("packet")
        return packet.round if packet else 0

    @property
    def days(self) -> float | None:
        """The days from the first packet to the newest entry; None before the first packet."""
        return self.days_to(self.entries[-1]) if self.newest("packet") else None

    def days_to(self, entry: Entry) -> float:
        """Returns the days from the first packet to an entry."""
        times = self.of_kind("packet")[0].time, entry.time
        first, last = map(datetime.datetime.fromisoformat, times)
        return (last - first) / datetime.timedelta(days=1)

    @functools.cached_property
    def sent(self) -> Mapping[str, int]:
        """Id of each line that was sent → number of the newest packet that contains it."""
        sent: dict[str, int] = {}
        for packet in self.of_kind("packet"):
            sent |= dict.fromkeys(packet.facts["ids"] or self.ids, packet.number)
        return sent

    @functools.cached_property
    def given(self) -> Mapping[str, Sequence[Answer]]:
        """Id of a line → its answers to one packet: the newest packet to which the line has an answer.

        Answers that a later import has corrected are left out. To read as few imports as possible, those that
        answer the newest packet are read first. Reading stops when every line has an answer.
        """
        return self._given(self.of_kind("import"))

    def _given(self, imports: Sequence[Entry]) -> Mapping[str, Sequence[Answer]]:
        found: dict[str, list[Answer]] = {}
        for base in sorted({entry.facts["base"] for entry in imports}, reverse=True):
            if len(found) == len(self.ids):
                break
            answered = frozenset(found)
            for entry in (entry for entry in imports if entry.facts["base"] == base):
                path = entry.folder / TRANSLATIONS
                for name, row in _rows_of(entry).items():
                    if name not in answered:
                        found.setdefault(name, []).append(Answer(entry.number, base, row, path))
        given = {name: self._uncorrected(found[name]) for name in self.ids if name in found}
        for entry in imports:
            for name, newer in self.newer_than(entry.facts["base"], entry.number).items():
                those = ((one, newer if one.entry == entry.number else ()) for one in given[name])
                given[name] = [one for answer, newer in those for one in beside(answer, newer)]
        return given

    def newer_than(self, base: int, number: int) -> Mapping[str, Sequence[Answer]]:
        """Returns the lines that were imported anew while an editor had them: id → the answer that was sent
        to the editor in packet `base`, then the current ones before entry `number`.
        """
        older = [one for one in self.of_kind("import") if one.number < number]
        imports = [one for one in older if one.facts["base"] < base]
        if base not in self.editing or not any(one.number > base for one in imports):
            return {}
        sent, now = self.before(base).answers, self._given(imports)
        return {
            name: [sent[name][0], *(one._replace(base=base) for one in now[name])]
            for name in self.editing[base]
            if {one.raw_text for one in sent[name]} != {one.raw_text for one in now[name]}
        }

    def before(self, number: int) -> "LanguageState":
        """Returns the state before an entry was added."""
        return LanguageState(self.entries[: number - 1], self.ids)

    def _uncorrected(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        if len(answers) == 1:
            return answers
        gone = frozenset().union(*(self.corrected_by(answer.entry) for answer in answers))
        return [answer for answer in answers if answer.entry not in gone]

    def corrected_by(self, number: int) -> frozenset[int]:
        """Returns the numbers of the imports that an import corrects, directly or through other imports."""
        numbers = self.entries[number - 1].facts.get("corrects", ())
        return frozenset(numbers).union(*map(self.corrected_by, numbers))

    @functools.cached_property
    def answers(self) -> Mapping[str, Sequence[Answer]]:
        """Id of a line → its current answers, without repeated texts. A disputed line has more than
        one answer.
        """
        return {name: _different(answers) for name, answers in self.given.items()}

    @functools.cached_property
    def translations(self) -> Mapping[str, Translation]:
        """Id of a line → its current translation.

        For a disputed line, it is the translation that was imported first.
        """
        return {name: answers[0].translation(name) for name, answers in self.answers.items()}

    @functools.cached_property
    def disputed(self) -> Sequence[str]:
        """The ids of disputed lines, which have different answers to the same packet."""
        return [name for name, answers in self.answers.items() if len(answers) > 1]

    @functools.cached_property
    def awaited(self) -> frozenset[str]:
        """The ids of lines that have no translation yet, or whose newest packet is not answered yet."""
        return frozenset(
            name
            for name in self.ids
            if name not in self.answers or self.answers[name][0].base < self.sent.get(name, 0)
        )

    @functools.cached_property
    def refused(self) -> Mapping[str, str]:
        """Id of a line that was refused since it was last sent, and not imported later → the reason."""
        found: dict[str, str] = {}
        for entry in self.entries if any(one.facts.get("refused") for one in self.entries) else ():
            if entry.kind == "import":
                for name in ids_of(entry):
                    found.pop(name, None)
            elif entry.kind == "packet":
                for name in entry.facts["ids"] or self.ids:
                    found.pop(name, None)
            if entry.facts.get("refused"):
                rows = journal.read_rows(entry.folder / REFUSED, ("id", "line", "message"))
                sent = self.sent.keys() - entry.facts.get("right_elsewhere", ())
                found |= {row["id"]: row["message"] for row in rows if row["id"] in sent}
        return found

    @functools.cached_property
    def editing(self) -> Mapping[int, frozenset[str]]:
        """Number of each packet that was sent to an editor → the ids of its lines."""
        packets = (packet for packet in self.of_kind("packet") if packet.facts.get("editing"))
        return {one.number: frozenset(one.facts["ids"] or self.ids) for one in packets}

    @functools.cached_property
    def edited(self) -> Sequence[str]:
        """The ids of lines whose current translation was returned by an editor."""
        sent = {
            one.number: self.editing.get(one.facts["base"], ()) for one in self.of_kind("import")
        }
        return [name for name, those in self.answers.items() if name in sent[those[0].entry]]

    @functools.cached_property
    def not_back(self) -> Sequence[str]:
        """The ids of lines whose current translation answers a packet of an earlier round."""
        packets = self.of_kind("packet")
        first = next((entry.number for entry in packets if entry.round == self.round), 0)
        return [name for name, those in self.answers.items() if those[0].base < first]

    @functools.cached_property
    def digest(self) -> str:
        """The SHA-256 of all current translations, including all texts of disputed lines."""
        return self.digest_of(self.ids)

    def digest_of(self, ids: Sequence[str]) -> str:
        """Returns the SHA-256, in hexadecimal, of the current translations of the given lines."""
        sha256 = hashlib.sha256()
        for name in ids:
            for text in sorted(answer.raw_text for answer in self.answers.get(name, ())):
                sha256.update(b"%b\t%b\n" % (name.encode(), text))
        return sha256.hexdigest()

    def text_sha256(self, name: str) -> str:
        """Returns the SHA-256 of the escaped text of the line with the id `name`; "" if it has no text.

        For the id "", which findings about the whole file have, returns the SHA-256 of all lines.

        A waiver stores this value, and is no longer valid if the text has changed.
        """
        if not name:
            return self.digest
        answers = self.answers.get(name, ())
        return hashlib.sha256(answers[0].raw_text).hexdigest() if answers else ""

    @functools.cached_property
    def waivers(self) -> Mapping[tuple[str, str], Waiver]:
        """The valid waivers; the keys are pairs (id of a line, rule). A waiver is no longer valid if the text
        of its line has changed.
        """
        waivers = [
            Waiver(**facts)
            for check in self.of_kind("check")
            for facts in check.facts.get("waivers", ())
        ]
        return {
            (waiver.id, waiver.rule): waiver
            for waiver in waivers
            if waiver.text_sha256 == self.text_sha256(waiver.id)
        }

    @property
    def check(self) -> Entry | None:
        """The last check; None if translations have changed or a packet was sent after this check."""
        check = self.newest("check")
        if not check or check.number < self.number_of("packet"):
            return None
        return check if check.facts["digest"] == self.digest else None

    @property
    def has_passed(self) -> bool:
        """True if the current translations were checked and have no open errors."""
        return bool(self.check and not self.check.facts["errors"])

    @property
    def verdict(self) -> Entry | None:
        """The verdict of the reviewers in the current round.

        None if there is no verdict yet, or if translations of the sample have changed since the verdict.
        """
        verdict = self.newest("verdict")
        if not verdict or verdict.round != self.round:
            return None
        sample = verdict.facts["sample"]
        return verdict if self.digest_of(sample) == verdict.facts["sample_digest"] else None

    @property
    def is_accepted(self) -> bool:
        """True if the checks are passed and the reviewers have accepted the language."""
        return bool(self.has_passed and self.verdict and self.verdict.facts["accepted"])

    @property
    def name(self) -> str:
        """The name of the state: one of STATES, such as "new" or "accepted"."""
        packet = self.newest("packet")
        if not packet and not self.newest("import"):
            return "new"
        if self.verdict and not self.verdict.facts["accepted"]:
            return "sent back"
        if self.is_accepted:
            return "accepted"
        if self.check and not self.has_passed:
            return "checks failed"
        if self.check:
            begun = any(entry.round == self.round for entry in self.of_kind("sheets", "review"))
            return "in review" if begun else "checked"
        if not self.awaited:
            return "edited" if len(self.edited) == len(self.ids) else "back"
        if packet and not self.awaited.isdisjoint(self.editing.get(packet.number, ())):
            return "in editing"
        asked = (packet.facts["ids"] if packet else ()) or self.ids
        return "partly back" if any(name not in self.awaited for name in asked) else "sent"


STATES = (
    *("new", "sent", "partly back", "back", "in editing", "edited"),
    *("checks failed", "checked", "in review", "sent back", "accepted"),
)


def read_state(project: Project, code: str) -> LanguageState:
    """Reads the journal of a language, and returns the state of the language."""
    return LanguageState(journal.read_entries(project.journal(code)), project.ids)


@contextlib.contextmanager
def locked_state(project: Project, code: str) -> Iterator[LanguageState]:
    """Locks the journal of a language during the `with` block, and yields the state of the language."""
    with journal.locked(project.journal(code)):
        yield read_state(project, code)


def beside(answer: Answer, newer: Sequence[Answer]) -> Sequence[Answer]:
    """Returns the answers that an import yields; `newer` is from `newer_than`, empty for other lines.

    If an editor has not changed the text that was sent, the newer ones stay. Otherwise the line is disputed.
    """
    if newer and answer.raw_text == newer[0].raw_text:
        return newer[1:]
    return [answer, *(one for one in newer[1:] if one.raw_text != newer[0].raw_text)]


def _different(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Returns the answers without repeated texts. If several answers have the same text, the first one is
    kept.
    """
    if len(answers) == 1:
        return answers
    first: dict[bytes, Answer] = {}
    for answer in answers:
        first.setdefault(answer.raw_text, answer)
    return list(first.values())


def ids_of(entry: Entry) -> frozenset[str]:
    """Returns the ids of the lines that have a translation in an import."""
    return frozenset(_rows_of(entry))


def _rows_of(entry: Entry) -> Mapping[str, bytes]:
    """Returns id of a line → rest of its row in translations.tsv, as bytes.

    The rows are not decoded, because this would slow down the command `status`. Raises InputError if the file
    is damaged.
    """
    path = entry.folder / TRANSLATIONS
    header, *lines = read_bytes(path).removesuffix(b"\n").split(b"\n")
    if header != _HEADER:
        raise InputError(str(path), "is damaged: the header is not the expected one")
    pairs = (line.partition(b"\t") for line in lines)
    try:
        return {name.decode(): row for name, _, row in pairs}
    except UnicodeDecodeError:
        raise InputError(str(path), "is damaged: an id is not UTF-8") from None


def write_translations(translations: Sequence[Translation]) -> str:
    """Returns the content of translations.tsv, with a row for each translation."""
    rows = ((one.id, one.text, one.file, str(one.line)) for one in translations)
    return write_table(_COLUMNS, rows, for_people=False)


ALL = "*"  # takes the place of an id, for all findings of a rule
_LINE = re.compile("[0-9]{1,9}")
BECAUSE = "because"  # the column for reasons that users add to findings.tsv
# Rules that cannot be waived, because there is no text to accept.
NEVER = ("disputed", "not-back", "missing")


class Row(NamedTuple):
    """A row of a copy of findings.tsv in which the column `because` has a reason."""

    path: str
    line: int
    finding: Finding  # the finding that the row describes
    because: str


class Waive(NamedTuple):
    """All findings that a person accepts in one command, and the name of the person."""

    # Pairs (id of a line, rule). The id is "" for findings about the whole file, ALL for all of the rule.
    named: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    by: str
    because: str = ""  # the reason for `named`; rows have their own


_FORM = "check --languages CODE --waive ID:RULE ID:RULE … --because TEXT --by NAME"


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
        message = "--because needs --waive; with --waive-table, the reasons are in the table"
        raise ValueError(message)
    wrong = [text for text in named if not re.fullmatch("[^:]*:[^:]+", text)]
    said = [f"--waive must be ID:RULE, got {', '.join(map(repr, wrong))}"] if wrong else []
    if named and not (because.strip() and by.strip()):
        said.append("--waive needs --because TEXT and --by NAME")
    if said:
        raise ValueError(f"{'; '.join(said)}. The whole form: {_FORM}")
    parsed = [(name, rule) for name, _, rule in (text.partition(":") for text in named)]
    if rows and not by.strip():
        raise ValueError("--waive-table needs --by NAME")
    return Waive(parsed, rows, by, because) if named or rows else None


def read_waivers(path: str) -> list[Row]:
    """Returns the rows of a table that have a reason in the column `because`.

    Raises InputError if no row has a reason.
    """
    data = journal.read_bytes(pathlib.Path(path))
    rows = []
    with journal.naming(path):
        for number, fields in read_table(decode_sheet(data), (*Finding._fields, BECAUSE)):
            if because := _unquoted(fields[BECAUSE]).strip():
                rows.append(Row(path, number, _finding_of(number, fields), because))
        if not rows:
            message = f"the column `{BECAUSE}` is empty in every row; enter at least one reason"
            raise ReadError(0, message)
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
    for name, rule in waive.named:
        those = _findings(state, found, name, rule)
        asked |= {(finding.id, finding.rule): waive.because for finding in those}
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


def _findings(
    state: LanguageState, found: Sequence[Finding], name: str, rule: str
) -> Iterable[Finding]:
    """Returns the findings of a rule about the line with the id `name`.

    If `name` is ALL, returns all findings of the rule that are not waived yet.

    Raises ValueError if there is no finding, or if findings of this rule cannot be waived.
    """
    those = [one for one in found if one.rule == rule and name in (ALL, one.id)]
    if not those:
        raise ValueError(f"there is no finding {name}:{rule} to waive")
    if rule in NEVER:
        raise ValueError(f"{name}:{rule} {_CANNOT}")
    return [one for one in those if name != ALL or (one.id, rule) not in state.waivers]


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
