"""Writes files of MinHash signatures that the Python library datasketch can read directly.

pipelines/docs/overlap.md describes the files, and the computation of a signature from a text.
"""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from ..files.distribution import Gather
from ..files.formats import PARQUET, file_name
from ..files.line_blocks import group_places
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.text import Shard, fingerprint, plain_words, shard_of
from ..files.write_rows import Batch, Target, write_files
from .minhash import NGRAM_WORDS, PARAMETERS, PERMUTATIONS, Uint64s, hash_ngrams, sign_documents

SIGNATURES = "signatures"
SIGNATURES_PER_FILE = 100_000
"""Maximum number of signatures in a file: 53 MB, held by one worker."""
GATHERED_HASHES = 1 << 20
"""Number of hashes (8 MB) that a worker collects from several documents before it signs them."""

NO_WORDS = numpy.iinfo(numpy.uint32).max
"""The numbers in the signature of a document without words, as in an empty MinHash of datasketch."""


SCHEMA = pa.schema(
    [
        pa.field("data_set", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("ngrams", pa.int64(), nullable=False),  # distinct n-grams
        pa.field("signature", pa.list_(pa.uint32(), PERMUTATIONS), nullable=False),
    ],
    {"minhash": json.dumps(PARAMETERS)},
)


class NamedText(NamedTuple):
    """A document with its id and the names of its data set and split."""

    data_set: str  # "" for a build, which is one data set
    id: str
    split: str  # "" if there are no splits
    text: str


class HashedText(NamedTuple):
    """A document whose signature is to be computed, and the shard of its signature."""

    shard: int
    names: tuple[str, str, str]  # data set, id, split
    ngrams: Uint64s


class WriteSignatures(beam.PTransform):
    """Writes MinHash signatures to `signatures-*.parquet`, sorted by a hash of the id.

    PCollection → PCollection[OutputFile]. The files belong to no split. A worker holds the signatures of one
    file, or the hashes of some documents.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary signatures (see scratch.py).
      read: picklable function from an element to its documents.
      files: PCollection of one int, the number of files; None to derive it from the number of elements.
      of_build: True if all documents are from one build. The column `data_set` is then left out.
    """

    def __init__(
        self,
        folder: str,
        scratch: str,
        read: Callable[[Any], Iterable[NamedText]],
        files: beam.PCollection | None = None,
        *,
        of_build: bool = True,
    ):
        super().__init__()
        self.folder, self.read, self.files = folder, read, files
        self.columns = SCHEMA.names[1:] if of_build else SCHEMA.names
        self.deal = functools.partial(sign_and_deal, scratch=Scratch(scratch))

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        counted = self.files
        if counted is None:
            counted = (
                elements
                | "CountDocuments" >> beam.combiners.Count.Globally()
                | "CountFiles" >> beam.Map(count_files)
            )
        files = AsSingleton(counted)
        gather = Gather(keep, self.deal, GATHERED_HASHES, weigh)
        signed = (
            elements
            | "HashTexts" >> beam.FlatMap(hash_texts, self.read, files)
            | "SignTexts" >> beam.ParDo(gather).with_output_types(tuple[int, bytes])
        )
        none = counted | "EveryFile" >> beam.FlatMap(empty_files).with_output_types(
            tuple[int, bytes]
        )
        return (
            (signed, none)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFiles" >> beam.FlatMap(write_signatures, self.folder, self.columns, files)
        )


def count_files(documents: int) -> int:
    """Returns the number of files for the signatures of `documents` documents."""
    return max(1, -(-documents // SIGNATURES_PER_FILE))


def keep(hashed: HashedText) -> HashedText:
    """Returns its argument.

    It is used as the function `make` of Gather, because nothing has to be computed.
    """
    return hashed


def weigh(hashed: HashedText) -> int:
    """Returns the weight of a document for Gather: its number of hashes, plus a constant."""
    return len(hashed.ngrams) + PERMUTATIONS


def hash_texts(
    element: Any, read: Callable[[Any], Iterable[NamedText]], files: int
) -> Iterator[HashedText]:
    """Yields the documents in an element, with the hashes of their n-grams.

    Args:
      read: as in WriteSignatures.
      files: number of signature files, from which the shard of each document is computed.
    """
    for data_set, identity, split, text in read(element):
        ngrams = hash_ngrams(plain_words(text), NGRAM_WORDS)
        yield HashedText(shard_of(identity, files), (data_set, identity, split), ngrams)


def empty_files(files: int) -> Iterator[tuple[int, bytes]]:
    """Yields (shard, b"") for each signature file, so that files without rows are written, too."""
    return ((shard, b"") for shard in range(files))


def sign_and_deal(texts: Sequence[HashedText], scratch: Scratch) -> Iterator[tuple[int, bytes]]:
    """Computes the signatures of documents. Yields (shard, reference to the shard's rows in scratch)."""
    rows = sign_texts(texts)
    for shard, places in group_places(numpy.array([one.shard for one in texts])):
        (batch,) = rows.take(pa.array(places)).combine_chunks().to_batches()
        yield shard, scratch.put(batch.serialize().to_pybytes())


def sign_texts(texts: Sequence[HashedText]) -> pa.Table:
    """Computes the signatures of documents. Returns a table with SCHEMA."""
    ngrams = [len(one.ngrams) for one in texts]
    signatures = numpy.full((len(texts), PERMUTATIONS), NO_WORDS, numpy.uint32)
    signatures[numpy.array(ngrams, bool)] = sign_documents(
        [one.ngrams for one in texts if len(one.ngrams)], PERMUTATIONS
    )
    names = zip(*(one.names for one in texts), strict=True)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(signatures.reshape(-1)), PERMUTATIONS)
    return pa.table([*map(pa.array, names), pa.array(ngrams, pa.int64()), lists], SCHEMA)


def write_signatures(
    grouped: tuple[int, Iterable[bytes]], folder: str, columns: Sequence[str], files: int
) -> list[OutputFile]:
    """Writes one file of signatures, with rows sorted as in `order_of`. Returns a list with its OutputFile.

    Args:
      grouped: (shard, references to its rows from `sign_and_deal`; b"" is ignored).
      folder: output folder of the build.
      columns: names of the columns to write.
      files: total number of signature files.
    """
    shard, pieces = grouped
    buffers = [pa.py_buffer(fetch(piece)) for piece in pieces if piece]
    batches = [pa.ipc.read_record_batch(buffer, SCHEMA) for buffer in buffers]
    table = pa.Table.from_batches(batches, SCHEMA)
    target = Target(file_name(PARQUET, "", Shard(SIGNATURES, shard, files)), "", PARQUET)
    rows = table.take(pa.array(order_of(table), pa.int64())).select(list(columns))
    batch = Batch(table.num_rows, {PARQUET: [rows]})
    encoding = {"use_dictionary": ["data_set", "split"]}
    return write_files(folder, [target], rows.schema, [batch], encoding)


def order_of(table: pa.Table) -> list[int]:
    """Returns the indexes that sort rows by the hash of the id, and then by the other columns."""
    data_sets, ids, splits, ngrams = (column.to_pylist() for column in table.columns[:4])
    signatures = table["signature"].combine_chunks().values.to_numpy()
    rows = signatures.reshape(-1, PERMUTATIONS)

    def key(place: int) -> tuple[Any, ...]:
        names = ids[place], data_sets[place], splits[place], ngrams[place]
        return fingerprint(ids[place]), *names, rows[place].tobytes()

    return sorted(range(len(ids)), key=key)
