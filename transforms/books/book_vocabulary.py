"""Counts the vocabulary of a corpus of books, with the figures in table 1 of the SimpleBooks paper.

As in WikiText, the vocabulary has the words that occur three times or more in the training text, and two
signs: <unk> for all other words, and <eos> for the end of a line. Line ends count as tokens. Table 1 counts
them, too: its frequency of 62.76 for WikiText-2 is 2,088,628 tokens, including line ends, divided by 33,278
words, including the two signs.
"""

from typing import Any, NamedTuple

from corpusmill.transforms.books.simplebooks_rows import SIGNS
from corpusmill.transforms.models.vocabulary import HeldoutStats

TRAIN = "train"


class BookVocabularyStats(NamedTuple):
    """The size of the vocabulary of a corpus, and the numbers of lines and tokens of each split."""

    min_count: int  # minimum count of a vocabulary word in the training text
    # number of distinct words in the training text, including words outside the vocabulary
    distinct_words: int
    vocabulary_words: int
    splits: tuple[tuple[str, HeldoutStats], ...]  # (split, counts): training first, then by name

    @property
    def frequency(self) -> float:
        """The average number of times that a word of the vocabulary occurs in the training text.

        <unk> and <eos> are words of the vocabulary, too. This is the column FREQ in table 1 of the
        SimpleBooks paper.
        """
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
