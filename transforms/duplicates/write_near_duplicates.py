"""Lines that were removed, each with the line that stays for it → Parquet files in `rejected/`."""

from collections.abc import Iterable, Iterator

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from transforms.duplicates.fetch_line_pairs import LinePairs
from transforms.files.write_files import write_parquet
from transforms.records import OutputFile
from transforms.text.duplicates.ngrams import jaccard
from transforms.text.files.shards import parquet_name
from transforms.text.fingerprint import shard_of
from transforms.text.news.sentence_accounts import NEAR_DUPLICATES

RECORDS_PER_FILE = 1 << 18
SCHEMA = pa.schema(
    [
        pa.field("kept", pa.string(), nullable=False),
        pa.field("removed", pa.string(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

FileKey = tuple[int, int]  # file, number of files
Row = tuple[str, str, float]  # as in SCHEMA


class WriteNearDuplicates(beam.PTransform):
    """PCollection[LinePairs (removed, kept)] → PCollection[OutputFile].

    The files are rejected/near-duplicates-000NN-of-000NN.parquet, sorted by the line that stays, then by
    the removed one; their bytes depend on the pairs alone. With nothing removed there is an empty file.
    Bytes that are no UTF-8 are written as \\xNN.

    Args:
      folder: of the build.
      removed: PCollection of one int: how many pairs there are.
      ngram_words: the similarity is that of sets of n-grams of so many words.
    """

    def __init__(
        self,
        folder: str,
        removed: beam.PCollection,
        ngram_words: int,
        records_per_file: int = RECORDS_PER_FILE,
    ):
        super().__init__()
        self.folder = folder
        self.removed = removed
        self.ngram_words = ngram_words
        self.records_per_file = records_per_file

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        files = self.removed | "CountFiles" >> beam.Map(count_files, self.records_per_file)
        filled = pairs | "KeyByFile" >> beam.FlatMap(
            key_by_file, AsSingleton(files), self.ngram_words
        ).with_output_types(tuple[FileKey, list[Row]])
        empty = files | "EveryFile" >> beam.FlatMap(every_file).with_output_types(
            tuple[FileKey, list[Row]]
        )
        return (
            (filled, empty)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFiles" >> beam.Map(write_file, self.folder)
        )


def count_files(removed: int, records_per_file: int) -> int:
    """How many files there are; one at least."""
    return -(-removed // records_per_file) or 1


def key_by_file(
    pairs: LinePairs, files: int, ngram_words: int
) -> Iterator[tuple[FileKey, list[Row]]]:
    """((file, files), its rows): lines are dealt out by the hash of what was removed."""
    file_to_rows: dict[int, list[Row]] = {}
    for removed, kept in zip(pairs.firsts, pairs.seconds, strict=True):
        text = _readable(removed)
        row = (_readable(kept), text, jaccard(removed, kept, ngram_words))
        file_to_rows.setdefault(shard_of(text, files), []).append(row)
    for file, rows in file_to_rows.items():
        yield (file, files), rows


def every_file(files: int) -> Iterator[tuple[FileKey, list[Row]]]:
    """The key of each file, with no rows."""
    for file in range(files):
        yield (file, files), []


def write_file(grouped: tuple[FileKey, Iterable[list[Row]]], folder: str) -> OutputFile:
    """Writes one file."""
    (file, files), blocks = grouped
    rows = sorted(row for block in blocks for row in block)
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    name = parquet_name(NEAR_DUPLICATES, file, files)
    return write_parquet(folder, name, "", pa.table(arrays, schema=SCHEMA))


def _readable(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")
