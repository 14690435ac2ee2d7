"""Counts the vocabulary of SimpleBooks-92 or SimpleBooks-2, and how many tokens of each split are in it.

Counts the vocabularies of SimpleBooks-92 and SimpleBooks-2, and computes their statistics.

Replaces tokens that are not in the vocabulary by <unk>.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsSingleton

from ..files import counters
from ..files.distribution import transform
from ..files.records import TokenizedBook
from ..files.scratch import Scratch, fetch_text
from ..models import word_vocabulary
from ..models.count_words import (
    CountedVocabulary,
    DealWords,
    WriteVocabulary,
    WrittenVocabulary,
)
from ..models.word_vocabulary import HeldoutStats, add_heldout
from .book_rows import SizedBook
from .simplebooks_rows import LARGE, SIZES, TRAIN, UNKNOWN, BookVocabularyStats

STAGE = "count-vocabulary"
BUCKETS = 64  # parallel parts of the count; the number does not change results

PlacedBook = tuple[str, TokenizedBook]  # split, book


@transform
def CountBookVocabulary(
    books: beam.PCollection, folder: str, name: str, min_count: int, scratch: str
) -> CountedVocabulary:
    """Counts the words of books, and writes the vocabulary.

    PCollection[(split, TokenizedBook)] → CountedVocabulary, whose statistics are one BookVocabularyStats.

    The vocabulary is counted on the training split.

    Args:
      folder: output folder of the build.
      name: file name, such as "vocabulary-92.tsv".
      min_count: how often a word must occur to be in the vocabulary; 3 in SimpleBooks, as in WikiText.
      scratch: folder for temporary counts.
    """
    pieces = books | "DealWords" >> DealWords(scratch, count_book, BUCKETS)
    write = WriteVocabulary(folder, name, min_count)
    written: CountedVocabulary = pieces | "WriteVocabulary" >> write
    heldout = (
        books
        | "MeasureHeldout" >> beam.FlatMap(measure_heldout, AsSingleton(written.words))
        | "AddHeldout" >> beam.CombinePerKey(add_heldout)
    )
    lines = (
        books
        | "OnlyTraining" >> beam.Filter(lambda placed: placed[0] == TRAIN)
        | "Lines" >> beam.Map(lambda placed: placed[1].paragraphs)
        | "AddLines" >> beam.CombineGlobally(sum)
    )
    stats = written.stats | "MakeStats" >> beam.Map(
        make_stats, min_count, AsSingleton(lines), AsDict(heldout)
    )
    return written._replace(stats=stats)


def count_book(placed: PlacedBook) -> pa.RecordBatch | None:
    """Returns the word counts of a book of the training split; None for a book of another split."""
    split, book = placed
    if split != TRAIN:
        return None
    counts = word_vocabulary.count_words(fetch_text(book.packed_tokens).encode("utf-8"))
    counters.count(STAGE, "words", word_vocabulary.total_of(counts))
    return counts


def measure_heldout(placed: PlacedBook, packed_words: bytes) -> Iterator[tuple[str, HeldoutStats]]:
    """Counts how many tokens of a held-out book are in the vocabulary. Yields (split, counts).

    Yields nothing for a book of the training split. `packed_words` has the words of the vocabulary in packed
    form (see `vocabulary.unpack_words`).
    """
    split, book = placed
    if split != TRAIN:
        words = word_vocabulary.unpack_words(packed_words)
        block = fetch_text(book.packed_tokens).encode("utf-8")
        (stats,) = word_vocabulary.measure_heldout([block], words)
        yield split, stats


def make_stats(
    written: WrittenVocabulary, min_count: int, lines: int, heldout: Mapping[str, HeldoutStats]
) -> BookVocabularyStats:
    """Returns the statistics of a vocabulary, and how many tokens of each split it covers.

    Args:
      written: the vocabulary, with the counts of the training split.
      min_count: minimum count of a word of the vocabulary.
      lines: number of lines of the training split.
      heldout: split → counts, for each held-out split.
    """
    training = HeldoutStats(lines, written.words, written.words - written.known_words)
    return BookVocabularyStats(
        min_count=min_count,
        distinct_words=written.distinct_words,
        vocabulary_words=written.file.records,
        splits=((TRAIN, training), *sorted(heldout.items())),
    )


class CountedSizes(NamedTuple):
    """The outputs of CountSizes: vocabulary files, statistics and word lists of SimpleBooks-92 and -2."""

    files: beam.PCollection  # of OutputFile: vocabulary-92.tsv, vocabulary-2.tsv
    facts: beam.PCollection  # of (size, figures) for stats.json
    large_words: beam.PCollection  # one packed list of the words of SimpleBooks-92
    small_words: beam.PCollection  # the same of SimpleBooks-2


@transform
def CountSizes(books: beam.PCollection, folder: str, min_count: int, scratch: str) -> CountedSizes:
    """Counts the words of SimpleBooks-92 and SimpleBooks-2. PCollection[SizedBook] → CountedSizes.

    Args:
      folder: output folder of the build.
      min_count: how often a word must occur in the training books of a corpus to be in its vocabulary.
      scratch: folder for temporary counts.
    """
    files, facts, words = [], [], []
    for size in SIZES:
        name = f"vocabulary-{size.rpartition('-')[2]}.tsv"
        in_size = books | f"Books {size}" >> beam.FlatMap(place_in, size)
        count = CountBookVocabulary(folder, name, min_count, scratch)
        counted = in_size | f"CountVocabulary {size}" >> count
        name_fact = beam.Map(lambda stats, size: (size, stats.as_dict()), size)
        files.append(counted.files)
        facts.append(counted.stats | f"NameFact {size}" >> name_fact)
        words.append(counted.words)
    merged = files | "Files" >> beam.Flatten(), facts | "Facts" >> beam.Flatten()
    return CountedSizes(*merged, *words)


def place_in(sized: SizedBook, size: str) -> Iterator[PlacedBook]:
    """Yields (split, book) if the book is in the corpus of the given size, LARGE or SMALL."""
    if size == LARGE or sized.is_small:
        yield sized.split, sized.book


@transform
def MapUnknownWords(
    books: beam.PCollection,
    folder: str,
    large_words: beam.PCollection,
    small_words: beam.PCollection,
) -> beam.PCollection:
    """Replaces tokens that are not in the vocabulary of the corpus (SimpleBooks-92 or SimpleBooks-2) by
    <unk>.

    PCollection[SizedBook] → PCollection[SizedBook]. Every worker holds both vocabularies in memory, about ten
    bytes per word.

    Args:
      folder: folder for temporary texts (see scratch.py).
      large_words: PCollection of one element, the packed vocabulary of SimpleBooks-92 (see
        word_vocabulary.py).
      small_words: the same for SimpleBooks-2.
    """
    scratch = Scratch(folder)
    words = AsSingleton(large_words), AsSingleton(small_words)
    mapped = beam.Map(map_book, scratch, *words)
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
    return scratch.put_text(word_vocabulary.map_unknown(block, words, UNKNOWN).decode("utf-8"))


_unpack_words = functools.lru_cache(2)(word_vocabulary.unpack_words)
