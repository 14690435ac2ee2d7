"""Drops near-duplicate articles. Of each group of near-duplicates, the longest article is kept."""

from fractions import Fraction

from corpusmill.transforms.duplicates.drop_duplicates import DropDuplicates
from corpusmill.transforms.duplicates.find_similar_documents import DocumentFacts
from corpusmill.transforms.files.plain_words import plain_words
from corpusmill.transforms.files.records import PackedArticle
from corpusmill.transforms.wikipedia.pack_articles import unpack_text


class DropDuplicateArticles(DropDuplicates):
    """Drops near-duplicate articles of one wiki. PCollection[PackedArticle] → Screened.

    Words without case and punctuation are compared (see plain_words.py). They include the titles of sections
    and the markers of the Wiki-40B layout, such as `_START_SECTION_`. Among articles of the same length, the
    one with the smallest page id is kept.

    The arguments are those of DropDuplicates.
    """

    def __init__(self, folder: str, threshold: str | float | Fraction):
        super().__init__(folder, describe_article, text_of_article, threshold)


def describe_article(article: PackedArticle) -> DocumentFacts:
    """Returns the page id and title of an article, and its length in characters as its rank.

    Of several near-duplicates, the one with the greatest rank is kept.
    """
    return DocumentFacts(article.page_id, article.title, article.stats.characters)


def text_of_article(article: PackedArticle) -> str:
    """Returns the plain words of the text of an article."""
    return plain_words(unpack_text(article))
