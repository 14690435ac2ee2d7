"""Collects the counts and other values from the stages of a build (its ledger), and checks them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from corpusmill.transforms.files.builds.build_manifest import Provenance
from corpusmill.transforms.files.records import InputFile, OutputFile

Entry = tuple[str, Any]
"""An entry of the ledger: (account, a number to add or a value to collect)."""

NEAR_DUPLICATES = "rejected/near-duplicates"  # prefix of the files that list near-duplicates
INPUTS, OUTPUTS, REJECTED, LOST, UNREAD = "inputs", "outputs", "rejected", "lost", "unread"
"""Names of the accounts of every build. They have, in order: InputFile; OutputFile; ((stage, reason), count);
NamedTuples that describe lost data; and the number of malformed records in tables beside the corpus.
"""

TABLES = ("parquet", "tfrecord")
MOST_NAMES = 5  # maximum number of input files named in a message

T = TypeVar("T")


class AccountingError(Exception):
    """Raised if counts do not agree.

    For example, kept + rejected must equal read, and the files must contain the kept documents.
    """


class NothingLeftError(Exception):
    """Raised if too little of the input, or nothing, is left to build a corpus."""

    def __init__(self, roles: Sequence[str], reason: str):
        super().__init__(reason)
        self.roles = roles  # roles of the input files that cause the error; () for all
        self.reason = reason


class Ledger:
    """The named sums and lists that the stages of a build have collected. Each of them is an account.

    An account is a sum of numbers, such as a count of pages, or a list of values in no fixed order.

    Args:
      accounts: name of the account → its sum or its list. An account without entries may be absent.
    """

    def __init__(self, accounts: Mapping[str, Any]):
        self._accounts = accounts

    def has(self, account: str) -> bool:
        """Returns True if a stage of the build has added anything to the account with this name, even 0."""
        return account in self._accounts

    def number(self, account: str) -> int:
        """Returns the sum of the numbers in the account with this name; 0 if it has none."""
        return int(self._accounts.get(account, 0))

    def values(self, account: str) -> list[Any]:
        """Returns the list of values in the account with this name, in no fixed order."""
        return list(self._accounts.get(account, ()))

    def pairs(self, account: str) -> dict[Any, Any]:
        """Returns the values in the account with this name as a mapping.

        Each of its values must be a pair (key, value), with each key once.
        """
        return dict(self.values(account))

    def one(self, account: str) -> Any:
        """Returns the only value in the account with this name, or None if it has no value."""
        (value,) = self.values(account) or [None]
        return value

    def per_split(self, account: str, splits: Sequence[str], empty: T) -> dict[str, T]:
        """Returns split → value, in the order of `splits`, for an account with pairs (split, value).

        A split that is not in the account gets the value `empty`.
        """
        found = self.pairs(account)
        return {split: found.get(split, empty) for split in splits}

    @property
    def rejected(self) -> dict[str, int]:
        """Returns "stage/reason" → number of rejected records, sorted, and "total" → their sum."""
        counts = {
            f"{stage}/{reason}": count for (stage, reason), count in sorted(self.values(REJECTED))
        }
        return counts | {"total": sum(counts.values())}

    def often_rejected(self) -> str:
        """Returns a text with the three most frequent reasons for rejection and their counts, for
        messages.
        """
        often = sorted(self.values(REJECTED), key=lambda one: (-one[1], one[0]))[:3]
        return ", ".join(f"{count:,} {reason}" for (_, reason), count in often) or "there was none"

    def files(self, kind: str, split: str) -> list[OutputFile]:
        """Returns the output files of a split in the file format `kind`."""
        return [one for one in self.values(OUTPUTS) if (one.format, one.split) == (kind, split)]

    def check_files(
        self, split: str, rows: int, unit: str, formats: Iterable[str] = TABLES
    ) -> None:
        """Checks the output files of a split.

        Raises AccountingError if a file is missing, or if the files of a format do not contain `rows` rows.

        Args:
          split: the split.
          rows: number of rows of the split.
          unit: noun for the rows in the message, such as "articles".
          formats: the formats in which the split must have been written.
        """
        for kind in formats:
            files = self.files(kind, split)
            balance(rows, f"{unit} of {split}", **{f"in {kind} files": records_of(files)})
            check_complete(files, f"{kind} files of {split}")


class Accounts(NamedTuple):
    """The results of a build's ledger: counts, statistics, and sections of the dataset card."""

    counts: Mapping[str, Any]  # documents that were kept, rejected and lost, for manifest.json
    stats: Mapping[str, Any]  # content of stats.json: statistics of the corpus
    sections: Sequence[str]  # lines of README.md between the signature and the caveats
    findings: Mapping[str, Any] = {}  # further entries at the end of manifest.json
    caveats: tuple[str, ...] = ()  # caveats that are known only after the build
    license_id: str | list[str] = ""  # replaces the licence of the description; "" keeps it


AccountFor = Callable[[Ledger, Provenance], Accounts]
"""A function that computes Accounts from a ledger. Raises AccountingError and NothingLeftError."""


def balance(whole: int, of: str, **parts: int) -> None:
    """Raises AccountingError if `parts` do not add up to `whole`.

    Args:
      whole: the expected sum.
      of: what `whole` counts, for the message, such as "pages that were read".
      parts: name of each part, for the message, and its number.
    """
    if sum(parts.values()) != whole:
        terms = " + ".join(f"{count} {name.replace('_', ' ')}" for name, count in parts.items())
        raise AccountingError(f"{terms} do not add up to the {whole} {of}")


def records_of(files: Iterable[OutputFile]) -> int:
    """Returns the total number of records in the files."""
    return sum(file.records for file in files)


def check_complete(files: Sequence[OutputFile], what: str) -> None:
    """Raises AccountingError if the number of files differs from the number in their names ("-of-00008").

    This also detects the loss of a file without rows, which the numbers of rows would not show. `what` is
    the noun for the files in the message.
    """
    for file in files:
        named = file.name.rpartition("-of-")[2].partition(".")[0]
        if named.isdecimal():
            balance(int(named), f"{what} (the number in their names)", written=len(files))


def names_of(inputs: Iterable[InputFile], roles: Sequence[str] = ()) -> str:
    """Returns the sorted names of the input files whose role is in `roles`, as a text for messages.

    If `roles` is empty, all files are named. If there are many files, only the first ones are named.
    """
    names = sorted(file.name for file in inputs if not roles or file.role in roles)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
