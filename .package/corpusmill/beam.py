"""Transforms for pipelines of Apache Beam that read, clean, filter and write text.

The elements are named tuples, or dicts for rows. Transforms that reject or skip something return a named
tuple of PCollections, so that nothing is lost without a trace. The names in `__all__`, the arguments and the
fields are stable.

Arguments that are wrong raise corpusmill.CorpusmillError when a transform is made. Bad input that is found
while the pipeline runs ends the pipeline, with the file and the byte in the message.

A scratch folder takes temporary texts and hashes. All workers must reach it, and it can be deleted when the
pipeline has ended.
"""

import dataclasses
import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from ._duplicates import EvaluationItems, find_in_block, index_items
from ._errors import CorpusmillError, check_text, path_of, reported
from ._news import check_news, tokenize_news
from ._wikipedia import check_lists, language_of
from .transforms.books.gather_books import GatherBooks, match_books
from .transforms.books.screen_books import strip_text
from .transforms.duplicates.similar_documents import DocumentFacts, DropDuplicates
from .transforms.files import records
from .transforms.files.builds import finished_builds
from .transforms.files.compression import check_on_corrupt
from .transforms.files.counters import LostBytes, Screened, ScreenPages
from .transforms.files.formats import DEFAULT, TEXT, parse_formats
from .transforms.files.line_blocks import lines_of
from .transforms.files.read_files import InputError, match_inputs
from .transforms.files.read_lines import ReadLines
from .transforms.files.records import Article, Author, OutputFile, PackedArticle, Page, Rejected
from .transforms.files.scratch import fetch_text
from .transforms.files.text import SPLITS, fingerprint, plain_words, split_of
from .transforms.files.write_rows import PlanShards, RowKind
from .transforms.files.write_rows import WriteRows as WriteShards
from .transforms.wikipedia import clean_wikitext, join_wikidata, read_dumps
from .transforms.wikipedia.article_rows import pack_article
from .transforms.wikipedia.clean_wikitext import Cleaned, Unrendered
from .transforms.wikipedia.join_wikidata import WikiTables
from .transforms.wikipedia.read_dumps import ReadPages
from .transforms.wikipedia.read_entity_table import EntityTable
from .transforms.wikipedia.screening import PageScreening
from .transforms.wikitext.language import LISTS
from .transforms.wikitext.wikis import dbname_of

__all__ = [
    "Article",
    "Author",
    "BookText",
    "CleanWikitext",
    "Cleaned",
    "ContaminatedText",
    "DropNearDuplicates",
    "FindContamination",
    "JoinWikidata",
    "LinkedArticle",
    "LostBytes",
    "NewsLines",
    "OutputFile",
    "Page",
    "ReadBookTexts",
    "ReadBooks",
    "ReadBuild",
    "ReadNews",
    "ReadPages",
    "ReadTemplates",
    "ReadWikipediaDump",
    "Rejected",
    "Screened",
    "SelectArticles",
    "StripBooks",
    "TokenizeNews",
    "Unrendered",
    "WriteRows",
]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
_NAME = re.compile(r"\w[\w.-]*")
_BATCH_CHARACTERS = 1 << 20
_TYPES = (pa.string(), pa.int64())


class LinkedArticle(NamedTuple):
    """An article with the id of its Wikidata item."""

    page_id: int
    title: str
    version_id: str  # decimal revision id
    text: str  # in the layout of Wiki-40B
    wikidata_id: str  # "Q67"; "enwiki:12" if no table links the pages of the wiki


class BookText(NamedTuple):
    """A book with its text."""

    book_id: int  # number of the ebook
    title: str
    authors: tuple[Author, ...]  # name, birth_year, death_year, role
    languages: tuple[str, ...]  # ISO 639 codes; () if unknown
    original_publication: str  # of the header: "New York: Harper & Brothers, 1899"; or ""
    text: str


class ReadBookTexts(NamedTuple):
    """The outputs of ReadBooks."""

    books: beam.PCollection  # of BookText
    rejected: beam.PCollection  # of Rejected: files that are no books, further files of a book
    lost: beam.PCollection  # of LostBytes; nothing unless `on_corrupt` is "keep-good"


class NewsLines(NamedTuple):
    """The outputs of ReadNews."""

    lines: beam.PCollection  # of str, without line feeds
    rejected: beam.PCollection  # of Rejected: lines that are not UTF-8, or too long
    lost: beam.PCollection  # of LostBytes; nothing unless `on_corrupt` is "keep-good"


class ContaminatedText(NamedTuple):
    """A passage of a document that is also in an evaluation item."""

    document: str  # id of the document
    item: int  # index of the item
    words: int  # number of words of the passage
    start: int  # position in the document in NFC, in characters
    end: int
    text: str  # of the document: the passage


class ReadWikipediaDump(beam.PTransform):
    """Reads the pages of the dump of a wiki. Pipeline → ReadPages.

    ReadPages has `pages` (PCollection[Page]), `rejected` (PCollection[Rejected]: pages that are not
    well-formed) and `lost` (PCollection[LostBytes]). A Page has `page_id`, `namespace`, `title`,
    `revision_id`, `content_model`, `is_redirect`, `is_deleted`, `text` (the wikitext), `redirect_target`,
    `created`, `comment` and `revised`.

    Args:
      paths: files or patterns of files: .xml, .xml.bz2 (of one stream or many), .xml.gz, .xz, .zst.
      namespaces: namespaces whose pages are read; None reads all pages.
      on_corrupt: "fail" ends the pipeline at the first damage; "keep-good" skips damaged parts.
      workers: number of workers that share a file which cannot be divided, such as a .gz.
      limit: maximum number of pages; 0 reads all pages.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        namespaces: Sequence[int] | None = None,
        on_corrupt: str = "fail",
        workers: int = 1,
        limit: int = 0,
    ):
        super().__init__()
        self.namespaces = None if namespaces is None else frozenset(namespaces)
        files = _match(paths)
        with reported(also=(InputError,)):
            check_on_corrupt(on_corrupt)
            for path in files:
                read_dumps.read_siteinfo(path)
        self.read = read_dumps.ReadDump(files, workers, on_corrupt, self.namespaces, limit)

    def expand(self, root: beam.Pipeline) -> ReadPages:
        read: ReadPages = root | "ReadDump" >> self.read
        if self.namespaces is None:
            return read
        wanted = beam.Filter(_is_in, self.namespaces).with_output_types(Page)
        return read._replace(pages=read.pages | "OfNamespaces" >> wanted)


def _is_in(page: Page, namespaces: frozenset[int]) -> bool:
    return page.namespace in namespaces


class ReadTemplates(beam.PTransform):
    """Collects the templates of a wiki. PCollection[Page] → PCollection of one element, for CleanWikitext.

    Args:
      language: the code of a Wikipedia, such as "uk"; for Chinese "zh-cn" or "zh-tw".
      dump: a file of the dump, whose head has the names of namespaces.
      entities: folder of a table that `corpusmill entities` has made. It has the local names of templates
        that corpusmill knows by their English names.
    """

    def __init__(
        self,
        language: str,
        dump: str | os.PathLike[str],
        *,
        entities: str | os.PathLike[str] | None = None,
    ):
        super().__init__()
        self.read = clean_wikitext.ReadTemplates(
            language_of(language), _namespaces(dump), dbname_of(language), _entities(entities)
        )

    def expand(self, pages: beam.PCollection) -> beam.PCollection:
        return (pages | "ReadTemplates" >> self.read).templates


class SelectArticles(beam.PTransform):
    """Keeps the pages that are articles. PCollection[Page] → Screened.

    Screened has `kept` (PCollection[Page]) and `rejected` (PCollection[Rejected]). Redirects, pages of other
    namespaces, deleted and empty pages, and pages that are not wikitext are rejected; disambiguation pages,
    too, as far as their templates show what they are.

    Args:
      language: as for ReadTemplates.
    """

    def __init__(self, language: str):
        super().__init__()
        self.screening = PageScreening(language_of(language), uses_template_names=True)

    def expand(self, pages: beam.PCollection) -> Screened:
        screen = ScreenPages(self.screening.reason_to_reject)
        screened: Screened = pages | "ScreenPages" >> screen
        return screened


class CleanWikitext(beam.PTransform):
    """Converts wikitext to running text. PCollection[Page] → Cleaned.

    Cleaned has `kept` (PCollection[Article]), `rejected` (PCollection[Rejected]: pages without prose, and
    those that cannot be cleaned) and `unrendered` (PCollection[Unrendered]: templates that left no text). An
    Article has `page_id`, `title`, `version_id`, `text` (in the layout of Wiki-40B) and `revised`.

    Args:
      language: as for ReadTemplates.
      dump: a file of the dump, whose head has the names of namespaces; None for pages without a dump.
      templates: the output of ReadTemplates; None to use only the templates that corpusmill knows.
      scratch: scratch folder, which is needed with `templates`.
      min_words: articles with fewer words are rejected.
      lists: which lists are kept; as for `corpusmill.clean`.
    """

    def __init__(
        self,
        language: str,
        *,
        dump: str | os.PathLike[str] | None = None,
        templates: beam.PCollection | None = None,
        scratch: str | os.PathLike[str] = "",
        min_words: int = 0,
        lists: str = LISTS[0],
    ):
        super().__init__()
        check_lists(lists)
        namespaces = {} if dump is None else _namespaces(dump)
        self.scratch = "" if templates is None else path_of(scratch, "scratch")
        self.clean = clean_wikitext.CleanWikitext(
            dataclasses.replace(language_of(language), lists=lists),
            namespaces,
            templates,
            self.scratch,
            min_words,
        )

    def expand(self, pages: beam.PCollection) -> Cleaned:
        if self.scratch:
            _make(self.scratch)
        cleaned: Cleaned = pages | "CleanWikitext" >> self.clean
        return cleaned


class JoinWikidata(beam.PTransform):
    """Adds the ids of Wikidata items to articles. PCollection[Article] → Screened.

    Screened has `kept` (PCollection[LinkedArticle]) and `rejected` (PCollection[Rejected]). Articles without
    an item, disambiguation pages, and older revisions of a page are rejected. Without any table, no article
    is rejected for lack of an item, and each one is identified by its page.

    Args:
      language: as for ReadTemplates.
      page_props: files or patterns of files of the wiki's table page_props (.sql.gz).
      entities: folder of a table that `corpusmill entities` has made; articles about lists and other things
        of Wikimedia's own are then rejected, too.
    """

    def __init__(
        self,
        language: str,
        *,
        page_props: Paths = (),
        entities: str | os.PathLike[str] | None = None,
    ):
        super().__init__()
        language_of(language)
        tables = WikiTables(page_props=_match(page_props) if page_props else ())
        self.link = join_wikidata.LinkPages(dbname_of(language), tables, _entities(entities))

    def expand(self, articles: beam.PCollection) -> Screened:
        packed = articles | "Pack" >> beam.Map(pack_article).with_output_types(PackedArticle)
        linked = packed | "LinkPages" >> self.link
        unpack = beam.Map(_unpack_article).with_output_types(LinkedArticle)
        return Screened(linked.kept | "Unpack" >> unpack, linked.rejected)


def _unpack_article(article: PackedArticle) -> LinkedArticle:
    text = fetch_text(article.packed_text)
    return LinkedArticle(
        article.page_id, article.title, article.version_id, text, article.wikidata_id
    )


class ReadBooks(beam.PTransform):
    """Reads books of Project Gutenberg. Pipeline → ReadBookTexts.

    ReadBookTexts has `books` (PCollection[BookText]), `rejected` (PCollection[Rejected]) and `lost`
    (PCollection[LostBytes]). If a book has several files, the best one is read. The texts have the header and
    the licence of Project Gutenberg; StripBooks removes them.

    Args:
      paths: text files, archives (.zip, .tar) of them, patterns or folders.
      scratch: scratch folder.
      catalog: files of the catalogue of Project Gutenberg: pg_catalog.csv, or the archive of RDF files.
        Without it, title and authors are those of the headers.
      on_corrupt: "fail" ends the pipeline at the first damage; "keep-good" skips damaged parts.
      workers: number of workers that share a large archive.
    """

    def __init__(
        self,
        paths: Paths,
        scratch: str | os.PathLike[str],
        *,
        catalog: Paths = (),
        on_corrupt: str = "fail",
        workers: int = 1,
    ):
        super().__init__()
        self.scratch = path_of(scratch, "scratch")
        with reported(also=(InputError, BeamIOError)):
            check_on_corrupt(on_corrupt)
            if workers < 1:
                raise ValueError(f"workers must be positive, not {workers}")
            books = match_books(_patterns(paths))
            self.gather = GatherBooks(
                self.scratch, books, _match(catalog) if catalog else (), (), workers, on_corrupt
            )

    def expand(self, root: beam.Pipeline) -> ReadBookTexts:
        _make(self.scratch)
        gathered = root | "GatherBooks" >> self.gather
        books = gathered.books | "Texts" >> beam.Map(_book_text).with_output_types(BookText)
        rejected = (gathered.rejected, gathered.catalog_rejected) | "Rejected" >> beam.Flatten()
        return ReadBookTexts(books, rejected, gathered.lost)


def _book_text(book: records.Book) -> BookText:
    text = fetch_text(book.packed_text)
    facts = book.title, book.authors, book.languages, book.original_publication
    return BookText(book.book_id, *facts, text)


class StripBooks(beam.PTransform):
    """Removes headers, licences and transcriber's notes from books. PCollection[BookText] → Screened.

    Screened has `kept` (PCollection[BookText]) and `rejected` (PCollection[Rejected]: books that cannot be
    told apart from the licence).

    Args:
      furniture: True to remove tables of contents and captions of illustrations, too.
    """

    def __init__(self, *, furniture: bool = False):
        super().__init__()
        self.furniture = furniture

    def expand(self, books: beam.PCollection) -> Screened:
        strip = beam.FlatMap(_strip_book, self.furniture).with_output_types(BookText)
        split = books | "Strip" >> strip.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


def _strip_book(book: BookText, furniture: bool) -> Iterator[Any]:
    text = strip_text(book.text, furniture)
    if isinstance(text, records.Reason):
        rejected = Rejected(str(book.book_id), book.title, "strip-books", *text)
        yield beam.pvalue.TaggedOutput("rejected", rejected)
    else:
        yield book._replace(text=text)


class ReadNews(beam.PTransform):
    """Reads lines of text files, such as those of the news crawls of WMT. Pipeline → NewsLines.

    NewsLines has `lines` (PCollection[str], without line feeds; not in order), `rejected`
    (PCollection[Rejected]: lines that Perl cannot read as UTF-8) and `lost` (PCollection[LostBytes]). Bytes
    that Perl can read and Python cannot, such as code points above U+10FFFF, become U+FFFD.

    Args:
      paths: files or patterns of files: plain, .gz, .bz2, .xz, or .tar archives of such files.
      members: patterns of the names of the files that are read in archives.
      on_corrupt: "fail" ends the pipeline at the first damage; "keep-good" skips damaged parts.
      workers: number of workers that share a file which cannot be divided, such as a .gz.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        members: Sequence[str] = ("*",),
        on_corrupt: str = "fail",
        workers: int = 1,
    ):
        super().__init__()
        with reported():
            check_on_corrupt(on_corrupt)
        self.read = ReadLines(_match(paths), workers, on_corrupt, members)

    def expand(self, root: beam.Pipeline) -> NewsLines:
        read = root | "ReadLines" >> self.read
        lines = read.blocks | "Lines" >> beam.FlatMap(_lines).with_output_types(str)
        return NewsLines(lines, read.rejected, read.lost)


def _lines(block: bytes) -> Iterator[str]:
    return (line.decode("utf-8", "replace") for line in lines_of(block))


class TokenizeNews(beam.PTransform):
    """Normalises and tokenises lines. PCollection[str] → PCollection[str].

    Args:
      language: the code of the language, such as "de".
      perl: the version of Perl whose tables of characters are used.
    """

    def __init__(self, language: str = "en", *, perl: str = "5.36"):
        super().__init__()
        with reported():
            check_news(language, perl)
        self.settings = {"language": language, "perl": perl}

    def expand(self, lines: beam.PCollection) -> beam.PCollection:
        tokenize = functools.partial(tokenize_news, **self.settings)
        return lines | "Tokenize" >> beam.Map(tokenize).with_output_types(str)


class DropNearDuplicates(beam.PTransform):
    """Drops near-duplicate documents. PCollection[document] → Screened.

    Screened has `kept` (PCollection[document]) and `rejected` (PCollection[Rejected], each with the key of
    the document that stays). Documents are similar if their sets of 8-grams of words are. The longest
    document of a group is kept.

    Args:
      scratch: scratch folder.
      key: picklable function from a document to its key, a unique str or int.
      text: picklable function from a document to its text.
      similarity: least Jaccard similarity of near-duplicates, above 0 and below 1.
    """

    def __init__(
        self,
        scratch: str | os.PathLike[str],
        *,
        key: Callable[[Any], str | int],
        text: Callable[[Any], str],
        similarity: float = 0.8,
    ):
        super().__init__()
        self.scratch = path_of(scratch, "scratch")
        with reported():
            describe = functools.partial(_describe, key=key, text=text)
            words = functools.partial(_words, text=text)
            self.drop = DropDuplicates(self.scratch, describe, words, similarity)

    def expand(self, documents: beam.PCollection) -> Screened:
        _make(self.scratch)
        screened: Screened = documents | "DropDuplicates" >> self.drop
        return screened


def _describe(
    document: Any, key: Callable[[Any], str | int], text: Callable[[Any], str]
) -> DocumentFacts:
    return DocumentFacts(key(document), "", len(text(document)))


def _words(document: Any, text: Callable[[Any], str]) -> str:
    return plain_words(text(document))


class FindContamination(beam.PTransform):
    """Finds evaluation items in documents. PCollection[(id, text)] → PCollection[ContaminatedText].

    The rules are those of the function `corpusmill.contaminated`.

    Args:
      items: the texts of an evaluation set. All workers get them.
    """

    def __init__(self, items: Iterable[str]):
        super().__init__()
        self.items = index_items(items)

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        search = beam.ParDo(_Search(self.items))
        return documents | "Search" >> search.with_output_types(ContaminatedText)


class _Search(beam.DoFn):
    """Searches documents together, as the index is fast for some hundred thousand characters at a time."""

    def __init__(self, items: EvaluationItems):
        self.items = items

    def setup(self) -> None:
        self.index = self.items.build()

    def start_bundle(self) -> None:
        self.documents: list[tuple[str, str]] = []
        self.characters = 0

    def process(self, document: tuple[str, str]) -> Iterator[ContaminatedText]:
        check_text(document[1], "the text of a document")
        self.documents.append(document)
        self.characters += len(document[1])
        if self.characters >= _BATCH_CHARACTERS:
            yield from self._find()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        window = GlobalWindow()
        for found in self._find():
            yield WindowedValue(found, window.max_timestamp(), [window])

    def _find(self) -> Iterator[ContaminatedText]:
        documents = self.documents
        self.start_bundle()
        if self.index is None or not documents:
            return
        texts = [text for _, text in documents]
        for one in find_in_block(self.index, self.items.numbers, texts):
            name = documents[one.document][0]
            yield ContaminatedText(name, one.item, one.words, one.start, one.end, one.text)


class ReadBuild(beam.PTransform):
    """Reads the rows of a finished build. Pipeline → PCollection[dict].

    Each row is a dict from the names of columns to values. With `split_column`, it has the split, too.

    Args:
      folder: folder of the build, on any file system of Beam.
      columns: names of the columns to read.
      splits: names of the splits to read: "train", "validation", "test".
      split_column: name under which each row has its split; "" to leave it out.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        columns: Sequence[str],
        *,
        splits: Sequence[str] = SPLITS,
        split_column: str = "",
    ):
        super().__init__()
        self.split_column = split_column
        with reported(also=(InputError, BeamIOError)):
            build = finished_builds.open_build(path_of(folder, "folder"))
            paths = [file.path for file in finished_builds.files_of(build, splits)]
            there = finished_builds.schema_of_files(paths).names
            for name in columns:
                if there and name not in there:
                    raise CorpusmillError(f"{folder}: the build has no column {name!r}")
            self.read = finished_builds.ReadCorpus([build], columns, splits)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        rows = beam.FlatMap(_rows, self.split_column).with_output_types(dict[str, Any])
        return root | "ReadCorpus" >> self.read | "Rows" >> rows


def _rows(read: finished_builds.CorpusRows, split_column: str) -> Iterator[dict[str, Any]]:
    split = {split_column: read.file.split} if split_column else {}
    return ({**row, **split} for batch in read.table.to_batches() for row in batch.to_pylist())


class WriteRows(beam.PTransform):
    """Writes rows to files in one or more formats. PCollection[dict] → PCollection[OutputFile].

    The files are named `train-00000-of-00001.parquet`, and `<name>-train.tfrecord-00000-of-00001`. The
    rows of a split are shuffled by a hash of their key, so the files do not depend on workers or the order of
    the input. An OutputFile has `name`, `split`, `format`, `records`, `bytes` and `sha256`.

    Args:
      folder: folder to write to.
      schema: the columns to write, of the types string and int64. Rows may have further entries.
      key: name of the entry that identifies a row, a str. It need not be a column.
      split: name of the entry that is the split of a row. By default, a hash of the key decides: 90 % of the
        rows are in train, 5 % in validation and 5 % in test.
      splits: names of all splits.
      name: first part of the names of TFRecord files.
      shard_bytes: approximate size of the text of a file.
      formats: the formats, separated by commas, such as "jsonl.gz" (see pipelines/docs/formats.md). Text
        files have the column "text".
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        schema: pa.Schema,
        *,
        key: str,
        split: str | None = None,
        splits: Sequence[str] = SPLITS,
        name: str = "corpus",
        shard_bytes: int = 1 << 28,
        formats: str = DEFAULT,
    ):
        super().__init__()
        self.folder, self.schema, self.formats = path_of(folder, "folder"), schema, formats
        if not isinstance(schema, pa.Schema) or not set(schema.types) <= set(_TYPES):
            raise CorpusmillError("schema must be a pyarrow.Schema of columns of string or int64")
        if bad := [one for one in (name, *splits) if not _NAME.fullmatch(one)]:
            raise CorpusmillError(f"name and splits must be plain names, not {bad[0]!r}")
        self.name, self.splits, self.key = name, tuple(splits), key
        self.split_of = functools.partial(_split_of, key=key, split=split)
        with reported():
            needs_text = any(one.startswith(TEXT) for one in parse_formats(formats))
            if needs_text and pa.field("text", pa.string()) not in schema:
                raise CorpusmillError("text files need a column text of strings in the schema")
            if shard_bytes < 1:
                raise ValueError(f"shard_bytes must be positive, not {shard_bytes}")
        self.plan = PlanShards(self.splits, shard_bytes, _MeasureRows(self.split_of))

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        _make(self.folder)
        kind = RowKind(
            schema=self.schema,
            identity=functools.partial(_value, key=self.key),
            order=functools.partial(_order, key=self.key),
            split_of=self.split_of,
            values=functools.partial(_values, names=tuple(self.schema.names)),
            pack=dict,
            unpack=dict,
        )
        shards = rows | "PlanShards" >> self.plan
        return rows | "WriteShards" >> WriteShards(
            self.folder, self.name, kind, shards, formats=self.formats
        )


class _MeasureRows(beam.PTransform):
    def __init__(self, split: Callable[[Mapping[str, Any]], str]):
        super().__init__()
        self.split = split

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        sizes = beam.Map(_size, self.split).with_output_types(tuple[str, int])
        return rows | "Sizes" >> sizes | "AddUp" >> beam.CombinePerKey(sum)


def _size(row: Mapping[str, Any], split: Callable[[Mapping[str, Any]], str]) -> tuple[str, int]:
    return split(row), sum(len(one.encode()) for one in row.values() if isinstance(one, str))


def _value(row: Mapping[str, Any], key: str) -> str:
    value: str = row[key]
    return value


def _split_of(row: Mapping[str, Any], key: str, split: str | None) -> str:
    return split_of(row[key]) if split is None else str(row[split])


def _order(row: Mapping[str, Any], key: str) -> tuple[int, str, str]:
    return fingerprint(row[key]), row[key], json.dumps(row, sort_keys=True, default=str)


def _values(row: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [row[name] for name in names]


def _namespaces(dump: str | os.PathLike[str]) -> Mapping[int, Sequence[str]]:
    with reported(also=(InputError, BeamIOError)):
        return read_dumps.read_siteinfo(path_of(dump, "dump")).namespaces


def _entities(folder: str | os.PathLike[str] | None) -> EntityTable | None:
    with reported(also=(InputError, BeamIOError)):
        return None if folder is None else EntityTable.open(path_of(folder, "entities"))


def _patterns(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(several, Sequence) or isinstance(several, bytes) or not several:
        raise CorpusmillError("paths must be a path, or several")
    return [path_of(one, "each of paths") for one in several]


def _match(paths: Paths) -> list[str]:
    with reported(also=(InputError, BeamIOError)):
        return match_inputs(_patterns(paths))


def _make(folder: str) -> None:
    with reported(folder, (BeamIOError,)):
        if not FileSystems.exists(folder):
            FileSystems.mkdirs(folder)
