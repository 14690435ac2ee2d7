"""Converts articles to rows, and describes these rows for the transform WriteRows.

Packs articles for shuffles.

Texts are compressed to a third of their size. They are decompressed only when they are written.
A build stores them in scratch, so that shuffles only pass references.

Computes statistics of articles per split.

Drops near-duplicate articles. Of each group of near-duplicates, the longest article is kept.

Reads the articles of the released corpus. Outside English, its values were published as Python's notation of
bytes: b'\\n_START_ARTICLE_\\n\\xd0\\x9c…'.
"""

import ast
import functools
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from ..duplicates.similar_documents import DocumentFacts
from ..files.builds.finished_builds import check_columns, opened
from ..files.distribution import transform
from ..files.formats import PARQUET
from ..files.read_files import InputError, damage_in, open_raw
from ..files.records import Article, CorpusStats, PackedArticle
from ..files.scratch import fetch_text, pack_text
from ..files.text import fingerprint, plain_words
from ..files.tfrecord import decode_example, read_records
from ..files.write_rows import RowKind
from ..wikitext.article_markers import measure_article, plain_article
from .article_accounts import FULL, NUMBERS, RELEASED, RowSource


def pack_article(article: Article, put_text: Callable[[str], bytes] = pack_text) -> PackedArticle:
    """Returns the article with its text compressed and statistics of the text added.

    Args:
      put_text: function that converts a text to bytes from which `fetch_text` restores it. Scratch.put_text
        stores the text in a file.
    """
    return PackedArticle(
        page_id=article.page_id,
        title=article.title,
        version_id=article.version_id,
        packed_text=put_text(article.text),
        stats=measure_article(article.text),
        revised=article.revised,
        packed_markdown=put_text(article.markdown) if article.markdown else b"",
    )


def unpack_text(article: PackedArticle) -> str:
    """Returns the text of the article."""
    return fetch_text(article.packed_text)


def to_bytes(article: PackedArticle) -> bytes:
    """Serialises an article to one byte string, which runners shuffle without inspecting fields."""
    return pickle.dumps((*article[:4], tuple(article.stats), *article[5:]), protocol=5)


def from_bytes(data: bytes) -> PackedArticle:
    """Restores an article from the result of `to_bytes`."""
    article = PackedArticle._make(pickle.loads(data))
    return article._replace(stats=CorpusStats._make(article.stats))


SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in RELEASED])

BATCH = 1024  # articles in a row group, and in memory at once
SHARE = {"train": 0.90, "validation": 0.05, "test": 0.05}  # of the articles, in each split


@transform
def ShareOut(articles: beam.PCollection) -> beam.PCollection:
    """Estimates the amount of text in each split, to plan the number of files.

    PCollection[PackedArticle] → PCollection[(split, bytes of text)]. The total is divided among the splits by
    their shares, because splits are not assigned yet.
    """
    share_out = beam.FlatMap(lambda size: [(one, int(size * SHARE[one])) for one in SHARE])
    return (
        articles
        | "TextBytes" >> beam.Map(lambda article: article.stats.text_bytes)
        | "AddUp" >> beam.CombineGlobally(sum)
        | "ShareOut" >> share_out.with_output_types(tuple[str, int])
    )


def identity(article: PackedArticle) -> str:
    """Returns the string whose hash determines the shard of an article."""
    return article.wikidata_id


def order(article: PackedArticle) -> tuple[int, str, int]:
    """Returns the sort key of an article: (fingerprint of the Wikidata id, Wikidata id, page id).

    Because the fingerprint comes first, the sorted articles are in a pseudo-random order.
    """
    return fingerprint(article.wikidata_id), article.wikidata_id, article.page_id


def values(article: PackedArticle) -> tuple[str, ...]:
    """Returns the values of an article's row: Wikidata id, text and version id.

    These are the columns of wiki40b 1.3.0 in TensorFlow Datasets. All values are str, as Arrow and
    `encode_example` require.
    """
    return article.wikidata_id, unpack_text(article), article.version_id


ARTICLES = RowKind(
    SCHEMA,
    identity,
    order,
    values=values,
    weigh=lambda article: 1,
    batch=BATCH,
    pack=to_bytes,
    unpack=from_bytes,
    counter=("write-corpus", "articles"),
)


def rows_with(columns: Sequence[str], source: RowSource) -> RowKind:
    """Returns the RowKind of articles with the given columns.

    `columns` is a result of `columns_of`. `source` computes the values of the optional columns.
    """
    if tuple(columns) == RELEASED:
        return ARTICLES
    fields = [
        pa.field(name, pa.int64() if name in NUMBERS else pa.string(), nullable=False)
        for name in columns
    ]
    return ARTICLES._replace(
        schema=pa.schema(fields), values=functools.partial(all_values, columns, source)
    )


def all_values(
    columns: Sequence[str], source: RowSource, article: PackedArticle
) -> tuple[str | int, ...]:
    """Returns the values of an article for the given columns, in order.

    `source` computes the values of the optional columns.
    """
    released = values(article)
    found: dict[str, str | int] = dict(zip(RELEASED, released, strict=True))
    if FULL[-1] in columns:
        found |= zip(FULL[len(RELEASED) :], source.values(article), strict=True)
    if "plain_text" in columns:
        found["plain_text"] = plain_article(released[RELEASED.index("text")])
    if "markdown" in columns:
        packed = article.packed_markdown
        found["markdown"] = fetch_text(packed) if packed else ""
    return tuple(found[name] for name in columns)


def split_and_stats(article: PackedArticle) -> tuple[str, CorpusStats]:
    """Returns (split, counts of the article)."""
    return article.split, article.stats


def describe_article(article: PackedArticle) -> DocumentFacts:
    """Returns the page id and title of an article, and its length in characters as its rank.

    Of several near-duplicates, the one with the greatest rank is kept.
    """
    return DocumentFacts(article.page_id, article.title, article.stats.characters)


def text_of_article(article: PackedArticle) -> str:
    """Returns the plain words of the text of an article."""
    return plain_words(unpack_text(article))


_LITERAL = re.compile(
    r"b'(?:[ -&(-\[\]-~]++|\\(?:[\\'nrt]|x[0-9a-f]{2}))*+'"
    r'|b"(?:[ !#-\[\]-~]++|\\(?:[\\nrt]|x[0-9a-f]{2}))*+"'
)
_LITERAL_STARTS = ("b'", 'b"')


def read_released(path: str, notes: Counter[str]) -> Iterator[tuple[str, ...]]:
    """Yields the values of the articles in a Parquet or TFRecord file of the released corpus, as RELEASED.

    Raises InputError if the file is damaged, or a value is no text.

    Args:
      path: path of the file.
      notes: the number of articles with values in the notation of bytes is added to "bytes_notation".
    """
    rows = _read_parquet(path) if path.endswith(".parquet") else _read_records(path)
    for number, row in enumerate(rows, 1):
        try:
            decoded = [decode_value(value) for value in row]
        except ValueError as error:
            raise InputError(path, f"row {number:,}: {error}") from None
        notes["bytes_notation"] += any(is_literal for _, is_literal in decoded)
        yield tuple(text for text, _ in decoded)


def _read_parquet(path: str) -> Iterator[Sequence[Any]]:
    with opened(path, PARQUET) as parquet:
        check_columns(path, parquet, RELEASED)
        for batch in parquet.iter_batches(BATCH, columns=[*RELEASED]):
            yield from zip(*(batch.column(name).to_pylist() for name in RELEASED), strict=True)


def _read_records(path: str) -> Iterator[Sequence[Any]]:
    with open_raw(path) as stream, damage_in(path):
        try:
            for data in read_records(stream):
                features = decode_example(data)
                yield [features.get(name) for name in RELEASED]
        except ValueError as error:
            raise InputError(path, str(error)) from None


def decode_value(value: object) -> tuple[str, bool]:
    """Returns the text of a released value, and whether it was in Python's notation of bytes.

    Raises ValueError if the value is no text, or bytes that are not UTF-8.
    """
    is_literal = isinstance(value, str) and value.startswith(_LITERAL_STARTS)
    if is_literal:
        value = parse_bytes(str(value))
    if isinstance(value, bytes):
        return value.decode("utf-8"), is_literal
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {value!r}")
    return value, False


def parse_bytes(text: str) -> bytes:
    """Returns the bytes that a text like b'\\n\\xd0\\x9c' stands for, in the form that Python prints.

    Raises ValueError for any other text. Nothing is executed.
    """
    if not _LITERAL.fullmatch(text):
        raise ValueError(f"begins like bytes of Python, and is none: {text[:40]}…")
    parsed: bytes = ast.literal_eval(text)
    return parsed
