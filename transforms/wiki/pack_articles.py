"""Packs articles for shuffles.

Texts are compressed to a third of their size. They are decompressed only when they are written.
"""

import pickle

from transforms.records import Article, CorpusStats, PackedArticle
from transforms.text.lines.line_blocks import pack_block, unpack_block
from transforms.text.wikimedia.corpus_stats import measure_article


def pack_article(article: Article) -> PackedArticle:
    """Returns the article with its text measured and compressed."""
    return PackedArticle(
        page_id=article.page_id,
        title=article.title,
        version_id=article.version_id,
        packed_text=pack_block(article.text.encode("utf-8")),
        stats=measure_article(article.text),
        revised=article.revised,
        packed_markdown=pack_block(article.markdown.encode("utf-8")) if article.markdown else b"",
    )


def unpack_text(article: PackedArticle) -> str:
    """Returns the text of the article."""
    return unpack_block(article.packed_text).decode("utf-8")


def unpack_markdown(article: PackedArticle) -> str:
    """Returns an article as Markdown, or "" if Markdown was not requested."""
    packed = article.packed_markdown
    return unpack_block(packed).decode("utf-8") if packed else ""


def to_bytes(article: PackedArticle) -> bytes:
    """Serialises an article to one byte string, which runners shuffle without inspecting fields."""
    return pickle.dumps((*article[:4], tuple(article.stats), *article[5:]), protocol=5)


def from_bytes(data: bytes) -> PackedArticle:
    """Restores an article from the result of `to_bytes`."""
    article = PackedArticle._make(pickle.loads(data))
    return article._replace(stats=CorpusStats._make(article.stats))
