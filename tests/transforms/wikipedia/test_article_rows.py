from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.similar_documents import DropDuplicates
from corpusmill.transforms.files.records import Article, CorpusStats, PackedArticle, Rejected
from corpusmill.transforms.files.write_rows import MeasureSplits
from corpusmill.transforms.wikipedia import article_rows
from corpusmill.transforms.wikipedia.article_rows import (
    describe_article,
    pack_article,
    split_and_stats,
    text_of_article,
    unpack_text,
)
from corpusmill.transforms.wikitext.article_markers import (
    add_stats,
    measure_article,
    render_article,
)
from corpusmill.transforms.wikitext.sections import Section
from tests.tools.run_pipeline import run_transform

MEASURE = MeasureSplits(split_and_stats, add_stats, "characters")

articles = st.builds(
    Article,
    page_id=st.integers(0, 10**10),
    title=st.text(),
    version_id=st.integers(0, 10**12).map(str),
    text=st.text(st.characters(exclude_categories=["Cs"])),
)


@given(articles)
def test_packing_keeps_everything_and_counts(article: Article) -> None:
    packed = article_rows.pack_article(article)
    assert packed[:3] == article[:3]
    assert article_rows.unpack_text(packed) == article.text
    assert packed.stats == measure_article(article.text)


@given(articles, st.sampled_from(["", "Q1", "ukwiki:5"]), st.sampled_from(["", "train"]))
def test_bytes_give_back_the_article(article: Article, identity: str, split: str) -> None:
    packed = article_rows.pack_article(article)._replace(wikidata_id=identity, split=split)
    unpacked = article_rows.from_bytes(article_rows.to_bytes(packed))
    assert unpacked == packed
    assert type(unpacked) is PackedArticle
    assert type(unpacked.stats) is CorpusStats


def test_packing_makes_text_smaller() -> None:
    text = " ".join(f"Стаття {number} про річку." for number in range(200))
    assert (
        len(article_rows.pack_article(Article(1, "A", "2", text)).packed_text)
        < len(text.encode()) // 3
    )


LEAD = "У містечку було {} хат, млин, школа і дві церкви; «стара» стояла на горі, а нова — біля ставу. "
TEXT = "\n_START_ARTICLE_\n{}\n_START_PARAGRAPH_\n" + "".join(
    LEAD.format(number) for number in range(9)
)


def test_of_alike_articles_the_longest_stays(tmp_path: Path) -> None:
    texts = {4: TEXT.format("Млин"), 5: TEXT.format("МЛИНИ"), 6: TEXT.format("Млини"), 7: "Інше"}
    articles = {
        page_id: pack_article(Article(page_id, f"Title {page_id}", "1", text))
        for page_id, text in texts.items()
    }
    drop = DropDuplicates(str(tmp_path), describe_article, text_of_article, 0.8)
    outcome = run_transform(drop, articles.values())
    assert sorted(outcome.elements["kept"]) == [articles[5], articles[7]]
    stage, reason = "drop-duplicates", "near-duplicate"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("4", "Title 4", stage, reason, "8-gram similarity 0.930 to 5, which stays"),
        Rejected("6", "Title 6", stage, reason, "8-gram similarity 1.000 to 5, which stays"),
    ]
    assert outcome.counters == {"drop-duplicates/near-duplicate": 2}


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
    outcome = run_transform(MEASURE, articles)
    train, test = (
        add_stats([measure_article(unpack_text(one)) for one in articles if one.split == split])
        for split in ("train", "test")
    )
    assert dict(outcome.elements["stats"]) == {"train": train, "test": test}
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
    assert run_transform(MEASURE, []).elements == {"stats": [], "lengths": []}
