"""Articles → those without near-duplicates: of alike ones the longest stays."""

from fractions import Fraction

from transforms.duplicates.drop_duplicates import DropDuplicates
from transforms.duplicates.find_similar_documents import DocumentFacts
from transforms.records import PackedArticle
from transforms.text.vocabularies.plain_words import plain_words
from transforms.wiki.pack_articles import unpack_text


class DropDuplicateArticles(DropDuplicates):
    """PCollection[PackedArticle] of one wiki → Screened.

    Compared are plain words (see plain_words.py), with those of titles and markers. Of several articles
    as long as each other, the one with the smallest page id stays.

    Args: see DropDuplicates.
    """

    def __init__(self, folder: str, threshold: str | float | Fraction):
        super().__init__(folder, describe_article, text_of_article, threshold)


def describe_article(article: PackedArticle) -> DocumentFacts:
    """Its page id and title, ranked by its length."""
    return DocumentFacts(article.page_id, article.title, article.stats.characters)


def text_of_article(article: PackedArticle) -> str:
    """The plain words of its text."""
    return plain_words(unpack_text(article))
