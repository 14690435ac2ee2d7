"""Has the functions that compute the counts in stats.json from documents.

Computes the counts and card of a build that was made by removing documents or passages from another
build.
"""

import dataclasses
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.books.book_accounts import BookStats, add_book_stats, measure_book
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, length_class
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.line_blocks import LineStats, add_line_stats, measure_lines
from corpusmill.transforms.files.markup import render
from corpusmill.transforms.files.records import CorpusStats, SubwordStats
from corpusmill.transforms.news.sentence_accounts import describe_lines
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article

from ..run.corpora import load, rows


class Measure(NamedTuple):
    """The functions that compute the counts in stats.json from the documents of a corpus."""

    column: str  # name of the column with the text
    # texts → one count object per text, or one for all texts
    measure: Callable[[Sequence[str]], Iterator[Any]]
    add: Callable[[Iterable[Any]], Any]
    empty: Any  # the first count is the number of documents
    describe: Callable[[Any], Mapping[str, Any]]
    # field of the counts from which the histogram is made; "" if `describe` makes one
    length: str = ""

    def histogram(self, counted: Iterable[Any]) -> Counter[int]:
        """Returns length class → number of documents. `counted` has the counts of each document."""
        lengths = map(operator.attrgetter(self.length), counted) if self.length else ()
        return Counter(map(length_class, lengths))


def _each(measure: Callable[[str], Any]) -> Callable[[Sequence[str]], Iterator[Any]]:
    return lambda texts: map(measure, texts)


def _measure_lines(texts: Sequence[str]) -> Iterator[LineStats]:
    if texts:
        yield measure_lines("".join(f"{text}\n" for text in texts).encode())


_as_dict = operator.methodcaller("_asdict")


def _books(column: str) -> Measure:
    return Measure(column, _each(measure_book), add_book_stats, BookStats(), _as_dict, "words")


ARTICLES = Measure(
    "text",
    _each(measure_article),
    add_stats,
    CorpusStats(),
    _as_dict,
    "characters",
)
SENTENCES = Measure(
    "text",
    _measure_lines,
    add_line_stats,
    LineStats(),
    describe_lines,
)
BOOKS, TOKENIZED_BOOKS = _books("book_text"), _books("text")


def measure_of(corpus: str) -> Measure:
    """Returns the functions that count the documents of a corpus."""
    measure: Measure = load(rows()[corpus].measure)
    return measure


@dataclasses.dataclass(frozen=True)
class EditionAccounts:
    """Computes the counts of a build that was made from another build.

    The fields are facts that are known before the new build is written.
    """

    unit: str  # "articles"
    splits: Sequence[str]
    whole: Sequence[str]  # splits that together contain each document once
    formats: Sequence[str]  # formats of the files of each split
    measure: Measure
    made_of: Mapping[str, Any]  # origin of the build, for the manifest
    about: str  # line of the dataset card about the origin
    # findings about the original build that are also true for the new build
    findings: Mapping[str, Any]

    def __call__(self, ledger: Ledger, provenance: Provenance) -> Accounts:
        """Returns the counts, statistics and card sections of the build.

        The ledger has all counts that were collected while the build was written. In addition to
        the entries of every build, it has the following:
          stats: list of pairs (split, counts).
          pieces: list of pairs (split, SubwordStats).
          lengths: list of pairs ((split, length class), number of documents).
          rows: list of the pairs ("read", number of documents read) and ("changed", number of documents
            changed).
          named: number of documents to remove or change.

        Raises AccountingError if the counts do not add up.
        """
        measure = self.measure
        per_split = ledger.per_split("stats", self.splits, measure.empty)
        total = measure.add(per_split[split] for split in self.whole)
        kept = {split: counts[0] for split, counts in per_split.items()}
        kept["total"] = total[0]
        rows, rejected = ledger.pairs("rows"), ledger.rejected
        read, changed = rows.get("read", 0), rows.get("changed", 0)
        ledger.balance(
            read, f"{self.unit} of the build", kept=kept["total"], rejected=rejected["total"]
        )
        found = {"changed": changed, "rejected": rejected["total"]}
        ledger.balance(ledger.number("named"), f"{self.unit} to be removed or changed", **found)
        for split in self.splits:
            ledger.check_files(split, kept[split], self.unit, self.formats)
        stats = {split: dict(measure.describe(counts)) for split, counts in per_split.items()}
        stats["total"] = dict(measure.describe(total))
        if measure.length:
            for split, histogram in ledger.histograms(kept, self.whole).items():
                stats[split][f"{self.unit}_by_{measure.length}"] = histogram
        _add_pieces(stats, ledger.pairs("pieces"), self.whole)
        return Accounts(
            counts={
                f"{self.unit}_read": read,
                "kept": kept,
                "changed": changed,
                "rejected": rejected,
            },
            stats=stats,
            sections=render(
                "edition",
                about=self.about,
                stats=stats,
                kept=kept,
                read=read,
                unit=self.unit,
                rejected=rejected,
            ),
            findings={"made_of": self.made_of, "stats": stats, **self.findings},
        )


def _add_pieces(
    stats: dict[str, dict[str, Any]], pieces: Mapping[str, SubwordStats], whole: Sequence[str]
) -> None:
    if not pieces:
        return
    of_splits = {split: pieces.get(split, SubwordStats()) for split in whole}
    total = SubwordStats(*map(sum, zip(*of_splits.values(), strict=True)))
    for split, counts in {**of_splits, "total": total}.items():
        Ledger.balance(
            stats[split]["characters"], f"characters of {split}", in_pieces=counts.characters
        )
        stats[split] |= counts._asdict()


def account_for_files(ledger: Ledger, _: Provenance) -> Accounts:
    """Returns the counts, statistics and card section of a folder with copies of files.

    In addition to the entries of every build, the ledger has `rows`, a list of pairs (count, number of rows);
    the counts are "read", "kept" and "changed".

    Raises AccountingError if the counts do not add up.
    """
    rows, rejected = ledger.pairs("rows"), ledger.rejected
    ledger.balance(rows["read"], "rows of the files", kept=rows["kept"], rejected=rejected["total"])
    counts = {"rows_read": rows["read"], "kept": rows["kept"], "changed": rows["changed"]}
    section = render("not_kept", read=rows["read"], unit="rows", rejected=rejected)
    return Accounts({**counts, "rejected": rejected}, counts, section)
