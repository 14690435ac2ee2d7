import itertools
from pathlib import Path

from corpusmill.transforms.files.records import Article
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.wikipedia.article_rows import pack_article, to_bytes, unpack_text
from corpusmill.transforms.wikipedia.join_wikidata import newest_first


def test_revisions_are_compared_as_numbers() -> None:
    articles = [pack_article(Article(1, "A", version, "t")) for version in ("99", "100", "9")]
    newest = newest_first(map(to_bytes, articles))
    assert newest == [articles[1], articles[0], articles[2]]


def test_texts_of_one_revision_are_ordered_wherever_they_are_stored(tmp_path: Path) -> None:
    texts = ["b", "a", "c"]
    articles = [
        pack_article(Article(1, "A", "7", one), Scratch(str(tmp_path)).put_text) for one in texts
    ]
    for arrived in itertools.permutations(map(to_bytes, articles)):
        assert list(map(unpack_text, newest_first(arrived))) == ["c", "b", "a"]
