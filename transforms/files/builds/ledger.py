"""Collects the counts and other values from the stages of a build (its ledger), and checks them.

Detects implausible results of builds, which suggest damaged, mismatched or incomplete input.

Such a result is called a doubt. It makes the build fail, unless the user accepts the doubt by its name. A
build that is only smaller than usual succeeds with a remark, but the command `refresh` must not publish it.

Makes histograms of the lengths of documents, in words or characters.

The classes of a histogram are the lengths 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23, …
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..formats import PARQUET, TFRECORD
from ..records import InputFile, OutputFile
from ..terminal import name_some
from .manifest import Provenance

Entry = tuple[str, Any]
"""An entry of the ledger: (account, a number to add or a value to collect)."""

INPUTS, OUTPUTS, REJECTED, LOST, UNREAD = "inputs", "outputs", "rejected", "lost", "unread"
"""Names of the accounts of every build. They have, in order: InputFile; OutputFile; ((stage, reason), count);
NamedTuples that describe lost data; and the number of malformed records in tables beside the corpus.
"""

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
        self, split: str, rows: int, unit: str, formats: Iterable[str] = (PARQUET, TFRECORD)
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
            self.balance(rows, f"{unit} of {split}", **{f"in {kind} files": records_of(files)})
            self.check_complete(files, f"{kind} files of {split}")

    def histograms(
        self, kept: Mapping[str, int], whole: Sequence[str]
    ) -> dict[str, dict[str, int]]:
        """Returns a histogram of document lengths for each split, and one for the whole corpus ("total").

        A histogram is a mapping: class of lengths, such as "4-5" → number of documents, the shortest class
        first.

        Args:
          kept: split → number of documents; may have an entry "total".
          whole: splits that are summed for the total.

        Raises AccountingError if the sum of a histogram is not the number of kept documents.
        """
        counts = self.pairs(LENGTHS)
        classes = [number for _, number in counts]
        numbers = range(min(classes, default=0), max(classes, default=-1) + 1)
        found = {
            split: {name_class(number): counts.get((split, number), 0) for number in numbers}
            for split in kept
            if split != "total"
        }
        for split, histogram in found.items():
            self.balance(
                kept[split], f"documents of {split}", with_a_length=sum(histogram.values())
            )
        names = map(name_class, numbers)
        return {**found, "total": {name: sum(found[one][name] for one in whole) for name in names}}

    @staticmethod
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

    @staticmethod
    def check_complete(files: Sequence[OutputFile], what: str) -> None:
        """Raises AccountingError if the number of files differs from the number in their names ("-of-00008").

        This also detects the loss of a file without rows, which the numbers of rows would not show. `what` is
        the noun for the files in the message.
        """
        for file in files:
            named = file.name.rpartition("-of-")[2].partition(".")[0]
            if named.isdecimal():
                Ledger.balance(
                    int(named), f"{what} (the number in their names)", written=len(files)
                )


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


def records_of(files: Iterable[OutputFile]) -> int:
    """Returns the total number of records in the files."""
    return sum(file.records for file in files)


def names_of(inputs: Iterable[InputFile], roles: Sequence[str] = ()) -> str:
    """Returns the sorted names of the input files whose role is in `roles`, as a text for messages.

    If `roles` is empty, all files are named. If there are many files, only the first ones are named.
    """
    names = sorted(file.name for file in inputs if not roles or file.role in roles)
    return name_some(names, MOST_NAMES)


EMPTY_TRAIN, FEW_LINKS = "empty-train", "few-links"
OTHER_FORMAT, OTHER_LANGUAGE = "other-format", "other-language"
DOUBTS = {
    EMPTY_TRAIN: "no document is in the split train",
    FEW_LINKS: "a table of items was given, and nearly no article has an item",
    OTHER_FORMAT: "a file is a table, JSON or markup, where sentences are expected",
    OTHER_LANGUAGE: "the text is in another language than the one named",
}
"""Name of a doubt → its meaning."""

# Nearly all articles of a Wikipedia have an item. The limit is low: a table made by hand may cover 11 of 520.
_MIN_LINKED_SHARE = 0.01
_MIN_ARTICLES = 50  # builds with fewer articles are not checked
_BY_PAGE = "page id"  # name of the kind of article ids if no table of items was given
NOT_LINKED = "join-wikidata/no-entity"
"""The reason for rejecting pages that have no item."""
_NOT_LOOKED_UP = ("join-wikidata/deleted", "join-wikidata/repeated-page")
_AFTER_CLEANING = ("join-wikidata/", "drop-duplicates/")


class Doubt(NamedTuple):
    """An implausible input or result of a build, which suggests damaged or mismatched input."""

    name: str  # a key of DOUBTS
    message: str


class Usual(NamedTuple):
    """The usual values of builds of a corpus.

    A build with fewer documents than usual was probably made from a sample or a part of the input.
    """

    documents: int = 0  # smallest usual number of documents
    shares: Mapping[str, float] = {}
    """ "stage/reason", or the name of a count in the manifest → its largest usual share.

    The share is of the documents that were kept, or lost for one of these reasons.
    """


def find_doubts(manifest: Mapping[str, Any]) -> Iterator[Doubt]:
    """Yields the implausible results (doubts) of a finished build."""
    counts = manifest["counts"]
    kept = counts.get("kept", {})
    if manifest["settings"].get("identity", _BY_PAGE) != _BY_PAGE:
        yield from _find_few_links(counts)
    if kept.get("train") == 0:
        others = f"; the other splits have {kept['total']:,} documents" if kept["total"] else ""
        yield Doubt(EMPTY_TRAIN, f"the split train is empty{others}; {_often(counts)}")


def _find_few_links(counts: Mapping[str, Any]) -> Iterator[Doubt]:
    rejected = counts["rejected"]
    looked_up = counts["kept"]["total"] + sum(
        count
        for reason, count in rejected.items()
        if reason.startswith(_AFTER_CLEANING) and reason not in _NOT_LOOKED_UP
    )
    linked = looked_up - rejected.get(NOT_LINKED, 0)
    if looked_up >= _MIN_ARTICLES and linked < _MIN_LINKED_SHARE * looked_up:
        yield Doubt(
            FEW_LINKS,
            f"of {looked_up:,} cleaned articles only {linked:,} have an item: the table of items is truncated"
            ", or from another wiki than the dump; without a table, articles are identified by their page id",
        )


def _often(counts: Mapping[str, Any]) -> str:
    rejected = counts.get("rejected", {})
    reasons = {reason: n for reason, n in rejected.items() if reason != "total"}
    if not reasons:
        return "nothing was rejected"
    often = max(reasons, key=lambda reason: reasons[reason])
    return f"the most frequent reason for rejection is {often} ({reasons[often]:,} times)"


def find_small(manifest: Mapping[str, Any], unit: str, usual: Usual) -> Iterator[str]:
    """Yields remarks about a build that has fewer documents, or greater losses, than usual.

    Args:
      manifest: the manifest of the build.
      unit: noun for the documents in the remarks, such as "articles".
      usual: the usual values of the corpus.
    """
    counts = manifest["counts"]
    kept = counts.get("kept", {}).get("total", counts.get("rows", 0))
    if kept < usual.documents:
        yield f"there are only {kept:,} {unit}, expected at least {usual.documents:,}"
    rejected = counts.get("rejected", {})
    lost = {reason: rejected.get(reason, counts.get(reason, 0)) for reason in usual.shares}
    whole = kept + sum(lost.values())
    for reason, largest in usual.shares.items():
        if lost[reason] > largest * whole:
            yield (
                f"{lost[reason]:,} of {whole:,} {unit} are lost to {reason}, expected at most a share of"
                f" {largest:g}"
            )


LENGTHS = "lengths"
"""Name of an account in the ledger, with entries ((split, class of length), number of documents)."""

_SINGLE = 4  # each length below this number is a class of its own


def length_class(length: int) -> int:
    """Returns the number of the class to which a length belongs. Class 0 has only the length 0.

    From length 2 on, there are two classes between each power of two and the next one.
    """
    bits = length.bit_length()
    return 2 * bits - 2 + (length >> bits - 2 & 1) if bits > 1 else length


def name_class(number: int) -> str:
    """Returns the name of a class of lengths, such as "3" for class 3 and "4-5" for class 4."""
    if number < _SINGLE:
        return str(number)
    width = 1 << number // 2 - 1
    low = (2 + number % 2) * width
    return f"{low}-{low + width - 1}"
