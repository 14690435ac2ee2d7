"""Packs articles for shuffles.

Texts are compressed to a third of their size. They are decompressed only when they are written.
A build stores them in scratch, so that shuffles only pass references.
"""

import pickle
from collections.abc import Callable

from corpusmill.transforms.files.records import Article, CorpusStats, PackedArticle
from corpusmill.transforms.files.scratch import fetch_text, pack_text
from corpusmill.transforms.wikitext.corpus_stats import measure_article


def pack_article(article: Article, put_text: Callable[[str], bytes] = pack_text) -> PackedArticle:
    """Returns the article with its text compressed and statistics of the text added.

    Args:
      put_text: function that converts a text to bytes from which `fetch_text` restores it. Scratch.put_text
        stores the text in a file.
    """
    return PackedArticle(
        page_id=article.page_id,
        title=article.title,
        version_id=article.version_id,
        packed_text=put_text(article.text),
        stats=measure_article(article.text),
        revised=article.revised,
        packed_markdown=put_text(article.markdown) if article.markdown else b"",
    )


def unpack_text(article: PackedArticle) -> str:
    """Returns the text of the article."""
    return fetch_text(article.packed_text)


def unpack_markdown(article: PackedArticle) -> str:
    """Returns an article as Markdown, or "" if Markdown was not requested."""
    packed = article.packed_markdown
    return fetch_text(packed) if packed else ""


def to_bytes(article: PackedArticle) -> bytes:
    """Serialises an article to one byte string, which runners shuffle without inspecting fields."""
    return pickle.dumps((*article[:4], tuple(article.stats), *article[5:]), protocol=5)


def from_bytes(data: bytes) -> PackedArticle:
    """Restores an article from the result of `to_bytes`."""
    article = PackedArticle._make(pickle.loads(data))
    return article._replace(stats=CorpusStats._make(article.stats))
