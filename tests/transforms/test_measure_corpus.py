from tests.transforms.run_pipeline import run_transform
from transforms.measure_corpus import MeasureCorpus
from transforms.records import Article
from transforms.text.corpus_stats import CorpusStats, add_stats, measure_article
from transforms.text.wikimedia.article_markers import render_article
from transforms.text.wikimedia.wikitext.sections import Section


def article(number: int, split: str, text: str) -> Article:
    laid_out = render_article("富士山", [Section("", (text,)), Section("名前", (text, text))])
    return Article(number, "富士山", "1", laid_out, f"Q{number}", split)


def test_counts_per_split() -> None:
    articles = [
        article(1, "train", "高い山。"),
        article(2, "train", "とても高い山。"),
        article(3, "test", "山。"),
    ]
    outcome = run_transform(MeasureCorpus(), articles)
    train, test = (
        add_stats([measure_article(one.text) for one in articles if one.split == split])
        for split in ("train", "test")
    )
    assert dict(outcome.elements["main"]) == {"train": train, "test": test}
    assert (train.articles, train.sections, train.paragraphs) == (2, 2, 6)
    assert test == CorpusStats(
        articles=1,
        sections=1,
        paragraphs=3,
        words=5,
        characters=len("\nA\n富士山\nP\n山。\nS\n名前\nP\n山。N山。"),
        text_bytes=len(articles[2].text.encode()),
    )


def test_of_nothing_there_are_no_counts() -> None:
    assert run_transform(MeasureCorpus(), []).elements == {"main": []}
