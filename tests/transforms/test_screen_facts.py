from transforms.pack_articles import pack_article
from transforms.records import Article
from transforms.screen_facts import newest_first


def test_revisions_are_compared_as_numbers() -> None:
    articles = [Article(1, "A", version, "t") for version in ("99", "100", "9")]
    packed = [pack_article(article) for article in articles]
    assert [one.version_id for one in newest_first(packed)] == ["100", "99", "9"]
