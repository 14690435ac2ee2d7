"""Defines the element types that are passed between stages. They are immutable.

The module does not import Beam, so any module can import it.

Records of a translation benchmark: source sentences, their translations, and faults that checks found.
"""

from typing import NamedTuple


class Page(NamedTuple):
    """A page of a MediaWiki dump, with the text of its newest revision in the dump."""

    page_id: int
    namespace: int
    title: str
    revision_id: int
    content_model: str  # "wikitext", "javascript", …
    is_redirect: bool
    is_deleted: bool  # the text was suppressed: <text deleted="deleted" />
    text: str  # wikitext; "" if the dump has no text
    # title; "" for pages that are not redirects, and in dumps before 2012
    redirect_target: str = ""
    created: str = ""  # "2026-11-01T00:00:00Z" if the page has a single revision, otherwise ""
    comment: str = ""  # comment of the revision
    revised: str = ""  # time of the revision, "2026-11-01T00:00:00Z"


class Article(NamedTuple):
    """A cleaned article. `text` is in Wiki-40B layout (see article_markers.py)."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    text: str
    revised: str = ""  # see Page
    markdown: str = ""  # the article as Markdown; "" if not requested


class CorpusStats(NamedTuple):
    """Numbers of articles, sections, paragraphs, words and so on in a set of articles, such as a split."""

    articles: int = 0
    sections: int = 0  # sections with a heading; the lead section is not counted
    paragraphs: int = 0
    words: int = 0  # separated by white space; markers are not counted
    characters: int = 0  # Unicode code points; a marker with its line feeds counts as one
    text_bytes: int = 0  # UTF-8
    line_feeds: int = 0  # line feeds of markers


class SubwordStats(NamedTuple):
    """Numbers of pieces and characters in a text that was split into subword pieces."""

    pieces: int = 0
    characters: int = 0  # as in CorpusStats
    unknown_characters: int = 0  # characters for which the model has no piece, not even byte pieces
    byte_characters: int = 0  # characters represented by the pieces of their bytes

    @property
    def characters_per_piece(self) -> float:
        """The mean number of characters in a piece, or 0 for an empty text."""
        return self.characters / self.pieces if self.pieces else 0.0

    @property
    def coverage(self) -> float:
        """The share of characters that the pieces represent, or 1 for an empty text."""
        return _share(self.characters - self.unknown_characters, self.characters)

    @property
    def own_piece_coverage(self) -> float:
        """The share of characters that are represented by pieces of characters, not by byte pieces.

        In the Wiki-40B paper, this share is 99.9 %.
        """
        own = self.characters - self.unknown_characters - self.byte_characters
        return _share(own, self.characters)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


class PackedArticle(NamedTuple):
    """An article with compressed text and its counts, as it is passed between stages."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    packed_text: bytes  # see Scratch.put_text
    stats: CorpusStats
    wikidata_id: str = ""  # "Q67"; "" until the page is linked
    split: str = ""  # "train", "validation" or "test"; "" until it is assigned
    revised: str = ""  # see Page
    # classes of the Wikidata item, as numbers (5 for Q5); () if unknown
    classes: tuple[int, ...] = ()
    packed_markdown: bytes = b""  # stored as `packed_text`; b"" if not requested


class Rejected(NamedTuple):
    """A record that was read and not kept, with the reason."""

    id: str  # page id, or file and byte offset
    title: str
    stage: str  # "screen-pages"
    reason: str  # a slug: "redirect"
    detail: str = ""


class Reason(NamedTuple):
    """The reason why a record is not kept: a slug such as "redirect", and optionally a detail."""

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
    name: str  # without its folder
    bytes: int
    sha256: str


class LineRange(NamedTuple):
    """The sorted lines of one range of the corpus. The corpus is sorted by bytes and divided into ranges."""

    index: int  # type: ignore[assignment]  # number of the range; ranges are numbered in byte order
    lines: int
    packed: bytes  # the block of lines, or a reference to it (see scratch.py)


class LineShard(NamedTuple):
    """The lines of one shard of the shuffled corpus, in their final order."""

    series: str  # "train" (its shard 0 is held out) or "heldout" (the parts of shard 0)
    shard: int  # number in the series, from 0
    shards: int  # number of shards in the series
    block: bytes  # see line_blocks.py


class BookHeader(NamedTuple):
    """The header of a Project Gutenberg file. Missing values are "" or 0."""

    number: int = 0  # number of the ebook: 84 in "[EBook #84]"
    title: str = ""  # without line breaks
    authors: tuple[str, ...] = ()  # unchanged: "Mary Wollstonecraft Shelley"
    languages: tuple[str, ...] = ()  # ISO 639 codes, "en"; names without a code are unchanged
    encoding: str = ""  # declared in the header: "ISO-8859-1"
    release_date: str = ""  # ISO 8601, as precise as the header: "2008-06-17", "1993-10", "1993"
    original_publication: str = ""  # the source edition: "New York: Harper & Brothers, 1899"


class BookFile(NamedTuple):
    """A decoded text file of a Project Gutenberg book. There may be several files of a book."""

    book_id: int  # number of the ebook, positive
    name: str  # of the file without its folder: "84-0.txt", "txt-files.tar.zip/cache/epub/84/pg84.txt"
    encoding: str  # used to decode the file: "ascii", "utf-8", "cp1252", …
    header: BookHeader
    characters: int  # of the text, Unicode code points
    packed_text: bytes  # the whole file with LF as line end, without BOM; see Scratch.put_text
    digest: int = 0  # fingerprint of the text


class Author(NamedTuple):
    """A contributor to a book. Unknown years are 0, years before Christ are negative."""

    name: str  # "Shelley, Mary Wollstonecraft"
    birth_year: int = 0
    death_year: int = 0
    role: str = ""  # "" for the author, "Translator", "Editor", …


class CatalogEntry(NamedTuple):
    """The entry of a book in the catalogue of Project Gutenberg."""

    book_id: int
    kind: str  # "Text", "Sound", "Image", …
    title: str  # without line breaks
    authors: tuple[Author, ...]
    languages: tuple[str, ...]  # ISO 639 codes
    subjects: tuple[str, ...]  # "Gothic fiction"
    bookshelves: tuple[str, ...]
    rights: str = ""  # of RDF: "Public domain in the USA."
    imprint: str = ""  # of RDF (marc260): "$aLondon :$bNobody & Co., $c1903, reprint 1907."
    year: int = 0  # of publication, of RDF (marc906)


class ReleasedBook(NamedTuple):
    """A line of metadata.csv in DeepMind's PG-19 release."""

    book_id: int
    title: str  # "Frankenstein by Mary Shelley"
    year: int  # of publication, as released
    url: str


class Book(NamedTuple):
    """A book: the text of one file, with metadata from its header, the catalogue and the PG-19 release."""

    book_id: int
    name: str  # of the file
    encoding: str  # used to decode the file
    title: str  # from the catalogue, otherwise from the header; without line breaks
    authors: tuple[Author, ...]  # from the same source as the title
    languages: tuple[str, ...]  # from the same source; ISO 639 codes; () if unknown
    subjects: tuple[str, ...]
    bookshelves: tuple[str, ...]
    original_publication: str  # see BookHeader
    released_year: int  # from metadata.csv of PG-19; 0 for books that are not in it
    is_in_catalog: bool
    characters: int  # of the text, Unicode code points
    packed_text: bytes  # see Scratch.put_text
    catalog_imprint: str = ""  # see CatalogEntry
    catalog_year: int = 0


class MeasuredBook(NamedTuple):
    """A book with the counts by which simple books are selected. Tokens are separated by white space."""

    book: Book
    tokens: int  # number of tokens (L in the paper)
    vocabulary: int  # number of distinct tokens (V in the paper)


class TokenizedBook(NamedTuple):
    """A kept book with its raw and its tokenised text. Both texts have one paragraph per line."""

    book_id: int
    title: str
    paragraphs: int  # lines of each of the two texts; each line ends with a line feed
    packed_raw: bytes  # see Scratch.put_text
    packed_tokens: bytes  # the same; tokens are separated by one space
    tokens: int  # of the tokenised text


class OverlapVerdict(NamedTuple):
    """The overlap filter's decision about one book, with the counts on which it is based."""

    book_id: int
    ngrams: int  # distinct n-grams of the book
    covered: int  # n-grams of the book that larger kept books contain
    is_kept: bool
    # (id of a kept book, number of n-grams for which it is the largest book)
    covering: tuple[tuple[int, int], ...]


class BookRow(NamedTuple):
    """A book as a row of the output files: its split, its id, and the values of the columns."""

    split: str
    book_id: int
    # in the order of the features; bytes are packed texts
    values: tuple[int | str | bytes | None, ...]


SPLITS = ("dev", "devtest", "test")  # in the order of a release; test is withheld
DOMAINS = ("wikinews", "wikibooks", "wikivoyage", "wikipedia")
TOPICS = (
    "crime",
    "disasters",
    "entertainment",
    "geography",
    "health",
    "nature",
    "politics",
    "science",
    "sports",
    "travel",
)


class ReadError(Exception):
    """Raised if a file has a wrong format.

    `line` is the line of the error, counted from 1; 0 means the whole file.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line, self.message = line, message


class SourceSentence(NamedTuple):
    """An English sentence to be translated into all languages of the benchmark."""

    id: str  # the split, and the position in it from 1: "devtest-0042"
    split: str  # one of SPLITS
    article: str  # domain and page id, "wikinews:4711"; the sentences of an article are neighbours
    text: str
    url: str  # of the article
    domain: str  # one of DOMAINS, or the name of a domain of the user's documents
    topic: str  # one of TOPICS, or a topic that an editor has entered
    has_image: bool  # True if the article shows a picture
    has_hyperlink: bool  # True if the sentence links to another page
    licence: str = ""  # licence of the article; "" in a build without documents of the user


class Translation(NamedTuple):
    """A translation exactly as it was returned, including leading and trailing spaces."""

    id: str  # of the source sentence
    text: str
    file: str  # name of the returned file; "" if there was none
    line: int  # line in that file, from 1


class Finding(NamedTuple):
    """A fault that a check found in a translation."""

    id: str  # id of the source sentence; "" for a finding about a whole file
    rule: str  # name of the check: "numbers-differ"
    # "error": the translation is returned to the translator; "warning": a person should look at it
    severity: str
    message: str  # one line for the translator: what is wrong and what was expected
    file: str  # see Translation
    line: int


TITLE_IN_TEXT = "<text>"
"""Value of `title` if the title is the first line of the article, see article_markers.py."""


class CorpusShape(NamedTuple):
    """The columns and splits of a corpus, as needed to compare two of its editions."""

    unit: str  # noun for rows: "articles"
    id: str  # column; "" if rows have no id: then the fingerprint of the text is the id
    title: str  # column, TITLE_IN_TEXT, or "" for rows without a title
    # columns of text, which are compared and whose bytes are counted; () for all columns but the id
    texts: tuple[str, ...]
    facts: tuple[str, ...] = ()  # further columns that are compared
    # Splits that hold each document once. Subsets of other splits are not compared: paper_test of One Billion
    # Word is a part of test, train_2 of SimpleBooks a part of train.
    splits: tuple[str, ...] = ("train", "validation", "test")
    repeats: bool = False  # True if an id may be in several rows of one build
    withheld: str = ""  # name of a split that is not published; "" if there is none
    why_moves: str = ""  # reason why documents may change their split; "" if they may not
    # beginning of the names of columns, one a language, of which each value is compared as a document
    per_language: str = ""


class Layout(NamedTuple):
    """The column that contains the text of a corpus, and the format of the text."""

    column: str  # column of its Parquet files
    # format: a key of PARAGRAPHS in sentence_sampling.py; "" if each value is one sentence
    paragraphs: str
    caveat: str = ""  # for the users of vocabularies that are learned from it
