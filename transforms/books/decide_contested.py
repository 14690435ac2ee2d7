"""Decides which overlapping books are dropped, given the n-grams that they share.

The terms are explained in text/books/simple/overlap.py.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton, TaggedOutput

from corpusmill.transforms.books import overlap
from corpusmill.transforms.books.ngram_blocks import Int64s, shared_from_bytes
from corpusmill.transforms.books.overlap import ContestedBook
from corpusmill.transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from corpusmill.transforms.duplicates.components import Pairs, link_to_smallest
from corpusmill.transforms.files.scratch import fetch


class DecideContested(beam.PTransform):
    """Decides which contested books are dropped.

    A book is contested if it shares so many n-grams with larger books that it may have to be dropped. The
    decision depends on which of these larger books are kept. So contested books that share n-grams form
    connected components, and one worker decides all books of a component.

    PCollection of SharedNgrams, as references to scratch files → PCollection of one ascending array with the
    ids of dropped books.

    Args:
      counts: PCollection of one array with a row (id, number of tokens, number of n-grams, number of n-grams
        that are also in larger books) for each book.
      threshold: a book is dropped if at least this share of its n-grams is in larger kept books.
    """

    def __init__(self, counts: beam.PCollection, threshold: Fraction):
        super().__init__()
        self.counts = counts
        self.threshold = threshold

    def expand(self, shared: beam.PCollection) -> beam.PCollection:
        contested = self.counts | "Contested" >> beam.Map(overlap.contested_books, self.threshold)
        found = shared | "FindChains" >> beam.FlatMap(
            chain_partition, AsSingleton(contested)
        ).with_output_types(tuple[bytes, int]).with_outputs("certain", "links", main="chains")
        certain = found.certain | "AddCertain" >> beam.CombineGlobally(
            CombinePairs(functools.partial(overlap.sum_rows, keys=1))
        )
        links = AsSingleton(
            found.links | "LinkBooks" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
        )
        return (
            {
                "books": contested
                | "KeyContested"
                >> beam.FlatMap(key_contested, AsSingleton(certain), links).with_output_types(
                    tuple[int, ContestedBook]
                ),
                "chains": found.chains
                | "AddChains" >> beam.CombinePerKey(sum)
                | "KeyChains"
                >> beam.Map(key_chain, links).with_output_types(tuple[int, tuple[bytes, int]]),
            }
            | "MeetContested" >> beam.CoGroupByKey()
            | "Decide" >> beam.Map(decide_component, self.threshold)
            | "GatherDropped" >> beam.CombineGlobally(CombinePairs(different_pairs, columns=1))
            | "Ids" >> beam.Map(numpy.ravel)
        )


def chain_partition(packed: bytes, contested: Int64s) -> Iterator[Any]:
    """Finds the chains of contested books in one partition of the n-grams.

    The chain of an n-gram lists the contested books that have it, the largest first. Books are left out if a
    larger book that is certainly kept has the n-gram. Yields (chain, number of n-grams that have this chain).
    Other outputs are:
      "certain": for each contested book, the number of its n-grams that are certainly in larger kept books.
      "links": pairs of books that are in the same chain.

    Args:
      packed: reference to the SharedNgrams of the partition.
      contested: rows (id, number of tokens, number of n-grams, number of n-grams that are also in larger
        books) of the contested books.
    """
    if not len(contested):
        return
    chains = overlap.find_chains(shared_from_bytes(fetch(packed)), contested[:, 0])
    yield TaggedOutput("certain", chains.certain)
    yield TaggedOutput("links", chains.links)
    yield from chains.ngrams.items()


def key_contested(
    contested: Int64s, certain: Int64s, links: Pairs
) -> Iterator[tuple[int, ContestedBook]]:
    """Yields (component, contested book) for each contested book.

    A component is a group of books that are connected by chains. Its name is the smallest id of its books.

    Args:
      contested: rows (id, number of tokens, number of n-grams, number of n-grams that are also in larger
        books) of the contested books.
      certain: rows (id, number of the book's n-grams that are certainly in larger kept books).
      links: rows (id, smallest id in the component of the book).
    """
    id_to_certain = dict(certain.tolist())
    id_to_component = dict(links.tolist())
    for book_id, tokens, ngrams, _ in contested.tolist():
        book = ContestedBook(book_id, tokens, ngrams, id_to_certain.get(book_id, 0))
        yield id_to_component.get(book_id, book_id), book


def key_chain(counted: tuple[bytes, int], links: Pairs) -> tuple[int, tuple[bytes, int]]:
    """Returns (component of the books in a chain, counted). See `key_contested` for components.

    Args:
      counted: (chain, number of n-grams that have this chain). For chains, see `chain_partition`.
      links: rows (book id, smallest id in the component of the book).
    """
    first = overlap.chain_ids(counted[0])[0]
    place = int(numpy.searchsorted(links[:, 0], first))
    is_linked = place < len(links) and links[place, 0] == first  # the smallest id has no link
    return int(links[place, 1]) if is_linked else first, counted


def decide_component(
    joined: tuple[int, Mapping[str, Iterable[Any]]], threshold: Fraction
) -> Int64s:
    """Returns the ids of the dropped books of a connected component, as an array with one row per book.

    Args:
      joined: (component, its contested books and its chains), as produced by CoGroupByKey.
      threshold: a book is dropped if at least this share of its n-grams is in larger kept books.
    """
    _, found = joined
    chains = [(overlap.chain_ids(chain), ngrams) for chain, ngrams in found["chains"]]
    dropped = overlap.decide(found["books"], chains, threshold)
    return numpy.array(dropped, numpy.int64).reshape(-1, 1)
