"""The vocabulary of a corpus of books, in the figures of table 1 of the paper of SimpleBooks.

The vocabulary is, as for WikiText, the words that occur three times or more in the training text, and two
signs: <unk> for all others, and <eos> for the end of a line. Tokens are counted with the ends of lines: so do
the 2,088,628 tokens and 33,278 words of WikiText-2, which give the 62.76 of table 1.
"""

from typing import Any, NamedTuple

from transforms.text.books.simple.simplebooks_rows import SIGNS
from transforms.text.vocabularies.vocabulary import HeldoutStats

TRAIN = "train"


class BookVocabularyStats(NamedTuple):
    """Counts of a corpus against the vocabulary of its training split."""

    min_count: int  # what a word of the vocabulary is counted in training, at least
    distinct_words: int  # of training, in the vocabulary or not
    vocabulary_words: int
    splits: tuple[tuple[str, HeldoutStats], ...]  # (split, counts): training first, then by name

    @property
    def frequency(self) -> float:
        """FREQ: how often a word of the vocabulary, signs included, occurs in training, on average."""
        training = dict(self.splits)[TRAIN]
        return (training.words + training.sentences) / self.vocabulary_with_signs

    @property
    def vocabulary_with_signs(self) -> int:
        return self.vocabulary_words + SIGNS

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures for stats.json."""
        return {
            "min_count": self.min_count,
            "distinct_words": self.distinct_words,
            "vocabulary_words": self.vocabulary_words,
            "vocabulary_with_unk_and_eos": self.vocabulary_with_signs,
            "tokens_per_vocabulary_word": round(self.frequency, 2),
            "splits": {split: _counts_of(stats) for split, stats in self.splits},
        }


def _counts_of(stats: HeldoutStats) -> dict[str, Any]:
    with_ends = stats.words + stats.sentences
    return {
        "lines": stats.sentences,
        "tokens": stats.words,
        "tokens_with_eos": with_ends,
        "out_of_vocabulary": stats.out_of_vocabulary,
        "out_of_vocabulary_share": round(stats.out_of_vocabulary / (with_ends or 1), 6),
    }
