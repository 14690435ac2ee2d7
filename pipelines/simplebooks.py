"""SimpleBooks: long books in simple English, no two alike, in two sizes.

Method: Nguyen, "SimpleBooks: Long-term dependency book dataset with simplified English vocabulary for
word-level language modeling", 2019, section 2. Where we differ and why: README, "SimpleBooks".
"""

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import apache_beam as beam

from pipelines.book_settings import LANGUAGE, check_book_settings, find_books
from pipelines.dump_settings import name_edition, name_variant
from pipelines.provenance import code_versions
from transforms.assign_sizes import AssignSizes
from transforms.count_sizes import CountSizes
from transforms.gather_books import GatherBooks
from transforms.hash_inputs import HashInputs
from transforms.keep_chosen import KeepChosen
from transforms.list_books import BookFates, ListBooks
from transforms.screen import Screened
from transforms.screen_books import KeepSimple, MeasureBooks, ScreenBooks
from transforms.select_books import NGRAM_WORDS, THRESHOLD, SelectBooks
from transforms.strip_books import StripBooks
from transforms.take_simplest import RatedBooks, TakeSimplest, check_target
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
from transforms.text.build_manifest import Description, Provenance
from transforms.text.fingerprint import SPLITS
from transforms.tokenize_books import TokenizeBooks
from transforms.write_book_manifest import BookCorpus, BookOutcome, WriteBookManifest
from transforms.write_books import MeasureRows, PlanBookShards, WriteBooks
from transforms.write_layout import WriteLayout
from transforms.write_rejected import WriteRejected

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


class SimpleBooks:
    """One build: its inputs, found and looked at, and its pipeline."""

    def __init__(self, config: SimpleBooksConfig):
        """Raises InputError for inputs that are missing, or visibly damaged."""
        self.config = config
        self.inputs = find_books(config.books, config.on_corrupt, catalog=config.catalog)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, date and version."""
        return CORPUS, self.config.edition(), f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the names of the files, unless the settings give one."""
        return self.config.dump_date or self.inputs.date()

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of files that the workers will read."""
        return self.inputs.bytes_to_read(stripes)

    def build(self, root: beam.Pipeline, folder: str, stripes: int) -> None:
        """Adds the whole method to a pipeline that writes into `folder`."""
        config, inputs = self.config, self.inputs
        gathered = root | "GatherBooks" >> GatherBooks(
            folder, inputs.books, inputs.catalog, (), stripes, config.on_corrupt
        )
        stripped = gathered.books | "StripBooks" >> StripBooks(folder, furniture=True)
        measured = stripped.kept | "MeasureBooks" >> MeasureBooks()
        screened = measured | "ScreenBooks" >> ScreenBooks(self.rules())
        simple = self._keep_simple(screened.kept, folder)
        selected = simple.kept | "SelectBooks" >> SelectBooks(
            folder, config.overlap, config.ngram_words, config.estimate
        )
        tokenized = selected.kept | "TokenizeBooks" >> TokenizeBooks(folder, config.number_style)
        corpus = tokenized | "AssignSizes" >> AssignSizes(config.heldout_books, config.small_tokens)
        rows = corpus | "MakeRows" >> beam.FlatMapTuple(make_rows)
        stats = rows | "MeasureRows" >> MeasureRows(TEXT)
        shards = stats | "PlanShards" >> PlanBookShards(SPLITS_WITH_SMALL, config.shard_bytes)
        layout = corpus | "WriteLayout" >> WriteLayout(folder)
        sizes = corpus | "CountSizes" >> CountSizes(folder, config.min_count)
        fallen = (
            stripped.rejected,
            screened.rejected,
            simple.rejected,
            selected.rejected,
        ) | "Fallen" >> beam.Flatten()
        fates = BookFates(
            books=gathered.books,
            measured=measured,
            verdicts=selected.verdicts,
            rejected=fallen,
            sized=corpus,
            places=layout.places,
        )
        rejected = (gathered.rejected, fallen) | "Rejected" >> beam.Flatten()
        listed = (rejected, gathered.catalog_rejected) | "Unread" >> beam.Flatten()
        outputs = (
            rows | "WriteBooks" >> WriteBooks(folder, CORPUS, SCHEMA, shards),
            listed | "WriteRejected" >> WriteRejected(folder),
            fates | "ListBooks" >> ListBooks(folder, config.formula),
            layout.files,
            sizes.files,
        )
        BookOutcome(
            inputs=root | "HashInputs" >> HashInputs(inputs.by_role()),
            outputs=outputs | "Outputs" >> beam.Flatten(),
            files=gathered.files,
            rejected=rejected,
            lost=gathered.lost,
            stats=stats,
            facts=sizes.facts,
        ) | "WriteManifest" >> WriteBookManifest(folder, self.provenance(), SIMPLEBOOKS)

    def rules(self) -> Rules:
        """What a book must be, in the order in which it is asked."""
        return Rules((not_english, TooShort(self.config.min_words), genre_to_reject))

    def _keep_simple(self, books: beam.PCollection, folder: str) -> Screened:
        config = self.config
        if config.target_tokens:
            return self._take_simplest(books, folder)
        simple: Screened = books | "KeepSimple" >> KeepSimple(
            NotSimple(config.formula, config.min_ratio)
        )
        return simple

    def _take_simplest(self, books: beam.PCollection, folder: str) -> Screened:
        config = self.config
        tokenized = books | "TokenizeAll" >> TokenizeBooks(folder, config.number_style)
        taken = RatedBooks(tokenized, books) | "TakeSimplest" >> TakeSimplest(
            folder, config.target_tokens, config.max_vocabulary, config.min_count, config.formula
        )
        return Screened(books | "KeepTaken" >> KeepChosen(taken.kept), taken.rejected)

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        return self.inputs.caveats()

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
