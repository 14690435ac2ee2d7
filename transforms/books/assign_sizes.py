"""Assigns tokenised books to splits, and decides which are also in SimpleBooks-2, the small corpus."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.transforms.books.simplebooks_rows import SMALL
from corpusmill.transforms.books.sizes import Placement, plan_sizes
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.records import TokenizedBook


class SizedBook(NamedTuple):
    """A tokenised book with its split. A book of SimpleBooks-2 also has its text for that corpus."""

    book: TokenizedBook
    split: str  # "train", "validation" or "test"
    is_small: bool  # True if it is in SimpleBooks-2
    packed_small: bytes = b""  # its tokens in SimpleBooks-2; b"" if the same

    def in_size(self, size: str) -> TokenizedBook:
        """Returns the book with its text for the corpus of the given size, LARGE or SMALL."""
        if size == SMALL and self.packed_small:
            return self.book._replace(packed_tokens=self.packed_small)
        return self.book


class AssignSizes(beam.PTransform):
    """Assigns books to splits, and decides which are in SimpleBooks-2, the small corpus.

    PCollection[TokenizedBook] → PCollection[SizedBook]. One worker decides about all books. It needs 16 bytes
    of memory per book, for the id and the number of tokens. `plan_sizes` explains the rules.

    Args:
      heldout_books: number of books in each of the splits "validation" and "test".
      small_tokens: maximum number of tokens in the training split of SimpleBooks-2.

    Raises InputError if there are too few books.
    """

    def __init__(self, heldout_books: int, small_tokens: int):
        super().__init__()
        self.heldout_books = heldout_books
        self.small_tokens = small_tokens

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        sizes = books | "SizeOf" >> beam.Map(size_of).with_output_types(tuple[int, int])
        plan = (
            books.pipeline
            | "Once" >> beam.Create([None])
            | "PlanSizes"
            >> beam.Map(plan_all, AsList(sizes), self.heldout_books, self.small_tokens)
        )
        return books | "AssignSize" >> beam.Map(assign_size, AsSingleton(plan)).with_output_types(
            SizedBook
        )


def size_of(book: TokenizedBook) -> tuple[int, int]:
    """Returns (book id, number of tokens)."""
    return book.book_id, book.tokens


def plan_all(
    _: None, sizes: Iterable[tuple[int, int]], heldout_books: int, small_tokens: int
) -> dict[int, Placement]:
    """Chooses the split of each book, and whether it is in SimpleBooks-2. Returns book id → Placement.

    The result does not depend on the order of the books.

    Args:
      sizes: (book id, number of tokens) of each book.
      heldout_books: number of books in each of the splits "validation" and "test".
      small_tokens: maximum number of tokens in the training split of SimpleBooks-2.
    """
    try:
        return plan_sizes(sorted(sizes), heldout_books, small_tokens)
    except ValueError as error:
        raise InputError("books", str(error)) from None


def assign_size(book: TokenizedBook, plan: Mapping[int, Placement]) -> SizedBook:
    """Returns a book with its split, and whether it is in SimpleBooks-2.

    `plan` is the result of `plan_all`: book id → Placement.
    """
    return SizedBook(book, *plan[book.book_id])
