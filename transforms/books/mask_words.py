"""Dated books → dated books with a mark for each word of a list."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import apache_beam as beam

from transforms.files import counters
from transforms.files.open_input import InputError, open_input
from transforms.files.scratch import Scratch, fetch_text
from transforms.text.books.dating.publication_dates import DatedBook
from transforms.text.books.masking import mask_words, read_words
from transforms.text.files.compression import DECODE_ERRORS

STAGE = "mask-words"
FACT = "masked_words"


class MaskedBooks(NamedTuple):
    """What MaskWords gives."""

    books: beam.PCollection  # of DatedBook
    facts: (
        beam.PCollection
    )  # of one (name, how many words are masked) for stats.json; none without a list


class MaskWords(beam.PTransform):
    """PCollection[DatedBook] → MaskedBooks. With an empty list all books are as they were.

    Args:
      folder: in which texts wait (see scratch.py).
      words: see text/books/masking.py.
    """

    def __init__(self, folder: str, words: Sequence[str]):
        super().__init__()
        self.folder = folder
        self.words = tuple(words)

    def expand(self, books: beam.PCollection) -> MaskedBooks:
        if not self.words:
            return MaskedBooks(books, books.pipeline | "NothingMasked" >> beam.Create([]))
        masked = books | "MaskBook" >> beam.ParDo(
            _MaskBook(Scratch(self.folder), self.words)
        ).with_output_types(DatedBook).with_outputs("counts", main="books")
        facts = (
            masked.counts | "AddCounts" >> beam.CombineGlobally(sum) | "NameFact" >> beam.Map(_fact)
        )
        return MaskedBooks(masked.books, facts)


class _MaskBook(beam.DoFn):
    def __init__(self, scratch: Scratch, words: tuple[str, ...]):
        self.scratch = scratch
        self.words = words

    def process(self, dated: DatedBook) -> Iterable[Any]:
        masked = mask_words(fetch_text(dated.book.packed_text), self.words)
        if not masked.replaced:
            yield dated
            return
        counters.count(STAGE, "words", masked.replaced)
        packed = self.scratch.put_text(masked.text)
        book = dated.book._replace(packed_text=packed, characters=len(masked.text))
        yield dated._replace(book=book)
        yield beam.pvalue.TaggedOutput("counts", masked.replaced)


def _fact(masked: int) -> tuple[str, int]:
    return FACT, masked


def read_word_list(path: str) -> tuple[str, ...]:
    """The entries of a file, one a line, in UTF-8. Raises InputError."""
    with open_input(path) as lines:
        try:
            return read_words(line.decode("utf-8-sig") for line in cast(Iterable[bytes], lines))
        except DECODE_ERRORS as error:  # ValueError is one of them
            raise InputError(path, f"no list of words: {error}") from None
