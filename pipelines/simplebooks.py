"""SimpleBooks: long books in simple English, without books that overlap, in two sizes.

Method: Nguyen, "SimpleBooks: Long-term dependency book dataset with simplified English vocabulary for
word-level language modeling", 2019, section 2. Differences and their reasons: pipelines/docs/simplebooks.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import Place, Stage
from corpusmill.pipelines.run.settings import MANIFEST
from corpusmill.transforms.books import book_rows, screen_books, take_simplest
from corpusmill.transforms.books.book_overlap import parse_threshold
from corpusmill.transforms.books.count_book_vocabulary import CountSizes, MapUnknownWords
from corpusmill.transforms.books.genres import genre_to_reject
from corpusmill.transforms.books.select_books import SelectBooks
from corpusmill.transforms.books.simplebooks_rows import (
    SCHEMA,
    SPLITS_WITH_SMALL,
    TEXT,
    make_rows,
)
from corpusmill.transforms.books.simplicity import NotSimple
from corpusmill.transforms.books.text_screening import TooShort, not_english
from corpusmill.transforms.files.write_rows import PlanShards, WriteRows

from .book_build import BookBuild, find_books
from .simplebooks_settings import ACCOUNTS, DESCRIPTION, RELEASE, SimpleBooksConfig


class ReadableBooks(NamedTuple):
    """The results of the first stage: the books, and a record of everything that was read."""

    books: beam.PCollection  # of MeasuredBook
    titles: beam.PCollection  # of (book id, title), also of rejected books
    measures: beam.PCollection  # of (book id, (tokens L, distinct words V)), of all stripped books
    rejected: beam.PCollection  # of Rejected: books, with their ids
    # of Rejected: files that are not a book, or a second file of a book
    rejected_files: beam.PCollection
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue
    ledger: beam.PCollection  # of Entry


class ChosenBooks(NamedTuple):
    """The results of the second stage: the chosen books, and a verdict on each book."""

    books: beam.PCollection  # of TokenizedBook
    verdicts: beam.PCollection  # of OverlapVerdict
    rejected: beam.PCollection  # of Rejected: books, with their ids
    facts: beam.PCollection  # of (name, figures) for stats.json


class SimpleBooks(BookBuild):
    """A build of SimpleBooks."""

    config: SimpleBooksConfig
    release = RELEASE
    description = DESCRIPTION
    libraries = ("numpy", "spacy")

    def __init__(self, config: SimpleBooksConfig):
        """Finds and checks the inputs.

        Raises InputError for inputs that are missing or visibly damaged.
        """
        self.config = config
        self.files = find_books(config.books, config.on_corrupt, catalog=config.catalog)

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: gather books in files, choose the simple ones, then write the corpus."""
        return (
            Stage("gather", self.gather),
            Stage("choose", self.choose),
            Stage("write", self.write),
        )

    def gather(self, root: beam.Pipeline, place: Place) -> ReadableBooks:
        """Reads the books, and keeps books in English that are long enough and of no excluded genre."""
        gathered = root | "GatherBooks" >> self.read(place)
        stripped = gathered.books | "StripBooks" >> screen_books.StripBooks(
            place.scratch, furniture=True
        )
        measured = stripped.kept | "MeasureBooks" >> beam.Map(screen_books.measure_book)
        too_short = TooShort(self.config.min_words)
        screen = screen_books.ScreenBooks(not_english, too_short, genre_to_reject)
        screened = measured | "ScreenBooks" >> screen
        return ReadableBooks(
            books=screened.kept,
            titles=gathered.books | "Titles" >> beam.Map(take_simplest.title_of),
            measures=measured | "Measures" >> beam.Map(screen_books.measure_of),
            rejected=(stripped.rejected, screened.rejected) | "Rejected" >> beam.Flatten(),
            rejected_files=gathered.rejected,
            catalog_rejected=gathered.catalog_rejected,
            ledger=self.open_ledger(root, lost=gathered.lost, files=gathered.files),
        )

    def choose(self, root: beam.Pipeline, place: Place, readable: ReadableBooks) -> ChosenBooks:
        """Chooses simple books that do not overlap, and tokenises them."""
        config, scratch = self.config, place.scratch
        rule = NotSimple(config.formula, config.min_ratio)
        sizes = config.heldout_books, config.small_tokens
        simple = readable.books | "KeepSimple" >> screen_books.KeepSimple(rule, *sizes)
        selected = simple.kept | "SelectBooks" >> self._select(scratch)
        tokenize = take_simplest.TokenizeBooks(scratch, config.number_style)
        books = selected.kept | "TokenizeBooks" >> tokenize
        rejected = [simple.rejected, selected.rejected]
        if config.target_tokens:
            measures = selected.kept | "Measures" >> beam.Map(screen_books.measure_of)
            target = config.target_tokens, config.max_vocabulary, config.min_count, config.formula
            take = take_simplest.TakeSimplest(scratch, measures, *target)
            books, beyond = books | "TakeSimplest" >> take
            rejected.append(beyond)
        all_rejected = rejected | "Rejected" >> beam.Flatten()
        return ChosenBooks(books, selected.verdicts, all_rejected, simple.facts)

    def _select(self, scratch: str) -> beam.PTransform:
        config = self.config
        rule = config.ngram_words, config.estimate, config.overlap_words
        return SelectBooks(scratch, parse_threshold(config.overlap), *rule)

    def write(
        self, root: beam.Pipeline, place: Place, readable: ReadableBooks, chosen: ChosenBooks
    ) -> None:
        """Assigns the books to splits and to SimpleBooks-92 and SimpleBooks-2, and writes them in all
        formats.
        """
        config, folder, scratch = self.config, place.folder, place.scratch
        sized = chosen.books | "AssignSizes" >> book_rows.AssignSizes(
            config.heldout_books, config.small_tokens
        )
        sizes = sized | "CountSizes" >> CountSizes(folder, config.min_count, scratch=scratch)
        corpus = sized
        if config.map_unknown:
            corpus = sized | "MapUnknown" >> MapUnknownWords(
                scratch, sizes.large_words, sizes.small_words
            )
        rows = corpus | "MakeRows" >> beam.FlatMapTuple(make_rows)
        counted = rows | "MeasureRows" >> book_rows.measure_rows(TEXT)
        plan = PlanShards(
            SPLITS_WITH_SMALL, config.shard_bytes, beam.MapTuple(book_rows.text_bytes)
        )
        shards = counted.stats | "PlanShards" >> plan
        books = book_rows.book_rows(SCHEMA)
        write = WriteRows(folder, RELEASE.corpus, books, shards, self.marks(), config.formats)
        layout = corpus | "WriteLayout" >> book_rows.WriteLayout(folder)
        written = [
            rows | "WriteBooks" >> write,
            layout.files,
            sizes.files,
        ]
        fallen = (readable.rejected, chosen.rejected) | "Fallen" >> beam.Flatten()
        fates = take_simplest.BookFates(
            titles=readable.titles,
            measures=readable.measures,
            verdicts=chosen.verdicts,
            rejected=fallen,
            sized=corpus,
            places=layout.places,
        )
        self.close_ledger(
            folder,
            readable.ledger,
            ACCOUNTS,
            outputs=(
                *written,
                fates | "ListBooks" >> take_simplest.ListBooks(folder, config.formula),
            ),
            rejected=(readable.rejected_files, fallen) | "Rejected" >> beam.Flatten(),
            unread=readable.catalog_rejected,
            stats=counted.stats,
            lengths=counted.lengths,
            facts=(sizes.facts, chosen.facts),
        )

    def settings(self) -> Mapping[str, Any]:
        config = self.config
        return {
            **config.variant(),
            "formula": config.formula,
            "tokenizer": "spaCy, English",
            **config.part(MANIFEST),
        }
