"""PG-19: English books of Project Gutenberg published before 1919, whole, with an open vocabulary.

Method: Rae et al., "Compressive Transformers for Long-Range Sequence Modelling", ICLR 2020, section 4.
Where we differ and why: README, "PG-19".
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.book_settings import LANGUAGE, check_book_settings, find_books
from pipelines.settings.dump_settings import name_edition, name_variant
from transforms.books.assign_book_splits import AssignBookSplits
from transforms.books.book_rows import MeasureRows, book_rows, text_bytes
from transforms.books.date_books import BEFORE, DateBooks
from transforms.books.drop_duplicate_books import DropDuplicateBooks
from transforms.books.gather_books import GatherBooks
from transforms.books.list_dates import ListDates
from transforms.books.mask_words import MaskWords, read_word_list
from transforms.books.read_released_books import read_split_table
from transforms.books.screen_books import ScreenBooks
from transforms.books.strip_books import StripBooks
from transforms.books.write_book_manifest import BookCorpus, BookOutcome, WriteBookManifest
from transforms.files.hash_inputs import HashInputs
from transforms.files.screen import Screened
from transforms.files.write_rejected import WriteRejected
from transforms.files.write_rows import PlanShards, WriteRows
from transforms.text.books.pg19_rows import (
    HASH,
    MEMBERS,
    NUMBERS,
    RELEASED,
    SCHEMA,
    TEXT,
    Membership,
    make_row,
    make_sections,
)
from transforms.text.books.screening.running_text import MIN_WORDS
from transforms.text.books.screening.screening import Rules, TooShort, not_english
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.duplicates.document_signatures import parse_similarity
from transforms.text.fingerprint import SPLITS, fingerprint

CORPUS = "pg19"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
SHARD_BYTES = 128 << 20

PG19 = BookCorpus(
    description=Description(
        title="PG-19",
        about=(
            "English books that were published before 1919, whole and as they stand, from Project Gutenberg;"
            " rebuilt with corpusmill after Rae et al., 2020. The texts are in the public domain in the USA."
        ),
        citation=(
            "@inproceedings{rae-etal-2020-compressive,\n"
            "  title = {Compressive Transformers for Long-Range Sequence Modelling},\n"
            "  author = {Rae, Jack W. and Potapenko, Anna and Jayakumar, Siddhant M. and Hillier, Chloe and"
            " Lillicrap, Timothy P.},\n  booktitle = {ICLR 2020},\n  year = {2020}\n}"
        ),
        license_id="other",
        features=SCHEMA.names,
        numbers=NUMBERS,
    ),
    splits=SPLITS,
    whole=SPLITS,
    sections=make_sections,
)


@dataclasses.dataclass(frozen=True)
class Pg19Config:
    """Settings of one build. Those that contradict each other raise ValueError."""

    books: Sequence[str]  # patterns of files, folders
    catalog: Sequence[str] = ()  # of pg_catalog.csv, or of archives of RDF
    metadata: Sequence[str] = ()  # of metadata.csv of the released PG-19
    members: str = ""  # of MEMBERS; "" is "released" where there is metadata
    split_ids: Sequence[str] = ()  # of tables (book_id, split) that have the last word
    before: int = BEFORE  # year in which the first books are too new
    min_words: int = MIN_WORDS  # of a book that is not too short
    near_duplicates: float = 0.0  # similarity from which on a book is dropped; 0 keeps all
    mask_words: Sequence[str] = ()  # of files of words that become <DW>
    dump_date: str = ""  # "20261101"; "" is taken from the names of the files
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # UTF-8 bytes of text in one output file, about

    def __post_init__(self) -> None:
        check_book_settings(self.books, self.dump_date, self.on_corrupt, self.min_words)
        if self.members not in ("", *MEMBERS):
            raise ValueError(f"members is one of {MEMBERS}, not {self.members!r}")
        if self.members == RELEASED and not self.metadata:
            raise ValueError("members are those released, and there is no metadata that names them")
        if self.near_duplicates:
            parse_similarity(self.near_duplicates)
        if self.before < 1 or self.shard_bytes < 1:
            raise ValueError(
                f"before is {self.before}, shard_bytes {self.shard_bytes}: must be positive"
            )


class OldBooks(NamedTuple):
    """What the first stage gives: the books, and the accounts of all that was read."""

    books: beam.PCollection  # of DatedBook
    evidence: beam.PCollection  # of BookEvidence: of these, and of books that are too new
    rejected: beam.PCollection  # of Rejected: files that were looked at as books
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue
    lost: beam.PCollection  # of LostBytes
    files: beam.PCollection  # of int: files that were looked at as books
    inputs: beam.PCollection  # of InputFile


class Pg19:
    """One build: its inputs, found and looked at, and its stages."""

    def __init__(self, config: Pg19Config):
        """Raises InputError for inputs that are missing, or visibly damaged."""
        self.config = config
        self.files = find_books(
            config.books,
            config.on_corrupt,
            catalog=config.catalog,
            metadata=config.metadata,
            word_list=config.mask_words,
            split_ids=config.split_ids,
        )
        own_splits = [read_split_table(path) for path in self.files.split_ids]
        members = config.members or (RELEASED if config.metadata else HASH)
        self.membership = Membership(
            members, dict(pair for table in own_splits for pair in table.items())
        )
        self.masked = sorted(
            {word for path in self.files.word_list for word in read_word_list(path)}
        )

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, date and version."""
        edition = name_edition(LANGUAGE, self.variant(), ORIGINAL)
        return CORPUS, edition, f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the names of the files, unless the settings give one."""
        return self.config.dump_date or self.files.date()

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of files that the workers will read."""
        return self.files.bytes_to_read(stripes)

    def stages(self) -> Sequence[Stage]:
        """The method: old books wait in files until the corpus is made of them."""
        return Stage("gather", self.gather), Stage("write", self.write)

    def gather(self, root: beam.Pipeline, place: Place) -> OldBooks:
        """Reads the books, and finds those that were published before the year."""
        config, files = self.config, self.files
        gathered = root | "GatherBooks" >> GatherBooks(
            place.scratch,
            files.books,
            files.catalog,
            files.metadata,
            place.stripes,
            config.on_corrupt,
        )
        stripped = gathered.books | "StripBooks" >> StripBooks(place.scratch, furniture=False)
        screened = stripped.kept | "ScreenBooks" >> ScreenBooks(self.rules())
        dated = screened.kept | "DateBooks" >> DateBooks(config.before)
        rejected = (gathered.rejected, stripped.rejected, screened.rejected, dated.rejected)
        return OldBooks(
            books=dated.kept,
            evidence=dated.evidence,
            rejected=rejected | "Rejected" >> beam.Flatten(),
            catalog_rejected=gathered.catalog_rejected,
            lost=gathered.lost,
            files=gathered.files,
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
        )

    def write(self, root: beam.Pipeline, place: Place, old: OldBooks) -> None:
        """Masks words in the books, and writes them into their splits."""
        folder = place.folder
        different = self._drop_near_duplicates(old.books, place.scratch)
        masked = different.kept | "MaskWords" >> MaskWords(place.scratch, self.masked)
        assigned = masked.books | "AssignSplits" >> AssignBookSplits(self.membership.split_of)
        rows = assigned | "MakeRows" >> beam.MapTuple(make_row)
        stats = rows | "MeasureRows" >> MeasureRows(TEXT)
        sizes = stats | "TextBytes" >> beam.MapTuple(text_bytes)
        shards = sizes | "PlanShards" >> PlanShards(SPLITS, self.config.shard_bytes)
        dates = old.evidence | "ListDates" >> ListDates(folder)
        rejected = (old.rejected, different.rejected) | "Rejected" >> beam.Flatten()
        listed = (rejected, old.catalog_rejected) | "Unread" >> beam.Flatten()
        outputs = (
            rows | "WriteBooks" >> WriteRows(folder, CORPUS, book_rows(SCHEMA), shards),
            listed | "WriteRejected" >> WriteRejected(folder),
            dates.files,
        )
        BookOutcome(
            inputs=old.inputs,
            outputs=outputs | "Outputs" >> beam.Flatten(),
            files=old.files,
            rejected=rejected,
            lost=old.lost,
            stats=stats,
            facts=(dates.facts, masked.facts) | "Facts" >> beam.Flatten(),
        ) | "WriteManifest" >> WriteBookManifest(folder, self.provenance(), PG19)

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return self.files.by_role()

    def rules(self) -> Rules:
        """What a book must be, in the order in which it is asked. A released book may have two languages."""
        is_english = () if self.membership.members == RELEASED else (not_english,)
        too_short = TooShort(self.config.min_words)
        return Rules((self.membership.reason_to_reject, *is_english, too_short))

    def _drop_near_duplicates(self, books: beam.PCollection, scratch: str) -> Screened:
        if not self.config.near_duplicates:
            return Screened(books, books.pipeline | "NoDuplicates" >> beam.Create([]))
        different: Screened = books | "DropDuplicates" >> DropDuplicateBooks(
            scratch, self.config.near_duplicates
        )
        return different

    def variant(self) -> dict[str, Any]:
        """The settings that make another corpus of the same input."""
        config, own = self.config, self.membership.own_splits
        return {
            "members": self.membership.members,
            "split_ids": _fingerprint_of(
                f"{book_id} {split}" for book_id, split in sorted(own.items())
            ),
            "before": config.before,
            "min_words": config.min_words,
            "near_duplicates": config.near_duplicates,
            "mask_words": _fingerprint_of(self.masked),
        }

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        return self.files.caveats()

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        return Provenance(
            corpus=CORPUS,
            edition=self.path[1],
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                **self.variant(),
                "on_corrupt": self.config.on_corrupt,
                "shard_bytes": self.config.shard_bytes,
            },
            caveats=self.caveats(),
            code=code_versions("numpy"),
            signature_settings={"lang": LANGUAGE, **name_variant(self.variant())},
        )


ORIGINAL = {
    "members": RELEASED,
    "split_ids": "",
    "before": BEFORE,
    "min_words": MIN_WORDS,
    "near_duplicates": 0.0,
    "mask_words": "",
}


def _fingerprint_of(lines: Iterable[str]) -> str:
    """Eight digits that stand for a list; "" for an empty one."""
    text = "\n".join(lines)
    return f"{fingerprint(text):016x}"[:8] if text else ""
