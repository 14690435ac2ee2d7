"""Illustrations and page marks in a book: `[Illustration: …]`, `[Pg 12]`.

The tables are in `front_matter.toml`.
"""

import functools
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from transforms.text.books.brackets import match_brackets
from transforms.text.books.spans import Span, with_blank_lines


class _Rules(NamedTuple):
    opening: re.Pattern[str]
    file_name: re.Pattern[str]
    max_characters: int
    page_mark: re.Pattern[str]


def find_illustrations(text: str) -> Iterator[Span]:
    """Places of illustrations with their captions, whatever brackets and paragraphs these have.

    One that is not closed, or not within `max_characters`, stays: nobody can tell where it ends.
    """
    rules = _rules()
    if not rules.opening.search(text) and ".jpg" not in text and ".png" not in text:
        return
    end_of_last = 0
    for start, end in sorted(match_brackets(text).items()):
        if start < end_of_last or end - start > rules.max_characters:
            continue
        is_named = rules.opening.match(text, start)
        if is_named or (text[start] == "{" and rules.file_name.search(text, end - 20, end)):
            place = with_blank_lines(text, start, end)
            yield place
            end_of_last = place[1]


def find_page_marks(text: str) -> Iterator[Span]:
    """Places of marks that tell where a page of the printed book begins."""
    for found in _rules().page_mark.finditer(text):
        yield with_blank_lines(text, *found.span())


@functools.cache
def _rules() -> _Rules:
    path = resources.files(__package__) / "front_matter.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    illustrations = table["illustrations"]
    return _Rules(
        re.compile(illustrations["opening"]),
        re.compile(illustrations["file_name"]),
        illustrations["max_characters"],
        re.compile(table["pages"]["mark"]),
    )
