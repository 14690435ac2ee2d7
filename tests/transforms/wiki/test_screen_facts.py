from transforms.records import Article
from transforms.wiki.pack_articles import pack_article, to_bytes
from transforms.wiki.screen_facts import newest_first


def test_revisions_are_compared_as_numbers() -> None:
    articles = [pack_article(Article(1, "A", version, "t")) for version in ("99", "100", "9")]
    newest = newest_first(map(to_bytes, articles))
    assert newest == [articles[1], articles[0], articles[2]]
