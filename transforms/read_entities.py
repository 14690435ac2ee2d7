"""Wikidata JSON dumps → items."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import apache_beam as beam

from transforms import counters
from transforms.open_input import InputError, match_inputs, open_input
from transforms.records import Rejected
from transforms.text.compression import DECODE_ERRORS
from transforms.text.wikimedia.wikidata_json import Entity, MalformedEntityError, parse_entity

STAGE = "read-entities"

MAX_LINE_BYTES = 1 << 26
"""The longest line that is taken for an entity; Wikidata's own limit is below 5 MB."""


class Entities(NamedTuple):
    """What ReadEntities gives."""

    entities: beam.PCollection  # of Entity
    rejected: beam.PCollection  # of Rejected: lines that are no entity


class ReadEntities(beam.PTransform):
    """Reads the items of entity dumps on any Beam file system, plain, .gz, .bz2 or .xz.

    A file is one unit of work. A rejected line is named by its file, without the folder, and its
    offset: "wikidata-20261101-all.json.gz:4711". Offsets count bytes of the uncompressed dump.
    A damaged file raises InputError with its path and the offset.
    """

    def __init__(self, patterns: Sequence[str]):
        super().__init__()
        self.patterns = list(patterns)

    def expand(self, root: beam.Pipeline) -> Entities:
        read = (
            root
            | "Patterns" >> beam.Create([self.patterns])
            | "MatchFiles" >> beam.FlatMap(match_inputs)
            | "SpreadFiles" >> beam.Reshuffle()
            | "ReadLines"
            >> beam.ParDo(_ReadFile())
            .with_output_types(Entity)
            .with_outputs("rejected", main="entities")
        )
        return Entities(read.entities, read.rejected)


class _ReadFile(beam.DoFn):
    def process(self, path: str) -> Iterable[Entity | beam.pvalue.TaggedOutput]:
        with open_input(path) as stream:
            for offset, line in read_lines(stream, path):
                try:
                    if len(line) > MAX_LINE_BYTES:
                        raise MalformedEntityError("line-too-long")
                    entity = parse_entity(line)
                except MalformedEntityError as error:
                    counters.count(STAGE, error.reason)
                    place = f"{posixpath.basename(path)}:{offset}"
                    rejected = Rejected(place, "", STAGE, error.reason, error.detail)
                    yield beam.pvalue.TaggedOutput("rejected", rejected)
                    continue
                if entity is not None:
                    counters.count(STAGE, "entities")
                    yield entity


def read_lines(stream: BinaryIO, path: str) -> Iterator[tuple[int, bytes]]:
    """(offset, line) for each line; of an overlong one the first MAX_LINE_BYTES + 1 bytes."""
    offset, is_start = 0, True
    while True:
        try:
            line = stream.readline(MAX_LINE_BYTES + 1)
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or cut: {error}", offset) from error
        if not line:
            return
        if is_start:
            yield offset, line
        offset += len(line)
        is_start = line.endswith(b"\n")
