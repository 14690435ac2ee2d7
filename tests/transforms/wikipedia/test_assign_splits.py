from corpusmill.transforms.files.records import CorpusStats, PackedArticle
from corpusmill.transforms.files.text import SPLITS, split_of
from corpusmill.transforms.wikipedia.split_pins import AssignSplits, assign_split
from tests.tools.run_pipeline import run_transform

ARTICLES = [
    PackedArticle(number, f"A{number}", str(number), b"", CorpusStats(), f"Q{number}")
    for number in range(200)
]


def test_every_article_gets_the_split_of_its_identity() -> None:
    outcome = run_transform(AssignSplits(), ARTICLES)
    expected = [article._replace(split=split_of(article.wikidata_id)) for article in ARTICLES]
    assert sorted(outcome.elements["articles"]) == expected
    assert {article.split for article in expected} == set(SPLITS)
    assert outcome.elements["pinned"] == []


def test_a_split_that_is_set_stays_and_is_told() -> None:
    pinned = [article._replace(split="validation") for article in ARTICLES[:100]]
    outcome = run_transform(AssignSplits(), pinned + ARTICLES[100:])
    splits = {article.wikidata_id: article.split for article in outcome.elements["articles"]}
    assert splits == {
        article.wikidata_id: article.split or split_of(article.wikidata_id)
        for article in pinned + ARTICLES[100:]
    }
    stayed = sum(split_of(article.wikidata_id) == "validation" for article in pinned)
    assert 0 < stayed < 100
    assert sorted(outcome.elements["pinned"]) == [(False, stayed), (True, 100 - stayed)]


def test_the_split_depends_on_the_identity_alone() -> None:
    one = PackedArticle(1, "Київ", "10", b"1", CorpusStats(), "Q1899")
    two = PackedArticle(2, "Kyiv", "20", b"2", CorpusStats(articles=1), "Q1899")
    first, second = *assign_split(one), *assign_split(two)
    assert first.split == second.split == split_of("Q1899")
