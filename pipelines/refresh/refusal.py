"""Reads the explanation in error pages of servers. Wikimedia's pages name the policy that was violated."""

import contextlib
import html.parser
import re
import time

from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from corpusmill.pipelines.refresh.remote import hide_passwords

_EXPLAINED = (403, 429)
_MAX_CHARACTERS = 200
_MAX_BYTES = 1 << 16  # maximum number of bytes read of a response
_MAX_SECONDS = 5.0
_CHUNK_BYTES = 1 << 12
_SENTENCES = re.compile(r".*[.!?](?=\s)")
_INLINE = ("a", "b", "code", "em", "i", "span", "strong")
_UNSAID = ("script", "style", "title", "h1")  # are not shown; h1 only repeats the status


class _Text(html.parser.HTMLParser):
    """An HTML parser that collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = self._within or (tag if tag in _UNSAID else "")
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            self._within = ""
        self._part(tag)

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.parts.append(data)

    def _part(self, tag: str) -> None:
        if tag not in _INLINE:
            self.parts.append(" ")


def describe_status(response: BaseHTTPResponse) -> str:
    """Returns the status of a response with the server's explanation, such as 'HTTP 403:
    "Please set a …"'.
    """
    return f"HTTP {response.status}{explain(response)}"


def explain(response: BaseHTTPResponse) -> str:
    """Returns the server's explanation of a status 403 or 429, in quotation marks and after a colon.

    For example, returns ': "Please set a …"', to be appended to a message. Returns "" if there is no
    explanation.

    Args:
      response: response whose body has not been read. The beginning of the body is read.
    """
    said = _shorten(_read_text(response)) if response.status in _EXPLAINED else ""
    return f': "{said}"' if said else ""


def _read_text(response: BaseHTTPResponse) -> str:
    """Returns the visible text of a page as one line. Passwords in addresses are removed."""
    body = bytearray()
    end = time.monotonic() + _MAX_SECONDS
    with contextlib.suppress(HTTPError, OSError, ValueError):  # a partial text is enough
        while len(body) < _MAX_BYTES and time.monotonic() < end:
            data = response.read1(_CHUNK_BYTES, decode_content=True)
            if not data:
                break
            body += data
    page = _Text()
    page.feed(body.decode("utf-8", "replace"))
    page.close()
    text = "".join(one if one.isprintable() else " " for one in "".join(page.parts))
    words = text.split()
    if len(body) >= _MAX_BYTES:
        words = words[:-1]  # the last word may be a truncated address that contains a password
    return hide_passwords(" ".join(words))


def _shorten(text: str) -> str:
    """Shortens a text to _MAX_CHARACTERS by dropping sentences at its end.

    If the first sentence alone is longer, returns its beginning.
    """
    if len(text) <= _MAX_CHARACTERS:
        return text
    start = text[: _MAX_CHARACTERS - 1]
    sentences = _SENTENCES.match(start)
    return sentences[0] if sentences else f"{start.rstrip()}…"
