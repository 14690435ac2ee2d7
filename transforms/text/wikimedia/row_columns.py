"""The columns of Wiki-40B's rows: those released, and those that describe the source of a text."""

import urllib.parse
from collections.abc import Sequence
from typing import NamedTuple

from transforms.text.wikimedia.wikis import code_of

RELEASED = ("wikidata_id", "text", "version_id")
"""The features that TFDS wiki40b 1.3.0 has."""

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
"""Setting → columns behind all others, with the article in another form."""

COLUMNS = {"released": RELEASED, "full": FULL}

CC_BY_SA_4_SINCE = "2023-06-07"
"""The day on which the terms of use of Wikimedia changed from CC BY-SA 3.0 and GFDL to CC BY-SA 4.0."""

LICENSES = ("cc-by-sa-3.0", "cc-by-sa-4.0")
HUMAN = 5  # the class Q5


def columns_of(columns: str, text: str) -> tuple[str, ...]:
    """The columns of rows, by keys of COLUMNS and TEXTS."""
    return (*COLUMNS[columns], *TEXTS[text])


class RowSource(NamedTuple):
    """The wiki of rows with all columns."""

    language: str  # corpus code, "zh-tw"
    dbname: str  # "zhwiki"

    def url(self, title: str, version_id: str) -> str:
        """The address of a revision, whose history names the authors: what CC BY-SA asks for."""
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
        """The values behind those released, in their order."""
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
    """The licence that a revision was published under; "" where its date is not known.

    Args:
      revised: when it was saved, "2023-05-01T10:00:00Z".
    """
    if not revised:
        return ""
    return LICENSES[revised >= CC_BY_SA_4_SINCE]
