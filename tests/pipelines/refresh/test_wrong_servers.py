"""A refresh whose first mirror does something wrong, and whose second one is right."""

import functools
import gzip
import hashlib
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.refresh import fetch, http_requests, refresh_corpus
from corpusmill.pipelines.refresh import refresh as refresh_all
from corpusmill.pipelines.refresh.transfer import Patience
from tests.pipelines.refresh.dump_server import (
    CutOff,
    DumpServer,
    Fault,
    Garbage,
    GoesOn,
    Packed,
    Raw,
    Stall,
    Status,
    WithoutLength,
    WrongLength,
    export_folder,
)
from tests.pipelines.refresh.wiki_site import (
    NEW,
    OLD,
    VERSION,
    Place,
    dump_of,
    dump_path,
    put_dump,
    put_export,
    tree,
)
from tests.tools.case_tables import read_cases

PASSWORD = "p4ssw0rd"
MOST_REQUESTS = 60  # each of twelve dates is looked at in several folders, and some things twice
LISTING, STATUS, PAGES = "/ukwiki/", f"/ukwiki/{OLD}/dumpstatus.json", dump_path(OLD)
LOGIN = b"<!DOCTYPE html><html><title>Log in</title><a href='/login'>Log in</a></html>"
OK = b"HTTP/1.1 200 OK\r\n"
HASTE = Patience(
    attempts=2,
    first_wait_seconds=0.01,
    longest_wait_seconds=1.0,
    timeout_seconds=(2.0, 0.4),
    least_bytes=10_000,
    slow_seconds=0.3,
)

Wrong = Callable[[DumpServer], None]


def answer(path: str, fault: Fault) -> Wrong:
    """The path is answered so, whenever it is asked for."""
    return lambda liar: liar.fail_always(path, fault)


def raw(path: str, headers: bytes, body: bytes = b"") -> Wrong:
    """The path is answered with these headers."""
    return answer(path, Raw(OK + headers + b"\r\n\r\n" + body))


def page(path: str, content: bytes) -> Wrong:
    """Another content of the path, in an answer that has nothing wrong."""
    return lambda liar: liar.put(path, content)


def redirect(path: str, location: bytes) -> Wrong:
    """The path is elsewhere."""
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
    return answer(path, Raw(head + location + b"\r\n\r\n"))


def listed(**changes: object) -> Wrong:
    """Changes the entry of the pages in dumpstatus.json; `...` removes a value."""

    def edit(liar: DumpServer) -> None:
        status = json.loads(liar.files[STATUS].content)
        file = status["jobs"]["articlesmultistreamdump"]["files"][Path(PAGES).name]
        file |= changes
        content = {name: value for name, value in file.items() if value is not ...}
        file.clear()
        file.update(content)
        liar.put(STATUS, json.dumps(status).replace('"1e999"', "1e999").encode())

    return edit


def jobs(change: Callable[[dict[str, Any]], object]) -> Wrong:
    """Changes each job in dumpstatus.json."""

    def edit(liar: DumpServer) -> None:
        status = json.loads(liar.files[STATUS].content)
        for job in status["jobs"].values():
            change(job)
        liar.put(STATUS, json.dumps(status).encode())

    return edit


def with_right_checksum(content: bytes) -> Wrong:
    """Other pages, and a dumpstatus.json that agrees with them."""

    def edit(liar: DumpServer) -> None:
        liar.put(PAGES, content)
        listed(size=len(content), md5=..., sha1=hashlib.sha1(content).hexdigest())(liar)

    return edit


def finished_later(liar: DumpServer) -> None:
    """A newer dump, finished as it says, whose files are not there."""
    put_dump(liar, NEW)
    for path in [path for path in liar.files if NEW in path and not path.endswith(".json")]:
        liar.remove(path)


WRONG: dict[str, Wrong] = {
    # Statuses.
    **{
        f"{Path(path).name or 'listing'} answers {status}": answer(path, Status(status))
        for path in (LISTING, STATUS, PAGES)
        for status in (204, 302, 401, 403, 500)
    },
    "no listing": answer(LISTING, Status(404)),
    "no dumpstatus.json": answer(STATUS, Status(404)),
    "files that are not there": answer(PAGES, Status(404)),
    "a status line of another protocol": answer(LISTING, Raw(b"SSH-2.0-OpenSSH_9.6\r\n")),
    "a status that is no number": answer(LISTING, Raw(b"HTTP/1.1 abc OK\r\n\r\n")),
    "nothing, and the connection ends": answer(LISTING, Raw(b"")),
    # Headers.
    "busy for longer than it is waited for": answer(LISTING, Status(503, "3600")),
    "busy for a number of 400 digits": answer(LISTING, Status(503, "9" * 400)),
    "busy for a number of 5,000 digits": answer(LISTING, Status(503, "9" * 5000)),
    "pages busy for a number of 400 digits": answer(PAGES, Status(429, "9" * 400)),
    "busy until the year 99999": answer(LISTING, Status(503, "Fri, 31 Dec 99999 23:59:59 GMT")),
    "busy for nobody knows what": answer(PAGES, Status(503, "soon")),
    "a length that is no number": raw(PAGES, b"Content-Length: abc", LOGIN),
    "a length below zero": raw(PAGES, b"Content-Length: -5", LOGIN),
    "two lengths": raw(LISTING, b"Content-Length: 5\r\nContent-Length: 7", LOGIN),
    "headers without end": answer(LISTING, Raw(OK, b"X: y\r\n")),
    "a header of a megabyte": raw(LISTING, b"X: " + b"y" * 1_000_000, LOGIN),
    "a header byte now and then": answer(LISTING, Raw(OK + b"X: ", b"y", 0.05)),
    "100 Continue for ever": answer(PAGES, Raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n")),
    "a packing that was not asked for": answer(STATUS, Packed("br", b"\x0b\x02\x80")),
    "packed, and it is not": answer(STATUS, Packed("gzip", b"{}")),
    "a chunk of no size": raw(LISTING, b"Transfer-Encoding: chunked", b"xyz\r\n"),
    "a part that was not asked for": answer(
        PAGES, Raw(b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 9-19/20\r\n\r\n0123456789")
    ),
    "a part of nonsense": answer(
        PAGES, Raw(b"HTTP/1.1 206 Partial\r\nContent-Range: lines 1-2\r\n\r\n0123456789")
    ),
    "no part of what was not asked for in parts": answer(PAGES, Status(416)),
    # Redirects.
    "a redirect without end": redirect(LISTING, LISTING.encode()),
    "a redirect to a file": redirect(LISTING, b"file:///etc/passwd"),
    "a redirect in Latin-1": redirect(LISTING, "/é/".encode("latin-1")),
    "a redirect of pages in Latin-1": redirect(PAGES, "/é/".encode("latin-1")),
    "a redirect to no host": redirect(PAGES, b"http://[::1"),
    "a redirect to port 99999999": redirect(PAGES, b"http://127.0.0.1:99999999/"),
    "a redirect to a dead host": redirect(PAGES, b"http://127.0.0.1:1/x"),
    # Listings.
    "an empty listing": page(LISTING, b""),
    "a login page": page(LISTING, LOGIN),
    "a listing of random bytes": page(LISTING, bytes(range(256)) * 40),
    "a listing of the future": page(LISTING, b'<a href="20991231/">'),
    "a listing of months that are not": page(LISTING, b'<a href="20269999/">'),
    "a listing of 100,000 dates": page(
        LISTING, b"".join(b'<a href="%d/">' % date for date in range(20_000_101, 20_100_101))
    ),
    "a listing without end": answer(LISTING, GoesOn(10**9)),
    "a listing that is cut off": answer(LISTING, CutOff(20)),
    "a listing that stops coming": answer(LISTING, Stall(20, 60.0)),
    # dumpstatus.json.
    "a login page as dumpstatus.json": page(STATUS, LOGIN),
    "dumpstatus.json in UTF-16": lambda liar: liar.put(
        STATUS, liar.files[STATUS].content.decode().encode("utf-16")
    ),
    "half of dumpstatus.json": lambda liar: liar.put(STATUS, liar.files[STATUS].content[:300]),
    "no jobs": page(STATUS, b'{"version": "0.8", "jobs": {}}'),
    "jobs of other names": lambda liar: liar.put(
        STATUS, liar.files[STATUS].content.replace(b"articlesmulti", b"pages")
    ),
    "jobs without a status": jobs(lambda job: job.pop("status")),
    "jobs of an unknown status": jobs(lambda job: job.update(status="finished")),
    "a status that is a list": jobs(lambda job: job.update(status=[])),
    "jobs without files": jobs(lambda job: job.pop("files")),
    "files of other names": jobs(lambda job: job.update(files={"../../x": {"size": 5}})),
    "nested 100,000 deep": page(STATUS, b'{"jobs": ' + b"[" * 100_000),
    "nested 2,000,000 wide": page(STATUS, b'{"x": [' + b"[]," * 2_000_000 + b'0], "jobs": 1}'),
    **{
        f"size {size}": listed(size=size)
        for size in (None, "1e999", -1, 0, 5, 10**15, 10**30, 1.5, "five", [], ...)
    },
    "a checksum of zeros": listed(sha1="0" * 40),
    "a checksum that is a number": listed(sha1=5),
    "a checksum of three letters": listed(sha1="abc"),
    # Files.
    "pages of other bytes": answer(PAGES, Garbage()),
    "a login page as pages": raw(PAGES, b"Content-Type: text/html", LOGIN),
    "a login page with its checksum": with_right_checksum(LOGIN),
    "no bytes, with their checksum": with_right_checksum(b""),
    "pages that are cut off": answer(PAGES, CutOff(5_000)),
    "pages that end early": answer(PAGES, WithoutLength(5_000)),
    "pages that do not end": answer(PAGES, GoesOn(10**9)),
    "pages with a length that is too large": answer(PAGES, WrongLength(10)),
    "pages that stop coming": answer(PAGES, Stall(5_000, 60.0)),
    "pages that come a byte at a time": answer(PAGES, Raw(OK + b"\r\n", b"y", 0.05)),
    "pages packed once more": answer(
        PAGES, Packed("gzip", gzip.compress(dump_of(OLD)[Path(PAGES).name]))
    ),
    "a newer dump without files": finished_later,
}


FORBIDDEN, MANY = b"HTTP/1.1 403 Forbidden\r\n", b"HTTP/1.1 429 Too Many Requests\r\n"
POLICY = (
    b"Please set a user-agent and respect our robot policy https://w.wiki/4wJS. See also T400119."
)
# Wikimedia's page of errors.
PAGE = (
    b"<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>Wikimedia Error</title>"
    b"<style>* { margin: 0; }</style>\n<h1>Error</h1><p>You are making too many requests.</p>"
    b"<p>Contact <b>bot-traffic@wikimedia.org</b>, &amp; wait.</p></html>"
)
LONG = b"No downloads " + b"for nobody " * 40 + b". "
# What the server answers, and what is shown of it.
REFUSALS: dict[str, tuple[Raw, str]] = {
    "a sentence": (Raw(FORBIDDEN + b"\r\n" + POLICY), f'HTTP 403: "{POLICY.decode()}"'),
    "a page": (
        Raw(FORBIDDEN + b"Content-Type: text/html\r\n\r\n" + PAGE),
        'HTTP 403: "You are making too many requests. Contact bot-traffic@wikimedia.org, & wait."',
    ),
    "a packed page": (
        Raw(FORBIDDEN + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE)),
        'HTTP 403: "You are making too many requests.',
    ),
    "busy": (Raw(MANY + b"Retry-After: 0\r\n\r\n" + POLICY), f'429 error responses: "{POLICY.decode()}"'),
    "busy for long": (
        Raw(MANY + b"Retry-After: 3600\r\n\r\n" + POLICY),
        f'HTTP 429: "{POLICY.decode()}"; the server asks to wait 3,600 s',
    ),
    "the sentences that fit": (Raw(FORBIDDEN + b"\r\n" + POLICY + b" " + LONG), f'"{POLICY.decode()}"'),
    "no whole sentence": (Raw(FORBIDDEN + b"\r\n" + LONG), f'"{LONG[:199].decode().strip()}…"'),
    "control characters": (
        Raw(FORBIDDEN + b"\r\nNo.\r\n\x1b[31mNo\0 \xe2\x80\xaemore\xff"),
        'HTTP 403: "No. [31mNo more�"',
    ),
    "nothing": (Raw(FORBIDDEN + b"\r\n"), ""),
    "nothing but a style": (Raw(FORBIDDEN + b"\r\n<style>* {}"), ""),
    "packed, and it is not": (Raw(FORBIDDEN + b"Content-Encoding: gzip\r\n\r\n{}"), ""),
    "cut off": (Raw(FORBIDDEN + b"Content-Length: 900\r\n\r\n" + POLICY), f'"{POLICY.decode()}"'),
    "without end": (Raw(FORBIDDEN + b"\r\nNo.", b" No." * 1000), 'HTTP 403: "No. No.'),
    "a letter now and then": (Raw(FORBIDDEN + b"\r\nNo", b"o", 0.05), 'HTTP 403: "Noo'),
    "a password": (
        Raw(FORBIDDEN + b"\r\nNot https://me:" + PASSWORD.encode() + b"@x/y."),
        '"Not https://***@x/y."',
    ),
    "a password where it is cut": (
        Raw(FORBIDDEN + b"\r\n" + b"x" * 185 + b" https://me:" + PASSWORD.encode() + b"@x/y."),
        'xxx https://***@x…"',
    ),
}  # fmt: skip


@pytest.fixture
def liar(mirror: DumpServer) -> DumpServer:
    """A mirror that has the same."""
    put_dump(mirror, OLD)
    return mirror


@pytest.fixture
def haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for longer than a moment."""
    hasty = functools.partial(fetch.download, patience=HASTE)
    monkeypatch.setattr(fetch, "download", hasty)
    session = functools.partial(http_requests.open_session, attempts=1)
    monkeypatch.setattr(refresh_all, "open_session", session)
    monkeypatch.setattr(http_requests, "TIMEOUT_SECONDS", (2.0, 0.4))
    monkeypatch.setattr(http_requests, "_PAGE_SECONDS", 0.3)
    monkeypatch.setattr(http_requests, "_ANSWER_SECONDS", 0.3, raising=False)
    monkeypatch.setattr(http_requests, "_MAX_SECONDS", 0.3)


EXPORTS = "/other/mediawiki_content_current/ukwiki/"
FOLDER = f"{export_folder('ukwiki', NEW)}/bzip2/"
SUMS, PART = f"{FOLDER}SHA256SUMS", f"{FOLDER}ukwiki-2026-11-20-p1p5000.xml.bz2"


def sums(change: Callable[[bytes], bytes]) -> Wrong:
    """Another content of SHA256SUMS."""
    return lambda liar: liar.put(SUMS, change(liar.files[SUMS].content))


WRONG_EXPORTS: dict[str, Wrong] = {
    **{
        f"{path} answers {status}": answer(path, Status(status))
        for path in (EXPORTS, SUMS, PART)
        for status in (204, 302, 401, 403, 404, 500)
    },
    "no export": lambda liar: [liar.remove(path) for path in list(liar.files) if EXPORTS in path],
    "a login page": page(EXPORTS, LOGIN),
    "dates of the future": page(EXPORTS, b'<a href="2099-12-31/">'),
    "months that are not": page(EXPORTS, b'<a href="2026-99-99/">'),
    "an empty folder": page(FOLDER.removesuffix("bzip2/"), b""),
    "a listing of sizes that are wrong": page(
        FOLDER, f'<a href="{Path(PART).name}">x</a> 10:00 5\n'.encode()
    ),
    "a listing without end": answer(FOLDER, GoesOn(10**9)),
    "SHA256SUMS is a login page": page(SUMS, LOGIN),
    "SHA256SUMS is empty": page(SUMS, b""),
    "SHA256SUMS is cut off in a name": sums(lambda content: content[:-20]),
    "SHA256SUMS is cut off after a line": sums(lambda content: content.splitlines(True)[0]),
    "SHA256SUMS of a part that is missing": lambda liar: liar.remove(PART),
    "SHA256SUMS lies": sums(lambda content: b"0" * 64 + content[64:]),
    "SHA256SUMS is of SHA-1": sums(lambda content: content[24:]),
    "SHA256SUMS of other names": sums(lambda content: content.replace(b"ukwiki", b"../../uk")),
    "SHA256SUMS without end": answer(SUMS, GoesOn(10**9)),
    "a file of other bytes": answer(PART, Garbage()),
    "a login page as a file": raw(PART, b"Content-Type: text/html", LOGIN),
    "a file that is cut off": answer(PART, CutOff(5_000)),
    "a file that does not end": answer(PART, GoesOn(10**9)),
}


@pytest.mark.usefixtures("haste")
@pytest.mark.parametrize("wrong", WRONG_EXPORTS)
def test_a_wrong_export_is_no_obstacle(
    place: Place, liar: DumpServer, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    caplog.set_level(logging.INFO)
    for one in (place.site, liar):
        put_export(one, NEW)
    WRONG_EXPORTS[wrong](liar)
    place.configure(f'{liar.url}", "{place.site.url}', "keep_downloads = true")
    place.refresh()
    assert place.current() == f"{NEW}-{VERSION}"
    found = {path.name for path in (place.downloads / "ukwiki" / NEW).glob("ukwiki-*[2z]")}
    assert found == {
        *(f"ukwiki-2026-11-20-{pages}.xml.bz2" for pages in ("p1p5000", "p5001p9000")),
        f"ukwiki-{OLD}-page_props.sql.gz",
    }
    assert liar.url in caplog.text  # who was wrong


@pytest.mark.usefixtures("haste")
@pytest.mark.parametrize("wrong", WRONG)
def test_a_mirror_that_is_wrong_is_no_obstacle(
    place: Place, liar: DumpServer, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    caplog.set_level(logging.INFO)
    address = liar.url.removeprefix("http://")
    mirrors = f'http://me:{PASSWORD}@{address}", "{place.site.url}'
    place.configure(mirrors, "keep_downloads = true")
    WRONG[wrong](liar)
    printed = place.refresh()
    assert len(liar.requests) < MOST_REQUESTS
    assert place.current() == f"{OLD}-{VERSION}"
    folder = place.downloads / "ukwiki" / OLD
    files = {path.name: path.read_bytes() for path in folder.glob("ukwiki-*[2z]")}
    assert len(files) == 2
    assert files.items() <= dump_of(OLD).items()
    assert f"http://***@{address}" in caplog.text  # who was wrong
    texts = [caplog.text, *printed]
    place.config.unlink()  # which has it
    texts += [content.decode("utf-8", "replace") for content in tree(place.folder).values()]
    assert not [text for text in texts if PASSWORD in text]


@pytest.mark.usefixtures("haste")
@pytest.mark.parametrize(
    "wrong", read_cases("pipelines/wrong_servers", "what_no_mirror_says_as_it_should_is_a_failure")
)
def test_what_no_mirror_says_as_it_should_is_a_failure(
    place: Place, liar: DumpServer, wrong: str
) -> None:
    place.configure(f'{liar.url}", "{place.site.url}')
    for one in (liar, place.site):
        WRONG[wrong](one)
    printed = place.refresh(status=1).out
    assert re.search("wiki40b-uk +failed +ukwiki: ", printed)
    assert f"{liar.url}/ukwiki/" in printed
    assert f"{place.site.url}/ukwiki/" in printed


@pytest.mark.usefixtures("haste")
@pytest.mark.parametrize("path", [LISTING, PAGES])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_a_server_says_of_its_refusal_is_shown(
    place: Place, caplog: pytest.LogCaptureFixture, path: str, refusal: str
) -> None:
    given, said = REFUSALS[refusal]
    place.configure(place.site.url)
    place.site.fail_always(path, given)
    printed = place.refresh(status=1).out
    assert len(place.site.requests) < MOST_REQUESTS
    if path == PAGES:
        said = said.replace("429 error responses", "HTTP 429")
    assert said in printed
    assert said or "HTTP 403:" not in printed
    assert printed.replace("\n", "").isprintable()
    assert PASSWORD not in printed + caplog.text


@pytest.mark.usefixtures("haste")
def test_passwords_of_mirrors_are_shown_nowhere(
    place: Place, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    mirror = place.site.url.replace("://", f"://me:{PASSWORD}@")
    place.configure(mirror)

    def fail(*_: object) -> None:
        raise RuntimeError(f"nobody expects it of {mirror}")

    place.site.fail_always(PAGES, CutOff(5_000))
    texts = [*place.refresh(status=1)]
    place.site.fail_always(LISTING, Status(403))
    texts += [*place.refresh(status=1), *place.refresh("--dry-run", status=1)]
    with monkeypatch.context() as patch:
        patch.setattr(refresh_corpus, "find_offers", fail)
        texts += place.refresh(status=1)
    place.config.unlink()
    found = tree(place.folder)
    assert any(name.endswith(".bz2.part") for name in found)
    texts += [caplog.text, *(content.decode("utf-8", "replace") for content in found.values())]
    assert not [text for text in texts if PASSWORD in text]
    assert "***@" in caplog.text
