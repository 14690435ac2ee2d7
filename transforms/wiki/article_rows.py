"""Articles as WriteRows writes them."""

import functools
from collections.abc import Mapping, Sequence

import apache_beam as beam
import pyarrow as pa

from transforms.duplicates.write_signatures import NamedText
from transforms.files.write_rows import RowKind
from transforms.records import PackedArticle
from transforms.text.files.shards import share_out
from transforms.text.fingerprint import fingerprint
from transforms.text.wikimedia.article_markers import plain_article
from transforms.text.wikimedia.row_columns import FULL, NUMBERS, RELEASED, RowSource
from transforms.wiki.pack_articles import from_bytes, to_bytes, unpack_markdown, unpack_text

SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in RELEASED])

BATCH = 1024  # articles in a row group, and in memory at once
_SHARDS_PER_FILE = 10


class ShareOut(beam.PTransform):
    """PCollection[PackedArticle] → PCollection[(split, bytes of text)], before articles are in splits."""

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "TextBytes" >> beam.Map(text_bytes).with_output_types(int)
            | "AddUp" >> beam.CombineGlobally(sum)
            | "ShareOut" >> beam.FlatMap(share_out).with_output_types(tuple[str, int])
        )


def text_bytes(article: PackedArticle) -> int:
    """UTF-8 bytes of the text."""
    return article.stats.text_bytes


def identity(article: PackedArticle) -> str:
    """The text that decides about the shard."""
    return article.wikidata_id


def order(article: PackedArticle) -> tuple[int, str, int]:
    """Articles are in the order of their fingerprints, which is as good as a shuffle."""
    return fingerprint(article.wikidata_id), article.wikidata_id, article.page_id


def values(article: PackedArticle) -> tuple[str, ...]:
    """The features that TFDS wiki40b 1.3.0 has. Arrow and `encode_example` refuse other types than str."""
    return article.wikidata_id, unpack_text(article), article.version_id


def named_texts(article: PackedArticle) -> list[NamedText]:
    """The article in its split."""
    return [NamedText("", article.wikidata_id, article.split, unpack_text(article))]


def files_for_shards(shards: Mapping[str, int]) -> int:
    """Returns the number of files for the signatures of the articles in {split: number of files}.

    Signatures have a sixth of the size of the text. To count the articles would be to hold them all.
    """
    return -(-sum(shards.values()) // _SHARDS_PER_FILE)


def _one(_: object) -> int:
    return 1


ARTICLES = RowKind(
    SCHEMA,
    identity,
    order,
    values=values,
    weigh=_one,
    batch=BATCH,
    pack=to_bytes,
    unpack=from_bytes,
    counter=("write-corpus", "articles"),
)


def rows_with(columns: Sequence[str], source: RowSource) -> RowKind:
    """Articles with these columns, as `columns_of` gives them."""
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
    """The values of the columns."""
    released = values(article)
    found: dict[str, str | int] = dict(zip(RELEASED, released, strict=True))
    if FULL[-1] in columns:
        others = source.values(
            article.page_id,
            article.title,
            article.version_id,
            article.revised,
            article.classes,
            article.stats.words,
        )
        found |= zip(FULL[len(RELEASED) :], others, strict=True)
    if "plain_text" in columns:
        found["plain_text"] = plain_article(released[RELEASED.index("text")])
    if "markdown" in columns:
        found["markdown"] = unpack_markdown(article)
    return tuple(found[name] for name in columns)
