"""Writes token ids as a Megatron-LM data set for each split.

A table lists the source of each document.
"""

import posixpath
from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy
import pyarrow as pa

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.open_input import read_input
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.scratch import fetch
from corpusmill.transforms.files.write_files import HashedFile, ParquetFile
from corpusmill.transforms.models.megatron_index import index_blocks
from corpusmill.transforms.models.token_ids import Ids
from corpusmill.transforms.models.tokenize_rows import TokenPiece

STAGE = "write-tokens"
TOKENS, INDEX, TABLE = "megatron-bin", "megatron-idx", "token-rows"

SCHEMA = pa.schema(
    [
        pa.field("first_token", pa.int64(), nullable=False),
        pa.field("end_token", pa.int64(), nullable=False),  # the first token after the document
        pa.field("file", pa.string(), nullable=False),  # name of the file in the build
        pa.field("row", pa.int64(), nullable=False),  # index of the row in the file, from 0
        pa.field("id", pa.string()),  # null if rows have no ids
    ]
)


class WriteTokens(beam.PTransform):
    """Writes token ids as Megatron-LM data sets. PCollection[TokenPiece] → PCollection[OutputFile].

    One worker writes the files of a split, because training programs need a single token file. It holds one
    TokenPiece at a time.

    Args:
      folder: output folder of the build.
      kind: integer type of the tokens.
    """

    def __init__(self, folder: str, kind: str):
        super().__init__()
        self.folder, self.kind = folder, kind

    def expand(self, pieces: beam.PCollection) -> beam.PCollection:
        return (
            pieces
            | "KeyBySplit" >> beam.Map(_by_split).with_output_types(tuple[str, TokenPiece])
            | "GroupSplits" >> beam.GroupByKey()
            | "WriteSplits" >> beam.FlatMap(write_split, self.folder, self.kind)
        )


def _by_split(piece: TokenPiece) -> tuple[str, TokenPiece]:
    return piece.file.split, piece


def write_split(
    grouped: tuple[str, Iterable[TokenPiece]], folder: str, kind: str
) -> Iterator[OutputFile]:
    """Writes the files of a split, such as train.bin, train.idx and train-rows.parquet.

    Writes nothing for a split without rows, because readers could not memory-map an empty .bin file.

    Args:
      grouped: (split, tokens of its row groups).
      folder: output folder of the build.
      kind: integer type of the tokens.
    """
    split, unordered = grouped
    pieces = sorted(unordered, key=lambda piece: (piece.file.path, piece.number))
    documents = sum(piece.counts.documents for piece in pieces)
    if not documents:
        return
    names = {kind: f"{split}{ending}" for kind, ending in _ENDINGS.items()}
    with (
        HashedFile.in_folder(folder, names[TOKENS]) as tokens,
        ParquetFile(folder, names[TABLE], SCHEMA) as table,
    ):
        first_token = row = 0
        path = ""
        for piece in pieces:
            tokens.write(fetch(piece.packed_ids))
            row = row if piece.file.path == path else 0
            path = piece.file.path
            if piece.counts.documents:
                table.write(_rows_of(piece, first_token, row))
            first_token += piece.counts.tokens
            row += piece.counts.documents
            counters.count(STAGE, "documents", piece.counts.documents)
    with HashedFile.in_folder(folder, names[INDEX]) as index:
        for block in index_blocks(kind, documents, lambda: map(_lengths_of, pieces)):
            index.write(block)
    counters.flush()
    yield tokens.output_file(names[TOKENS], split, TOKENS, documents)
    yield index.output_file(names[INDEX], split, INDEX, documents)
    yield table.output_file(names[TABLE], "", TABLE, documents)


_ENDINGS = {TOKENS: ".bin", INDEX: ".idx", TABLE: "-rows.parquet"}


def _lengths_of(piece: TokenPiece) -> Ids:
    return numpy.frombuffer(fetch(piece.packed_lengths), numpy.int32)


def _rows_of(piece: TokenPiece, first_token: int, row: int) -> pa.Table:
    lengths = _lengths_of(piece)
    ends = first_token + numpy.cumsum(lengths, dtype=numpy.int64)
    names = fetch(piece.packed_names)
    ids = pa.ipc.open_stream(names).read_all()["id"] if names else pa.nulls(len(ends), pa.string())
    return pa.table(
        [
            pa.array(ends - lengths),
            pa.array(ends),
            pa.array([posixpath.basename(piece.file.path)] * len(ends)),
            pa.array(numpy.arange(row, row + len(ends))),
            ids,
        ],
        schema=SCHEMA,
    )


def copy_tokenizer(path: str, folder: str, name: str, kind: str, size: int) -> OutputFile:
    """Copies the tokenizer to the folder of the tokens. Tokens cannot be decoded without it.

    Args:
      path: file of the tokenizer.
      folder: output folder of the build.
      name: name of the copy.
      kind: kind of the tokenizer's file, for the manifest.
      size: number of tokens that the tokenizer knows, for the manifest.
    """
    with HashedFile.in_folder(folder, name) as file:
        file.write(read_input(path))
    return file.output_file(name, "", kind, size)
