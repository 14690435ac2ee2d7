"""Entities → the classes of Wikimedia's own things (lists, categories, templates), closed over P279."""

import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam

from transforms.text.wikimedia.class_tree import (
    DISAMBIGUATION,
    INTERNAL_ROOTS,
    below,
)
from transforms.text.wikimedia.wikidata_json import Entity


class InternalClasses(NamedTuple):
    """QIDs of classes. An instance of one of them is no thing in the world."""

    all: frozenset[str]
    disambiguation: frozenset[str]  # those of `all` that are below Q4167410


class CloseOverSubclasses(beam.PTransform):
    """PCollection[Entity] → one InternalClasses.

    Only the class graph comes together in one place: two numbers for each of the 5 million subclass-of
    statements of Wikidata, 80 MB. What is sent out is the closed set, some thousand classes.
    """

    def expand(self, entities: beam.PCollection) -> beam.PCollection:
        return (
            entities
            | "SubclassEdges" >> beam.FlatMap(subclass_edges).with_output_types(tuple[int, int])
            | "CloseClasses" >> beam.CombineGlobally(_CloseClasses())
        )


def subclass_edges(entity: Entity) -> Iterator[tuple[int, int]]:
    """(class, class above it) for each subclass-of statement, as the numbers of their QIDs."""
    for above in entity.subclass_of:
        yield int(entity.qid[1:]), int(above[1:])


class _CloseClasses(beam.CombineFn):
    def create_accumulator(self) -> "array.array[int]":
        return array.array("q")

    def add_input(self, edges: "array.array[int]", edge: tuple[int, int]) -> "array.array[int]":
        edges.extend(edge)
        return edges

    def merge_accumulators(self, accumulators: "Iterable[array.array[int]]") -> "array.array[int]":
        merged = array.array("q")
        for edges in accumulators:
            merged.extend(edges)
        return merged

    def extract_output(self, edges: "array.array[int]") -> InternalClasses:
        def pairs() -> Iterator[tuple[str, str]]:
            numbers = iter(edges)
            return (
                (f"Q{lower}", f"Q{upper}") for lower, upper in zip(numbers, numbers, strict=True)
            )

        return InternalClasses(
            all=below(INTERNAL_ROOTS, pairs()),
            disambiguation=below({DISAMBIGUATION}, pairs()),
        )
