"""metadata.csv, which DeepMind released with PG-19: a line for each book, without a header line.

"84,Frankenstein by Mary Shelley,1823,http://www.gutenberg.org/ebooks/84": id, title, year of publication,
link. Nothing is quoted: the titles were freed of commas, and a quotation mark would be one of the title.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.records import ReleasedBook

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


class MalformedTableError(ValueError):
    """A table that cannot be understood; the message names the line."""


def decode_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines. Raises MalformedTableError for one that is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedTableError(f"line {number}: not UTF-8: {error}") from None


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """The books of the lines, in their order. Raises MalformedTableError.

    The link of every line ends with its id: so it shows where a last line is cut off.
    """
    for number, text in decode_lines(lines):
        found = _LINE.fullmatch(text)
        if found is None:
            message = f"line {number}: not id, title, year and a link that ends with the id"
            raise MalformedTableError(f"{message}, between commas: {text[:_DETAIL_CHARACTERS]!r}")
        book_id, title, year, url = found.groups()
        yield ReleasedBook(int(book_id), title, int(year), url)
