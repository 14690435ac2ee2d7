from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files.records import Article, PackedArticle, SubwordStats
from corpusmill.transforms.models.subword_models import (
    SubwordCounter,
    SubwordSettings,
    TrainedSubwords,
    add_subword_stats,
    counter_of,
)
from corpusmill.transforms.wikipedia.article_rows import pack_article, unpack_text
from corpusmill.transforms.wikipedia.train_subwords import (
    CountSubwords,
    train_on,
)
from tests.tools.run_pipeline import run_inputs


def article(number: int, split: str, text: str) -> PackedArticle:
    packed = pack_article(Article(number, "A", "1", text))
    return packed._replace(wikidata_id=f"Q{number}", split=split)


ARTICLES = [
    article(1, "train", "\n_START_ARTICLE_\nРічка\n_START_PARAGRAPH_\nРічка тече._NEWLINE_Вода."),
    article(2, "train", "\n_START_ARTICLE_\nВода\n_START_PARAGRAPH_\nВода, річка."),
    article(3, "test", "\n_START_ARTICLE_\n鬱é\n_START_PARAGRAPH_\nРічка."),
]
TRAINED = train_on(
    [("Q1", "1", unpack_text(one)) for one in ARTICLES[:2]], SubwordSettings(vocabulary_size=320), 2
)


def count(articles: list[PackedArticle], trained: TrainedSubwords) -> dict[str, SubwordStats]:
    outcome = run_inputs(
        lambda given, model: given | CountSubwords(AsSingleton(model)),
        given=articles,
        model=[trained],
    )
    stats = outcome.elements["main"]
    assert len(stats) == len(dict(stats))
    return dict(stats)


def test_counts_per_split() -> None:
    counter = SubwordCounter(TRAINED.model)
    train, test = (
        add_subword_stats(counter.count(unpack_text(one)) for one in ARTICLES if one.split == split)
        for split in ("train", "test")
    )
    assert count(ARTICLES, TRAINED) == {"train": train, "test": test}
    assert train.characters == sum(one.stats.characters for one in ARTICLES[:2])
    assert train.pieces < train.characters
    assert train.byte_characters == 0
    assert (test.byte_characters, test.unknown_characters) == (2, 0)


def test_without_a_model_or_without_articles_there_are_no_counts() -> None:
    assert count([], TRAINED) == {}
    assert count(ARTICLES, TrainedSubwords(b"", 0, 0, "", "no text")) == {}


def test_the_model_is_loaded_once() -> None:
    counter_of.cache_clear()
    for _ in range(2):
        count(ARTICLES * 50, TRAINED)
    assert counter_of.cache_info().misses == 1
