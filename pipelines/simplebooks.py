"""SimpleBooks: long books in simple English, no two alike, in two sizes.

Method: Nguyen, "SimpleBooks: Long-term dependency book dataset with simplified English vocabulary for
word-level language modeling", 2019, section 2. Where we differ and why: README, "SimpleBooks".
"""

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.book_settings import LANGUAGE, check_book_settings, find_books
from pipelines.settings.dump_settings import name_edition, name_variant
from transforms.books.assign_sizes import AssignSizes
from transforms.books.book_rows import MeasureRows, book_rows, text_bytes
from transforms.books.count_sizes import CountSizes
from transforms.books.gather_books import GatherBooks
from transforms.books.keep_chosen import KeepChosen
from transforms.books.list_books import BookFates, ListBooks, title_of
from transforms.books.screen_books import KeepSimple, MeasureBooks, ScreenBooks
from transforms.books.select_books import NGRAM_WORDS, THRESHOLD, SelectBooks
from transforms.books.strip_books import StripBooks
from transforms.books.take_simplest import RatedBooks, TakeSimplest, check_target, measure_of
from transforms.books.tokenize_books import TokenizeBooks
from transforms.books.write_book_manifest import BookCorpus, BookOutcome, WriteBookManifest
from transforms.books.write_layout import WriteLayout
from transforms.files.hash_inputs import HashInputs
from transforms.files.screen import Screened
from transforms.files.write_rejected import WriteRejected
from transforms.files.write_rows import PlanShards, WriteRows
from transforms.text.books.screening.screening import Rules, TooShort, genre_to_reject, not_english
from transforms.text.books.simple.english_tokens import DISTINCT, check_style
from transforms.text.books.simple.overlap import parse_threshold
from transforms.text.books.simple.simplebooks_rows import (
    NUMBERS,
    SCHEMA,
    SPLITS_WITH_SMALL,
    TEXT,
    make_rows,
    make_sections,
)
from transforms.text.books.simple.simplest_first import MAX_VOCABULARY
from transforms.text.books.simple.simplicity import MIN_RATIO, PRINTED, SQUARED, NotSimple
from transforms.text.books.simple.sizes import HELDOUT_BOOKS, SMALL_TOKENS, check_sizes
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.fingerprint import SPLITS

CORPUS = "simplebooks"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
SHARD_BYTES = 128 << 20
FOLDER_NAME = {SQUARED: "L-V2", PRINTED: "L-sqrtV"}  # of the formulas

SIMPLEBOOKS = BookCorpus(
    description=Description(
        title="SimpleBooks",
        about=(
            "Books in simple English from Project Gutenberg, tokenised and as they stand, for word-level and"
            " character-level language models; rebuilt with corpusmill after Nguyen, 2019. The texts are in"
            " the public domain in the USA."
        ),
        citation=(
            "@article{nguyen-2019-simplebooks,\n"
            "  title = {SimpleBooks: Long-term dependency book dataset with simplified English vocabulary for"
            " word-level language modeling},\n"
            "  author = {Nguyen, Huyen},\n  journal = {arXiv:1911.12391},\n  year = {2019}\n}"
        ),
        license_id="other",
        features=SCHEMA.names,
        numbers=NUMBERS,
    ),
    splits=SPLITS_WITH_SMALL,
    whole=SPLITS,
    sections=make_sections,
)


@dataclasses.dataclass(frozen=True)
class SimpleBooksConfig:
    """Settings of one build. Those that contradict each other raise ValueError."""

    books: Sequence[str]  # patterns of files, folders
    catalog: Sequence[str] = ()  # of pg_catalog.csv, or of archives of RDF
    formula: str = SQUARED  # of the ratio of length and vocabulary
    min_ratio: str = MIN_RATIO
    target_tokens: int = 0  # of the simplest books, in place of a least ratio; 0 for that
    max_vocabulary: int = MAX_VOCABULARY  # of the simplest books, at most
    overlap: str = THRESHOLD  # share of n-grams in larger kept books from which on a book is left
    ngram_words: int = NGRAM_WORDS
    estimate: int = 1  # decide by one of so many n-grams; 1 is exact
    min_words: int = 0  # of a book that is not too short
    number_style: str = DISTINCT
    heldout_books: int = HELDOUT_BOOKS  # of validation, and as many of test
    small_tokens: int = SMALL_TOKENS  # of the training set of SimpleBooks-2, at most
    min_count: int = 3  # of a word of the vocabulary, in training
    dump_date: str = ""  # "20261101"; "" is taken from the names of the files
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # UTF-8 bytes of text in one output file, about

    def __post_init__(self) -> None:
        check_book_settings(self.books, self.dump_date, self.on_corrupt, self.min_words)
        NotSimple(self.formula, self.min_ratio)
        check_target(self.target_tokens or 1, self.max_vocabulary, self.min_count, self.formula)
        parse_threshold(self.overlap)
        check_style(self.number_style)
        check_sizes(self.heldout_books, self.small_tokens)
        for name in ("ngram_words", "estimate", "shard_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, and must be positive")

    def variant(self) -> dict[str, Any]:
        """The settings that make another corpus of the same input."""
        ratio = {"min_ratio": _as_decimal(self.min_ratio)} if not self.target_tokens else {}
        target = {"target_tokens": self.target_tokens, "max_vocabulary": self.max_vocabulary}
        return {
            "formula": FOLDER_NAME[self.formula],
            **(ratio or target),
            "overlap": _as_decimal(self.overlap),
            "ngram_words": self.ngram_words,
            "estimate": self.estimate,
            "min_words": self.min_words,
            "number_style": self.number_style,
            "heldout_books": self.heldout_books,
            "small_tokens": self.small_tokens,
            "min_count": self.min_count,
        }

    def edition(self) -> str:
        """The language, and what differs from the defaults: "en", "en-target-tokens-92000000"."""
        original = SimpleBooksConfig(self.books).variant()
        variant = self.variant()
        default = dict.fromkeys(variant) | {"max_vocabulary": MAX_VOCABULARY} | original
        return name_edition(LANGUAGE, variant, default)


class ReadableBooks(NamedTuple):
    """What the first stage gives: the books, and the accounts of all that was read."""

    books: beam.PCollection  # of MeasuredBook
    titles: beam.PCollection  # of (book id, title): of all books, rejected ones too
    measures: beam.PCollection  # of (book id, (L, V)): of all that have been stripped
    rejected: beam.PCollection  # of Rejected: of books, with their ids
    rejected_files: beam.PCollection  # of Rejected: files that are no book, or another file of one
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue
    lost: beam.PCollection  # of LostBytes
    files: beam.PCollection  # of int: files that were looked at as books
    inputs: beam.PCollection  # of InputFile


class ChosenBooks(NamedTuple):
    """What the second stage gives."""

    books: beam.PCollection  # of TokenizedBook
    verdicts: beam.PCollection  # of OverlapVerdict
    rejected: beam.PCollection  # of Rejected: of books, with their ids


class SimpleBooks:
    """One build: its inputs, found and looked at, and its stages."""

    def __init__(self, config: SimpleBooksConfig):
        """Raises InputError for inputs that are missing, or visibly damaged."""
        self.config = config
        self.files = find_books(config.books, config.on_corrupt, catalog=config.catalog)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, date and version."""
        return CORPUS, self.config.edition(), f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the names of the files, unless the settings give one."""
        return self.config.dump_date or self.files.date()

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of files that the workers will read."""
        return self.files.bytes_to_read(stripes)

    def stages(self) -> Sequence[Stage]:
        """The method: books that may be simple wait in files, and so do those that are chosen."""
        return (
            Stage("gather", self.gather),
            Stage("choose", self.choose),
            Stage("write", self.write),
        )

    def gather(self, root: beam.Pipeline, place: Place) -> ReadableBooks:
        """Reads the books, and finds those in English that are long enough, and of no wrong genre."""
        config, files = self.config, self.files
        gathered = root | "GatherBooks" >> GatherBooks(
            place.scratch, files.books, files.catalog, (), place.stripes, config.on_corrupt
        )
        stripped = gathered.books | "StripBooks" >> StripBooks(place.scratch, furniture=True)
        measured = stripped.kept | "MeasureBooks" >> MeasureBooks()
        screened = measured | "ScreenBooks" >> ScreenBooks(self.rules())
        return ReadableBooks(
            books=screened.kept,
            titles=gathered.books | "Titles" >> beam.Map(title_of),
            measures=measured | "Measures" >> beam.Map(measure_of),
            rejected=(stripped.rejected, screened.rejected) | "Rejected" >> beam.Flatten(),
            rejected_files=gathered.rejected,
            catalog_rejected=gathered.catalog_rejected,
            lost=gathered.lost,
            files=gathered.files,
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
        )

    def choose(self, root: beam.Pipeline, place: Place, readable: ReadableBooks) -> ChosenBooks:
        """Takes the simple books of which no two are alike, and tokenises them."""
        config, scratch = self.config, place.scratch
        simple = self._keep_simple(readable.books, scratch)
        selected = simple.kept | "SelectBooks" >> SelectBooks(
            scratch, config.overlap, config.ngram_words, config.estimate
        )
        return ChosenBooks(
            books=selected.kept | "TokenizeBooks" >> TokenizeBooks(scratch, config.number_style),
            verdicts=selected.verdicts,
            rejected=(simple.rejected, selected.rejected) | "Rejected" >> beam.Flatten(),
        )

    def write(
        self, root: beam.Pipeline, place: Place, readable: ReadableBooks, chosen: ChosenBooks
    ) -> None:
        """Puts the books into splits and sizes, and writes them in every form."""
        config, folder = self.config, place.folder
        corpus = chosen.books | "AssignSizes" >> AssignSizes(
            config.heldout_books, config.small_tokens
        )
        rows = corpus | "MakeRows" >> beam.FlatMapTuple(make_rows)
        stats = rows | "MeasureRows" >> MeasureRows(TEXT)
        sizes = stats | "TextBytes" >> beam.MapTuple(text_bytes)
        shards = sizes | "PlanShards" >> PlanShards(SPLITS_WITH_SMALL, config.shard_bytes)
        layout = corpus | "WriteLayout" >> WriteLayout(folder)
        sizes = corpus | "CountSizes" >> CountSizes(folder, config.min_count, scratch=place.scratch)
        fallen = (readable.rejected, chosen.rejected) | "Fallen" >> beam.Flatten()
        fates = BookFates(
            titles=readable.titles,
            measures=readable.measures,
            verdicts=chosen.verdicts,
            rejected=fallen,
            sized=corpus,
            places=layout.places,
        )
        rejected = (readable.rejected_files, fallen) | "Rejected" >> beam.Flatten()
        listed = (rejected, readable.catalog_rejected) | "Unread" >> beam.Flatten()
        outputs = (
            rows | "WriteBooks" >> WriteRows(folder, CORPUS, book_rows(SCHEMA), shards),
            listed | "WriteRejected" >> WriteRejected(folder),
            fates | "ListBooks" >> ListBooks(folder, config.formula),
            layout.files,
            sizes.files,
        )
        BookOutcome(
            inputs=readable.inputs,
            outputs=outputs | "Outputs" >> beam.Flatten(),
            files=readable.files,
            rejected=rejected,
            lost=readable.lost,
            stats=stats,
            facts=sizes.facts,
        ) | "WriteManifest" >> WriteBookManifest(folder, self.provenance(), SIMPLEBOOKS)

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return self.files.by_role()

    def rules(self) -> Rules:
        """What a book must be, in the order in which it is asked."""
        return Rules((not_english, TooShort(self.config.min_words), genre_to_reject))

    def _keep_simple(self, books: beam.PCollection, scratch: str) -> Screened:
        config = self.config
        if config.target_tokens:
            return self._take_simplest(books, scratch)
        simple: Screened = books | "KeepSimple" >> KeepSimple(
            NotSimple(config.formula, config.min_ratio)
        )
        return simple

    def _take_simplest(self, books: beam.PCollection, scratch: str) -> Screened:
        config = self.config
        tokenized = books | "TokenizeAll" >> TokenizeBooks(scratch, config.number_style)
        taken = RatedBooks(tokenized, books) | "TakeSimplest" >> TakeSimplest(
            scratch, config.target_tokens, config.max_vocabulary, config.min_count, config.formula
        )
        return Screened(books | "KeepTaken" >> KeepChosen(taken.kept), taken.rejected)

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        return self.files.caveats()

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        config = self.config
        return Provenance(
            corpus=CORPUS,
            edition=config.edition(),
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                **config.variant(),
                "formula": config.formula,
                "tokenizer": "spaCy, English",
                "on_corrupt": config.on_corrupt,
                "shard_bytes": config.shard_bytes,
            },
            caveats=self.caveats(),
            code=code_versions("numpy", "spacy"),
            signature_settings={"lang": LANGUAGE, **name_variant(config.variant())},
        )


def _as_decimal(number: str) -> str:
    """The number as it names an edition: "0.5" of "1/2" and of ".50"."""
    return str(float(Fraction(number)))
