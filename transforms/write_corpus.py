"""Articles → files: Parquet and TFRecord, the same bytes whatever the runner and the order."""

from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
import pyarrow as pa

from transforms import counters
from transforms.pack_articles import pack_article, unpack_article
from transforms.records import Article, OutputFile
from transforms.text.fingerprint import fingerprint, shard_of
from transforms.text.shards import count_shards, parquet_name, tfrecord_name
from transforms.text.tf_example import encode_example, frame_record
from transforms.write_files import write_frames, write_parquet

STAGE = "write-corpus"
FEATURES = ("wikidata_id", "text", "version_id")
SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in FEATURES])

ShardKey = tuple[str, int, int]  # split, shard, number of shards


class PlanShards(beam.PTransform):
    """PCollection[Article] → one {split: number of files}, from the size of the text."""

    def __init__(self, shard_bytes: int):
        super().__init__()
        if shard_bytes < 1:
            raise ValueError(f"shard_bytes is {shard_bytes}, and must be positive")
        self.shard_bytes = shard_bytes

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "TextBytes" >> beam.Map(text_bytes).with_output_types(int)
            | "AddUp" >> beam.CombineGlobally(sum)
            | "CountShards" >> beam.Map(count_shards, self.shard_bytes)
        )


class WriteCorpus(beam.PTransform):
    """PCollection[Article] → PCollection[OutputFile].

    Writes one Parquet and one TFRecord file per shard, in the order of the fingerprint of the identity.
    A shard without articles is a file too: readers find every name of `-of-N`.

    Args:
      folder: of the build.
      corpus: first part of the TFRecord names, "wiki40b".
      shards: the outcome of PlanShards.
    """

    def __init__(self, folder: str, corpus: str, shards: beam.PCollection):
        super().__init__()
        self.folder = folder
        self.corpus = corpus
        self.shards = shards

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        filled = articles | "KeyByShard" >> beam.Map(
            key_by_shard, beam.pvalue.AsSingleton(self.shards)
        ).with_output_types(tuple[ShardKey, bytes])
        empty = self.shards | "EveryShard" >> beam.FlatMap(every_shard).with_output_types(
            tuple[ShardKey, bytes]
        )
        return (
            (filled, empty)
            | "Shards" >> beam.Flatten()
            | "GroupShards" >> beam.GroupByKey()
            | "WriteShards" >> beam.FlatMap(write_shard, self.folder, self.corpus)
        )


def text_bytes(article: Article) -> int:
    """UTF-8 bytes of the text."""
    return len(article.text.encode("utf-8"))


def key_by_shard(article: Article, shards: dict[str, int]) -> tuple[ShardKey, bytes]:
    """((split, shard, shards), packed article)."""
    count = shards[article.split]
    shard = shard_of(article.wikidata_id, count)
    return (article.split, shard, count), pack_article(article)


def every_shard(shards: dict[str, int]) -> Iterator[tuple[ShardKey, bytes]]:
    """The key of each shard, with no article."""
    for split, count in shards.items():
        for shard in range(count):
            yield (split, shard, count), b""


def write_shard(
    grouped: tuple[ShardKey, Iterable[bytes]], folder: str, corpus: str
) -> Iterator[OutputFile]:
    """Writes the articles of one shard in both formats."""
    (split, shard, shards), packed = grouped
    articles = sorted((unpack_article(one) for one in packed if one), key=order)
    yield write_parquet(folder, parquet_name(split, shard, shards), split, to_table(articles))
    frames = (frame_record(encode_example(features_of(article))) for article in articles)
    yield write_frames(folder, tfrecord_name(corpus, split, shard, shards), split, frames)
    counters.count(STAGE, "articles", len(articles))
    counters.flush()


def order(article: Article) -> tuple[int, str, int]:
    """Articles stand in the order of their fingerprints, which is as good as a shuffle."""
    return fingerprint(article.wikidata_id), article.wikidata_id, article.page_id


def features_of(article: Article) -> dict[str, str]:
    """The features that TFDS wiki40b 1.3.0 has."""
    return {name: getattr(article, name) for name in FEATURES}


def to_table(articles: Sequence[Article]) -> pa.Table:
    """The articles as rows. Arrow refuses a value that is no str."""
    columns = {name: [getattr(article, name) for article in articles] for name in FEATURES}
    return pa.table(columns, schema=SCHEMA)
