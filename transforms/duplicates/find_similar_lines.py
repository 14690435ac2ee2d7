"""Finds pairs of lines that may be near-duplicates, by MinHash and bands (see minhash.py)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam
import numpy

from corpusmill.transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.duplicates.minhash import (
    LINE_NGRAM_WORDS,
    LINE_PERMUTATIONS,
    Uint32s,
    Uint64s,
    bucket_signatures,
    choose_bands,
    deal_buckets,
    pair_members,
    sign_sets,
)
from corpusmill.transforms.duplicates.ngrams import word_ngrams
from corpusmill.transforms.files.line_blocks import lines_of
from corpusmill.transforms.files.line_ids import line_ids, split_by_range
from corpusmill.transforms.files.records import LineRange
from corpusmill.transforms.files.scratch import fetch

"""Words in an n-gram. A shorter line is one n-gram."""
LINES_AT_ONCE = 1 << 10
MISS_WEIGHT = 0.9
"""Weight of missed pairs, compared with false candidates, in the choice of bands.

A false candidate only costs a comparison, but a missed duplicate remains in the corpus."""

_PARTITION_BITS = 12


class BucketBlock(NamedTuple):
    """Some lines of a range, and a bucket for each of them. All buckets are in the same partition.

    A line is given by its index within the range. All blocks of a range together take eight bytes for each
    line and band; see `deal_buckets`.
    """

    range_index: int
    places: Uint32s
    buckets: Uint32s


class FindSimilarLines(beam.PTransform):
    """Finds pairs of lines that may be similar.

    PCollection[LineRange] → PCollection[(index of a range, pairs of line ids)]. The first line of a pair has
    the smaller id. A pair is listed under the range of its first line, and only once. The pairs do not depend
    on how the lines are divided into ranges. A worker holds one of 4,096 partitions of the buckets at a time.
    For a very large bucket (boilerplate that many lines share), it holds 16 bytes for each of the lines.

    Args:
      threshold: minimum similarity of the near-duplicates to be found; above 0 and below 1. Some pairs with
        exactly this similarity are missed, see `choose_bands`.
    """

    def __init__(self, threshold: float):
        super().__init__()
        self.bands, self.rows = choose_bands(threshold, LINE_PERMUTATIONS, MISS_WEIGHT)

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return (
            ranges
            | "BucketLines" >> beam.FlatMap(bucket_range, self.bands, self.rows)
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.FlatMap(pair_partition)
            | "DifferentPairs" >> beam.CombinePerKey(CombinePairs(different_pairs))
        )


def bucket_range(lines: LineRange, bands: int, rows: int) -> Iterator[tuple[int, BucketBlock]]:
    """Computes the MinHash buckets of the lines in a range.

    Yields (partition of the buckets, block of lines with buckets in this partition). `bands` is the number of
    bands, `rows` is the number of signature positions in a band.
    """
    all_lines = lines_of(fetch(lines.packed))
    blocks: list[Uint64s] = []
    for start in range(0, len(all_lines), LINES_AT_ONCE):
        some = all_lines[start : start + LINES_AT_ONCE]
        ngrams = [word_ngrams(line, LINE_NGRAM_WORDS) for line in some]
        signatures = sign_sets(ngrams, LINE_PERMUTATIONS, bands * rows)
        blocks.append(bucket_signatures(signatures, bands, rows))
    if blocks:
        places = numpy.arange(len(all_lines), dtype=numpy.uint32)
        dealt = deal_buckets(places, numpy.concatenate(blocks), _PARTITION_BITS)
        for partition, some_places, buckets in dealt:
            yield partition, BucketBlock(lines.index, some_places, buckets)


def pair_partition(grouped: tuple[int, Iterable[BucketBlock]]) -> Iterator[tuple[int, Pairs]]:
    """Finds the pairs of lines that are in the same bucket, for all buckets of a partition.

    Yields (index of a range, pairs of line ids). The first line of each of these pairs is in the range.
    """
    blocks = list(grouped[1])
    ids = numpy.concatenate([line_ids(block.range_index, block.places) for block in blocks])
    buckets = numpy.concatenate([block.buckets for block in blocks])
    return split_by_range(pair_members(buckets, ids), 0)
