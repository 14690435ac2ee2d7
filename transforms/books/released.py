"""Reads metadata.csv, which DeepMind released with PG-19. It has one line per book and no header line.

A line has id, title, year of publication and link: "84,Frankenstein by Mary
Shelley,1823,http://www.gutenberg.org/ebooks/84". Fields are not quoted: commas were removed from the titles,
and quotation marks belong to the title.
"""

import re
from collections.abc import Iterable, Iterator

from corpusmill.transforms.files.records import ReleasedBook

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


class MalformedTableError(ValueError):
    """Raised if metadata.csv or a user's table of splits is invalid. The message names the line."""


def decode_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yields (line number, text) for each line. Raises MalformedTableError for a line that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedTableError(f"line {number}: not UTF-8: {error}") from None


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """Yields the books in the lines of metadata.csv, in order.

    Raises MalformedTableError for an invalid line. Each line must end with the id of its book, as part of the
    link, so truncated lines are detected.
    """
    for number, text in decode_lines(lines):
        found = _LINE.fullmatch(text)
        if found is None:
            message = (
                f"line {number}: expected id,title,year,link, and a link that ends with the id"
            )
            raise MalformedTableError(f"{message}, found {text[:_DETAIL_CHARACTERS]!r}")
        book_id, title, year, url = found.groups()
        yield ReleasedBook(int(book_id), title, int(year), url)
