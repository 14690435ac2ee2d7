from corpusmill.transforms.files.records import Article, CorpusStats, PackedArticle
from corpusmill.transforms.wikipedia.article_rows import MeasureCorpus, pack_article, unpack_text
from corpusmill.transforms.wikitext.article_markers import (
    add_stats,
    measure_article,
    render_article,
)
from corpusmill.transforms.wikitext.sections import Section
from tests.tools.run_pipeline import run_transform


def article(number: int, split: str, text: str) -> PackedArticle:
    laid_out = render_article("富士山", [Section("", (text,)), Section("名前", (text, text))])
    packed = pack_article(Article(number, "富士山", "1", laid_out))
    return packed._replace(wikidata_id=f"Q{number}", split=split)


def test_counts_per_split() -> None:
    articles = [
        article(1, "train", "高い山。"),
        article(2, "train", "とても高い山。"),
        article(3, "test", "山。"),
    ]
    outcome = run_transform(MeasureCorpus(), articles)
    train, test = (
        add_stats([measure_article(unpack_text(one)) for one in articles if one.split == split])
        for split in ("train", "test")
    )
    assert dict(outcome.elements["main"]) == {"train": train, "test": test}
    assert (train.articles, train.sections, train.paragraphs) == (2, 2, 6)
    assert test == CorpusStats(
        articles=1,
        sections=1,
        paragraphs=3,
        words=5,
        characters=len("A富士山P山。S名前P山。N山。"),
        text_bytes=len(unpack_text(articles[2]).encode()),
        line_feeds=8,
    )


def test_of_nothing_there_are_no_counts() -> None:
    assert run_transform(MeasureCorpus(), []).elements == {"main": []}
