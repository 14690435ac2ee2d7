"""Reads the results of a search for near-duplicates or evaluation texts in a build.

They are read as a list of documents and passages to remove from the build.
"""

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow.parquet as pq

from corpusmill.pipelines.inspect.remove_documents import Removal
from corpusmill.transforms.duplicates.find_overlap import NAMES, number_of_names
from corpusmill.transforms.files.open_input import open_raw
from corpusmill.transforms.files.spread import SpreadAll

NEAR_DUPLICATE, CONTAMINATED = "near-duplicate", "in-evaluation-set"  # reasons of removals


class PairsOf(NamedTuple):
    """Reader of the rows of `pairs-*.parquet`, in which a search has listed pairs of near-duplicates.

    The method `read` returns the documents of a pair that are to be removed from a build.
    """

    data_set: str  # name of the build in the columns of the pairs
    side: str  # side to remove, "first" or "second"; "" to keep one document of each cluster

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields a removal for each document of a pair (`row`) that is to be removed from the build."""
        detail = f"similarity {row['similarity']:.3f}"
        for side, other in (("first", "second"), ("second", "first")):
            names = [row[f"{side}_{name}"] for name in NAMES]
            if names[0] != self.data_set or self.side not in (side, ""):
                continue
            number = number_of_names(0, json.dumps(names, ensure_ascii=False))
            if self.side or f"{number:016x}" != row["cluster"]:
                item = " ".join(row[f"{other}_{name}"] for name in ("data_set", "split", "id"))
                yield Removal(names[1], item, detail)


class HitsOf(NamedTuple):
    """Reader of the rows of `hits-*.parquet`, in which a search has listed passages of documents.

    These passages also occur in evaluation items. The method `read` returns the passage or the document that
    is to be removed from a build.
    """

    folder: str  # folder of the build; rows about files in other folders are skipped
    has_ids: bool  # True if the documents of the build have ids
    by_passage: bool  # True to remove only the passages, False to remove whole documents

    def read(self, row: Mapping[str, Any]) -> Iterator[Removal]:
        """Yields the removal of the passage, or of the whole document if `by_passage` is False."""
        folder, name = posixpath.split(row["file"])
        if folder != self.folder:
            return
        key = row["document"] if self.has_ids else f"{name}:{row['document']}"
        item = " ".join(filter(None, (row["set"], row["split"], row["item"])))
        place = (row["start"], row["end"]) if self.by_passage else ()
        yield Removal(key, item, f"{row['words']} words in a row", *place)


class ReadRemovals(beam.PTransform):
    """Reads the documents and passages to remove. Pipeline → PCollection[Removal], without repetitions.

    Args:
      paths: paths of the Parquet files that a search has written.
      found: reader of the rows of these files.
    """

    def __init__(self, paths: list[str], found: PairsOf | HitsOf):
        super().__init__()
        self.paths, self.found = paths, found

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadLists" >> SpreadAll(self.paths, of=str)
            | "ReadLists" >> beam.FlatMap(read_removals, self.found).with_output_types(Removal)
            | "EachOnce" >> beam.Distinct()
        )


def read_removals(path: str, found: PairsOf | HitsOf) -> Iterator[Removal]:
    """Yields the removals in the rows of a file."""
    with open_raw(path) as stream:
        for batch in pq.ParquetFile(stream).iter_batches():
            for row in batch.to_pylist():
                yield from found.read(row)
