"""Replaces tokens that are not in the vocabulary by <unk>."""

import functools

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.books.assign_sizes import SizedBook
from corpusmill.transforms.books.simplebooks_rows import UNKNOWN
from corpusmill.transforms.files.scratch import Scratch, fetch_text
from corpusmill.transforms.models import vocabulary


class MapUnknownWords(beam.PTransform):
    """Replaces tokens that are not in the vocabulary of the corpus (SimpleBooks-92 or SimpleBooks-2) by
    <unk>.

    PCollection[SizedBook] → PCollection[SizedBook]. Every worker holds both vocabularies in memory, about ten
    bytes per word.

    Args:
      folder: folder for temporary texts (see scratch.py).
      large_words: PCollection of one element, the packed vocabulary of SimpleBooks-92 (see
        text/vocabularies/vocabulary.py).
      small_words: the same for SimpleBooks-2.
    """

    def __init__(self, folder: str, large_words: beam.PCollection, small_words: beam.PCollection):
        super().__init__()
        self.scratch = Scratch(folder)
        self.words = AsSingleton(large_words), AsSingleton(small_words)

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        mapped = beam.Map(map_book, self.scratch, *self.words)
        return books | "MapBook" >> mapped.with_output_types(SizedBook)


def map_book(sized: SizedBook, scratch: Scratch, large: bytes, small: bytes) -> SizedBook:
    """Returns a book in which unknown tokens are replaced by <unk>.

    The book gets a new text for SimpleBooks-92. If it is also in SimpleBooks-2, it gets a text for that
    corpus, too. `large` and `small` are the packed vocabularies of the two corpora.
    """
    block = fetch_text(sized.book.packed_tokens).encode("utf-8")
    return sized._replace(
        book=sized.book._replace(packed_tokens=_mapped(block, large, scratch)),
        packed_small=_mapped(block, small, scratch) if sized.is_small else b"",
    )


def _mapped(block: bytes, packed_words: bytes, scratch: Scratch) -> bytes:
    words = _unpack_words(packed_words)
    return scratch.put_text(vocabulary.map_unknown(block, words, UNKNOWN).decode("utf-8"))


_unpack_words = functools.lru_cache(2)(vocabulary.unpack_words)
