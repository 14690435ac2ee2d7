"""Writes files of MinHash signatures that the Python library datasketch can read directly.

pipelines/docs/overlap.md describes the files, and the computation of a signature from a text.
"""

import functools
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa

from ..files.distribution import Gather
from ..files.formats import PARQUET
from ..files.scratch import Scratch, fetch
from ..files.text import fingerprint, plain_words
from ..files.write_rows import RowKind, record_files, write_shards
from .minhash import NGRAM_WORDS, PARAMETERS, PERMUTATIONS, Uint64s, hash_ngrams, sign_documents

SIGNATURES = "signatures"
SIGNATURES_PER_FILE = 100_000
"""Maximum number of signatures in a file. One worker sorts them, in some 200 MB."""
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
    """A document whose signature is to be computed."""

    names: tuple[str, str, str]  # data set, id, split
    ngrams: Uint64s


class SignedText(NamedTuple):
    """The signature of a document."""

    data_set: str
    id: str
    split: str
    ngrams: int
    signature: Any  # a reference to scratch, or an array of PERMUTATIONS numbers


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
        columns = SCHEMA.names[1:] if of_build else SCHEMA.names
        self.kind = RowKind(
            pa.schema([SCHEMA.field(name) for name in columns], SCHEMA.metadata),
            identity=operator.attrgetter("id"),
            order=order_of,
            split_of=lambda _: SIGNATURES,
            values=operator.attrgetter(*columns),
            unpack=fetch_signature,
            encoding={"use_dictionary": ["data_set", "split"]},
        )
        sign = functools.partial(sign_texts, scratch=Scratch(scratch))
        self.sign = Gather(None, sign, GATHERED_HASHES, weigh)

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        if (files := self.files) is None:
            files = (
                elements
                | "CountDocuments" >> beam.combiners.Count.Globally()
                | "CountFiles" >> beam.Map(count_files)
            )
        shards = files | "Shards" >> beam.Map(lambda count: {SIGNATURES: count})
        signed = (
            elements
            | "HashTexts" >> beam.FlatMap(hash_texts, self.read)
            | "SignTexts" >> beam.ParDo(self.sign).with_output_types(SignedText)
        )
        name_files = functools.partial(record_files, [PARQUET])
        return write_shards(signed, self.folder, self.kind, shards, name_files)


def count_files(documents: int) -> int:
    """Returns the number of files for the signatures of `documents` documents."""
    return max(1, -(-documents // SIGNATURES_PER_FILE))


def weigh(hashed: HashedText) -> int:
    """Returns the weight of a document for Gather: its number of hashes, plus a constant."""
    return len(hashed.ngrams) + PERMUTATIONS


def hash_texts(element: Any, read: Callable[[Any], Iterable[NamedText]]) -> Iterator[HashedText]:
    """Yields the documents in an element, with the hashes of their n-grams.

    `read` is as in WriteSignatures.
    """
    for data_set, identity, split, text in read(element):
        ngrams = hash_ngrams(plain_words(text), NGRAM_WORDS)
        yield HashedText((data_set, identity, split), ngrams)


def sign_texts(texts: Sequence[HashedText], scratch: Scratch) -> Iterator[SignedText]:
    """Computes the signatures of documents. They are stored in scratch together."""
    signatures = numpy.full((len(texts), PERMUTATIONS), NO_WORDS, numpy.uint32)
    signatures[[len(one.ngrams) > 0 for one in texts]] = sign_documents(
        [one.ngrams for one in texts if len(one.ngrams)], PERMUTATIONS
    )
    content, size = signatures.tobytes(), signatures[0].nbytes
    packed = scratch.put(content) if scratch.is_local else b""
    for number, one in enumerate(texts):
        of_text = scratch.part(packed, content, number * size, (number + 1) * size)
        yield SignedText(*one.names, len(one.ngrams), of_text)


def fetch_signature(row: tuple[Any, ...]) -> SignedText:
    """Returns a row with the signature itself in place of the reference to it."""
    signed = SignedText(*row)
    return signed._replace(signature=numpy.frombuffer(fetch(signed.signature), numpy.uint32))


def order_of(row: SignedText) -> tuple[Any, ...]:
    """Returns the sort key of a row: the hash of the id, and then the other columns."""
    names = row.id, row.data_set, row.split, row.ngrams
    return fingerprint(row.id), *names, row.signature.tobytes()
