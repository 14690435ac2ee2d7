from transforms.text.books.simple.book_vocabulary import BookVocabularyStats
from transforms.text.vocabularies.vocabulary import HeldoutStats


def test_the_figures_of_table_1() -> None:
    splits = (("train", HeldoutStats(100, 3000, 30)), ("test", HeldoutStats(10, 300, 6)))
    stats = BookVocabularyStats(3, 60, 40, splits)
    assert stats.frequency == 75
    assert stats.as_dict() == {
        "min_count": 3,
        "distinct_words": 60,
        "vocabulary_words": 40,
        "tokens_per_vocabulary_word": 75.0,
        "splits": {
            "train": {
                "lines": 100,
                "tokens": 3000,
                "out_of_vocabulary": 30,
                "out_of_vocabulary_share": 0.01,
            },
            "test": {
                "lines": 10,
                "tokens": 300,
                "out_of_vocabulary": 6,
                "out_of_vocabulary_share": 0.02,
            },
        },
    }


def test_without_words_all_is_0() -> None:
    stats = BookVocabularyStats(3, 0, 0, (("train", HeldoutStats()),))
    assert stats.frequency == 0
    assert stats.as_dict()["splits"]["train"]["out_of_vocabulary_share"] == 0
