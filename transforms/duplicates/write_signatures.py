"""Documents → files of their MinHash signatures, which datasketch reads as they are.

pipelines/docs/overlap.md describes the files, and publishes the function from a text to its signature.
"""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from transforms.duplicates.find_similar_documents import NGRAM_WORDS, PERMUTATIONS
from transforms.files.gather import Gather
from transforms.files.scratch import Scratch, fetch
from transforms.files.write_rows import PARQUET, Batch, Target, write_files
from transforms.records import OutputFile
from transforms.text.duplicates.document_signatures import sign_documents
from transforms.text.duplicates.hashed_ngrams import Uint64s, hash_ngrams
from transforms.text.duplicates.minhash import SEED, Uint32s
from transforms.text.files.shards import parquet_name
from transforms.text.fingerprint import fingerprint, shard_of
from transforms.text.lines.line_ids import group_places
from transforms.text.vocabularies.plain_words import plain_words

SIGNATURES = "signatures"
SIGNATURES_PER_FILE = 100_000
"""53 MB; one worker holds them."""
GATHERED_HASHES = 1 << 20
"""So many hashes, 8 MB, a worker gathers from several documents before it signs them."""

NO_WORDS = numpy.iinfo(numpy.uint32).max
"""All numbers of a document without words, as of an empty MinHash of datasketch."""

PARAMETERS = {
    "permutations": PERMUTATIONS,
    "ngram_words": NGRAM_WORDS,
    "words": "plain",
    "scheme": "affine32",
    "seed": SEED,
}
"""In the metadata of each file, below "minhash", as JSON."""

SCHEMA = pa.schema(
    [
        pa.field("data_set", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("ngrams", pa.int64(), nullable=False),  # different ones
        pa.field("signature", pa.list_(pa.uint32(), PERMUTATIONS), nullable=False),
    ],
    {"minhash": json.dumps(PARAMETERS)},
)


class NamedText(NamedTuple):
    """A document."""

    data_set: str  # "" in a build, which is one
    id: str
    split: str  # "" where there are none
    text: str


class HashedText(NamedTuple):
    """A document to sign, and the shard of its signature."""

    shard: int
    names: tuple[str, str, str]  # data set, id, split
    ngrams: Uint64s


class WriteSignatures(beam.PTransform):
    """PCollection → PCollection[OutputFile]: `signatures-*.parquet`, in no split, sorted by a hash of the id.

    A worker holds the signatures of one file, or the hashes of some documents.

    Args:
      folder: of the build.
      scratch: folder in which signatures wait (see scratch.py).
      read: element → its documents. It has to be picklable.
      files: PCollection of one int, how many files there will be; None to count the elements for that.
      of_build: leave out the column `data_set`.
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
    """Returns the number of files for the signatures of so many documents."""
    return max(1, -(-documents // SIGNATURES_PER_FILE))


def keep(hashed: HashedText) -> HashedText:
    """The same."""
    return hashed


def weigh(hashed: HashedText) -> int:
    """Its hashes, and some for its names."""
    return len(hashed.ngrams) + PERMUTATIONS


def hash_texts(
    element: Any, read: Callable[[Any], Iterable[NamedText]], files: int
) -> Iterator[HashedText]:
    """The documents of an element."""
    for data_set, identity, split, text in read(element):
        ngrams = hash_ngrams(plain_words(text), NGRAM_WORDS)
        yield HashedText(shard_of(identity, files), (data_set, identity, split), ngrams)


def empty_files(files: int) -> Iterator[tuple[int, bytes]]:
    """(shard, nothing) of all files: one without rows is a file, too."""
    return ((shard, b"") for shard in range(files))


def sign_and_deal(texts: Sequence[HashedText], scratch: Scratch) -> Iterator[tuple[int, bytes]]:
    """(shard, its rows, put away)."""
    rows = sign_texts(texts)
    for shard, places in group_places(numpy.array([one.shard for one in texts])):
        (batch,) = rows.take(pa.array(places)).combine_chunks().to_batches()
        yield shard, scratch.put(batch.serialize().to_pybytes())


def sign_texts(texts: Sequence[HashedText]) -> pa.Table:
    """A row of SCHEMA for each document."""
    ngrams = [len(one.ngrams) for one in texts]
    signatures = numpy.full((len(texts), PERMUTATIONS), NO_WORDS, numpy.uint32)
    signatures[numpy.array(ngrams, bool)] = sign_documents(
        [one.ngrams for one in texts if len(one.ngrams)], PERMUTATIONS
    )
    names = zip(*(one.names for one in texts), strict=True)
    columns = [*map(pa.array, names), pa.array(ngrams, pa.int64()), to_arrow(signatures)]
    return pa.table(columns, SCHEMA)


def to_arrow(signatures: Uint32s) -> pa.FixedSizeListArray:
    """A list for each row."""
    return pa.FixedSizeListArray.from_arrays(pa.array(signatures.reshape(-1)), PERMUTATIONS)


def write_signatures(
    grouped: tuple[int, Iterable[bytes]], folder: str, columns: Sequence[str], files: int
) -> list[OutputFile]:
    """Writes the rows of one file in their order."""
    shard, pieces = grouped
    buffers = [pa.py_buffer(fetch(piece)) for piece in pieces if piece]
    batches = [pa.ipc.read_record_batch(buffer, SCHEMA) for buffer in buffers]
    table = pa.Table.from_batches(batches, SCHEMA)
    target = Target(parquet_name(SIGNATURES, shard, files), "", PARQUET)
    rows = table.take(pa.array(order_of(table), pa.int64())).select(list(columns))
    batch = Batch(table.num_rows, {PARQUET: [rows]})
    encoding = {"use_dictionary": ["data_set", "split"]}
    return write_files(folder, [target], rows.schema, [batch], encoding)


def order_of(table: pa.Table) -> list[int]:
    """The places of the rows by the hash of the id; of rows with the same names, by their numbers."""
    data_sets, ids, splits, ngrams = (column.to_pylist() for column in table.columns[:4])
    signatures = table["signature"].combine_chunks().values.to_numpy()
    rows = signatures.reshape(-1, PERMUTATIONS)

    def key(place: int) -> tuple[Any, ...]:
        names = ids[place], data_sets[place], splits[place], ngrams[place]
        return fingerprint(ids[place]), *names, rows[place].tobytes()

    return sorted(range(len(ids)), key=key)
