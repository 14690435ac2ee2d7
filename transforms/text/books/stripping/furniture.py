"""A book without its furniture: tables of contents, lists of illustrations, illustrations, page marks.

SimpleBooks is made of running text: "We removed meta-data, tables of contents, illustrations" (section 2 of
its paper). Footnotes, indexes, advertisements, and the marks of _italics_ and =bold= are not named there, and
stay.
"""

from typing import NamedTuple

from transforms.records import Reason
from transforms.text.books.stripping.boilerplate import check_kept
from transforms.text.books.stripping.contents import find_contents
from transforms.text.books.stripping.illustrations import find_illustrations, find_page_marks
from transforms.text.books.stripping.spans import cut_out

MAX_SHARE = 0.5  # of a book: one with more furniture has too little running text
FREE_CHARACTERS = 3000  # of furniture, which a picture book may have more of than of text


class CutText(NamedTuple):
    """A book without furniture, and how many characters were removed as what."""

    text: str
    contents: int  # of tables of contents and lists of illustrations
    illustrations: int  # with their captions
    page_marks: int


def cut_furniture(text: str) -> CutText:
    """The text without furniture. The headings of its chapters stay.

    Illustrations go first: their captions may have any shape, and they may be in a table of contents.
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
    """Returns the reason why a text that was cut is not to be trusted (`too-much-furniture`,
    `kept-too-little`), or None.
    """
    removed = cut.contents + cut.illustrations + cut.page_marks
    if removed > max(len(text) * MAX_SHARE, FREE_CHARACTERS):
        return Reason("too-much-furniture", f"{removed:,} of {len(text):,} characters")
    return check_kept(cut.text)
