"""What the pages of file servers link to."""

import html.parser
import re
from collections.abc import Iterator

_DATE = re.compile(r"20[0-9]{6}")


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.targets.extend(value for name, value in attrs if name == "href" and value)


def names_in(page: bytes) -> Iterator[str]:
    """The last names in the addresses that a page links to: files and folders, these without the slash."""
    links = _Links()
    links.feed(page.decode("utf-8", "replace"))
    for target in links.targets:
        yield target.rstrip("/").rpartition("/")[2]


def dates_in(page: bytes) -> list[str]:
    """The folders of dates that a page links to, the newest first."""
    return sorted({name for name in names_in(page) if _DATE.fullmatch(name)}, reverse=True)
