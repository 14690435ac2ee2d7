"""Asking servers: who we are, how patient we are, and what a page says.

Without a User-Agent that names somebody to write to, dump servers refuse programs.
"""

import contextlib
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

from pipelines.builds.provenance import VERSION
from pipelines.refresh.refusal import describe_status, explain
from pipelines.refresh.remote import SiteError, hide_passwords

TIMEOUT_SECONDS = (30.0, 60.0)  # to connect; of silence
LOG = logging.getLogger(__name__)
BUSY = (429, 500, 502, 503, 504)
"""Status codes of a server that may answer later."""
MAX_PAGE_BYTES = 10_000_000
"""Of a page, unpacked; those of dump servers have less than 1 MB."""
SERVER_FAULTS = (requests.RequestException, HTTPError, ValueError, ArithmeticError)
"""Errors of the libraries for an answer that makes no sense."""

_ATTEMPTS = 6
_LONGEST_WAIT_SECONDS = 300
_POOL = re.compile(r"<?\w+\(host=[^)]*\)>?: ")
_ANSWER_SECONDS = 120.0  # for the headers of an answer
_PAGE_SECONDS = 120.0  # for the body of a page
_CHUNK_BYTES = 1 << 14  # gzip unpacks them to 17 MB at most
_PACKINGS = ("gzip", "identity")
_SIZE = re.compile(r"[0-9]{1,18}")


class PatientRetry(Retry):
    """Waits as long as a server asks for, and gives up where that is too long; it never asks sooner."""

    def increment(self, *args: Any, **named: Any) -> Self:
        response: BaseHTTPResponse | None = named.get("response")
        if response is None:
            further = super().increment(*args, **named)
            pool: ConnectionPool = named["_pool"]
            LOG.info("%s does not answer; it is asked again in a moment", pool.host)
            return further
        try:
            seconds = self.get_retry_after(response)
            if seconds is not None and seconds > _LONGEST_WAIT_SECONDS:
                wait = f"it asks to wait {seconds:,.0f} s"
                raise _give_up(response, f"{describe_status(response)}; {wait}")
            try:
                return super().increment(*args, **named)
            except MaxRetryError as error:
                raise _give_up(response, f"{error.reason}{explain(response)}") from None
        finally:
            response.close()  # else its body is read to the end

    def parse_retry_after(self, retry_after: str) -> float:
        """Seconds; 0 for what cannot be understood."""
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
    """Hangs up where the headers of an answer do not end: a timeout is only for silence."""

    def getresponse(self) -> Any:
        """As the library asks for it."""
        timer = threading.Timer(_ANSWER_SECONDS, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            return super().getresponse()
        finally:
            timer.cancel()

    def _hang_up(self) -> None:
        if self.sock:
            with contextlib.suppress(OSError):  # it has ended by itself meanwhile
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class _PunctualHTTPS(_Punctual, HTTPSConnection):
    """The same with TLS."""


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
        if isinstance(manager, ProxyManager):  # one of SOCKS has connections of its own
            manager.pool_classes_by_scheme = _POOLS
        return manager


def name_ourselves(contact: str) -> str:
    """The User-Agent. Raises ValueError for no contact, and for one that is not text of one line.

    Args:
      contact: an address that the people of a server can write to, of a person or a page.
    """
    contact = contact.strip()
    if not contact or not contact.isprintable() or not contact.isascii():
        raise ValueError(f"contact is {contact!r}; servers ask for an address to write to")
    library = importlib.metadata.version("requests")
    return f"corpusmill/{VERSION} ({contact}) python-requests/{library}"


def plain_session(user_agent: str) -> requests.Session:
    """A session that asks once, for those who know better when to ask again."""
    session = requests.Session()
    session.headers.update({"User-Agent": user_agent})
    session.hooks["response"].append(_drop_body_of_redirect)
    _mount(session, _Adapter())
    return session


def _mount(session: requests.Session, adapter: _Adapter) -> None:
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)


def _drop_body_of_redirect(response: requests.Response, **_: object) -> None:
    """Else it is read to the end before the next address is asked."""
    if response.is_redirect:
        response.close()


def open_session(user_agent: str, attempts: int = _ATTEMPTS) -> requests.Session:
    """A session for pages: where a server is busy, it asks again, after the wait that the server names."""
    session = plain_session(user_agent)
    retry = PatientRetry(
        total=attempts,
        status_forcelist=BUSY,
        allowed_methods=("GET", "HEAD"),
        backoff_factor=1,
        backoff_max=_LONGEST_WAIT_SECONDS,
        backoff_jitter=1,
        respect_retry_after_header=True,
    )
    _mount(session, _Adapter(max_retries=retry))
    return session


def read_page(session: requests.Session, url: str, readings: int = 3) -> bytes | None:
    """Returns the body of the page at an address; None if there is no page.

    Args:
      readings: attempts at a page whose body is cut off.

    Raises requests.RequestException, and SiteError for a page that is too large or takes too long.
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
    """The page, unpacked. Raises HTTPError for one that is cut off, SiteError for one that is not a page."""
    packing = response.headers.get("Content-Encoding", "identity").lower()
    if packing not in _PACKINGS:
        raise SiteError(f"{url}: the page is packed as {packing!r}, which was not asked for")
    page = bytearray()
    end = time.monotonic() + _PAGE_SECONDS
    while data := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        page += data
        if len(page) > MAX_PAGE_BYTES:
            raise SiteError(f"{url}: the page has more than {MAX_PAGE_BYTES:,} bytes")
        if time.monotonic() > end:
            raise SiteError(f"{url}: the page has no end after {_PAGE_SECONDS:,.0f} s")
    return bytes(page)


def read_listing(session: requests.Session, url: str) -> bytes:
    """The page of a folder. Raises as `read_page` does, and SiteError where there is none."""
    page = read_page(session, url)
    if page is None:
        raise SiteError(f"{url}: there is no such folder")
    return page


def read_headers(session: requests.Session, url: str) -> Mapping[str, str] | None:
    """Returns the headers with which a server describes a file; None if the file does not exist.
    Raises requests.RequestException.
    """
    headers = {"Accept-Encoding": "identity"}  # else the size is of something packed anew
    with session.head(
        url, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=True
    ) as response:
        return response.headers if _is_there(response) else None


def _is_there(response: requests.Response) -> bool:
    """Raises SiteError for an answer that is neither the page nor says that there is none."""
    if response.status_code in (404, 410):
        return False
    if response.status_code != requests.codes.ok:
        raise SiteError(f"{response.url}: {describe_status(response.raw)}")
    return True


def read_size(url: str, headers: Mapping[str, str]) -> int:
    """The bytes of a file; -1 where its headers do not say. Raises SiteError for what is not a number."""
    length = headers.get("Content-Length")
    if length is None:
        return -1
    if not _SIZE.fullmatch(length):
        raise SiteError(f"{url}: Content-Length is {length[:40]!r}, not a number of bytes")
    return int(length)


def describe_error(error: Exception) -> str:
    """One line, without the names of classes and pools that the libraries wrap around it."""
    cause: object = error
    while isinstance(cause, Exception) and cause.args and not isinstance(cause, UnicodeError):
        cause = cause.reason if isinstance(cause, MaxRetryError) and cause.reason else cause.args[0]
    text = _POOL.sub("", str(cause if isinstance(cause, str) else error))
    return hide_passwords(" ".join(text.split())) or type(error).__name__
