"""The vocabulary of a corpus of books, in the figures of table 1 of the paper of SimpleBooks.

The vocabulary is, as for WikiText, the words that occur three times or more in the training text; a sign
for all others, <unk>, and one for the end of a line are not counted. Words are never replaced in the files.
"""

from typing import Any, NamedTuple

from transforms.text.vocabularies.vocabulary import HeldoutStats

TRAIN = "train"


class BookVocabularyStats(NamedTuple):
    """Counts of a corpus against the vocabulary of its training split."""

    min_count: int  # what a word of the vocabulary is counted in training, at least
    distinct_words: int  # of training, in the vocabulary or not
    vocabulary_words: int
    splits: tuple[
        tuple[str, HeldoutStats], ...
    ]  # (split, its counts): training first, then by name

    @property
    def frequency(self) -> float:
        """FREQ: how often a word of the vocabulary occurs in training, on average; 0 without words."""
        return dict(self.splits)[TRAIN].words / (self.vocabulary_words or 1)

    def as_dict(self) -> dict[str, Any]:
        """What stats.json says. Tokens are counted without the ends of lines."""
        return {
            "min_count": self.min_count,
            "distinct_words": self.distinct_words,
            "vocabulary_words": self.vocabulary_words,
            "tokens_per_vocabulary_word": round(self.frequency, 2),
            "splits": {split: _counts_of(stats) for split, stats in self.splits},
        }


def _counts_of(stats: HeldoutStats) -> dict[str, Any]:
    return {
        "lines": stats.sentences,
        "tokens": stats.words,
        "out_of_vocabulary": stats.out_of_vocabulary,
        "out_of_vocabulary_share": round(stats.out_of_vocabulary / (stats.words or 1), 6),
    }
