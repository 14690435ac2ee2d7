import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.transforms.files.builds.finished_builds import CorpusFile, CorpusRows
from corpusmill.transforms.files.records import Article, PackedArticle, SubwordStats
from corpusmill.transforms.models.subword_models import (
    SubwordCounter,
    SubwordSettings,
    TrainedSubwords,
    add_subword_stats,
)
from corpusmill.transforms.wikipedia import train_subwords
from corpusmill.transforms.wikipedia.article_rows import pack_article, unpack_text
from corpusmill.transforms.wikipedia.train_subwords import (
    CountSubwords,
    count_article,
    count_rows,
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
        lambda given, model: given | CountSubwords(count_article, AsSingleton(model)),
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
    train_subwords.counter_of.cache_clear()
    for _ in range(2):
        count(ARTICLES * 50, TRAINED)
    assert train_subwords.counter_of.cache_info().misses == 1


def rows(edition: str, split: str, texts: list[str]) -> CorpusRows:
    table = pa.table({"text": pa.array(texts, pa.string())})
    file = CorpusFile("path", split, edition, f"{edition}/20260101-1.0.0", "wiki40b")
    return CorpusRows(file, table)


def test_row_groups_are_counted_in_each_vocabulary() -> None:
    small = train_on([("Q1", "1", "Вода")], SubwordSettings(vocabulary_size=300), 1)
    none = TrainedSubwords(b"", 0, 0, "", "no text")
    groups = [
        rows("uk", "train", ["Вода, річка.", "Річка_NEWLINE_Вода"]),
        rows("uk", "train", ["Вода"]),
        rows("uk", "test", []),
        rows("el", "train", ["Νερό"]),
    ]
    named = [("all", TRAINED), ("small", small), ("none", none)]
    outcome = run_inputs(
        lambda given, by: given | CountSubwords(count_rows, AsList(by)), given=groups, by=named
    )
    expected = {
        (name, edition, split): add_subword_stats(
            SubwordCounter(one.model).count(text)
            for group in groups
            if (group.file.edition, group.file.split) == (edition, split)
            for text in group.table["text"].to_pylist()
        )
        for name, one in (("all", TRAINED), ("small", small))
        for edition, split in (("uk", "train"), ("uk", "test"), ("el", "train"))
    }
    stats = outcome.elements["main"]
    assert dict(stats) == expected
    assert len(stats) == 6
    assert expected["all", "uk", "train"].characters == len("Вода, річка.РічкаNВодаВода")
    assert expected["small", "uk", "train"].pieces > expected["all", "uk", "train"].pieces
    text_bytes = sum(
        len(text.encode()) for group in groups for text in group.table["text"].to_pylist()
    )
    assert outcome.counters == {
        "count-subwords/articles": 4,
        "count-subwords/text_bytes": text_bytes,
    }
