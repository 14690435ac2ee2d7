"""Replaces each word of a user-provided list by the mark "<DW>" in the texts of books."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import apache_beam as beam

from corpusmill.transforms.books.masking import mask_words, read_words
from corpusmill.transforms.books.publication_dates import DatedBook
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.open_input import InputError, open_input
from corpusmill.transforms.files.scratch import Scratch, fetch_text

STAGE = "mask-words"
FACT = "masked_words"


class MaskedBooks(NamedTuple):
    """The outputs of MaskWords: the masked books, and the number of masked words."""

    books: beam.PCollection  # of DatedBook
    facts: beam.PCollection  # of one (name, masked words) for stats.json; none without a list


class MaskWords(beam.PTransform):
    """Replaces the words of a list by the mark "<DW>". PCollection[DatedBook] → MaskedBooks.

    With an empty list, the books are unchanged.

    Args:
      folder: folder for temporary texts (see scratch.py).
      words: list of the words to mask, see text/books/masking.py.
    """

    def __init__(self, folder: str, words: Sequence[str]):
        super().__init__()
        self.folder = folder
        self.words = tuple(words)

    def expand(self, books: beam.PCollection) -> MaskedBooks:
        if not self.words:
            return MaskedBooks(books, books.pipeline | "NothingMasked" >> beam.Create([]))
        masked = books | "MaskBook" >> beam.FlatMap(
            mask_book, Scratch(self.folder), self.words
        ).with_output_types(DatedBook).with_outputs("counts", main="books")
        replaced = masked.counts | "AddCounts" >> beam.CombineGlobally(sum)
        facts = replaced | "NameFact" >> beam.Map(lambda words: (FACT, words))
        return MaskedBooks(masked.books, facts)


def mask_book(dated: DatedBook, scratch: Scratch, words: Sequence[str]) -> Iterator[Any]:
    """Replaces each of the `words` in the text of a book by the mark "<DW>". Yields the book.

    A changed text is stored in `scratch`. The number of replaced words, if positive, is yielded on the output
    "counts".
    """
    text, replaced = mask_words(fetch_text(dated.book.packed_text), words)
    if not replaced:
        yield dated
        return
    counters.count(STAGE, "words", replaced)
    book = dated.book._replace(packed_text=scratch.put_text(text), characters=len(text))
    yield dated._replace(book=book)
    yield beam.pvalue.TaggedOutput("counts", replaced)


def read_word_list(path: str) -> tuple[str, ...]:
    """Reads the words to mask from a UTF-8 file with one entry per line.

    Raises InputError if the file is not such a list.
    """
    with open_input(path) as lines:
        try:
            return read_words(line.decode("utf-8-sig") for line in cast(Iterable[bytes], lines))
        except DECODE_ERRORS as error:  # includes ValueError
            raise InputError(path, f"not a list of words: {error}") from None
