"""Settings of PG-19."""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.book_settings import check_book_settings
from corpusmill.transforms.books.book_accounts import BookAccounts
from corpusmill.transforms.books.pg19_rows import MEMBERS, NUMBERS, RELEASED, SCHEMA, make_sections
from corpusmill.transforms.books.publication_dates import BEFORE
from corpusmill.transforms.books.running_text import MIN_WORDS
from corpusmill.transforms.duplicates.document_signatures import parse_similarity
from corpusmill.transforms.files.builds.build_manifest import Description, Release
from corpusmill.transforms.files.fingerprint import SPLITS

CORPUS = "pg19"
VERSION = "1.2.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": "Line feeds are counted; the card has the figures of the paper. The texts are the same.",
    "1.1.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "1.2.0": (
        "`publication_date` is empty for books of which only the latest possible year is known, which was the"
        " date before; the new column `latest_year` has it. The books, texts, splits and order are the same."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
SHARD_BYTES = 128 << 20

DESCRIPTION = Description(
    title="PG-19",
    about=(
        "English books that were published before 1919, whole and unchanged, from Project Gutenberg;"
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
    splits=SPLITS,
    tags=("project-gutenberg", "books", "long-context"),
)
ACCOUNTS = BookAccounts(SPLITS, whole=SPLITS, sections=make_sections)


@dataclasses.dataclass(frozen=True)
class Pg19Config:
    """The settings of a build of PG-19. Invalid settings raise ValueError."""

    books: Sequence[str]  # folders, or patterns of files
    catalog: Sequence[str] = ()  # patterns of pg_catalog.csv, or of archives of RDF
    metadata: Sequence[str] = ()  # patterns of metadata.csv of the released PG-19
    members: str = ""  # one of MEMBERS; "" is "released" if metadata is given
    split_ids: Sequence[str] = ()  # patterns of tables (book_id, split) that override the splits
    before: int = BEFORE  # books published in this year or later are dropped
    min_words: int = MIN_WORDS  # shorter books are dropped
    near_duplicates: float = 0.0  # least similarity of dropped books; 0 keeps all
    mask_words: Sequence[str] = ()  # patterns of files of words to replace by <DW>
    limit: int = 0  # books that are read; 0 reads all
    dump_date: str = ""  # "20261101"; "" is taken from the names of the files
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # approximate UTF-8 bytes of text in one output file
    signatures: bool = False  # write the MinHash signature of each book

    def __post_init__(self) -> None:
        check_book_settings(self.books, self.dump_date, self.on_corrupt, self.min_words)
        if self.members not in ("", *MEMBERS):
            raise ValueError(f"members must be one of {MEMBERS}, not {self.members!r}")
        if self.members == RELEASED and not self.metadata:
            raise ValueError(
                "members='released' needs metadata: the file metadata.csv of the release"
            )
        if self.near_duplicates:
            parse_similarity(self.near_duplicates)
        for name in ("before", "shard_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")


ORIGINAL = {
    "members": RELEASED,
    "split_ids": "",
    "before": BEFORE,
    "min_words": MIN_WORDS,
    "near_duplicates": 0.0,
    "mask_words": "",
}
