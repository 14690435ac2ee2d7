"""Computes the state of a language from its journal: the translations now in force, and what is open.
Nothing of it is stored.

A translation is given in answer to a packet, its base; a file that names none is taken to answer the
newest packet of its time. Of a line, the answers to the newest packet are in force. If they differ, it is
disputed until an answer to a later packet comes. So the order in which files come back does not decide.
An import that corrects others takes the place of theirs, in the lines that it has.
"""

import datetime
import functools
import hashlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pipelines.translation.files import read_bytes
from pipelines.translation.journal import Entry
from transforms.files.open_input import InputError
from transforms.text.translation.records import ReadError, Translation
from transforms.text.translation.tables import read_table, write_table

TRANSLATIONS = "translations.tsv"
_COLUMNS = ("id", "text", "file", "line")
_HEADER = "\t".join(_COLUMNS).encode()


class Answer(NamedTuple):
    """A translation of a line, as it is in translations.tsv."""

    entry: int  # the import
    base: int  # the packet that it answers
    row: bytes  # text, file and line with tabs between, escaped
    path: pathlib.Path  # of the table

    @property
    def raw_text(self) -> bytes:
        """The text, escaped."""
        return self.row.partition(b"\t")[0]

    def translation(self, name: str) -> Translation:
        """The translation of the line with this id."""
        table = _HEADER + b"\n" + name.encode() + b"\t" + self.row
        try:
            ((_, row),) = read_table(table.decode("utf-8"), _COLUMNS, for_people=False)
            return Translation(row["id"], row["text"], row["file"], int(row["line"]))
        except (ReadError, ValueError):
            raise InputError(str(self.path), f"is damaged: the row of {name}") from None


class Waiver(NamedTuple):
    """A finding that was accepted as it is, for as long as the text is the same."""

    id: str  # "" for what is said of the whole file
    rule: str
    text_sha256: str  # of the text, escaped; "" for the whole file
    because: str
    by: str


class LanguageState:
    """The state of a language. What needs the translations is read when it is asked for."""

    def __init__(self, entries: Sequence[Entry], ids: Sequence[str]) -> None:
        self.entries = entries
        self.ids = ids

    def of_kind(self, *kinds: str) -> list[Entry]:
        """The entries of these kinds, in their order."""
        return [entry for entry in self.entries if entry.kind in kinds]

    def newest(self, *kinds: str) -> Entry | None:
        """The last entry of these kinds."""
        return next((entry for entry in reversed(self.entries) if entry.kind in kinds), None)

    def number_of(self, *kinds: str) -> int:
        """The number of the last entry of these kinds, 0 for none."""
        entry = self.newest(*kinds)
        return entry.number if entry else 0

    @property
    def last(self) -> int:
        """The number of the last entry, 0 for none."""
        return len(self.entries)

    @property
    def round(self) -> int:
        """Of the newest packet; 0 before the first."""
        packet = self.newest("packet")
        return packet.round if packet else 0

    @property
    def days(self) -> float | None:
        """Days from the first packet to the newest entry; None before the first packet (Table 4)."""
        packet = next(iter(self.of_kind("packet")), None)
        if not packet:
            return None
        first, last = map(datetime.datetime.fromisoformat, (packet.time, self.entries[-1].time))
        return (last - first) / datetime.timedelta(days=1)

    @property
    def round_start(self) -> int:
        """The number of the first packet of this round, 0 before the first packet."""
        packets = self.of_kind("packet")
        return next((entry.number for entry in packets if entry.round == self.round), 0)

    @functools.cached_property
    def sent(self) -> Mapping[str, int]:
        """Id → the newest packet that has the line."""
        sent: dict[str, int] = {}
        for packet in self.of_kind("packet"):
            sent |= dict.fromkeys(packet.facts["ids"] or self.ids, packet.number)
        return sent

    @functools.cached_property
    def given(self) -> Mapping[str, Sequence[Answer]]:
        """Id → the answers to the newest packet, without those that their givers have corrected.

        Imports are read from the newest base on, until every line has its answers.
        """
        found: dict[str, list[Answer]] = {}
        for base, imports in _by_base(self.of_kind("import")):
            if len(found) == len(self.ids):
                break
            answered = frozenset(found)
            for entry in imports:
                path = _table_of(entry)
                for name, row in _rows_of(entry).items():
                    if name not in answered:
                        found.setdefault(name, []).append(Answer(entry.number, base, row, path))
        return {name: self._uncorrected(found[name]) for name in self.ids if name in found}

    def _uncorrected(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        if len(answers) == 1:
            return answers
        gone = frozenset().union(*(self.corrected_by(answer.entry) for answer in answers))
        return [answer for answer in answers if answer.entry not in gone]

    def corrected_by(self, number: int) -> frozenset[int]:
        """The imports that an import corrects, and those which they correct: all are older than it."""
        numbers = self.entries[number - 1].facts.get("corrects", ())
        return frozenset(numbers).union(*map(self.corrected_by, numbers))

    @functools.cached_property
    def answers(self) -> Mapping[str, Sequence[Answer]]:
        """Id → the answers in force with different texts: more than one where the line is disputed."""
        return {name: _different(answers) for name, answers in self.given.items()}

    @functools.cached_property
    def translations(self) -> Mapping[str, Translation]:
        """Id → the translation in force; of a disputed line, the one that came first."""
        return {name: answers[0].translation(name) for name, answers in self.answers.items()}

    @functools.cached_property
    def disputed(self) -> Sequence[str]:
        """The ids of disputed lines."""
        return [name for name, answers in self.answers.items() if len(answers) > 1]

    @functools.cached_property
    def awaited(self) -> frozenset[str]:
        """The ids of lines that have to come back."""
        return frozenset(
            name
            for name in self.ids
            if name not in self.answers or self.answers[name][0].base < self.sent.get(name, 0)
        )

    @functools.cached_property
    def not_back(self) -> Sequence[str]:
        """The ids of lines whose translation is of an earlier round."""
        return [name for name, those in self.answers.items() if those[0].base < self.round_start]

    @functools.cached_property
    def digest(self) -> str:
        """Stands for all translations in force, disputed ones with all their texts."""
        return self.digest_of(self.ids)

    def digest_of(self, ids: Sequence[str]) -> str:
        """Stands for the translations of some lines, in hexadecimal."""
        sha256 = hashlib.sha256()
        for name in ids:
            for text in sorted(answer.raw_text for answer in self.answers.get(name, ())):
                sha256.update(b"%b\t%b\n" % (name.encode(), text))
        return sha256.hexdigest()

    def text_sha256(self, name: str) -> str:
        """Of the text of a line, escaped, for waivers; "" for no line."""
        answers = self.answers.get(name, ())
        return hashlib.sha256(answers[0].raw_text).hexdigest() if answers else ""

    @functools.cached_property
    def waivers(self) -> Mapping[tuple[str, str], Waiver]:
        """(id, rule) → waiver, of those whose text is still in force."""
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
        """The last check, if it is of the translations in force and nothing was sent since."""
        check = self.newest("check")
        if not check or check.number < self.number_of("packet"):
            return None
        return check if check.facts["digest"] == self.digest else None

    @property
    def has_passed(self) -> bool:
        """True if the checks found no error that is open."""
        return bool(self.check and not self.check.facts["errors"])

    @property
    def verdict(self) -> Entry | None:
        """The reviewers' verdict, if it is of this round and of the sampled translations in force."""
        verdict = self.newest("verdict")
        if not verdict or verdict.round != self.round:
            return None
        sample = verdict.facts["sample"]
        return verdict if self.digest_of(sample) == verdict.facts["sample_digest"] else None

    @property
    def is_accepted(self) -> bool:
        """True if the checks are passed, and the reviewers have accepted."""
        return bool(self.has_passed and self.verdict and self.verdict.facts["accepted"])

    @property
    def name(self) -> str:
        """One word or two for it all."""
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
            of_review = self.of_kind("sheets", "review")
            begun = any(entry.round == self.round for entry in of_review)
            return "in review" if begun else "checked"
        return self._name_of_what_is_back(packet)

    def _name_of_what_is_back(self, packet: Entry | None) -> str:
        if not self.awaited:
            return "back"
        asked = (packet.facts["ids"] if packet else ()) or self.ids
        some = any(name not in self.awaited for name in asked)
        return "partly back" if some else "sent"


STATES = (
    "new",
    "sent",
    "partly back",
    "back",
    "checks failed",
    "checked",
    "in review",
    "sent back",
    "accepted",
)


def _by_base(imports: Sequence[Entry]) -> Iterator[tuple[int, list[Entry]]]:
    """(packet, its answers in the order of arrival), from the newest packet on."""
    by_base: dict[int, list[Entry]] = {}
    for entry in imports:
        by_base.setdefault(entry.facts["base"], []).append(entry)
    return ((base, by_base[base]) for base in sorted(by_base, reverse=True))


def _different(answers: Sequence[Answer]) -> Sequence[Answer]:
    """The first with each text."""
    if len(answers) == 1:
        return answers
    first: dict[bytes, Answer] = {}
    for answer in answers:
        first.setdefault(answer.raw_text, answer)
    return list(first.values())


def ids_of(entry: Entry) -> frozenset[str]:
    """The ids of the lines that an import has brought a text for."""
    return frozenset(_rows_of(entry))


def _rows_of(entry: Entry) -> Mapping[str, bytes]:
    """Id → the rest of the row, as bytes: to decode them all would take most of the time of `status`."""
    path = _table_of(entry)
    header, *lines = read_bytes(path).removesuffix(b"\n").split(b"\n")
    if header != _HEADER:
        raise InputError(str(path), "is damaged")
    pairs = (line.partition(b"\t") for line in lines)
    try:
        return {name.decode(): row for name, _, row in pairs}
    except UnicodeDecodeError:
        raise InputError(str(path), "is damaged: an id is not UTF-8") from None


def _table_of(entry: Entry) -> pathlib.Path:
    return entry.folder / TRANSLATIONS


def write_translations(translations: Sequence[Translation]) -> str:
    """translations.tsv."""
    rows = ((one.id, one.text, one.file, str(one.line)) for one in translations)
    return write_table(_COLUMNS, rows, for_people=False)
