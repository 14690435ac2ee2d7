"""Removes tables of contents, lists of illustrations, illustrations and page marks (furniture) from a book.

SimpleBooks consists of running text: "We removed meta-data, tables of contents, illustrations" (section 2 of
its paper). The paper does not name footnotes, indexes, advertisements and the marks of _italics_ and =bold=;
they are kept.
"""

from typing import NamedTuple

from corpusmill.transforms.books.boilerplate import check_kept
from corpusmill.transforms.books.contents import find_contents
from corpusmill.transforms.books.illustrations import find_illustrations, find_page_marks
from corpusmill.transforms.books.spans import cut_out
from corpusmill.transforms.files.records import Reason

# maximum share of furniture in a book; a book with more has too little running text
MAX_SHARE = 0.5
FREE_CHARACTERS = (
    3000  # of furniture, always allowed: a picture book may have more furniture than text
)


class CutText(NamedTuple):
    """A book without furniture, and the numbers of characters removed, by kind of furniture."""

    text: str
    contents: int  # characters of tables of contents and lists of illustrations
    illustrations: int  # characters of illustrations and their captions
    page_marks: int


def cut_furniture(text: str) -> CutText:
    """Removes the furniture from a book. Headings of chapters are kept.

    Illustrations are removed first, because captions may have any form, and a table of contents may contain
    illustrations.
    """
    unillustrated = cut_out(text, find_illustrations(text))
    unpaged = cut_out(unillustrated, find_page_marks(unillustrated))
    cut = cut_out(unpaged, find_contents(unpaged))
    return CutText(
        cut.strip("\n") + "\n" if cut.strip() else "",
        contents=len(unpaged) - len(cut),
        illustrations=len(text) - len(unillustrated),
        page_marks=len(unillustrated) - len(unpaged),
    )


def check_furniture(text: str, cut: CutText) -> Reason | None:
    """Returns None if enough of a book is left, otherwise `too-much-furniture` or `kept-too-little`.

    `text` is the book with its furniture, `cut` is the result of `cut_furniture`.
    """
    removed = cut.contents + cut.illustrations + cut.page_marks
    if removed > max(len(text) * MAX_SHARE, FREE_CHARACTERS):
        return Reason("too-much-furniture", f"{removed:,} of {len(text):,} characters")
    return check_kept(cut.text)
