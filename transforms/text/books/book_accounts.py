"""What became of the files of a corpus of books, and whether all that was counted agrees."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import OutputFile
from transforms.text.books.book_stats import BookStats, add_book_stats
from transforms.text.builds.build_manifest import AccountingError


class FoundBooks(NamedTuple):
    """What a build has found, summed up."""

    files_read: int  # that were looked at as books
    rejections: Mapping[tuple[str, str], int]  # (stage, reason) → files
    splits: Mapping[str, BookStats]  # of every split of the corpus
    whole: Sequence[str]  # splits that all books are in, once
    facts: Mapping[str, Any]  # name → what else is told of the corpus

    @property
    def total(self) -> BookStats:
        """Counts of all books."""
        return add_book_stats(self.splits[split] for split in self.whole)

    @property
    def rejected(self) -> int:
        """Files that are not kept."""
        return sum(self.rejections.values())


def check_accounts(found: FoundBooks, outputs: Iterable[OutputFile]) -> None:
    """Raises AccountingError."""
    if found.total.books + found.rejected != found.files_read:
        raise AccountingError(
            f"{found.total.books} kept + {found.rejected} rejected are not the {found.files_read} files"
            " that were read"
        )
    files = list(outputs)
    for kind in ("parquet", "tfrecord"):
        for split, stats in found.splits.items():
            written = sum(
                file.records for file in files if (file.format, file.split) == (kind, split)
            )
            if written != stats.books:
                raise AccountingError(f"{kind} of {split} holds {written} of {stats.books} books")


def make_counts(found: FoundBooks) -> dict[str, Any]:
    """What became of the files, for manifest.json."""
    kept = {split: stats.books for split, stats in found.splits.items()}
    rejected = {f"{stage}/{reason}": n for (stage, reason), n in sorted(found.rejections.items())}
    return {
        "files_read": found.files_read,
        "kept": kept | {"total": found.total.books},
        "rejected": rejected | {"total": found.rejected},
    }


def make_stats(found: FoundBooks) -> dict[str, Any]:
    """stats.json: counts per split and in all, then the facts of the corpus by their names."""
    splits = {split: stats._asdict() for split, stats in found.splits.items()}
    return {**splits, "total": found.total._asdict(), **dict(sorted(found.facts.items()))}
