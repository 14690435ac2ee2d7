"""The choice by overlap in its parts, in this process: what SelectBooks does with Beam, and without it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy

from corpusmill.transforms.books import book_overlap
from corpusmill.transforms.books.book_overlap import (
    ContestedBook,
    HashedBook,
    Int64s,
    NgramBlock,
    SharedNgrams,
    deal_hashes,
)
from corpusmill.transforms.duplicates.minhash import link_to_smallest
from corpusmill.transforms.files.records import OverlapVerdict


def select_hashed(
    books: Sequence[HashedBook], threshold: Fraction, partitions: int = 1, books_at_once: int = 0
) -> dict[int, OverlapVerdict]:
    """Id → verdict.

    Args:
      books_at_once: so many are dealt out to the partitions together; 0 for all.
    """
    counts, parts = share_books(books, partitions, books_at_once or len(books))
    dropped = decide_contested(parts, book_overlap.contested_books(counts, threshold), threshold)
    rows = [book_overlap.attribute_ngrams(part, dropped) for part in parts]
    id_to_covering: dict[int, dict[int, int]] = defaultdict(dict)
    for book_id, covering, ngrams in book_overlap.sum_rows(concatenate(rows, 3), 2).tolist():
        id_to_covering[book_id][covering] = ngrams
    id_to_ngrams = {book_id: ngrams for book_id, _, ngrams, _ in counts.tolist()}
    dropped_ids = set(dropped.tolist())
    return {
        book.book_id: book_overlap.judge(
            book.book_id,
            id_to_ngrams.get(book.book_id, 0),
            id_to_covering[book.book_id],
            book.book_id not in dropped_ids,
        )
        for book in books
    }


def share_books(
    books: Sequence[HashedBook], partitions: int, books_at_once: int
) -> tuple[Int64s, list[SharedNgrams]]:
    """The counts of all books, and what they share in each partition."""
    partition_to_blocks: dict[int, list[NgramBlock]] = defaultdict(list)
    for start in range(0, len(books), max(books_at_once, 1)):
        dealt = books[start : start + books_at_once]
        for partition, block in deal_hashes(dealt, 1, partitions):
            partition_to_blocks[partition].append(block)
    found = [book_overlap.share_ngrams(blocks) for blocks in partition_to_blocks.values()]
    counts = concatenate([counts for counts, _ in found], book_overlap.COUNT_COLUMNS)
    return book_overlap.sum_rows(counts, 2), [shared for _, shared in found]


def decide_contested(
    parts: Sequence[SharedNgrams], contested: Int64s, threshold: Fraction
) -> Int64s:
    """Ids of the books that are not kept, ascending."""
    found = [book_overlap.find_chains(part, contested[:, 0]) for part in parts]
    certain = dict(
        book_overlap.sum_rows(concatenate([part.certain for part in found], 2), 1).tolist()
    )
    linked = dict(link_to_smallest(concatenate([part.links for part in found], 2)).tolist())
    chains: Counter[bytes] = Counter()
    for part in found:
        chains.update(part.ngrams)
    component_to_chains = defaultdict(list)
    for chain, ngrams in chains.items():
        ids = book_overlap.chain_ids(chain)
        component_to_chains[linked.get(ids[0], ids[0])].append((ids, ngrams))
    component_to_books = defaultdict(list)
    for book_id, tokens, ngrams, _ in contested.tolist():
        book = ContestedBook(book_id, tokens, ngrams, certain.get(book_id, 0))
        component_to_books[linked.get(book_id, book_id)].append(book)
    dropped = [
        book_id
        for component, books in component_to_books.items()
        for book_id in book_overlap.decide(books, component_to_chains[component], threshold)
    ]
    return numpy.array(sorted(dropped), numpy.int64)


def concatenate(arrays: Sequence[Int64s], columns: int) -> Int64s:
    """All rows, none too."""
    return numpy.concatenate([numpy.empty((0, columns), numpy.int64), *arrays])
