"""The elements that flow between stages. Immutable; free of Beam, so that any module may import them."""

from typing import NamedTuple


class Page(NamedTuple):
    """A page of a MediaWiki dump with its newest revision."""

    page_id: int
    namespace: int
    title: str
    revision_id: int
    content_model: str  # "wikitext", "javascript", …
    is_redirect: bool
    is_deleted: bool  # the text was suppressed: <text deleted="deleted" />
    text: str  # wikitext; "" where the dump has none
    redirect_target: str = ""  # title; "" for a page that is none, and in dumps before 2012
    created: str = ""  # "2026-11-01T00:00:00Z", of a page with no other revision; "" of all others
    comment: str = ""  # of the revision
    revised: str = ""  # when the revision was saved, "2026-11-01T00:00:00Z"


class Article(NamedTuple):
    """A cleaned article. `text` is in Wiki-40B layout (see text/wikimedia/article_markers.py)."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    text: str
    revised: str = ""  # see Page
    markdown: str = ""  # the article as Markdown, where it is wanted


class CorpusStats(NamedTuple):
    """Counts of articles."""

    articles: int = 0
    sections: int = 0  # with a heading: the lead is none
    paragraphs: int = 0
    words: int = 0  # between white space, markers not counted
    characters: int = 0  # Unicode code points, a marker with its line feeds is one
    text_bytes: int = 0  # UTF-8
    line_feeds: int = 0  # of markers


class SubwordStats(NamedTuple):
    """Counts of text cut into pieces."""

    pieces: int = 0
    characters: int = 0  # as in CorpusStats
    unknown_characters: int = 0  # that the model has no piece for, not even bytes
    byte_characters: int = 0  # spelled in the pieces of their bytes

    @property
    def characters_per_piece(self) -> float:
        """0 where there is no text."""
        return self.characters / self.pieces if self.pieces else 0.0

    @property
    def coverage(self) -> float:
        """Share of the characters that the pieces spell. 1 where there is no text."""
        return _share(self.characters - self.unknown_characters, self.characters)

    @property
    def own_piece_coverage(self) -> float:
        """Share of the characters not spelled in bytes: what the 99.9 % of the paper compare to."""
        own = self.characters - self.unknown_characters - self.byte_characters
        return _share(own, self.characters)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


class PackedArticle(NamedTuple):
    """An article on its way through joins and shuffles: its text compressed, its counts taken."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    packed_text: bytes
    stats: CorpusStats
    wikidata_id: str = ""  # "Q67"; "" until the page is linked
    split: str = ""  # "train", "validation" or "test"; "" until it is assigned
    revised: str = ""  # see Page
    classes: tuple[int, ...] = ()  # of the item, 5 for Q5; () where they are not known
    packed_markdown: bytes = b""  # as `packed_text`; b"" where it is not wanted


class Rejected(NamedTuple):
    """Something that was read and not kept, and why."""

    id: str  # page id, or file and byte offset
    title: str
    stage: str  # "screen-pages"
    reason: str  # a slug: "redirect"
    detail: str = ""


class Reason(NamedTuple):
    """The reason why something is not kept."""

    slug: str  # "redirect"
    detail: str = ""


class OutputFile(NamedTuple):
    """A file that a build has written."""

    name: str  # relative to the build's folder
    split: str  # "" for a file that belongs to no split
    format: str  # "parquet", "tfrecord"
    records: int
    bytes: int
    sha256: str


class InputFile(NamedTuple):
    """A file that a build has read."""

    role: str  # "dump", "page-props"
    name: str  # without its folder, which says nothing about the content
    bytes: int
    sha256: str


class LineRange(NamedTuple):
    """The lines of one range of the order of bytes, sorted; all ranges together are the corpus."""

    index: int  # type: ignore[assignment]  # of the range; ranges are numbered in their order
    lines: int
    packed: bytes  # see scratch.py: the block, or where it is


class LineShard(NamedTuple):
    """The lines of one shard of the shuffled corpus, in their final order."""

    series: str  # "train", whose shard 0 is held out, or "heldout", the shards that shard 0 is split into
    shard: int
    shards: int  # of the series
    block: bytes  # see line_blocks.py


class BookHeader(NamedTuple):
    """The head of a Project Gutenberg file; "" and 0 for values that it does not give."""

    number: int = 0  # of the ebook: 84 of "[EBook #84]"
    title: str = ""  # in one line
    authors: tuple[str, ...] = ()  # as they stand: "Mary Wollstonecraft Shelley"
    languages: tuple[str, ...] = ()  # ISO 639 codes, "en"; where it is no such name, as it stands
    encoding: str = ""  # that the file says it has: "ISO-8859-1"
    release_date: str = ""  # ISO 8601, as exactly as it is told: "2008-06-17", "1993-10", "1993"
    original_publication: str = ""  # "New York: Harper & Brothers, 1899", or what was transcribed


class BookFile(NamedTuple):
    """A file of a Project Gutenberg book, decoded. A book may come as several files."""

    book_id: int  # number of the ebook, positive
    name: str  # of the file without its folder: "84-0.txt", "txt-files.tar.zip/cache/epub/84/pg84.txt"
    encoding: str  # that it was decoded by: "ascii", "utf-8", "cp1252", …
    header: BookHeader
    characters: int  # of the text, Unicode code points
    packed_text: bytes  # the whole file with LF as line end, without BOM; see Scratch.put_text
    digest: int = 0  # fingerprint of the text


class Author(NamedTuple):
    """A person who made a book; 0 for a year that is not known, negative ones are before Christ."""

    name: str  # "Shelley, Mary Wollstonecraft"
    birth_year: int = 0
    death_year: int = 0
    role: str = ""  # "" for the author, "Translator", "Editor", …


class CatalogEntry(NamedTuple):
    """The entry of a book in the catalogue of Project Gutenberg."""

    book_id: int
    kind: str  # "Text", "Sound", "Image", …
    title: str  # in one line
    authors: tuple[Author, ...]
    languages: tuple[str, ...]  # ISO 639 codes
    subjects: tuple[str, ...]  # "Gothic fiction"
    bookshelves: tuple[str, ...]


class ReleasedBook(NamedTuple):
    """A line of metadata.csv, which DeepMind released with PG-19."""

    book_id: int
    title: str  # "Frankenstein by Mary Shelley"
    year: int  # of publication, as released
    url: str


class Book(NamedTuple):
    """A book: one of its files, and what header, catalogue and release say of it."""

    book_id: int
    name: str  # of the file
    encoding: str  # that it was decoded by
    title: str  # of the catalogue, else of the header; in one line
    authors: tuple[Author, ...]  # the same
    languages: tuple[str, ...]  # the same; ISO 639 codes; () where neither tells
    subjects: tuple[str, ...]
    bookshelves: tuple[str, ...]
    original_publication: str  # see BookHeader
    released_year: int  # of PG-19's metadata.csv; 0 for a book that is not in it
    is_in_catalog: bool
    characters: int  # of the text, Unicode code points
    packed_text: bytes  # see Scratch.put_text


class MeasuredBook(NamedTuple):
    """A book with what the choice of simple books goes by. Tokens are between white space."""

    book: Book
    tokens: int  # L
    vocabulary: int  # V: different ones


class TokenizedBook(NamedTuple):
    """A kept book in the two forms in which it is written, both a paragraph a line."""

    book_id: int
    title: str
    paragraphs: int  # lines of each of the two texts, which end with a line feed
    packed_raw: bytes  # see Scratch.put_text
    packed_tokens: bytes  # the same; tokens with one blank between them
    tokens: int  # of the tokenised text


class OverlapVerdict(NamedTuple):
    """The verdict of the choice by overlap about a book."""

    book_id: int
    ngrams: int  # different n-grams of the book
    covered: int  # those of them that larger kept books have
    is_kept: bool
    covering: tuple[tuple[int, int], ...]  # (kept book, n-grams it is the largest to have)


class BookRow(NamedTuple):
    """A book as it is written: what WriteRows sorts and stores."""

    split: str
    book_id: int
    values: tuple[int | str | bytes, ...]  # in the order of the features; bytes are packed texts
