"""Writes the sentences of a translation benchmark to source.tsv and to Parquet files."""

from collections.abc import Iterator, Mapping

import apache_beam as beam
import pyarrow as pa

from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.shards import parquet_name
from corpusmill.transforms.files.translation_records import SPLITS, SourceSentence
from corpusmill.transforms.files.write_files import (
    NO_MARKS,
    mark,
    table_of,
    write_parquet,
    write_text,
)
from corpusmill.transforms.translation.selection import Selection
from corpusmill.transforms.translation.source_table import LICENCE, NAME, columns_of, write_source

SCHEMA = pa.schema(
    [
        (name, pa.bool_() if name.startswith("has_") else pa.string())
        for name in SourceSentence._fields
        if name != LICENCE
    ]
)


class WriteSource(beam.PTransform):
    """Writes source.tsv for translators, and a Parquet file per split.

    PCollection[Selection] → PCollection[OutputFile].

    Args:
      folder: output folder of the build.
      marks: key-value metadata of each Parquet file.
    """

    def __init__(self, folder: str, marks: Mapping[str, str] = NO_MARKS):
        super().__init__()
        self.settings = folder, marks

    def expand(self, selections: beam.PCollection) -> beam.PCollection:
        return selections | beam.FlatMap(write_sentences, *self.settings)


def write_sentences(
    selection: Selection, folder: str, marks: Mapping[str, str]
) -> Iterator[OutputFile]:
    """Writes source.tsv for translators, and a Parquet file for each split.

    Args:
      selection: the selected sentences.
      folder: output folder of the build.
      marks: key-value metadata of each Parquet file.
    """
    sentences = selection.sentences
    names = columns_of(SCHEMA.names, sentences)
    schema = SCHEMA if LICENCE not in names else SCHEMA.append(pa.field(LICENCE, pa.string()))
    yield write_text(folder, NAME, write_source(sentences), "table")
    for split in SPLITS:
        rows = [one[: len(names)] for one in sentences if one.split == split]
        yield write_parquet(
            folder, parquet_name(split, 0, 1), split, table_of(rows, mark(schema, marks))
        )
