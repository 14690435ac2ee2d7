"""Finds near-duplicate documents in data sets.

Documents may be compared among all data sets, or only between two groups of data sets (sides 0 and 1).

Computes the counts and dataset card of a search for near-duplicates.
"""

import functools
import json
import posixpath
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from ..files.builds.ledger import OUTPUTS, Accounts, Ledger
from ..files.builds.manifest import Provenance
from ..files.distribution import Spread, SpreadAll
from ..files.markup import make_table
from ..files.text import fingerprint, plain_words
from ..files.write_rows import WriteRecords
from . import minhash
from .contamination_evidence import sum_of
from .read_texts import FilePart, TextBatch, TextFile, check_most, plan_parts, read_part
from .similar_documents import ComparedPair, DocumentFacts, FindNearPairs


def account_for_overlap(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card.

    In addition to the entries of every build, the ledger has:
      documents: ((data set, split), number of documents).
      left_out: ((data set, split), {reason: number of texts that were not read}).
      near: ((data set, split), number of documents that have a near-duplicate).
      clusters: number of clusters.
    """
    documents, near = ledger.pairs("documents"), ledger.pairs("near")
    left_out = {key: sum_of([one]) for key, one in ledger.pairs("left_out").items()}
    rows = [
        {
            "data_set": data_set,
            "split": split,
            "documents": documents.get((data_set, split), 0),
            "near": near.get((data_set, split), 0),
            "left_out": left_out.get((data_set, split), {}),
        }
        for data_set, split in sorted({*documents, *left_out})
    ]
    for row in rows:
        check_most(f"{row['data_set']} {row['split']}", row["documents"], row["left_out"])
    rejected = sum_of(left_out.values())
    kept, lost = sum(documents.values()), sum(rejected.values())
    files = [file for file in ledger.values(OUTPUTS) if file.format == "parquet"]
    counts = {
        "documents_read": kept + lost,
        "kept": kept,
        "rejected": {"total": lost, **rejected},
        "pairs": sum(file.records for file in files),
        "clusters": ledger.number("clusters"),
    }
    stats = {"data_sets": rows, **counts}
    table = make_table(
        ["data set", "split", "documents", "with a near-duplicate", "left out"],
        ([*list(row.values())[:4], sum(row["left_out"].values())] for row in rows),
    )
    return Accounts(counts, stats, table)


PAIRS = "pairs"  # name of the files with pairs
DOCUMENTS, LEFT_OUT, NEAR, CLUSTERS = "documents", "left_out", "near", "clusters"  # names of counts
NAMES = ("data_set", "id", "split")
SCHEMA = pa.schema(
    [
        *(
            pa.field(f"{which}_{name}", pa.string())
            for which in ("first", "second")
            for name in NAMES
        ),
        pa.field("similarity", pa.float64()),  # Jaccard similarity of the 8-grams, exact
        pa.field("cluster", pa.string()),  # equal for all connected pairs
    ]
)


class NamedText(NamedTuple):
    """A document with its id and the names of its data set and split."""

    data_set: str
    id: str
    split: str  # "" if there are no splits
    text: str


class SetFile(NamedTuple):
    """A file, with the name of the data set to which it belongs, and the side of this data set."""

    data_set: str
    side: int  # 0 or 1
    file: TextFile


class SetPart(NamedTuple):
    """A part of a file that a worker reads, with the data set to which it belongs."""

    data_set: str
    side: int
    part: FilePart


class FindOverlap(beam.PTransform):
    """Finds near-duplicate documents, and writes them to `pairs-*.parquet` and JSON lines.

    Pipeline → (PCollection[OutputFile], the accounts DOCUMENTS, LEFT_OUT, NEAR and CLUSTERS).

    Documents are read twice. For documents that share a MinHash band with another, hashes are stored in
    scratch. One worker holds all candidate pairs, 16 bytes each.

    Args:
      files: files of all data sets.
      folder: existing output folder.
      threshold: minimum similarity; above 0 and below 1.
      across: True to compare documents with `side` 0 only with documents with `side` 1.
      workers: number of workers that divide the work on a large file which cannot be split, such as a .gz.
        Each of them decompresses the whole file, but processes only its share of the documents.
    """

    def __init__(
        self, files: Sequence[SetFile], folder: str, threshold: str, *, across: bool, workers: int
    ):
        super().__init__()
        self.files, self.workers, self.folder = tuple(files), workers, folder
        self.find = functools.partial(
            FindNearPairs,
            folder,
            describe,
            ngrams_of,
            minhash.parse_similarity(threshold),
            minhash.pair_across if across else minhash.pair_members,
        )

    def expand(self, root: beam.Pipeline) -> tuple[beam.PCollection, dict[str, Any]]:
        parts = read_parts(root, self.files, self.workers)
        documents, accounts = parts | "ReadDocuments" >> CountDocuments()
        find = self.find(again=parts | "ReadAgain" >> beam.FlatMap(read_documents))
        near = documents | "FindNearPairs" >> find
        files = (
            near.pairs
            | "PairRows" >> beam.Map(pair_row, AsSingleton(near.links))
            | "WritePairs"
            >> WriteRecords(self.folder, PAIRS, SCHEMA, identity_of, tuple, "parquet jsonl")
        )
        alike = (
            near.pairs
            | "NamesOfPairs" >> beam.FlatMap(names_of).with_output_types(str)
            | "EachOnce" >> beam.Distinct()
            | "KeyBySplit"  # the names are a JSON list of data set, id and split
            >> beam.Map(lambda names: tuple(json.loads(names)[::2])).with_output_types(
                tuple[str, str]
            )
        )
        accounts[NEAR] = alike | "CountNear" >> beam.combiners.Count.PerElement()
        clusters = beam.Map(lambda links: len(numpy.unique(links[:, 1])))
        accounts[CLUSTERS] = near.links | "CountClusters" >> clusters
        return files, accounts


class CountDocuments(beam.PTransform):
    """Reads documents, and counts them and the texts that are rejected.

    PCollection[SetPart] → (PCollection[(side, NamedText)], the accounts DOCUMENTS and LEFT_OUT by (data set,
    split)).
    """

    def expand(self, parts: beam.PCollection) -> tuple[beam.PCollection, dict[str, Any]]:
        read = parts | beam.FlatMap(read_counted).with_output_types(
            tuple[int, NamedText]
        ).with_outputs("rejected", main="documents")
        split_of = beam.Map(lambda document: (document[1].data_set, document[1].split))
        counted = (
            read.documents
            | "KeyBySplit" >> split_of.with_output_types(tuple[str, str])
            | "Count" >> beam.combiners.Count.PerElement()
        )
        rejected = read.rejected | "AddRejected" >> beam.CombinePerKey(sum_of)
        return read.documents, {DOCUMENTS: counted, LEFT_OUT: rejected}


def read_parts(root: beam.Pipeline, files: Sequence[SetFile], workers: int) -> beam.PCollection:
    """Lists the parts of the files of data sets, and distributes them over the workers.

    Returns a PCollection[SetPart].
    """
    return (
        root
        | "SpreadFiles" >> SpreadAll(files, of=SetFile)
        | "SpreadParts" >> Spread(plan_set_parts, workers, of=SetPart)
    )


def plan_set_parts(file: SetFile, stripes: int) -> Iterator[SetPart]:
    """Yields the parts into which a file is divided for the workers.

    `stripes` is the number of workers that divide the work on a large file which cannot be split, such as a
    .gz. Each of them decompresses the whole file, but processes only its share of the documents.
    """
    return (SetPart(file.data_set, file.side, part) for part in plan_parts(file.file, stripes))


def named_texts(part: SetPart) -> Iterator[NamedText]:
    """Yields the documents of a part.

    If a document has no id, its id consists of the file name and the position in the file.
    """
    return (text for batch in read_part(part.part) for text in name_texts(part, batch))


def name_texts(part: SetPart, batch: TextBatch) -> Iterator[NamedText]:
    """Yields the documents of a batch, with ids as in `named_texts`."""
    file = part.part.file
    prefix = "" if file.id else f"{posixpath.basename(file.path)}:"
    for identity, text in zip(batch.ids, batch.texts, strict=True):
        yield NamedText(part.data_set, prefix + identity, file.split, text)


def name_positions(file: SetFile) -> Iterator[tuple[str, str]]:
    """Yields (JSON list of the data set, id and split, position in the file) for each document of a file."""
    for part in plan_set_parts(file, 1):
        for batch in read_part(part.part):
            for text, position in zip(name_texts(part, batch), batch.positions, strict=True):
                yield json.dumps(text[:3], ensure_ascii=False), position


def read_documents(part: SetPart) -> Iterator[tuple[int, NamedText]]:
    """Yields (side, document) for the documents of a part."""
    return ((part.side, text) for text in named_texts(part))


def read_counted(part: SetPart) -> Iterator[tuple[int, NamedText] | beam.pvalue.TaggedOutput]:
    """Yields the documents of a part like `read_documents`, and the counts of rejected texts."""
    split = part.data_set, part.part.file.split
    for batch in read_part(part.part):
        yield from ((part.side, text) for text in name_texts(part, batch))
        if batch.rejected:
            yield beam.pvalue.TaggedOutput("rejected", (split, dict(batch.rejected)))


def describe(document: tuple[int, NamedText]) -> DocumentFacts:
    """Returns the facts of a document by which it is compared.

    The key is a number whose last bit is the side (0 or 1). The title is a JSON list of the data set, id and
    split.
    """
    side, text = document
    names = json.dumps(text[:3], ensure_ascii=False)
    return DocumentFacts(number_of_names(side, names), names, 0)


def number_of_names(side: int, names: str) -> int:
    """Returns a number that identifies a document.

    Args:
      side: the side (0 or 1) of the data set to which the document belongs.
      names: data set, id and split of the document, as JSON.
    """
    return fingerprint(f"{side}{names}") >> 2 << 1 | side


def ngrams_of(document: tuple[int, NamedText]) -> minhash.Uint64s:
    """Returns the hashes of the 8-grams of a document's words, in lower case and without punctuation."""
    return minhash.hash_ngrams(plain_words(document[1].text), minhash.NGRAM_WORDS)


def pair_row(pair: ComparedPair, links: minhash.Pairs) -> tuple[str | float, ...]:
    """Returns a pair as a row of SCHEMA.

    The first document is the one with side 0. If both documents have the same side, the first document is the
    one whose names (data set, id and split) sort first. `links` has rows (document number, smallest number in
    its connected component); this smallest number identifies the cluster of the pair.
    """
    one, other = sorted(pair[:2], key=lambda sketch: (sketch.number & 1, sketch.facts.title))
    place = int(numpy.searchsorted(links[:, 0], one.number))
    is_linked = place < len(links) and links[place, 0] == one.number
    cluster = int(links[place, 1]) if is_linked else one.number
    similarity: Fraction = pair.similarity
    names = (*json.loads(one.facts.title), *json.loads(other.facts.title))
    return *names, float(similarity), f"{cluster:016x}"


def identity_of(row: tuple[str | float, ...]) -> str:
    """Returns a string that identifies a pair. Its hash determines the file to which the pair is written."""
    return " ".join(map(str, row[:6]))


def names_of(pair: ComparedPair) -> Iterator[str]:
    """Yields the names (data set, id and split) of both documents of a pair, as JSON."""
    return (one.facts.title for one in pair[:2])
