import collections

from tests.transforms.run_pipeline import run_transform
from transforms.assign_splits import AssignSplits, assign_split
from transforms.records import CorpusStats, PackedArticle
from transforms.text.fingerprint import split_of


def test_every_article_gets_the_split_of_its_identity() -> None:
    articles = [
        PackedArticle(number, f"A{number}", str(number), b"", CorpusStats(), f"Q{number}")
        for number in range(200)
    ]
    outcome = run_transform(AssignSplits(), articles)
    expected = [article._replace(split=split_of(article.wikidata_id)) for article in articles]
    assert sorted(outcome.elements["main"]) == expected
    assert collections.Counter(article.split for article in expected).keys() == {
        "train",
        "validation",
        "test",
    }


def test_the_split_depends_on_the_identity_alone() -> None:
    one = PackedArticle(1, "Київ", "10", b"1", CorpusStats(), "Q1899", "train")
    two = PackedArticle(2, "Kyiv", "20", b"2", CorpusStats(articles=1), "Q1899", "test")
    assert assign_split(one).split == assign_split(two).split == split_of("Q1899")
