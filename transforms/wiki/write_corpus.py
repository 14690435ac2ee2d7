"""Articles → files: Parquet and TFRecord, the same bytes whatever the runner and the order."""

from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from transforms.files import counters
from transforms.files.write_files import HashedFile, ParquetFile
from transforms.records import OutputFile, PackedArticle
from transforms.text.files.shards import count_shards, missing_shards, parquet_name, tfrecord_name
from transforms.text.files.tf_example import encode_example, frame_record
from transforms.text.fingerprint import fingerprint, shard_of
from transforms.wiki.pack_articles import from_bytes, to_bytes, unpack_text

STAGE = "write-corpus"
FEATURES = ("wikidata_id", "text", "version_id")
SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in FEATURES])

BATCH = 1024  # articles in a row group, and in memory at once

ShardKey = tuple[str, int, int]  # split, shard, number of shards


class PlanShards(beam.PTransform):
    """PCollection[PackedArticle] → one {split: number of files}, from the size of the text."""

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
    """PCollection[PackedArticle] → PCollection[OutputFile].

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
        written = (
            articles
            | "KeyByShard"
            >> beam.Map(key_by_shard, AsSingleton(self.shards)).with_output_types(
                tuple[ShardKey, bytes]
            )
            | "GroupShards" >> beam.GroupByKey()
            | "WriteShards" >> beam.FlatMap(write_shard, self.folder, self.corpus)
        )
        empty = (
            self.shards
            | "EmptyShards" >> beam.FlatMap(empty_shards, AsList(written))
            | "WriteEmpty" >> beam.FlatMap(write_shard, self.folder, self.corpus)
        )
        return (written, empty) | "Files" >> beam.Flatten()


def text_bytes(article: PackedArticle) -> int:
    """UTF-8 bytes of the text."""
    return article.stats.text_bytes


def key_by_shard(article: PackedArticle, shards: dict[str, int]) -> tuple[ShardKey, bytes]:
    """((split, shard, shards), article)."""
    count = shards[article.split]
    shard = shard_of(article.wikidata_id, count)
    return (article.split, shard, count), to_bytes(article)


def empty_shards(
    shards: dict[str, int], written: Iterable[OutputFile]
) -> Iterator[tuple[ShardKey, Sequence[bytes]]]:
    """The shards that no article belongs to."""
    names = {file.name for file in written}
    for key in missing_shards(shards, names):
        yield key, []


def write_shard(
    grouped: tuple[ShardKey, Iterable[bytes]], folder: str, corpus: str
) -> Iterator[OutputFile]:
    """Writes the articles of one shard in both formats, a batch at a time: only one is unpacked."""
    (split, shard, shards), in_shard = grouped
    articles = sorted(map(from_bytes, in_shard), key=order)
    parquet = parquet_name(split, shard, shards)
    frames = tfrecord_name(corpus, split, shard, shards)
    with (
        ParquetFile(folder, parquet, SCHEMA) as table_file,
        HashedFile.in_folder(folder, frames) as frame_file,
    ):
        for start in range(0, len(articles), BATCH):
            rows = [features_of(article) for article in articles[start : start + BATCH]]
            table_file.write(pa.Table.from_pylist(rows, schema=SCHEMA))
            for row in rows:
                frame_file.write(frame_record(encode_example(row)))
    yield table_file.output_file(parquet, split, "parquet", len(articles))
    yield frame_file.output_file(frames, split, "tfrecord", len(articles))
    counters.count(STAGE, "articles", len(articles))
    counters.flush()


def order(article: PackedArticle) -> tuple[int, str, int]:
    """Articles stand in the order of their fingerprints, which is as good as a shuffle."""
    return fingerprint(article.wikidata_id), article.wikidata_id, article.page_id


def features_of(article: PackedArticle) -> dict[str, str]:
    """The features that TFDS wiki40b 1.3.0 has. Arrow and `encode_example` refuse what is no str."""
    return {
        "wikidata_id": article.wikidata_id,
        "text": unpack_text(article),
        "version_id": article.version_id,
    }
