"""Asking servers: who we are, how patient we are, and what a page says.

Without a User-Agent that names somebody to write to, dump servers refuse programs.
"""

import importlib.metadata
import re
from collections.abc import Mapping
from typing import cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import MaxRetryError, ResponseError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

from pipelines.builds.provenance import VERSION

TIMEOUT_SECONDS = (30.0, 60.0)  # to connect; of silence
BUSY = (429, 500, 502, 503, 504)
"""What a server answers that may do better later."""

_ATTEMPTS = 6
_LONGEST_WAIT_SECONDS = 300
_POOL = re.compile(r"<?\w+\(host=[^)]*\)>?: ")
_READINGS = 3  # of a page whose body is cut off


class _PatientRetry(Retry):
    """Waits as long as a server asks for, and gives up where that is too long; it never asks sooner."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        if seconds is not None and seconds > _LONGEST_WAIT_SECONDS:
            reason = ResponseError(f"HTTP {response.status}; it asks to wait {seconds:,.0f} s")
            raise MaxRetryError(cast(ConnectionPool, response.connection), response.url, reason)
        return seconds


def name_ourselves(contact: str) -> str:
    """The User-Agent. Raises ValueError for no contact, and for one that is no text of one line.

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
    return session


def open_session(user_agent: str, attempts: int = _ATTEMPTS) -> requests.Session:
    """A session for pages: where a server is busy, it asks again, after the wait that it was told."""
    session = plain_session(user_agent)
    retry = _PatientRetry(
        total=attempts,
        status_forcelist=BUSY,
        allowed_methods=("GET", "HEAD"),
        backoff_factor=1,
        backoff_max=_LONGEST_WAIT_SECONDS,
        backoff_jitter=1,
        respect_retry_after_header=True,
    )
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def read_page(session: requests.Session, url: str) -> bytes | None:
    """What is at the address; None where there is nothing. Raises requests.RequestException."""
    for attempt in range(1, _READINGS + 1):
        try:
            with session.get(url, timeout=TIMEOUT_SECONDS) as response:
                if _is_there(response):
                    return response.content
                return None
        except requests.exceptions.ChunkedEncodingError:
            if attempt == _READINGS:
                raise
    raise AssertionError("unreachable")


def read_headers(session: requests.Session, url: str) -> Mapping[str, str] | None:
    """What a server says of a file; None where it is not. Raises requests.RequestException."""
    headers = {"Accept-Encoding": "identity"}  # else the size is of something packed anew
    with session.head(
        url, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=True
    ) as response:
        return response.headers if _is_there(response) else None


def _is_there(response: requests.Response) -> bool:
    if response.status_code in (404, 410):
        return False
    response.raise_for_status()
    return True


def describe_error(error: Exception) -> str:
    """One line, without the names of classes and pools that the libraries wrap around it."""
    cause: object = error
    while isinstance(cause, Exception) and cause.args:
        cause = cause.reason if isinstance(cause, MaxRetryError) and cause.reason else cause.args[0]
    text = _POOL.sub("", str(cause if isinstance(cause, str) else error))
    return " ".join(text.split()) or type(error).__name__
