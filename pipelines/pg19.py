"""PG-19: whole English books of Project Gutenberg published before 1919, with an open vocabulary.

Method: Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", ICLR 2020, section 4.
Differences from the paper and their reasons: pipelines/docs/pg19.md.
"""

import collections
from collections.abc import Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import Place, Stage
from corpusmill.transforms.books import book_accounts, screen_books
from corpusmill.transforms.books.book_rows import book_rows, measure_rows, text_bytes
from corpusmill.transforms.books.read_catalog import read_released_books, read_split_table
from corpusmill.transforms.books.text_screening import TooShort, not_english
from corpusmill.transforms.duplicates.similar_documents import DropDuplicates
from corpusmill.transforms.files.builds.manifest import name_edition
from corpusmill.transforms.files.counters import KeepAll
from corpusmill.transforms.files.text import SPLITS, short_fingerprint
from corpusmill.transforms.files.write_rows import PlanShards, WriteRows

from .book_build import BookBuild, find_books
from .pg19_settings import ACCOUNTS, DATES, DESCRIPTION, LANGUAGE, RELEASE, Pg19Config


class OldBooks(NamedTuple):
    """The results of the first stage: the books, and a record of everything that was read."""

    books: beam.PCollection  # of DatedBook
    evidence: beam.PCollection  # of BookEvidence, also of books that are too new
    rejected: beam.PCollection  # of Rejected: files
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue
    ledger: beam.PCollection  # of Entry


class Pg19(BookBuild):
    """A build of PG-19."""

    config: Pg19Config
    release = RELEASE
    description = DESCRIPTION
    libraries = ("numpy",)

    def __init__(self, config: Pg19Config):
        """Finds and checks the inputs.

        Raises InputError for inputs that are missing or visibly damaged.
        """
        self.config = config
        self.description = DATES if config.dates_only else DESCRIPTION
        self.files = find_books(
            config.books,
            config.on_corrupt,
            catalog=config.catalog,
            metadata=config.metadata,
            word_list=config.mask_words,
            split_ids=config.split_ids,
        )
        for path in self.files.metadata:
            collections.deque(read_released_books(path), maxlen=0)  # raises InputError
        own_splits = [read_split_table(path) for path in self.files.split_ids]
        members = config.members or (
            book_accounts.RELEASED if config.metadata else book_accounts.HASH
        )
        self.membership = book_accounts.Membership(
            members, dict(pair for table in own_splits for pair in table.items())
        )
        self.masked = sorted(
            {word for path in self.files.word_list for word in screen_books.read_word_list(path)}
        )

    @property
    def edition(self) -> str:
        return name_edition(LANGUAGE, self.variant(), self.config.original())

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first store the sufficiently old books in files, then write the corpus."""
        return Stage("gather", self.gather), Stage("write", self.write)

    def gather(self, root: beam.Pipeline, place: Place) -> OldBooks:
        """Reads the books, and keeps those that were published before the year in the settings."""
        gathered = root | "GatherBooks" >> self.read(place)
        stripped = gathered.books | "StripBooks" >> screen_books.StripBooks(
            place.scratch, furniture=False
        )
        screened = stripped.kept | "ScreenBooks" >> screen_books.ScreenBooks(*self.rules())
        dated = screened.kept | "DateBooks" >> screen_books.DateBooks(
            screen_books.ANY_YEAR if self.config.dates_only else self.config.before
        )
        rejected = (gathered.rejected, stripped.rejected, screened.rejected, dated.rejected)
        return OldBooks(
            books=dated.kept,
            evidence=dated.evidence,
            rejected=rejected | "Rejected" >> beam.Flatten(),
            catalog_rejected=gathered.catalog_rejected,
            ledger=self.open_ledger(root, lost=gathered.lost, files=gathered.files),
        )

    def write(self, root: beam.Pipeline, place: Place, old: OldBooks) -> None:
        """Replaces the words to mask by "<DW>", and writes each book into its split.

        The user provides the list of these words, which may be empty. If the setting `near_duplicates` is
        given, near-duplicate books are dropped first. With `dates_only`, only the table of dates is written.
        """
        folder = place.folder
        dates = old.evidence | "ListDates" >> screen_books.ListDates(folder)
        if self.config.dates_only:
            self.close_ledger(
                folder,
                old.ledger,
                book_accounts.account_for_dates,
                outputs=[dates.files],
                rejected=old.rejected,
                unread=old.catalog_rejected,
                facts=dates.facts,
            )
            return
        similarity = self.config.near_duplicates
        of_book = screen_books.describe_book, screen_books.text_of_book
        drop = DropDuplicates(place.scratch, *of_book, similarity) if similarity else KeepAll()
        different = old.books | "DropDuplicates" >> drop
        masked = different.kept | "MaskWords" >> screen_books.MaskWords(place.scratch, self.masked)
        rows = masked.books | "MakeRows" >> beam.Map(book_accounts.make_row, self.membership)
        counted = rows | "MeasureRows" >> measure_rows(book_accounts.TEXT)
        plan = PlanShards(SPLITS, self.config.shard_bytes, beam.MapTuple(text_bytes))
        shards = counted.stats | "PlanShards" >> plan
        rows_of_books = book_rows(book_accounts.SCHEMA)
        write = WriteRows(
            folder, RELEASE.corpus, rows_of_books, shards, self.marks(), self.config.formats
        )
        written = [rows | "WriteBooks" >> write, dates.files]
        facts = [dates.facts, masked.facts]
        if self.membership.members == book_accounts.RELEASED:
            missing = rows | "ListMissing" >> screen_books.ListMissing(
                folder, self.files.metadata, self.membership.split_of
            )
            written.append(missing.files)
            facts.append(missing.facts)
        self.close_ledger(
            folder,
            old.ledger,
            ACCOUNTS,
            outputs=written,
            rejected=(old.rejected, different.rejected) | "Rejected" >> beam.Flatten(),
            unread=old.catalog_rejected,
            stats=counted.stats,
            lengths=counted.lengths,
            facts=tuple(facts),
        )

    def rules(self) -> tuple[screen_books.BookRule, ...]:
        """Returns the rules that a book must pass, in order.

        The rule about English is left out for the books of the released corpus, some of which have parts in
        other languages. The table of all dates has no rules.
        """
        if self.config.dates_only:
            return ()
        is_english = () if self.membership.members == book_accounts.RELEASED else (not_english,)
        return self.membership.reason_to_reject, *is_english, TooShort(self.config.min_words)

    def variant(self) -> dict[str, Any]:
        """Returns the settings that distinguish corpora made from the same input."""
        own = sorted(self.membership.own_splits.items())
        return self.config.variant() | {
            "members": self.membership.members,
            "split_ids": short_fingerprint(f"{book_id} {split}" for book_id, split in own),
            "mask_words": short_fingerprint(self.masked),
        }
