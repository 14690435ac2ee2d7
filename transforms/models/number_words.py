"""Converts blocks of lines to ids of words, with a special id for the end of each line.

Words are separated by spaces (U+0020) and line ends, as in word_counts.py. The ids 0 to 2 are those of the
special tokens <UNK>, <S> and </S>. The ids of the words of the vocabulary follow, in the order of the words'
bytes. Some words are never in the vocabulary, because ARPA files cannot represent them: those that are
spelled like a special token, and those with a control character.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.files.line_blocks import cut_block
from corpusmill.transforms.models.gram_tables import END, UNKNOWN
from corpusmill.transforms.models.vocabulary import SIGNS as PAPER_SIGNS
from corpusmill.transforms.models.word_counts import CHUNK_BYTES, spread_words

Numbers = npt.NDArray[np.uint32]

SIGNS = (b"<unk>", b"<s>", b"</s>")
"""The special tokens as ARPA files spell them, indexed by id. Chelba et al. write <UNK>, <S>, </S>."""

_LINE_FEED = ord("\n")
_EMPTY = np.uint32(2**32 - 1)
_NEVER = pa.array([*SIGNS, *PAPER_SIGNS], pa.binary())
_CONTROL = r"[\x00-\x1f\x7f]"


def select_words(counts: pa.RecordBatch, min_count: int) -> pa.BinaryArray:
    """Returns the words of the vocabulary, in no particular order.

    Args:
      counts: counts of the words of the whole text (see word_counts.py).
      min_count: lowest count of a word in the vocabulary.
    """
    words = counts.filter(pc.greater_equal(counts["count"], min_count))["word"]
    is_never = pc.or_(pc.is_in(words, _NEVER), pc.match_substring_regex(words, _CONTROL))
    return words.filter(pc.invert(is_never))


def number_words(block: bytes, words: pa.BinaryArray) -> Numbers:
    """Returns the ids of the words in a block of lines. Each line end becomes END, the id of </S>.

    Args:
      block: a block of lines.
      words: the vocabulary, sorted by bytes.
    """
    parts = [_number_chunk(chunk, words) for chunk in cut_block(block, CHUNK_BYTES)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


def _number_chunk(block: bytes, words: pa.BinaryArray) -> Numbers:
    encoded = spread_words(block).dictionary_encode()
    distinct = pc.binary_slice(encoded.dictionary, 0, -1)
    found = pc.index_in(distinct, words).fill_null(-len(SIGNS) + UNKNOWN)
    number_of = found.to_numpy().astype(np.int64) + len(SIGNS)
    number_of[pc.equal(pc.binary_length(distinct), 0).to_numpy(False)] = _EMPTY
    numbers = number_of.astype(np.uint32)[encoded.indices.to_numpy()]
    characters = np.frombuffer(block, np.uint8)
    is_end = characters[(characters == _LINE_FEED) | (characters == ord(" "))] == _LINE_FEED
    pairs = np.stack([numbers, np.full(len(numbers), END, np.uint32)], axis=1)
    found_numbers: Numbers = pairs[np.stack([numbers != _EMPTY, is_end], axis=1)]
    return found_numbers
