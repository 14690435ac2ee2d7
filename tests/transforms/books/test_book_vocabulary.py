from corpusmill.transforms.books.simplebooks_rows import BookVocabularyStats
from corpusmill.transforms.models.word_vocabulary import HeldoutStats


def test_the_figures_of_table_1() -> None:
    """Ends of lines are tokens, and <unk> and <eos> words of the vocabulary."""
    splits = (("train", HeldoutStats(150, 3000, 63)), ("test", HeldoutStats(20, 300, 8)))
    stats = BookVocabularyStats(3, 60, 40, splits)
    assert stats.frequency == 75
    assert stats.as_dict() == {
        "min_count": 3,
        "distinct_words": 60,
        "vocabulary_words": 40,
        "vocabulary_with_unk_and_eos": 42,
        "tokens_per_vocabulary_word": 75.0,
        "splits": {
            "train": {
                "lines": 150,
                "tokens": 3000,
                "tokens_with_eos": 3150,
                "out_of_vocabulary": 63,
                "out_of_vocabulary_share": 0.02,
            },
            "test": {
                "lines": 20,
                "tokens": 300,
                "tokens_with_eos": 320,
                "out_of_vocabulary": 8,
                "out_of_vocabulary_share": 0.025,
            },
        },
    }


def test_the_figures_of_wikitext_2() -> None:
    """Table 1 of the paper has 62.76 for its 2,088,628 tokens, of which 36,718 are ends of lines."""
    stats = BookVocabularyStats(3, 0, 33_276, (("train", HeldoutStats(36_718, 2_051_910, 0)),))
    assert stats.as_dict()["tokens_per_vocabulary_word"] == 62.76


def test_without_words_all_is_0() -> None:
    stats = BookVocabularyStats(3, 0, 0, (("train", HeldoutStats()),))
    assert stats.frequency == 0
    assert stats.as_dict()["splits"]["train"]["out_of_vocabulary_share"] == 0
