"""Selects the vocabulary of an n-gram model from blocks of text."""

import functools
from collections.abc import Iterable, Sequence

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList

from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.models.deal_words import DealWords, add_pieces
from corpusmill.transforms.models.number_words import select_words
from corpusmill.transforms.models.text_blocks import TextBlock
from corpusmill.transforms.models.vocabulary import pack_words, unpack_words
from corpusmill.transforms.models.word_counts import count_words

BUCKETS = 64


class ChooseWords(beam.PTransform):
    """Selects the vocabulary. PCollection[TextBlock] → PCollection of one element, a reference to its words.

    `load_words` loads the words.

    Args:
      folder: folder for temporary words.
      min_count: minimum count of a word in the text.
      source: description of the source of the text, for error messages.

    Raises InputError if no word is frequent enough.
    """

    def __init__(self, folder: str, min_count: int, source: str):
        super().__init__()
        self.folder, self.min_count, self.source = folder, min_count, source

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        parts = (
            blocks
            | "CountWords" >> DealWords(self.folder, count_block, BUCKETS)
            | "GroupBuckets" >> beam.GroupByKey()
            | "AddBuckets"
            >> beam.Map(choose_of_bucket, self.min_count, Scratch(self.folder)).with_output_types(
                bytes
            )
        )
        return (
            blocks.pipeline
            | "Once" >> beam.Create([Scratch(self.folder)], reshuffle=False)
            | "JoinWords"
            >> beam.Map(join_words, AsList(parts), self.source).with_output_types(bytes)
        )


def count_block(block: TextBlock) -> pa.RecordBatch:
    """Returns the word counts of a block."""
    return count_words(block.lines())


def choose_of_bucket(
    grouped: tuple[int, Iterable[bytes]], min_count: int, scratch: Scratch
) -> bytes:
    """Selects the words of a bucket that occur at least `min_count` times, and stores them in scratch.

    `grouped` is (bucket, references to counts in scratch).
    """
    return scratch.put(pack_words(select_words(add_pieces(grouped[1]), min_count)))


def join_words(scratch: Scratch, parts: Sequence[bytes], source: str) -> bytes:
    """Joins the words of all buckets into one list, stores it in scratch, and returns a reference to it.

    Args:
      scratch: stores the list.
      parts: references to the words of each bucket.
      source: description of the source of the text, for the error message.

    Raises InputError if the list is empty.
    """
    words = pa.chunked_array([unpack_words(fetch(part)) for part in parts], pa.binary())
    if not len(words):
        raise InputError(
            source, "no word of the text is frequent enough for the vocabulary of the model"
        )
    return scratch.put(pack_words(pa.concat_arrays(words.chunks)))


@functools.lru_cache(1)
def load_words(packed: bytes) -> pa.BinaryArray:
    """Returns the words of a vocabulary in byte order. The vocabulary is loaded once per process."""
    return unpack_words(fetch(packed))
