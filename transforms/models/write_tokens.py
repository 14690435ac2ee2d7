"""Writes token ids as a Megatron-LM data set for each split.

A table lists the source of each document.

Tokenises the documents of finished builds, one row group at a time.

The token ids are stored in scratch, from where they are written to files.
"""

import functools
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa

from ..files import counters
from ..files.builds.finished_builds import CorpusFile, RowGroup, read_row_group, sized_row_groups_of
from ..files.distribution import Spread, SpreadAll, transform
from ..files.line_blocks import in_batches
from ..files.read_files import InputError, read_input
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.write_files import HashedFile, RowFile, write_file
from ..wikitext.article_markers import plain_article
from .token_ids import Ids, Tokenizer, find_end, index_blocks, load_tokenizer, type_of_ids

TOKENIZE = "tokenize"
BATCH_BYTES = 1 << 22  # bytes of text that are in memory as Python or Arrow tokens at once


class TokenSource(NamedTuple):
    """The settings for tokenising the rows of a build."""

    tokenizer: str  # path of the tokenizer's file, which all workers can read
    eos: str  # token after each document
    column: str
    id: str  # column of ids; "" if the rows have none
    is_plain: bool  # True to remove the markers of articles


class TokenCounts(NamedTuple):
    """Counts of documents, tokens and bytes."""

    documents: int = 0
    tokens: int = 0  # including end-of-document tokens
    text_bytes: int = 0  # size of the tokenised text in UTF-8
    unknown: int = 0  # unknown tokens


class TokenPiece(NamedTuple):
    """The tokens of a row group, stored in scratch (see scratch.py)."""

    file: CorpusFile
    number: int  # index of the row group in the file
    counts: TokenCounts
    packed_ids: bytes  # token ids, in the integer type in which they are written
    packed_lengths: bytes  # int32: number of tokens of each document
    packed_names: bytes  # Arrow stream with one column, the ids of the rows; b"" if they have none


@transform
def TokenizeRows(
    root: beam.Pipeline, files: Sequence[CorpusFile], source: TokenSource, folder: str
) -> beam.PCollection:
    """Tokenises the documents of a build. Pipeline → PCollection[TokenPiece].

    Args:
      files: Parquet files of one build.
      source: the tokenizer, and the columns to read.
      folder: folder of the scratch, in which the tokens are stored.

    Raises InputError if the tokenizer is invalid, or if a row does not have the layout of an article.
    """
    return (
        root
        | "SpreadFiles" >> SpreadAll(files, of=CorpusFile)
        | "SpreadRowGroups" >> Spread(sized_row_groups_of, of=tuple[RowGroup, int])
        | "Tokenize"
        >> beam.Map(tokenize_part, source, Scratch(folder)).with_output_types(TokenPiece)
    )


@functools.lru_cache(maxsize=2)
def open_tokenizer(path: str) -> Tokenizer:
    """Returns the tokenizer in a file. It is loaded once per process. Raises InputError if it is invalid."""
    try:
        return load_tokenizer(read_input(path))
    except ValueError as error:
        raise InputError(path, str(error)) from None


def tokenize_part(part: tuple[RowGroup, int], source: TokenSource, scratch: Scratch) -> TokenPiece:
    """Tokenises the rows of a row group in order, and stores the tokens in scratch.

    `part` is (row group, approximate number of its bytes in the file).
    """
    group, stored_bytes = part
    tokenizer = open_tokenizer(source.tokenizer)
    end = numpy.array([find_end(tokenizer, source.eos).id], numpy.int32)
    columns = dict.fromkeys(filter(None, (source.column, source.id)))
    table = read_row_group(group, [*columns]).table
    kind = type_of_ids(tokenizer.size)
    ids: list[bytes] = []
    lengths: list[int] = []
    text_bytes = unknown = 0
    for texts in in_batches((text.as_py() for text in table[source.column]), BATCH_BYTES, len):
        if source.is_plain:
            texts = [_plain(text, group.file.path) for text in texts]
        text_bytes += sum(len(text.encode("utf-8")) for text in texts)
        documents = tokenizer.encode(texts)
        lengths += [len(document) + 1 for document in documents]
        together = numpy.concatenate([one for document in documents for one in (document, end)])
        unknown += int(numpy.count_nonzero(together == tokenizer.unknown))
        ids.append(together.astype(kind).tobytes())
    counts = TokenCounts(len(lengths), sum(lengths), text_bytes, unknown)
    counters.count(TOKENIZE, "documents", counts.documents)
    counters.count(TOKENIZE, "text_bytes", text_bytes)
    counters.count(TOKENIZE, "dump_bytes", stored_bytes)
    counters.flush()
    return TokenPiece(
        group.file,
        group.number,
        counts,
        scratch.put(b"".join(ids)),
        scratch.put(numpy.array(lengths, numpy.int32).tobytes()),
        scratch.put(_pack_names(table, source.id)),
    )


def _plain(text: str, path: str) -> str:
    try:
        return plain_article(text)
    except ValueError as error:
        raise InputError(path, str(error)) from None


def _pack_names(table: pa.Table, column: str) -> bytes:
    if not column:
        return b""
    names = pa.table({"id": table[column].cast(pa.string())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, names.schema) as writer:
        writer.write_table(names)
    return bytes(sink.getvalue())


def add_counts(counts: Iterable[TokenCounts]) -> TokenCounts:
    """Returns the sum of several counts."""
    return TokenCounts(*(sum(column) for column in zip(TokenCounts(), *counts, strict=True)))


WRITE_TOKENS = "write-tokens"
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


@transform
def WriteTokens(pieces: beam.PCollection, folder: str, kind: str) -> beam.PCollection:
    """Writes token ids as Megatron-LM data sets. PCollection[TokenPiece] → PCollection[OutputFile].

    One worker writes the files of a split, because training programs need a single token file. It holds one
    TokenPiece at a time.

    Args:
      folder: output folder of the build.
      kind: integer type of the tokens.
    """
    return (
        pieces
        | "KeyBySplit"
        >> beam.Map(lambda one: (one.file.split, one)).with_output_types(tuple[str, TokenPiece])
        | "GroupSplits" >> beam.GroupByKey()
        | "WriteSplits" >> beam.FlatMap(write_split, folder, kind)
    )


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
    if not (documents := sum(piece.counts.documents for piece in pieces)):
        return
    names = {kind: f"{split}{ending}" for kind, ending in _ENDINGS.items()}
    with (
        HashedFile.in_folder(folder, names[TOKENS]) as tokens,
        RowFile(folder, names[TABLE], SCHEMA) as table,
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
            counters.count(WRITE_TOKENS, "documents", piece.counts.documents)
    blocks = index_blocks(kind, documents, lambda: map(_lengths_of, pieces))
    index = write_file(folder, names[INDEX], blocks, INDEX, documents, split)
    counters.flush()
    yield tokens.output_file(names[TOKENS], split, TOKENS, documents)
    yield index
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
    return write_file(folder, name, [read_input(path)], kind, size)
