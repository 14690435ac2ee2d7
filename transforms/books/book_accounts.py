"""Checks the counts of a corpus of books, and makes its statistics and the sections of its card."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corpusmill.transforms.books.book_stats import BookStats, add_book_stats
from corpusmill.transforms.files.builds.build_manifest import Provenance
from corpusmill.transforms.files.builds.dataset_card import not_kept
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger, NothingLeftError, balance
from corpusmill.transforms.files.builds.lengths import histograms
from corpusmill.transforms.files.builds.paper_settings import why_not_paper
from corpusmill.transforms.files.markdown import make_table


@dataclasses.dataclass(frozen=True)
class BookAccounts:
    """Computes the counts, statistics and card sections of a build of any corpus of books."""

    splits: Sequence[str]
    whole: Sequence[str]  # splits that together hold each book once; the totals are their sums
    sections: Callable[[Mapping[str, Any], str], Sequence[str]]
    """Makes the sections of the card from stats.json, and from the reason why the figures of the paper cannot
    stand beside the build ("" if they can).
    """

    def __call__(self, ledger: Ledger, provenance: Provenance) -> Accounts:
        """Returns the counts, statistics and card sections of a build.

        In addition to the entries of every build, the ledger has:
          files: number of files that were examined as books.
          stats: (split, BookStats).
          lengths: ((split, class of lengths in words), number of books).
          facts: (name in stats.json, value), each name once.

        Raises AccountingError if the counts do not add up, and NothingLeftError if no book is left.
        """
        per_split = ledger.per_split("stats", self.splits, BookStats())
        total = add_book_stats(per_split[split] for split in self.whole)
        files, rejected = ledger.number("files"), ledger.rejected
        balance(files, "files that were read", kept=total.books, rejected=rejected["total"])
        for split, counts in per_split.items():
            ledger.check_files(split, counts.books, "books")
        if not total.books:
            reasons = ledger.often_rejected()
            raise NothingLeftError(["books"], f"no book is left of {files:,} files: {reasons}")
        splits = {**per_split, "total": total}
        kept = {split: counts.books for split, counts in splits.items()}
        lengths = histograms(ledger, kept, self.whole)
        stats = {
            **{
                split: {**counts._asdict(), "books_by_words": lengths[split]}
                for split, counts in splits.items()
            },
            **dict(sorted(ledger.values("facts"))),
        }
        return Accounts(
            counts={
                "files_read": files,
                "kept": kept,
                "rejected": rejected,
            },
            stats=stats,
            sections=[
                *make_table(
                    ["split", *(name.replace("_", " ") for name in BookStats._fields)],
                    ([split, *counts] for split, counts in splits.items()),
                ),
                "",
                "Words are separated by white space; characters are Unicode code points, bytes are of UTF-8.",
                *self.sections(stats, why_not_paper(provenance.signature)),
                *not_kept(files, "files", rejected),
            ],
            findings={"stats": stats},
        )
