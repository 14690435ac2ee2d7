"""metadata.csv, which DeepMind released with PG-19: a line for each book, without a header line.

"84,Frankenstein by Mary Shelley,1823,http://www.gutenberg.org/ebooks/84": id, title, year of publication,
link. Nothing is quoted: the titles were freed of commas, and a quotation mark would be one of the title.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.records import ReleasedBook

_LINE = re.compile(r"([1-9][0-9]{0,9}),([^,]*),([1-9][0-9]{3}),([^,]*/\1)\r?\n?")
_DETAIL_CHARACTERS = 100


class MalformedReleaseError(ValueError):
    """A line that is not like those of metadata.csv."""

    def __init__(self, line: int, message: str):
        super().__init__(f"line {line}: {message}")
        self.line, self.message = line, message

    def __reduce__(self) -> tuple[object, ...]:
        return MalformedReleaseError, (self.line, self.message)


def read_released_lines(lines: Iterable[bytes]) -> Iterator[ReleasedBook]:
    """The books of the lines, in their order. Raises MalformedReleaseError.

    The link of every line ends with its id: so it shows where a last line is cut off.
    """
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedReleaseError(number, f"not UTF-8: {error}") from None
        found = _LINE.fullmatch(text)
        if found is None:
            message = "not id, title, year and a link that ends with the id, between commas"
            raise MalformedReleaseError(number, f"{message}: {text[:_DETAIL_CHARACTERS]!r}")
        book_id, title, year, url = found.groups()
        yield ReleasedBook(int(book_id), title, int(year), url)
