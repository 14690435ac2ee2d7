"""Defines the columns of Wiki-40B rows.

These are the columns of the released corpus, and optional columns about the source of the text.
"""

import urllib.parse
from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.transforms.wikitext.wikis import code_of

RELEASED = ("wikidata_id", "text", "version_id")
"""The features of TFDS wiki40b 1.3.0."""

FULL = (
    *RELEASED,
    "title",
    "url",
    "page_id",
    "revision_date",
    "license",
    "language",
    "wikidata_classes",
    "words",
)
NUMBERS = ("page_id", "words")
TEXTS = {"markers": (), "plain": ("plain_text",), "markdown": ("markdown",)}
"""Value of the setting `text` → columns added at the end, which contain the article in another form."""

COLUMNS = {"released": RELEASED, "full": FULL}

CC_BY_SA_4_SINCE = "2023-06-07"
"""The day on which Wikimedia's terms of use changed from CC BY-SA 3.0 and GFDL to CC BY-SA 4.0."""

LICENSES = ("cc-by-sa-3.0", "cc-by-sa-4.0")
HUMAN = 5  # the class Q5


def columns_of(columns: str, text: str) -> tuple[str, ...]:
    """Returns the names of a row's columns.

    `columns` is "released" (the columns of the released corpus) or "full" (also the optional columns). `text`
    is "plain" or "markdown" to add a column with the article in this form, or "markers" to add none.
    """
    return (*COLUMNS[columns], *TEXTS[text])


class RowSource(NamedTuple):
    """The wiki and language of a corpus. Computes the values of the optional columns of its rows."""

    language: str  # corpus code, "zh-tw"
    dbname: str  # "zhwiki"

    def url(self, title: str, version_id: str) -> str:
        """Returns the URL of a revision.

        CC BY-SA requires that the authors are named. They are in the history of the page, to which the URL
        leads.
        """
        name = urllib.parse.quote(title.replace(" ", "_"), safe="/:,;@!$*()")
        site = f"https://{code_of(self.dbname)}.wikipedia.org"
        return f"{site}/w/index.php?title={name}&oldid={version_id}"

    def values(
        self,
        page_id: int,
        title: str,
        version_id: str,
        revised: str,
        classes: Sequence[int],
        words: int,
    ) -> tuple[str | int, ...]:
        """Returns the values of the optional columns for one row, in the order of these columns in FULL.

        Args:
          page_id: id of the page.
          title: title of the article.
          version_id: id of the revision.
          revised: when the revision was saved, "2023-05-01T10:00:00Z"; "" if unknown.
          classes: the Wikidata ids of the classes of the article's entity, as numbers: 5 is Q5.
          words: number of words in the text of the article.
        """
        return (
            title,
            self.url(title, version_id),
            page_id,
            revised,
            license_of(revised),
            self.language,
            " ".join(f"Q{number}" for number in classes),
            words,
        )


def license_of(revised: str) -> str:
    """Returns the licence of a revision, such as "cc-by-sa-4.0", or "" if the revision has no known date.

    Args:
      revised: when the revision was saved, "2023-05-01T10:00:00Z"; "" if unknown.
    """
    if not revised:
        return ""
    return LICENSES[revised >= CC_BY_SA_4_SINCE]
