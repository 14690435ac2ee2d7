"""Converts books to raw and tokenised texts with one paragraph per line."""

from collections.abc import Iterator

import apache_beam as beam

from corpusmill.transforms.books.english_tokens import DISTINCT, EnglishTokenizer
from corpusmill.transforms.books.unwrap import to_lines, to_paragraphs
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import MeasuredBook, TokenizedBook
from corpusmill.transforms.files.scratch import Scratch, fetch_text

STAGE = "tokenize-books"


class TokenizeBooks(beam.PTransform):
    """Tokenises the texts of books. PCollection[MeasuredBook] → PCollection[TokenizedBook].

    Args:
      folder: folder for temporary texts (see scratch.py).
      number_style: format of numbers, see `english_tokens.separate_numbers`.
    """

    def __init__(self, folder: str, number_style: str = DISTINCT):
        super().__init__()
        self.scratch = Scratch(folder)
        self.number_style = number_style

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        tokenize = beam.ParDo(_TokenizeBook(self.scratch, self.number_style))
        return books | "TokenizeBook" >> tokenize.with_output_types(TokenizedBook)


class _TokenizeBook(beam.DoFn):
    def __init__(self, scratch: Scratch, number_style: str):
        self.scratch = scratch
        self.number_style = number_style

    def setup(self) -> None:
        self._tokenizer = EnglishTokenizer(self.number_style)

    def process(self, measured: MeasuredBook) -> Iterator[TokenizedBook]:
        yield tokenize_book(measured, self._tokenizer, self.scratch)

    def finish_bundle(self) -> None:
        counters.flush()


def tokenize_book(
    measured: MeasuredBook, tokenizer: EnglishTokenizer, scratch: Scratch
) -> TokenizedBook:
    """Tokenises a book, and stores its raw and its tokenised text in `scratch`.

    Returns the book with references to these texts.
    """
    text = fetch_text(measured.book.packed_text)
    paragraphs = to_paragraphs(text)
    lines = [tokenizer.tokenize(paragraph) for paragraph in paragraphs]
    counters.count(STAGE, "books")
    counters.count(STAGE, "text_bytes", len(text.encode("utf-8")))
    return TokenizedBook(
        book_id=measured.book.book_id,
        title=measured.book.title,
        paragraphs=len(paragraphs),
        packed_raw=scratch.put_text(to_lines(paragraphs)),
        packed_tokens=scratch.put_text(to_lines(lines)),
        tokens=sum(line.count(" ") + 1 for line in lines),
    )
