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
from transforms.write_files import HashedFile, ParquetFile

STAGE = "write-corpus"
FEATURES = ("wikidata_id", "text", "version_id")
SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in FEATURES])

BATCH = 1024  # articles in a row group, and in memory at once

ShardKey = tuple[str, int, int]  # split, shard, number of shards
Keyed = tuple[str, int, bytes]  # identity, page id, packed article
NO_ARTICLE: Keyed = ("", 0, b"")


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
        ).with_output_types(tuple[ShardKey, Keyed])
        empty = self.shards | "EveryShard" >> beam.FlatMap(every_shard).with_output_types(
            tuple[ShardKey, Keyed]
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


def key_by_shard(article: Article, shards: dict[str, int]) -> tuple[ShardKey, Keyed]:
    """((split, shard, shards), article)."""
    count = shards[article.split]
    shard = shard_of(article.wikidata_id, count)
    keyed = article.wikidata_id, article.page_id, pack_article(article)
    return (article.split, shard, count), keyed


def every_shard(shards: dict[str, int]) -> Iterator[tuple[ShardKey, Keyed]]:
    """The key of each shard, with no article."""
    for split, count in shards.items():
        for shard in range(count):
            yield (split, shard, count), NO_ARTICLE


def write_shard(
    grouped: tuple[ShardKey, Iterable[Keyed]], folder: str, corpus: str
) -> Iterator[OutputFile]:
    """Writes the articles of one shard in both formats, a batch at a time: only one is unpacked."""
    (split, shard, shards), keyed = grouped
    packed = [article for _, _, article in sorted(keyed, key=order) if article]
    parquet = parquet_name(split, shard, shards)
    frames = tfrecord_name(corpus, split, shard, shards)
    with (
        ParquetFile(folder, parquet, SCHEMA) as table_file,
        HashedFile.in_folder(folder, frames) as frame_file,
    ):
        for start in range(0, len(packed), BATCH):
            articles = [unpack_article(one) for one in packed[start : start + BATCH]]
            table_file.write(to_table(articles))
            for article in articles:
                frame_file.write(frame_record(encode_example(features_of(article))))
    yield table_file.output_file(parquet, split, "parquet", len(packed))
    yield frame_file.output_file(frames, split, "tfrecord", len(packed))
    counters.count(STAGE, "articles", len(packed))
    counters.flush()


def order(keyed: Keyed) -> tuple[int, str, int]:
    """Articles stand in the order of their fingerprints, which is as good as a shuffle."""
    identity, page_id, _ = keyed
    return fingerprint(identity), identity, page_id


def features_of(article: Article) -> dict[str, str]:
    """The features that TFDS wiki40b 1.3.0 has."""
    return {name: getattr(article, name) for name in FEATURES}


def to_table(articles: Sequence[Article]) -> pa.Table:
    """The articles as rows. Arrow refuses a value that is no str."""
    columns = {name: [getattr(article, name) for article in articles] for name in FEATURES}
    return pa.table(columns, schema=SCHEMA)
