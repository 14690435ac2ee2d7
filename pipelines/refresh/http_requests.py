"""Reads the explanation in error pages of servers. Wikimedia's pages name the policy that was violated.

Sends HTTP requests to dump servers, and reads pages and headers.

Requests have a User-Agent, timeouts and retries.

Dump servers refuse requests of programs whose User-Agent contains no contact address.
"""

import contextlib
import html
import importlib.metadata
import logging
import math
import re
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Self, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import ConnectionPool, HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError, ResponseError
from urllib3.poolmanager import ProxyManager
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

from ..run.corpora import VERSION
from .sources import RemoteFile, SiteError, hide_passwords

_EXPLAINED = (403, 429)
_MAX_CHARACTERS = 200
_MAX_BYTES = 1 << 16  # maximum number of bytes read of a response
_MAX_SECONDS = 5.0
_REFUSAL_BYTES = 1 << 12
_SENTENCES = re.compile(r".*[.!?](?=\s)")
# Parts of a page that are not shown (h1 only repeats the status), tags within words, other tags.
_HIDDEN = re.compile(r"(?is)<!--.*?(?:-->|$)|<(script|style|title|h1)\b.*?(?:</\1\s*>|$)")
_WITHIN_WORDS = re.compile(r"(?i)</?(?:a|b|code|em|i|span|strong)\b[^<>]*>")
_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")


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
            if not (data := response.read1(_REFUSAL_BYTES, decode_content=True)):
                break
            body += data
    page = _WITHIN_WORDS.sub("", _HIDDEN.sub(" ", body.decode("utf-8", "replace")))
    text = html.unescape(_TAG.sub(" ", page))
    words = "".join(one if one.isprintable() else " " for one in text).split()
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


TIMEOUT_SECONDS = (30.0, 60.0)  # limit for connecting; limit between two pieces of data
LOG = logging.getLogger(__name__)
BUSY = (429, 500, 502, 503, 504)
"""Status codes of temporary errors, after which a request is repeated."""
MAX_PAGE_BYTES = 10_000_000
"""Limit on the decompressed size of a page; pages of dump servers have less than 1 MB."""
SERVER_FAULTS = (requests.RequestException, HTTPError, ValueError, ArithmeticError)
"""Exceptions of the HTTP libraries for failed requests and malformed responses."""

_ATTEMPTS = 6
_LONGEST_WAIT_SECONDS = 300
_POOL = re.compile(r"<?\w+\(host=[^)]*\)>?: ")
_ANSWER_SECONDS = 120.0  # limit for receiving the headers of a response
_PAGE_SECONDS = 120.0  # limit for receiving the body of a page
_CHUNK_BYTES = 1 << 14  # compressed bytes read at a time; gzip expands them to 17 MB at most
_PACKINGS = ("gzip", "identity")
_SIZE = re.compile(r"[0-9]{1,18}")


class PatientRetry(Retry):
    """A retry policy that waits as long as the header Retry-After demands.

    The request fails if the header demands more than _LONGEST_WAIT_SECONDS.
    """

    def increment(self, *args: Any, **named: Any) -> Self:
        response: BaseHTTPResponse | None = named.get("response")
        if response is None:
            further = super().increment(*args, **named)
            pool: ConnectionPool = named["_pool"]
            LOG.info("%s does not answer; the request will be repeated", pool.host)
            return further
        try:
            seconds = self.get_retry_after(response)
            if seconds is not None and seconds > _LONGEST_WAIT_SECONDS:
                wait = f"the server asks to wait {seconds:,.0f} s, which is too long"
                raise _give_up(response, f"{describe_status(response)}; {wait}")
            try:
                return super().increment(*args, **named)
            except MaxRetryError as error:
                raise _give_up(response, f"{error.reason}{explain(response)}") from None
        finally:
            response.close()  # otherwise urllib3 reads the whole body

    def parse_retry_after(self, retry_after: str) -> float:
        """Returns the time to wait in seconds, from the header Retry-After; 0 if the header is invalid."""
        try:
            return float(super().parse_retry_after(retry_after))
        except OverflowError:
            return math.inf
        except (InvalidHeader, ValueError):
            return 0.0


def _give_up(response: BaseHTTPResponse, reason: str) -> MaxRetryError:
    pool = cast(ConnectionPool, response.connection)
    return MaxRetryError(pool, response.url, ResponseError(reason))


class _Punctual(HTTPConnection):
    """An HTTP connection that is closed if the headers of a response take too long to arrive.

    The timeout of the library urllib3 is not enough: it limits only the pauses between pieces of data.
    """

    def getresponse(self) -> Any:
        """Returns the response. The library urllib3 calls this method."""
        timer = threading.Timer(_ANSWER_SECONDS, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            return super().getresponse()
        finally:
            timer.cancel()

    def _hang_up(self) -> None:
        if self.sock:
            with contextlib.suppress(OSError):  # the connection was closed in the meantime
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class _PunctualHTTPS(_Punctual, HTTPSConnection):
    """The same as `_Punctual`, for HTTPS."""


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _Punctual


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _PunctualHTTPS


_POOLS = {"http": _HTTPPool, "https": _HTTPSPool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **named: Any) -> None:
        super().init_poolmanager(*args, **named)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **named: Any) -> Any:
        manager = super().proxy_manager_for(*args, **named)
        if isinstance(manager, ProxyManager):  # a SOCKS proxy has its own connection classes
            manager.pool_classes_by_scheme = _POOLS
        return manager


def name_ourselves(contact: str) -> str:
    """Returns the value of the User-Agent header.

    Args:
      contact: e-mail address or web page for the administrators of a server.

    Raises ValueError if the contact is empty or is not one line of ASCII text.
    """
    contact = contact.strip()
    if not contact or not contact.isprintable() or not contact.isascii():
        raise ValueError(
            f"contact must be an e-mail address or a web page, in ASCII, not {contact!r}"
        )
    library = importlib.metadata.version("requests")
    return f"corpusmill/{VERSION} ({contact}) python-requests/{library}"


def plain_session(user_agent: str, retry: Retry | int = 0) -> requests.Session:
    """Opens a session. By default, it never repeats requests, for callers that repeat them themselves."""
    session = requests.Session()
    session.headers.update({"User-Agent": user_agent})
    session.hooks["response"].append(_drop_body_of_redirect)
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(max_retries=retry))
    return session


def _drop_body_of_redirect(response: requests.Response, **_: object) -> None:
    """Closes a redirect response. Otherwise the library `requests` would read its whole body before following
    the redirect.
    """
    if response.is_redirect:
        response.close()


def open_session(user_agent: str, attempts: int = _ATTEMPTS) -> requests.Session:
    """Opens a session for reading pages.

    If a server is busy, the session repeats the request after the time in the header Retry-After.

    Args:
      user_agent: User-Agent header from `name_ourselves`.
      attempts: maximum number of times that a request is repeated.
    """
    retry = PatientRetry(
        total=attempts,
        status_forcelist=BUSY,
        allowed_methods=("GET", "HEAD"),
        backoff_factor=1,
        backoff_max=_LONGEST_WAIT_SECONDS,
        backoff_jitter=1,
        respect_retry_after_header=True,
    )
    return plain_session(user_agent, retry)


def read_page(session: requests.Session, url: str, readings: int = 3) -> bytes | None:
    """Returns the body of the page at a URL; None if the page does not exist.

    Args:
      readings: maximum number of attempts if the connection is lost while the body is read.

    Raises requests.RequestException if the request fails. Raises SiteError for an unexpected status or
    encoding, and for a page that is too large or takes too long.
    """
    headers = {"Accept-Encoding": ", ".join(_PACKINGS)}
    how: Any = {"headers": headers, "stream": True, "timeout": TIMEOUT_SECONDS}
    try:
        with session.get(url, **how) as response:
            return _read_body(response, url) if _is_there(response) else None
    except HTTPError as error:
        if readings > 1:
            return read_page(session, url, readings - 1)
        raise requests.ConnectionError(error) from None


def _read_body(response: requests.Response, url: str) -> bytes:
    """Returns the decompressed body of a response. `url` is its address, for messages.

    Raises HTTPError if the connection is lost, and SiteError if the encoding is unknown, or the page is too
    large or takes too long.
    """
    packing = response.headers.get("Content-Encoding", "identity").lower()
    if packing not in _PACKINGS:
        raise SiteError(
            f"{url}: the page has Content-Encoding {packing!r}, expected one of {', '.join(_PACKINGS)}"
        )
    page = bytearray()
    end = time.monotonic() + _PAGE_SECONDS
    while data := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        page += data
        if len(page) > MAX_PAGE_BYTES:
            raise SiteError(f"{url}: the page has more than {MAX_PAGE_BYTES:,} bytes")
        if time.monotonic() > end:
            raise SiteError(f"{url}: the page is not complete after {_PAGE_SECONDS:,.0f} s")
    return bytes(page)


def read_listing(session: requests.Session, url: str) -> bytes:
    """Returns the listing page of a folder.

    Raises the errors of `read_page`, and SiteError if the folder does not exist.
    """
    if (page := read_page(session, url)) is None:
        raise SiteError(f"{url}: there is no such folder")
    return page


def find_file(
    session: requests.Session, url: str, checksum: str = ""
) -> tuple[RemoteFile, Mapping[str, str]] | None:
    """Returns a file on a server, and the headers that describe it; None if the file does not exist.

    Args:
      checksum: checksum of the file, as in RemoteFile. Without one, the ETag distinguishes versions.

    Raises requests.RequestException if the request fails, and SiteError for any other status than 200, 404
    and 410, and if the header Content-Length is not a number.
    """
    headers = {"Accept-Encoding": "identity"}  # otherwise the server may state the compressed size
    with session.head(
        url, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=True
    ) as response:
        if not _is_there(response):
            return None
        found = response.headers
    length = found.get("Content-Length")
    if length is not None and not _SIZE.fullmatch(length):
        raise SiteError(f"{url}: Content-Length is {length[:40]!r}, not a number of bytes")
    size = -1 if length is None else int(length)
    etag = "" if checksum else found.get("ETag", "")
    return RemoteFile(url.rpartition("/")[2], (url,), size, checksum, etag), found


def _is_there(response: requests.Response) -> bool:
    """Returns True for status 200, and False for 404 and 410. Raises SiteError for any other status."""
    if response.status_code in (404, 410):
        return False
    if response.status_code != requests.codes.ok:
        raise SiteError(f"{response.url}: {describe_status(response.raw)}")
    return True


def describe_error(error: Exception) -> str:
    """Returns the cause of an HTTP error as one line, without class names such as HTTPSConnectionPool."""
    cause: object = error
    while isinstance(cause, Exception) and cause.args and not isinstance(cause, UnicodeError):
        cause = cause.reason if isinstance(cause, MaxRetryError) and cause.reason else cause.args[0]
    text = _POOL.sub("", str(cause if isinstance(cause, str) else error))
    return hide_passwords(" ".join(text.split())) or type(error).__name__
