"""A dump site on loopback, over real HTTP, that can misbehave.

    with DumpServer() as site:
        site.add_wiki("ukwiki", "20261101", {"ukwiki-20261101-page_props.sql.gz": b"…", …})
        site.add_wiki("ukwiki", "20261120", {…}, unfinished=["pagepropstable"])
        site.fail("/ukwiki/20261101/ukwiki-20261101-page_props.sql.gz", CutOff(1000), Status(503, "1"))
        … site.url …
        assert site.most_at_once <= 2

It serves listings of folders, files with ranges, ETag and Last-Modified, and a dumpstatus.json or SHA256SUMS
made from the files. Every fault is used up by one GET of its path, in their order; then the site behaves,
unless it was told to misbehave always. Files may be put, replaced and removed while it runs. It notes every
request, and how many it served at once.
"""

import contextlib
import email.utils
import hashlib
import html
import json
import re
import select
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from corpusmill.transforms.files.text import iso_date

MODIFIED = 1_790_000_000.0
"""Seconds since 1970 that files have as their last change, unless they are given another."""

_CHUNK_BYTES = 1 << 12
_JOBS = (
    (r"-pages-articles-multistream\d*\.xml", "articlesmultistreamdump"),
    (r"-pages-articles\d*\.xml", "articlesdump"),
    (r"-page_props\.sql", "pagepropstable"),
    (r"-page\.sql", "pagetable"),
    (r"-wb_items_per_site\.sql", "wbitemspersitetable"),
)


class Served(NamedTuple):
    """A file of the site."""

    content: bytes
    modified: float  # seconds since 1970

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha1(self.content).hexdigest()[:16]}"'


class Request(NamedTuple):
    """A request, and the status of its answer."""

    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    status: int


class CutOff(NamedTuple):
    """The connection ends after so many bytes of the body."""

    after_bytes: int


class Status(NamedTuple):
    """An answer without a file, such as 503."""

    status: int
    retry_after: str = ""  # seconds or a date
    location: str = ""
    body_bytes: int = 7


class Garbage(NamedTuple):
    """Bytes of the right number that are not those of the file."""


class IgnoreRange(NamedTuple):
    """The whole file, whatever range was asked for."""


class WrongLength(NamedTuple):
    """A Content-Length that is so much more than the body; less, where negative."""

    more_bytes: int


class WithoutLength(NamedTuple):
    """No Content-Length, and the connection ends after so many bytes, as if that were all."""

    after_bytes: int


class GoesOn(NamedTuple):
    """No length, and so many bytes more than the file has."""

    more_bytes: int


class Packed(NamedTuple):
    """Something else with a Content-Encoding, whatever was asked for."""

    packing: str
    content: bytes


class Slow(NamedTuple):
    """So many bytes a second."""

    bytes_per_second: int


class Stall(NamedTuple):
    """Silence for so long, after so many bytes of the body; then the connection ends."""

    after_bytes: int
    seconds: float


class Replace(NamedTuple):
    """After so many bytes the file is replaced by another, and the connection ends."""

    after_bytes: int
    content: bytes


class WrongRange(NamedTuple):
    """A range that begins so many bytes later than asked for."""

    more_bytes: int


class Raw(NamedTuple):
    """These bytes as the whole answer, then `again` for as long as the client listens."""

    answer: bytes
    again: bytes = b""
    pause_seconds: float = 0.0  # before each `again`


Fault = (
    Raw
    | CutOff
    | Status
    | Garbage
    | IgnoreRange
    | WrongLength
    | WithoutLength
    | GoesOn
    | Packed
    | Slow
    | Stall
    | Replace
    | WrongRange
)


class DumpServer:
    """A site; `url` has no slash at its end. Use it as a context manager.

    Attributes:
      requests: of Request, in the order of their ends.
      bytes_sent: of bodies of GETs.
      most_at_once: requests that were being served at one time, at most.
      clients_gone: connections that the client has ended during a `Stall`.
    """

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}  # path, "/ukwiki/20261101/…" → file
        self.requests: list[Request] = []
        self.shown_size = "{}"  # of a file in listings
        self.bytes_sent = 0
        self.most_at_once = 0
        self.clients_gone = 0
        self._at_once = 0
        self._faults: dict[str, list[Fault]] = {}
        self._lasting: dict[str, Fault] = {}
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()

    # Filling it.

    def put(self, path: str, content: bytes, modified: float = MODIFIED) -> None:
        """Adds a file, or replaces it."""
        self.files[path] = Served(content, modified)

    def remove(self, path: str) -> None:
        """Takes a file away; from now on 404."""
        del self.files[path]

    def add_wiki(
        self,
        dbname: str,
        date: str,
        files: Mapping[str, bytes],
        *,
        unfinished: Collection[str] = (),
        sums: bool = True,
    ) -> None:
        """The folder of a wiki and date, with dumpstatus.json.

        Args:
          files: name → content.
          unfinished: jobs that are in progress, like "articlesmultistreamdump"; their files are not there.
          sums: whether dumpstatus.json has checksums.
        """
        jobs: dict[str, dict[str, Any]] = {
            job: {"status": "in-progress", "updated": "2026-11-20 10:00:00"} for job in unfinished
        }
        for name, content in files.items():
            job = _job_of(name, files)
            if job in unfinished:
                continue
            self.put(f"/{dbname}/{date}/{name}", content)
            listed: dict[str, Any] = {"size": len(content), "url": f"/{dbname}/{date}/{name}"}
            if sums:
                listed["md5"] = hashlib.md5(content).hexdigest()
                listed["sha1"] = hashlib.sha1(content).hexdigest()
            done = {"status": "done", "updated": "2026-11-20 10:00:00", "files": {}}
            jobs.setdefault(job, done)["files"][name] = listed
        status = {"version": "0.8", "jobs": jobs}
        self.put(f"/{dbname}/{date}/dumpstatus.json", json.dumps(status).encode())

    def add_export(
        self,
        dbname: str,
        date: str,
        files: Mapping[str, bytes],
        *,
        compression: str = "bzip2",
        listed: Mapping[str, bytes] | None = None,
        finished: bool = True,
    ) -> None:
        """A Content File Export of a wiki and date.

        Args:
          date: "20261101".
          files: pages and the suffix, "p1p9.xml.bz2" → content.
          listed: what SHA256SUMS says there is, where this is not the same.
          finished: whether SHA256SUMS is there.
        """
        folder = f"{export_folder(dbname, date)}/{compression}"
        stem = f"{dbname}-{iso_date(date)}-"
        for name, content in files.items():
            self.put(f"{folder}/{stem}{name}", content)
        if finished:
            in_list = (files if listed is None else listed).items()
            sums = (f"{hashlib.sha256(data).hexdigest()}  {stem}{name}\n" for name, data in in_list)
            self.put(f"{folder}/SHA256SUMS", "".join(sums).encode())
            self.put(f"{folder}/_SUCCESS", b"")

    def add_entities(
        self,
        date: str,
        content: bytes,
        *,
        finished: bool = True,
        parent: str = "/wikidatawiki/entities",
    ) -> None:
        """Wikidata's entities of a date; the checksum is there when they are finished."""
        folder, name = f"{parent}/{date}", f"wikidata-{date}-all.json.bz2"
        self.put(f"{folder}/{name}", content)
        sums = f"{'0' * 40}  wikidata-{date}-all.json.gz\n"
        if finished:
            sums += f"{hashlib.sha1(content).hexdigest()}  {name}\n"
        self.put(f"{folder}/wikidata-{date}-sha1sums.txt", sums.encode())

    def add_gutenberg(self, books: bytes, catalog: bytes, modified: float = MODIFIED) -> None:
        """The weekly archive and the catalogue. Give `{url}/feeds` as the mirror."""
        self.put("/feeds/txt-files.tar.zip", books, modified)
        self.put("/feeds/pg_catalog.csv", catalog, modified)

    def add_news(
        self, language: str, year: int, content: bytes, modified: float = MODIFIED
    ) -> None:
        """The news of a year. Give `{url}/news-crawl` as the mirror."""
        name = f"news.{year}.{language}.shuffled.deduped.gz"
        self.put(f"/news-crawl/{language}/{name}", content, modified)

    def fail(self, path: str, *faults: Fault) -> None:
        """The next GETs of the path meet these faults, one each."""
        self._faults.setdefault(path, []).extend(faults)

    def fail_always(self, path: str, fault: Fault) -> None:
        """All HEADs and GETs of the path meet this fault."""
        self._lasting[path] = fault

    def asked_for(self, path: str) -> list[Request]:
        """The GETs of a path."""
        return [one for one in self.requests if (one.method, one.path) == ("GET", path)]

    # For the handler.

    def _next_fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            faults = self._faults.get(path) if method == "GET" else None
            return faults.pop(0) if faults else self._lasting.get(path)

    def _enter(self) -> None:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def _leave(self) -> None:
        with self._lock:
            self._at_once -= 1

    def _listing(self, folder: str) -> bytes | None:
        children = {
            path[len(folder) :].partition("/")[0] + ("/" if "/" in path[len(folder) :] else "")
            for path in list(self.files)
            if path.startswith(folder)
        }
        if not children:
            return None
        rows = (
            f'<a href="{html.escape(name)}">{html.escape(name)}</a>  20-Nov-2026 10:00  '
            + self.shown_size.format(
                len(self.files[folder + name].content) if folder + name in self.files else "-"
            )
            for name in sorted(children)
        )
        page = f'<html><body><h1>Index of {folder}</h1><pre><a href="../">../</a>\n'
        return (page + "\n".join(rows) + "\n</pre></body></html>\n").encode()


def export_folder(dbname: str, date: str) -> str:
    """Returns the folder of the site with the compressions of an export."""
    return f"/other/mediawiki_content_current/{dbname}/{iso_date(date)}/xml"


def _job_of(name: str, files: Mapping[str, bytes]) -> str:
    for pattern, job in _JOBS:
        if re.search(pattern, name):
            parts = pattern.replace(r"\d*", r"\d+")
            has_parts = parts != pattern and any(re.search(parts, other) for other in files)
            is_whole = not re.search(parts, name)
            return f"{job}recombine" if has_parts and is_whole else job
    return "otherdump"


def _handler_of(site: DumpServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = (
            True  # else each body waits 40 ms for the client to confirm the headers
        )

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # the client has gone
                super().handle()

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """Is silent."""

        def _answer(self) -> None:
            with self._counted():
                fault = site._next_fault(self.command, self.path)
                if isinstance(fault, Raw):
                    self._send_raw(fault)
                elif isinstance(fault, Status):
                    headers = {"Retry-After": fault.retry_after, "Location": fault.location}
                    self._send(fault.status, headers, bytes(fault.body_bytes))
                elif isinstance(fault, Packed):
                    self._send(200, {"Content-Encoding": fault.packing}, fault.content)
                elif (served := site.files.get(self.path)) is not None:
                    self._send_file(served, fault)
                elif (page := self._page()) is not None:
                    self._send(200, {"Content-Type": "text/html"}, page, fault)
                else:
                    self._send(404, {}, b"not here")

        @contextlib.contextmanager
        def _counted(self) -> Iterator[None]:
            site._enter()
            self._is_counted = True
            try:
                yield
            finally:
                self._end_count()

        def _end_count(self) -> None:
            """Before the last bytes go out: after them the client may be back at once."""
            if self._is_counted:
                self._is_counted = False
                site._leave()

        def _page(self) -> bytes | None:
            return site._listing(self.path) if self.path.endswith("/") else None

        def _send_file(self, served: Served, fault: Fault | None) -> None:
            headers = {
                "ETag": served.etag,
                "Last-Modified": email.utils.formatdate(served.modified, usegmt=True),
                "Accept-Ranges": "bytes",
            }
            content, size = served.content, len(served.content)
            start, end = self._range(served, fault) or (-1, size)
            if start >= size:
                self._send(416, {"Content-Range": f"bytes */{size}"}, b"")
                return
            if isinstance(fault, Garbage):
                content = bytes(byte ^ 0x55 for byte in content)
            if start < 0:
                self._send(200, headers, content, fault)
                return
            if isinstance(fault, WrongRange):
                start += fault.more_bytes
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
            self._send(206, headers, content[start:end], fault)

        def _range(self, served: Served, fault: Fault | None) -> tuple[int, int] | None:
            """Beginning and end of the part that is asked for; None where it is the whole file."""
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            last = email.utils.formatdate(served.modified, usegmt=True)
            is_same = self.headers.get("If-Range") in (None, served.etag, last)
            if not asked or isinstance(fault, IgnoreRange) or not is_same:
                return None
            size = len(served.content)
            return int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size

        def _send(
            self, status: int, headers: Mapping[str, str], body: bytes, fault: Fault | None = None
        ) -> None:
            more = fault.more_bytes if isinstance(fault, WrongLength) else 0
            self.send_response(status)
            for name, value in headers.items():
                if value:
                    self.send_header(name, value)
            if not isinstance(fault, WithoutLength | GoesOn):
                self.send_header("Content-Length", str(len(body) + more))
            asked = {name.lower(): value for name, value in self.headers.items()}
            site.requests.append(Request(self.command, self.path, asked, status))
            if self.command == "HEAD" or not body:
                self._end_count()
            self.end_headers()
            if self.command == "GET":
                self._send_body(body[:more] if more < 0 else body, fault)
            if isinstance(fault, CutOff | Stall | Replace | WrongLength | WithoutLength | GoesOn):
                self.close_connection = True

        def _send_body(self, body: bytes, fault: Fault | None) -> None:
            if isinstance(fault, CutOff | Stall | Replace | WithoutLength):
                body = body[: fault.after_bytes]
            size = len(body) + (fault.more_bytes if isinstance(fault, GoesOn) else 0)
            for start in range(0, size, _CHUNK_BYTES):
                chunk = body[start : start + _CHUNK_BYTES] or bytes(_CHUNK_BYTES)
                if isinstance(fault, Slow):
                    site._ending.wait(len(chunk) / fault.bytes_per_second)
                if start + _CHUNK_BYTES >= size and not isinstance(fault, Stall):
                    self._end_count()
                self.wfile.write(chunk)
                site.bytes_sent += len(chunk)
            if isinstance(fault, Stall):
                self._be_silent(fault.seconds)
            if isinstance(fault, Replace):
                site.put(self.path, fault.content, time.time())

        def _send_raw(self, fault: Raw) -> None:
            self.close_connection = True
            asked = {name.lower(): value for name, value in self.headers.items()}
            site.requests.append(Request(self.command, self.path, asked, 0))
            self._end_count()
            self.wfile.write(fault.answer)
            while fault.again and not site._ending.wait(fault.pause_seconds):
                self.wfile.write(fault.again)

        def _be_silent(self, seconds: float) -> None:
            """Until the client has gone."""
            end = time.monotonic() + seconds
            while time.monotonic() < end and not site._ending.is_set():
                if select.select([self.connection], [], [], 0.01)[0]:
                    site.clients_gone += 1
                    return

    return Handler
