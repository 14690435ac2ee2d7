"""Writes the entries of a model to model.arpa, a file in the ARPA format."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files.line_blocks import pack_block, unpack_block
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.write_files import HashedFile
from corpusmill.transforms.models import arpa
from corpusmill.transforms.models.choose_words import load_words
from corpusmill.transforms.models.gram_tables import ENTRIES
from corpusmill.transforms.models.interpolate import ModelPart
from corpusmill.transforms.models.pieces import join_pieces

FILE, KIND = "model.arpa", "arpa"


class ArpaPart(NamedTuple):
    """The lines of the ARPA file for one order and bucket."""

    order: int
    bucket: int
    grams: int
    packed: bytes  # compressed, in scratch


class WriteArpa(beam.PTransform):
    """Writes a model to model.arpa. PCollection[ModelPart] → PCollection[OutputFile].

    All workers format lines; one worker concatenates them.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary lines.
      words: side input with one element, a reference to the vocabulary in scratch.
      order: highest order of the model.
    """

    def __init__(self, folder: str, scratch: str, words: beam.PCollection, order: int):
        super().__init__()
        self.folder, self.scratch, self.words, self.order = folder, scratch, words, order

    def expand(self, parts: beam.PCollection) -> beam.PCollection:
        make = beam.Map(make_part, self.order, Scratch(self.scratch), AsSingleton(self.words))
        return (
            parts
            | "MakeLines" >> make.with_output_types(ArpaPart)
            | "KeyByFile" >> beam.WithKeys(FILE).with_output_types(tuple[str, ArpaPart])
            | "GroupFile" >> beam.GroupByKey()
            | "WriteFile" >> beam.Map(write_file, self.folder).with_output_types(OutputFile)
        )


def make_part(part: ModelPart, highest: int, scratch: Scratch, words: bytes) -> ArpaPart:
    """Formats the n-grams of a part of the model as lines of the ARPA file.

    Args:
      part: n-grams of the same order and bucket.
      highest: highest order of the model. N-grams of this order have no back-off weight.
      scratch: stores the lines.
      words: reference to the vocabulary in scratch.
    """
    entries = join_pieces([part.packed], part.order, ENTRIES)
    names = arpa.name_words(load_words(words))
    lines = arpa.make_lines(entries, names, has_backoffs=part.order < highest)
    return ArpaPart(part.order, part.bucket, part.grams, scratch.put(pack_block(lines)))


def write_file(grouped: tuple[str, Iterable[ArpaPart]], folder: str) -> OutputFile:
    """Writes model.arpa. In the manifest, its number of records is the number of n-grams of all orders.

    `grouped` is (file name, the parts of the model as lines).
    """
    name, unordered = grouped
    parts = sorted(unordered)
    grams: dict[int, int] = {}
    for part in parts:
        grams[part.order] = grams.get(part.order, 0) + part.grams
    with HashedFile.in_folder(folder, name) as file:
        for piece in _pieces(parts, grams):
            file.write(piece)
    return file.output_file(name, "", KIND, sum(grams.values()))


def _pieces(parts: list[ArpaPart], grams: dict[int, int]) -> Iterator[bytes]:
    yield arpa.make_head(grams)
    for order, of_order in groupby(parts, attrgetter("order")):
        yield arpa.make_title(order)
        yield from (unpack_block(fetch(part.packed)) for part in of_order)
    yield arpa.END


def grams_of_part(part: ModelPart) -> tuple[int, int]:
    """Returns (order, number of n-grams) of a part of the model."""
    return part.order, part.grams
