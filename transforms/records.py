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


class Article(NamedTuple):
    """A cleaned article. `text` is in Wiki-40B layout (see text/wikimedia/article_markers.py)."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    text: str


class CorpusStats(NamedTuple):
    """Counts of articles."""

    articles: int = 0
    sections: int = 0  # with a heading: the lead is none
    paragraphs: int = 0
    words: int = 0  # between white space, markers not counted
    characters: int = 0  # Unicode code points, a marker is one
    text_bytes: int = 0  # UTF-8


class PackedArticle(NamedTuple):
    """An article on its way through joins and shuffles: its text compressed, its counts taken."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    packed_text: bytes
    stats: CorpusStats
    wikidata_id: str = ""  # "Q67"; "" until the page is linked
    split: str = ""  # "train", "validation" or "test"; "" until it is assigned


class Rejected(NamedTuple):
    """Something that was read and not kept, and why."""

    id: str  # page id, or file and byte offset
    title: str
    stage: str  # "screen-pages"
    reason: str  # a slug: "redirect"
    detail: str = ""


class Reason(NamedTuple):
    """Why something is not kept."""

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
    block: bytes  # see text/line_blocks.py
