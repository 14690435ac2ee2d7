"""Counts the vocabularies of SimpleBooks-92 and SimpleBooks-2, and computes their statistics."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.assign_sizes import SizedBook
from corpusmill.transforms.books.count_book_vocabulary import CountBookVocabulary, PlacedBook
from corpusmill.transforms.books.simplebooks_rows import LARGE, SIZES


class CountedSizes(NamedTuple):
    """The outputs of CountSizes: vocabulary files, statistics and word lists of SimpleBooks-92 and -2."""

    files: beam.PCollection  # of OutputFile: vocabulary-92.tsv, vocabulary-2.tsv
    facts: beam.PCollection  # of (size, figures) for stats.json
    large_words: beam.PCollection  # one packed list of the words of SimpleBooks-92
    small_words: beam.PCollection  # the same of SimpleBooks-2


class CountSizes(beam.PTransform):
    """Counts the words of SimpleBooks-92 and SimpleBooks-2. PCollection[SizedBook] → CountedSizes.

    Args:
      folder: output folder of the build.
      min_count: how often a word must occur in the training books of a corpus to be in its vocabulary.
      scratch: folder for temporary counts.
    """

    def __init__(self, folder: str, min_count: int, scratch: str):
        super().__init__()
        self.folder = folder
        self.scratch = scratch
        self.min_count = min_count

    def expand(self, books: beam.PCollection) -> CountedSizes:
        counted = {size: self._count(books, size) for size in SIZES}
        files = tuple(vocabulary.files for vocabulary in counted.values())
        facts = tuple(
            vocabulary.stats
            | f"NameFact {size}" >> beam.Map(lambda stats, size: (size, stats.as_dict()), size)
            for size, vocabulary in counted.items()
        )
        return CountedSizes(
            files | "Files" >> beam.Flatten(),
            facts | "Facts" >> beam.Flatten(),
            *(counted[size].words for size in SIZES),
        )

    def _count(self, books: beam.PCollection, size: str) -> Any:
        name = f"vocabulary-{size.rpartition('-')[2]}.tsv"
        in_size = books | f"Books {size}" >> beam.FlatMap(place_in, size).with_output_types(
            PlacedBook
        )
        count = CountBookVocabulary(self.folder, name, self.min_count, self.scratch)
        return in_size | f"CountVocabulary {size}" >> count


def place_in(sized: SizedBook, size: str) -> Iterator[PlacedBook]:
    """Yields (split, book) if the book is in the corpus of the given size, LARGE or SMALL."""
    if size == LARGE or sized.is_small:
        yield sized.split, sized.book
