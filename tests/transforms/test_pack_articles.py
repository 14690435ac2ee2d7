from hypothesis import given
from hypothesis import strategies as st

from transforms.pack_articles import pack_article, unpack_article
from transforms.records import Article

articles = st.builds(
    Article,
    page_id=st.integers(0, 10**10),
    title=st.text(),
    version_id=st.integers(0, 10**12).map(str),
    text=st.text(),
    wikidata_id=st.sampled_from(["", "Q1", "ukwiki:5"]),
    split=st.sampled_from(["", "train"]),
)


@given(articles)
def test_unpacking_gives_back_the_article(article: Article) -> None:
    unpacked = unpack_article(pack_article(article))
    assert unpacked == article
    assert type(unpacked) is Article


def test_packing_makes_text_smaller() -> None:
    text = " ".join(f"Стаття {number} про річку." for number in range(200))
    assert len(pack_article(Article(1, "A", "2", text))) < len(text.encode()) // 3
