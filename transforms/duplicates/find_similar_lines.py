"""Lines → pairs of lines that may be near-duplicates, by MinHash and bands (see text/minhash.py)."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from transforms.files.scratch import fetch
from transforms.records import LineRange
from transforms.text.duplicates.components import Pairs
from transforms.text.duplicates.minhash import (
    Uint32s,
    Uint64s,
    bucket_signatures,
    choose_bands,
    pair_members,
    sign_sets,
)
from transforms.text.duplicates.ngrams import word_ngrams
from transforms.text.lines.line_blocks import lines_of
from transforms.text.lines.line_ids import line_ids, split_by_range

LINES_AT_ONCE = 1 << 10
MISS_WEIGHT = 0.9
"""A pair that is found wrongly costs a comparison, one that is missed stays in the corpus."""

_PARTITION_BITS = 12
_BUCKET_BITS = 32


class BucketBlock(NamedTuple):
    """Some lines of a range with the bucket of each, in one partition of the buckets.

    Eight bytes for each line and band. Of a bucket's hash 12 bits are the partition, and 32 are here: what
    is equal by chance is no matter, as all pairs are compared.
    """

    range_index: int
    places: Uint32s
    buckets: Uint32s


class FindSimilarLines(beam.PTransform):
    """PCollection[LineRange] → PCollection[(range of the first, rows (id of the first, id of the second))].

    The first is the smaller id, and each pair is there once. Which pairs there are does not depend on
    where the ranges are cut. A worker holds a 4096th of the buckets at a time; of a boilerplate that so
    many lines have in common as make a bucket larger than that, 16 bytes a line.

    Args: see DropNearDuplicates.
    """

    def __init__(self, threshold: float, permutations: int, ngram_words: int):
        super().__init__()
        self.bands, self.rows = choose_bands(threshold, permutations, MISS_WEIGHT)
        self.permutations = permutations
        self.ngram_words = ngram_words

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return (
            ranges
            | "BucketLines"
            >> beam.FlatMap(
                bucket_range, self.bands, self.rows, self.permutations, self.ngram_words
            ).with_output_types(tuple[int, Any])
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.FlatMap(pair_partition).with_output_types(tuple[int, Any])
            | "DifferentPairs" >> beam.CombinePerKey(CombinePairs(different_pairs))
        )


def bucket_range(
    lines: LineRange, bands: int, rows: int, permutations: int, ngram_words: int
) -> Iterator[tuple[int, BucketBlock]]:
    """(partition, the part of the range's buckets in it)."""
    all_lines = lines_of(fetch(lines.packed))
    blocks: list[Uint64s] = []
    for start in range(0, len(all_lines), LINES_AT_ONCE):
        ngrams = [
            word_ngrams(line, ngram_words) for line in all_lines[start : start + LINES_AT_ONCE]
        ]
        signatures = sign_sets(ngrams, permutations, bands * rows)
        blocks.append(bucket_signatures(signatures, bands, rows))
    if blocks:
        yield from cut_buckets(lines.index, numpy.concatenate(blocks))


def cut_buckets(index: int, buckets: Uint64s) -> Iterator[tuple[int, BucketBlock]]:
    """(partition, its buckets and their lines) of a range; `buckets` has a row for each line."""
    places = numpy.repeat(numpy.arange(len(buckets), dtype=numpy.uint32), buckets.shape[1])
    flat = buckets.reshape(-1)
    partitions = (flat >> numpy.uint64(64 - _PARTITION_BITS)).astype(numpy.uint16)
    kept_bits = (flat >> numpy.uint64(64 - _PARTITION_BITS - _BUCKET_BITS)).astype(numpy.uint32)
    order = numpy.argsort(partitions, kind="stable")
    present, starts = numpy.unique(partitions[order], return_index=True)
    for partition, chosen in zip(present.tolist(), numpy.split(order, starts[1:]), strict=True):
        yield partition, BucketBlock(index, places[chosen], kept_bits[chosen])


def pair_partition(grouped: tuple[int, Iterable[BucketBlock]]) -> Iterator[tuple[int, Pairs]]:
    """(range of the first, pairs) of all buckets of a partition."""
    _, blocks = grouped
    ids, buckets = [], []
    for block in blocks:
        ids.append(line_ids(block.range_index, block.places))
        buckets.append(block.buckets)
    return split_by_range(pair_members(numpy.concatenate(buckets), numpy.concatenate(ids)), 0)
