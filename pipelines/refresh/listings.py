"""Reads names, sizes and dates from directory listings of HTTP file servers."""

import html.parser
import re
from collections.abc import Iterator

from corpusmill.transforms.files.dates import plain_date

# After the link: a time, then the size as a whole number at the end of the line. Rounded sizes have a unit.
_SIZE = re.compile(r"\d\d:\d\d(?::\d\d)?\s+(\d{1,18})\s*(?:\n|$)")


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.texts: list[str] = []  # the text from each link to the next link

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.targets.extend(value for name, value in attrs if name == "href" and value)
        self.texts.extend("" for _ in range(len(self.targets) - len(self.texts)))

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += f" {data}"


def _read_links(page: bytes) -> Iterator[tuple[str, str]]:
    """Yields a pair (name, text) for each link on a page.

    The name is the last component of the link's path; the text is everything from this link to the next.
    """
    links = _Links()
    links.feed(page.decode("utf-8", "replace"))
    for target, text in zip(links.targets, links.texts, strict=True):
        yield target.rstrip("/").rpartition("/")[2], text


def names_in(page: bytes) -> Iterator[str]:
    """Returns the names of the files and folders that a page links to, without final slashes."""
    return (name for name, _ in _read_links(page))


def sizes_in(page: bytes) -> dict[str, int]:
    """Returns file name → size in bytes, for the files whose exact size the page states."""
    found = {name: _SIZE.search(text) for name, text in _read_links(page)}
    return {name: int(size[1]) for name, size in found.items() if size}


def dates_in(page: bytes, separator: str = "") -> list[str]:
    """Returns the dates of the folders on a page in the form "20261101", the newest first.

    Args:
      separator: text between year, month and day in the names of the folders. Names of another form are
        skipped.
    """
    form = re.compile(separator.join(("20[0-9]{2}", "[0-9]{2}", "[0-9]{2}")))
    return sorted(
        {plain_date(name) for name in names_in(page) if form.fullmatch(name)}, reverse=True
    )
