"""The ledger of a build: what its stages have counted and found, and how it must balance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from transforms.records import InputFile, OutputFile
from transforms.text.builds.build_manifest import Provenance

Entry = tuple[str, Any]
"""An account and what is added to it: a number, or values that are gathered."""

INPUTS, OUTPUTS, REJECTED, LOST, UNREAD = "inputs", "outputs", "rejected", "lost", "unread"
"""Accounts of every build: InputFile, OutputFile, ((stage, reason), count), NamedTuples of what is lost, and
the number of malformed records in tables beside the corpus."""

TABLES = ("parquet", "tfrecord")
MOST_NAMES = 5  # of input files in a message

T = TypeVar("T")


class AccountingError(Exception):
    """Numbers that must agree do not: kept + rejected = read, and the files hold what was kept."""


class NothingLeftError(Exception):
    """Nothing of the input, or too little, is left to build a corpus of."""

    def __init__(self, roles: Sequence[str], reason: str):
        super().__init__(reason)
        self.roles = roles  # of the input files to blame; () are all
        self.reason = reason


class Ledger:
    """The accounts of a build, each summed up. What is gathered is in no order.

    Args:
      accounts: account → a number or a list of values; one without entries may be absent.
    """

    def __init__(self, accounts: Mapping[str, Any]):
        self._accounts = accounts

    def has(self, account: str) -> bool:
        """Returns True if anything was entered, be it 0."""
        return account in self._accounts

    def number(self, account: str) -> int:
        """The sum of the numbers."""
        return int(self._accounts.get(account, 0))

    def values(self, account: str) -> list[Any]:
        """All that was gathered."""
        return list(self._accounts.get(account, ()))

    def pairs(self, account: str) -> dict[Any, Any]:
        """Returns the entries that are pairs of a key, each once, and a value, as a mapping."""
        return dict(self.values(account))

    def one(self, account: str) -> Any:
        """The only value; None where there is none."""
        (value,) = self.values(account) or [None]
        return value

    def per_split(self, account: str, splits: Sequence[str], empty: T) -> dict[str, T]:
        """Split → its counts, in order; `empty` for a split without any."""
        found = self.pairs(account)
        return {split: found.get(split, empty) for split in splits}

    @property
    def rejected(self) -> dict[str, int]:
        """ "stage/reason" → count, sorted, and the total."""
        counts = {
            f"{stage}/{reason}": count for (stage, reason), count in sorted(self.values(REJECTED))
        }
        return counts | {"total": sum(counts.values())}

    def often_rejected(self) -> str:
        """The three most frequent reasons, in words."""
        often = sorted(self.values(REJECTED), key=lambda one: (-one[1], one[0]))[:3]
        return ", ".join(f"{count:,} {reason}" for (_, reason), count in often) or "there was none"

    def files(self, kind: str, split: str) -> list[OutputFile]:
        """The output files of a format in a split."""
        return [one for one in self.values(OUTPUTS) if (one.format, one.split) == (kind, split)]

    def check_files(
        self, split: str, rows: int, unit: str, formats: Iterable[str] = TABLES
    ) -> None:
        """Raises AccountingError where the files of a split do not hold its rows, or one is not there."""
        for kind in formats:
            files = self.files(kind, split)
            balance(rows, f"{unit} of {split}", **{f"in {kind} files": records_of(files)})
            check_complete(files, f"{kind} files of {split}")


class Accounts(NamedTuple):
    """The accounts of a build, made of its ledger."""

    counts: Mapping[str, Any]  # what became of all that was read, for manifest.json
    stats: Mapping[str, Any]  # stats.json: what the corpus is like
    sections: Sequence[str]  # lines of README.md between the signature and the caveats
    findings: Mapping[str, Any] = {}  # at the end of manifest.json
    caveats: tuple[str, ...] = ()  # that are known only now
    license_id: str | list[str] = ""  # in place of that of the description; "" where that holds


AccountFor = Callable[[Ledger, Provenance], Accounts]
"""Raises AccountingError and NothingLeftError."""


def balance(whole: int, of: str, **parts: int) -> None:
    """Raises AccountingError where the parts, named for the message, do not add up to the whole."""
    if sum(parts.values()) != whole:
        terms = " + ".join(f"{count} {name.replace('_', ' ')}" for name, count in parts.items())
        raise AccountingError(f"{terms} are not the {whole} {of}")


def records_of(files: Iterable[OutputFile]) -> int:
    """The sum of their records."""
    return sum(file.records for file in files)


def check_complete(files: Sequence[OutputFile], what: str) -> None:
    """Raises AccountingError for a missing file: one without rows could be lost and no row missed."""
    for file in files:
        named = file.name.rpartition("-of-")[2].partition(".")[0]
        if named.isdecimal():
            balance(int(named), f"{what} that their names count", written=len(files))


def names_of(inputs: Iterable[InputFile], roles: Sequence[str] = ()) -> str:
    """The names of the input files, sorted, of all roles or of some: the first of them, if there are many."""
    names = sorted(file.name for file in inputs if not roles or file.role in roles)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
