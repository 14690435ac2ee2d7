from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Article, CorpusStats, PackedArticle
from corpusmill.transforms.wikipedia.article_rows import (
    from_bytes,
    pack_article,
    to_bytes,
    unpack_text,
)
from corpusmill.transforms.wikitext.article_markers import measure_article

articles = st.builds(
    Article,
    page_id=st.integers(0, 10**10),
    title=st.text(),
    version_id=st.integers(0, 10**12).map(str),
    text=st.text(st.characters(exclude_categories=["Cs"])),
)


@given(articles)
def test_packing_keeps_everything_and_counts(article: Article) -> None:
    packed = pack_article(article)
    assert packed[:3] == article[:3]
    assert unpack_text(packed) == article.text
    assert packed.stats == measure_article(article.text)


@given(articles, st.sampled_from(["", "Q1", "ukwiki:5"]), st.sampled_from(["", "train"]))
def test_bytes_give_back_the_article(article: Article, identity: str, split: str) -> None:
    packed = pack_article(article)._replace(wikidata_id=identity, split=split)
    unpacked = from_bytes(to_bytes(packed))
    assert unpacked == packed
    assert type(unpacked) is PackedArticle
    assert type(unpacked.stats) is CorpusStats


def test_packing_makes_text_smaller() -> None:
    text = " ".join(f"Стаття {number} про річку." for number in range(200))
    assert len(pack_article(Article(1, "A", "2", text)).packed_text) < len(text.encode()) // 3
