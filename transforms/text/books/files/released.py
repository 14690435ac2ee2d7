"""Reads metadata.csv, which DeepMind released with PG-19: a line per book, without a header line.

"84,Frankenstein by Mary Shelley,1823,http://www.gutenberg.org/ebooks/84": id, title, year of publication,
link. Fields are not quoted: commas were removed from the titles, and quotation marks belong to the title.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.records import ReleasedBook

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


class MalformedTableError(ValueError):
    """An invalid table. The message names the line."""


def decode_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yields (number, text) of the lines. Raises MalformedTableError for a line that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedTableError(f"line {number}: not UTF-8: {error}") from None


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """Yields the books of the lines, in order. Raises MalformedTableError.

    The link in each line ends with the id, so a truncated line is detected.
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
