import collections

from tests.transforms.run_pipeline import run_transform
from transforms.assign_splits import AssignSplits, assign_split
from transforms.records import Article
from transforms.text.fingerprint import split_of


def test_every_article_gets_the_split_of_its_identity() -> None:
    articles = [
        Article(number, f"A{number}", str(number), "text", f"Q{number}") for number in range(200)
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
    one = Article(1, "Київ", "10", "текст", "Q1899", "train")
    two = Article(2, "Kyiv", "20", "text", "Q1899", "test")
    assert assign_split(one).split == assign_split(two).split == split_of("Q1899")
