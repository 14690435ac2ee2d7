"""The dump that a site offers: the newest that is finished, of all mirrors."""

import contextlib
import dataclasses
import gzip
import hashlib
import json
import logging
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import requests

from corpusmill.pipelines.refresh import http_requests as asking
from corpusmill.pipelines.refresh.http_requests import describe_error, name_ourselves, open_session
from corpusmill.pipelines.refresh.sites import (
    dates_in,
    find_offers,
    merge_offers,
    names_in,
    sizes_in,
)
from corpusmill.pipelines.refresh.sources import (
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    RemoteDump,
    RemoteFile,
    SiteError,
    Source,
    WikimediaSource,
)
from tests.pipelines.refresh.dump_server import (
    CutOff,
    DumpServer,
    Fault,
    GoesOn,
    Packed,
    Raw,
    Slow,
    Status,
    export_folder,
)
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear

ROLES = ("dump", "page_props", "page_table")
DAY = 86_400.0


@pytest.fixture
def site() -> Iterator[DumpServer]:
    with DumpServer() as site:
        yield site


def ask(source: Source, attempts: int = 2) -> RemoteDump | None:
    with open_session(name_ourselves("mail@example.org"), attempts) as session:
        return next(iter(find_offers(source, session)), None)


def found(source: Source, attempts: int = 2) -> RemoteDump:
    dump = ask(source, attempts)
    assert dump is not None
    return dump


def wiki_files(date: str, mark: str = "", *names: str) -> Mapping[str, bytes]:
    """A small wiki's files: pages in both packings and their index, and two tables."""
    names = names or (
        "pages-articles.xml.bz2",
        "pages-articles-multistream.xml.bz2",
        "pages-articles-multistream-index.txt.bz2",
        "page_props.sql.gz",
        "page.sql.gz",
    )
    return {f"ukwiki-{date}-{name}": f"{name} {mark}".encode() for name in names}


def names_of(source: Source) -> dict[str, list[str]]:
    """Role → names of the files of the dump that is found."""
    return {role: [one.name for one in files] for role, files in found(source).files.items()}


def test_a_wiki_has_its_files_with_size_and_checksum(site: DumpServer) -> None:
    site.add_wiki("ukwiki", "20261001", wiki_files("20261001"))
    site.add_wiki("ukwiki", "20261101", files := wiki_files("20261101"))
    dump = found(WikimediaSource("ukwiki", ROLES, (site.url,)))
    assert (dump.source, dump.date) == ("ukwiki", "20261101")
    name = "ukwiki-20261101-pages-articles-multistream.xml.bz2"
    sha1 = hashlib.sha1(files[name]).hexdigest()
    url = f"{site.url}/ukwiki/20261101/{name}"
    assert dump.files["dump"] == (RemoteFile(name, (url,), len(files[name]), f"sha1:{sha1}"),)
    for role in ("page_props", "page_table"):
        table = f"ukwiki-20261101-{role.removesuffix('_table')}.sql.gz"
        assert [one.name for one in dump.files[role]] == [table]
    assert requests.get(url, timeout=5).content == files[name]
    agent = site.requests[0].headers["user-agent"]
    assert agent.startswith("corpusmill/")
    assert "(mail@example.org)" in agent


@pytest.mark.parametrize("status", ["in-progress", "failed", "waiting", "skipped"])
@pytest.mark.parametrize("job", ["articlesmultistreamdump", "pagepropstable"])
def test_a_dump_waits_until_its_needed_jobs_are_done(
    site: DumpServer, job: str, status: str
) -> None:
    names = ("pages-articles-multistream.xml.bz2", "page_props.sql.gz")
    for date in ("20261001", "20261101"):
        site.add_wiki("ukwiki", date, wiki_files(date, "", *names))
    path = "/ukwiki/20261101/dumpstatus.json"
    done = site.files[path].content
    jobs = json.loads(done)
    jobs["jobs"][job]["status"] = status
    site.put(path, json.dumps(jobs).encode())
    source = WikimediaSource("ukwiki", mirrors=(site.url,))
    assert found(source).date == "20261001"
    site.put(path, done)
    assert found(source).date == "20261101"


def test_jobs_that_nobody_needs_are_not_waited_for(site: DumpServer) -> None:
    site.add_wiki(
        "ukwiki", "20261101", wiki_files("20261101"), unfinished=["pagetable", "metahistory7zdump"]
    )
    assert names_of(WikimediaSource("ukwiki", mirrors=(site.url,))) == {
        "dump": ["ukwiki-20261101-pages-articles-multistream.xml.bz2"],
        "page_props": ["ukwiki-20261101-page_props.sql.gz"],
    }
    assert ask(WikimediaSource("ukwiki", ROLES, (site.url,))) is None


def test_items_per_site_are_those_of_wikidatawiki(site: DumpServer) -> None:
    name = "wikidatawiki-20261101-wb_items_per_site.sql.gz"
    site.add_wiki("wikidatawiki", "20261101", {name: b"table"})
    source = WikimediaSource("wikidatawiki", ("items_per_site",), (site.url,))
    assert names_of(source) == {"items_per_site": [name]}


def test_folders_without_a_usable_status_are_passed_over(
    site: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    site.add_wiki("ukwiki", "20261001", wiki_files("20261001"))
    site.put("/ukwiki/20261101/index.html", b"soon")
    site.put("/ukwiki/20261108/dumpstatus.json", b'{"jobs": ')
    site.put("/ukwiki/latest/ukwiki-latest-page.sql.gz", b"")
    dump = found(WikimediaSource("ukwiki", mirrors=(site.url,)))
    assert dump.date == "20261001"
    assert "20261108 is skipped: dumpstatus.json does not have the format" in caplog.text


def test_a_mirror_that_lags_does_not_hide_the_newest(site: DumpServer, mirror: DumpServer) -> None:
    mirror.add_wiki("ukwiki", "20261001", wiki_files("20261001"))
    site.add_wiki("ukwiki", "20261001", wiki_files("20261001"))
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    dump = found(WikimediaSource("ukwiki", mirrors=(mirror.url, f"{site.url}/")))
    assert dump.date == "20261101"
    assert len(dump.files["dump"][0].urls) == 1


def test_mirrors_of_the_same_files_come_in_their_order(
    site: DumpServer, mirror: DumpServer
) -> None:
    for one in (site, mirror):
        one.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    dump = found(WikimediaSource("ukwiki", mirrors=(mirror.url, site.url)))
    path = "/ukwiki/20261101/ukwiki-20261101-page_props.sql.gz"
    assert dump.files["page_props"][0].urls == (f"{mirror.url}{path}", f"{site.url}{path}")


def test_mirrors_with_other_checksums_are_offers_of_their_own(
    site: DumpServer, mirror: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101", "a"))
    mirror.add_wiki("ukwiki", "20261101", wiki_files("20261101", "b"))
    source = WikimediaSource("ukwiki", ("dump",), (site.url, mirror.url))
    with open_session(name_ourselves("mail@example.org")) as session:
        files = [file for offer in find_offers(source, session) for file in offer.all_files]
    path = "/ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2"
    assert [file.urls for file in files] == [(f"{one.url}{path}",) for one in (site, mirror)]
    assert (
        "multistream.xml.bz2 is not used: its size or checksum differs from that of" in caplog.text
    )


def test_a_checksum_is_taken_from_the_mirror_that_has_one(
    site: DumpServer, mirror: DumpServer
) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"), sums=False)
    mirror.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    alone = found(WikimediaSource("ukwiki", mirrors=(site.url,)))
    both = found(WikimediaSource("ukwiki", mirrors=(site.url, mirror.url)))
    assert alone.files["dump"][0].checksum == ""
    assert both.files["dump"][0].checksum.startswith("sha1:")
    assert [len(file.urls) for file in both.files["dump"]] == [2]


def test_one_dead_mirror_is_no_obstacle_and_all_are_an_error(
    site: DumpServer, mirror: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    mirror.__exit__()
    source = WikimediaSource("ukwiki", mirrors=(mirror.url, site.url))
    dump = found(source, 0)
    assert dump.date == "20261101"
    assert f"{mirror.url}: Failed to establish a new connection" in caplog.text
    site.__exit__()
    with pytest.raises(SiteError, match=r"^ukwiki: .*Connection refused; .*Connection refused$"):
        ask(source, 0)


def test_a_wiki_that_is_not_there_is_an_error(site: DumpServer) -> None:
    with pytest.raises(SiteError, match="/ukwikki/: there is no such folder"):
        ask(WikimediaSource("ukwikki", mirrors=(site.url,)))


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which requests wait before they are repeated. Nothing is waited for."""
    waits: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waits.append)
    return waits


def test_a_busy_site_is_asked_again(site: DumpServer, waits: list[float]) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    site.fail("/ukwiki/", Status(503, "1"), CutOff(5))
    path = "/ukwiki/20261101/dumpstatus.json"
    site.fail(path, CutOff(5), Packed("gzip", gzip.compress(site.files[path].content)))
    assert ask(WikimediaSource("ukwiki", mirrors=(site.url,))) is not None
    assert waits[0] == 1
    site.fail("/ukwiki/", *[Status(500)] * 2)
    with pytest.raises(SiteError, match="too many 500 error responses"):
        ask(WikimediaSource("ukwiki", mirrors=(site.url,)), 0)


def test_a_proxy_whose_headers_do_not_end_is_left(
    site: DumpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_ANSWER_SECONDS", 0.3)
    site.fail_always("http://dumps.example/", Raw(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.05))
    session = open_session("corpusmill/test (mail@example.org)", 0)
    session.proxies["http"] = site.url
    with contextlib.suppress(requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
        assert session.get("http://dumps.example/", timeout=5).content == b""  # as if that were all


def test_a_site_that_asks_for_too_long_a_wait_is_not_asked_sooner(
    site: DumpServer, waits: list[float]
) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    site.fail("/ukwiki/", Status(503, "3600"))
    with pytest.raises(SiteError, match="HTTP 503; the server asks to wait 3,600 s"):
        ask(WikimediaSource("ukwiki", mirrors=(site.url,)))
    assert (len(site.requests), waits) == (1, [])


BOMB = gzip.compress(bytes(1_000_000)) * 200


@pytest.mark.parametrize(
    ("path", "fault", "reason"),
    [
        ("", GoesOn(60_000_000), "the page has more than 10,000,000 bytes"),
        ("20261101/dumpstatus.json", Packed("gzip", BOMB), "the page has more than 10,000,000 bytes"),
        ("", Packed("gzip, gzip", gzip.compress(BOMB)), "the page has Content-Encoding 'gzip, gzip'"),
        ("20261101/dumpstatus.json", Slow(20_000), "the page is not complete after 0 s"),
    ],
)  # fmt: skip
def test_a_mirror_whose_page_is_none_is_passed_over(
    site: DumpServer,
    mirror: DumpServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    fault: Fault,
    reason: str,
) -> None:
    for one in (site, mirror):
        one.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    if isinstance(fault, Slow):
        monkeypatch.setattr(asking, "_PAGE_SECONDS", 0.1, raising=False)
        site.put(f"/ukwiki/{path}", site.files[f"/ukwiki/{path}"].content + b" " * 10_000)
    site.fail(f"/ukwiki/{path}", fault)
    tracemalloc.start()
    try:
        dump = found(WikimediaSource("ukwiki", mirrors=(site.url, mirror.url)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [url.startswith(mirror.url) for url in dump.files["dump"][0].urls] == [True]
    assert f"is skipped: {site.url}/ukwiki/{path}: {reason}" in caplog.text
    assert most < 120_000_000


@pytest.mark.parametrize("status", [302, 404, 503])
def test_only_the_bodies_of_pages_are_read(site: DumpServer, status: int) -> None:
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    location = f"{site.url}/ukwiki/20261101/dumpstatus.json" if status == 302 else ""
    fault = Status(status, "0", location, 50_000_000)
    site.fail("/ukwiki/20261101/dumpstatus.json", fault)
    source = WikimediaSource("ukwiki", mirrors=(site.url,))
    if status == 404:
        with pytest.raises(SiteError, match=r"/ukwiki/20261101 has no dumpstatus\.json"):
            ask(source)
    else:
        assert found(source).date == "20261101"
    assert site.bytes_sent < 25_000_000  # what lies on the line


# Content File Exports.

EXPORT = {"p1p9.xml.bz2": b"pages 1 to 9", "p11p20.xml.bz2": b"pages 11 to 20"}
FOLDER = export_folder("ukwiki", "20261101")


def export_file(
    site: DumpServer, pages: str, content: bytes, folder: str = f"{FOLDER}/bzip2"
) -> RemoteFile:
    name = f"ukwiki-2026-11-01-{pages}"
    sha256 = hashlib.sha256(content).hexdigest()
    return RemoteFile(name, (f"{site.url}{folder}/{name}",), len(content), f"sha256:{sha256}")


@pytest.mark.parametrize(
    ("shown", "asked"), [("{}", []), ("{}  ", []), ("{}K", [*EXPORT]), ("", [*EXPORT])]
)
def test_an_export_has_its_files_with_size_and_checksum(
    site: DumpServer, shown: str, asked: list[str]
) -> None:
    site.shown_size = shown
    site.add_export("ukwiki", "20261001", EXPORT)
    site.add_export("ukwiki", "20261101", EXPORT)
    dump = found(WikimediaSource("ukwiki", ("dump",), (site.url,)))
    files = tuple(export_file(site, pages, content) for pages, content in EXPORT.items())
    assert dump == RemoteDump("ukwiki", "20261101", {"dump": files})
    heads = [one.path for one in site.requests if one.method == "HEAD"]
    assert heads == [f"{FOLDER}/bzip2/ukwiki-2026-11-01-{pages}" for pages in asked]


@pytest.mark.parametrize(
    ("dumps", "exports", "layout", "date", "has_tables_of"),
    read_cases("pipelines/sites", "the_newer_of_two_layouts"),
)
def test_the_newer_of_two_layouts(
    site: DumpServer,
    dumps: list[str],
    exports: list[str],
    layout: str,
    date: str,
    has_tables_of: str,
) -> None:
    for one in dumps:
        site.add_wiki("ukwiki", one, wiki_files(one))
    for one in exports:
        site.add_export("ukwiki", one, EXPORT)
    dump = found(WikimediaSource("ukwiki", mirrors=(site.url,), layout=layout))
    kind = "E" if dump.files["dump"][0].checksum.startswith("sha256:") else "D"
    assert kind + dump.date == date
    tables = [one.name for one in dump.files.get("page_props", ())]
    assert tables == ([f"ukwiki-{has_tables_of}-page_props.sql.gz"] if has_tables_of else [])


@pytest.mark.parametrize(
    ("layout", "folder"),
    [("dumps", "/ukwiki/"), ("exports", "/other/mediawiki_content_current/ukwiki/")],
)
def test_the_layout_that_is_named_must_be_there(site: DumpServer, layout: str, folder: str) -> None:
    site.add_export("ukwiki", "20261101", EXPORT)
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    for path in [path for path in site.files if path.startswith(folder)]:
        site.remove(path)
    assert found(WikimediaSource("ukwiki", mirrors=(site.url,))).date == "20261101"
    with pytest.raises(SiteError, match=f"{folder}: there is no such folder"):
        ask(WikimediaSource("ukwiki", mirrors=(site.url,), layout=layout))


def test_a_page_table_of_another_date_is_of_no_use(
    site: DumpServer, mirror: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    for one in (site, mirror):
        one.add_wiki("ukwiki", "20261020", wiki_files("20261020"))
    site.add_export("ukwiki", "20261101", EXPORT)
    dump = found(WikimediaSource("ukwiki", ROLES, (site.url, mirror.url)))
    assert [*dump.files] == ["dump", "page_props"]
    assert (
        "ukwiki: the corpus is built without page_table, because the dump of 20261101"
        in caplog.text
    )
    mirror.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    assert "page_table" in found(WikimediaSource("ukwiki", ROLES, (site.url, mirror.url))).files


def test_mirrors_have_one_layout_or_the_other(
    site: DumpServer, mirror: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    mirror.add_wiki("ukwiki", "20261020", wiki_files("20261020"))
    site.add_export("ukwiki", "20261101", EXPORT)
    source = WikimediaSource("ukwiki", mirrors=(site.url, mirror.url))
    newest = found(source)
    assert newest.date == "20261101"
    assert newest.files["page_props"][0].name == "ukwiki-20261020-page_props.sql.gz"
    assert caplog.text == ""
    assert found(WikimediaSource("ukwiki", mirrors=(site.url,))).files.keys() == {"dump"}
    assert (
        "ukwiki: the corpus is built without page_props, because the dump of 20261101"
        in caplog.text
    )
    site.fail_always("/other/mediawiki_content_current/ukwiki/", Status(500))
    assert found(source, 0).date == "20261020"


CUT = {"p1p9.xml.bz2": EXPORT["p1p9.xml.bz2"]}
NEVER_SMALLER = [
    ({"files": EXPORT, "finished": False}, "SHA256SUMS is missing: the export is not finished"),
    ({"files": CUT, "listed": EXPORT},
     "1 of 2 files that SHA256SUMS lists are missing: ukwiki-2026-11-01-p11p20.xml.bz2"),
    ({"files": {**CUT, "p5000p6000.xml.bz2": b"x"}}, "no file holds the pages 10 to 4,999"),
    ({"files": {"../../p1p2.xml.bz2": b"x"}}, "SHA256SUMS lists p1p2.xml.bz2, expected names like"),
    ({"files": EXPORT, "compression": "rar"}, "the export has no folder bzip2"),
]  # fmt: skip


@pytest.mark.parametrize(("export", "reason"), NEVER_SMALLER)
def test_an_export_that_is_not_whole_is_passed_over(
    site: DumpServer, caplog: pytest.LogCaptureFixture, export: dict[str, Any], reason: str
) -> None:
    caplog.set_level(logging.INFO)
    site.add_export("ukwiki", "20261001", EXPORT)
    site.add_export("ukwiki", "20261101", **export)
    source = WikimediaSource("ukwiki", ("dump",), (site.url,))
    assert found(source).date == "20261001"
    assert re.search(rf"2026-11-01/xml is skipped: .*{re.escape(reason)}", caplog.text)


def test_the_first_export_of_a_wiki_is_waited_for(site: DumpServer) -> None:
    source = WikimediaSource("ukwiki", ("dump",), (site.url,))
    site.add_export("ukwiki", "20261101", EXPORT, finished=False)
    assert ask(source) is None
    site.add_export("ukwiki", "20261001", EXPORT, finished=False)
    with pytest.raises(SiteError, match="2026-11-01/xml is skipped: SHA256SUMS is missing"):
        ask(source)


def test_an_export_with_a_gap_can_be_kept(site: DumpServer) -> None:
    site.add_export("ukwiki", "20261101", {**CUT, "p5000p6000.xml.bz2": b"x"})
    source = WikimediaSource("ukwiki", ("dump",), (site.url,), keep_good=True)
    assert len(found(source).files["dump"]) == 2


def test_compressions_of_an_export(site: DumpServer) -> None:
    source = WikimediaSource("ukwiki", ("dump",), (site.url,))
    for compression, suffix in (("gzip", ".gz"), ("zstd", ".zst"), ("bzip2", ".bz2")):
        names = [f"p1p9.xml{suffix}", f"p10r5r5.xml{suffix}", f"p11p20.xml{suffix}"]
        site.add_export("ukwiki", "20261101", dict.fromkeys(names, b"x"), compression=compression)
        expected = [f"ukwiki-2026-11-01-{name}" for name in names]
        assert [one.name for one in found(source).files["dump"]] == expected
    site.remove(f"{FOLDER}/bzip2/SHA256SUMS")
    assert found(source).files["dump"][0].name.endswith(".zst")


def test_a_list_of_too_many_files_is_none(site: DumpServer) -> None:
    site.add_export("ukwiki", "20261101", EXPORT)
    site.put(
        f"{FOLDER}/bzip2/SHA256SUMS",
        b"".join(b"%064d  ukwiki-2026-11-01-p%dp%d.xml.bz2\n" % (n, n, n) for n in range(1_100)),
    )
    with pytest.raises(SiteError, match="SHA256SUMS lists 1,100 files"):
        ask(WikimediaSource("ukwiki", ("dump",), (site.url,)))
    assert len(site.requests) < 10


def test_entities_are_there_with_their_checksum(site: DumpServer) -> None:
    site.add_entities("20261102", b"older")
    site.add_entities("20261109", b"newer", finished=False)
    site.put("/wikidatawiki/entities/20261112/wikidata-20261112-truthy.nt.bz2", b"triples")
    source = EntitiesSource((site.url,))
    dump = found(source)
    name = "wikidata-20261102-all.json.bz2"
    url = f"{site.url}/wikidatawiki/entities/20261102/{name}"
    file = RemoteFile(name, (url,), 5, f"sha1:{hashlib.sha1(b'older').hexdigest()}")
    assert dump == RemoteDump("wikidata", "20261102", {"dump": (file,)})
    site.add_entities("20261109", b"newer")
    newer = found(source)
    assert newer.date == "20261109"


WIKIBASE = "/other/wikibase/wikidatawiki"


@pytest.mark.parametrize(
    ("old", "new", "chosen"),
    read_cases("pipelines/sites", "of_both_folders_of_entities_the_newest_is_taken"),
)
def test_of_both_folders_of_entities_the_newest_is_taken(
    site: DumpServer, old: str, new: str, chosen: str
) -> None:
    if old:
        site.add_entities(old, b"entities")
    if new:
        site.add_entities(new[:8], b"entities", finished=new.isdigit(), parent=WIKIBASE)
        site.put(f"{WIKIBASE}/{new[:8]}/wikidata-{new[:8]}-md5sums.txt", b"")
        site.put(f"{WIKIBASE}/latest-all.json.bz2", b"entities")
    dump = found(EntitiesSource((site.url,)))
    date = old if chosen.endswith("entities") else new
    (file,) = dump.files["dump"]
    assert dump.date == date
    assert file.urls == (f"{site.url}{chosen}/{date}/wikidata-{date}-all.json.bz2",)
    assert file.checksum == f"sha1:{hashlib.sha1(b'entities').hexdigest()}"


def test_entities_have_the_date_of_their_file(site: DumpServer) -> None:
    folder = "/wikidatawiki/entities/20260921"
    site.put(f"{folder}/wikidata-20260922-all.json.bz2", b"entities")
    line = f"{hashlib.sha1(b'entities').hexdigest()}  wikidata-20260922-all.json.bz2\n"
    site.put(f"{folder}/wikidata-20260922-sha1sums.txt", line.encode())
    dump = found(EntitiesSource((site.url,)))
    assert dump.date == "20260922"


def test_gutenberg_has_the_date_of_the_last_change(site: DumpServer) -> None:
    changed = 1_795_000_000.0  # 18 November 2026
    site.add_gutenberg(b"all books", b"catalogue", changed)
    dump = found(GutenbergSource(mirrors=(f"{site.url}/feeds",)))
    assert (dump.source, dump.date) == ("gutenberg", "20261118")
    (books,), (catalog,) = dump.files["books"], dump.files["catalog"]
    etag = site.files["/feeds/txt-files.tar.zip"].etag
    url = f"{site.url}/feeds/txt-files.tar.zip"
    assert books == RemoteFile("txt-files.tar.zip", (url,), 9, "", etag)
    assert catalog.name == "pg_catalog.csv"
    assert {request.method for request in site.requests} == {"HEAD"}
    with pytest.raises(SiteError, match=r"rdf-files\.tar\.zip: there is no such file"):
        ask(GutenbergSource(catalog="rdf-files.tar.zip", mirrors=(f"{site.url}/feeds",)))


def test_news_are_those_of_all_settled_years(site: DumpServer) -> None:
    now = time.time()
    for year in (2023, 2024, 2025):
        site.add_news("en", year, str(year).encode(), now - (2025 - year) * 400 * DAY - 3600)
    site.put("/news-crawl/en/news.2024.en.shuffled.deduped.gz.md5", b"")
    mirrors = (f"{site.url}/news-crawl",)
    dump = found(NewsSource(mirrors=mirrors))
    assert (dump.source, dump.date) == ("news-en", "2024")  # that of 2025 has changed an hour ago
    assert [file.name[5:9] for file in dump.files["input"]] == ["2023", "2024"]
    assert [file.size for file in dump.files["input"]] == [4, 4]
    settled = NewsSource(first_year=2024, settled_hours=0.5, mirrors=mirrors)
    assert [file.name[5:9] for file in ask(settled).files["input"]] == ["2024", "2025"]  # type: ignore[union-attr]
    assert ask(NewsSource(last_year=2010, mirrors=mirrors)) is None
    with pytest.raises(SiteError, match="/de/: there is no such folder"):
        ask(NewsSource("de", mirrors=mirrors))


WIKI = WikimediaSource("ukwiki")
ENTITIES = "/wikidatawiki/entities/20261102"
BOOKS, NEWS = "/feeds/txt-files.tar.zip", "/news-crawl/en/"
NEWS_2024 = f"{NEWS}news.2024.en.shuffled.deduped.gz"
LOGIN = b"<html><a href='/login'>Log in</a></html>"
LENGTH, CHANGED = b"Content-Length: 5", b"Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT"


def headers(*lines: bytes) -> Raw:
    lines = (b"HTTP/1.1 200 OK", b"Connection: close", *lines, b"\r\n")
    return Raw(b"\r\n".join(lines))


def fill(site: DumpServer) -> tuple[str, ...]:
    """Puts something of every source on a site; gives the mirrors: of wikis, of books, of news."""
    site.add_wiki("ukwiki", "20261101", wiki_files("20261101"))
    site.add_entities("20261102", b"entities")
    site.add_gutenberg(b"books", b"catalogue", time.time() - 9 * DAY)
    site.add_news("en", 2024, b"news", time.time() - 9 * DAY)
    return site.url, f"{site.url}/feeds", f"{site.url}/news-crawl"


@pytest.mark.parametrize(
    ("source", "path", "wrong", "reason"),
    [
        (EntitiesSource(), "/wikidatawiki/entities/", LOGIN, "the page lists no folder with a date"),
        (EntitiesSource(), f"{ENTITIES}/", LOGIN, "no folder has a file of checksums"),
        (EntitiesSource(), f"{ENTITIES}/wikidata-20261102-sha1sums.txt", LOGIN, "no folder has a file of ch"),
        (EntitiesSource(), f"{ENTITIES}/wikidata-20261102-all.json.bz2",
         headers(b"Content-Length: abc"), "Content-Length is 'abc', not a number of bytes"),
        (GutenbergSource(), BOOKS, headers(b"Content-Length: -5", CHANGED), "Content-Length is '-5'"),
        (GutenbergSource(), BOOKS, headers(b"Content-Length: 1e9", CHANGED), "Content-Length is '1e9'"),
        (GutenbergSource(), BOOKS, headers(LENGTH), "has no valid Last-Modified header"),
        *((GutenbergSource(), BOOKS, headers(LENGTH, b"Last-Modified: Mon, 02 Nov " + year), reason)
          for year, reason in (
              (b"99999 10:00:00 GMT", "has no valid Last-Modified header"),
              (b"9" * 30 + b" 10:00:00 GMT", "has no valid Last-Modified header"),
              (b"2099 10:00:00 GMT", "Last-Modified is in the future: 2099-11-02"),
          )),
        (GutenbergSource(), BOOKS, Status(204), "HTTP 204"),
        (GutenbergSource(), "/feeds/pg_catalog.csv", headers(b"Content-Length: x"), "Content-Length is 'x'"),
        (NewsSource(), NEWS, LOGIN, "lists no news file of this year or an earlier one"),
        (NewsSource(), NEWS, b"<a href='news.2099.en.shuffled.deduped.gz'>", "lists no news file of this"),
        (NewsSource(), NEWS_2024, headers(LENGTH, b"Last-Modified: now"), "has no valid Last-Modified"),
        (NewsSource(), NEWS_2024, Status(404), "there is no such file, although the page of its folder"),
        (WIKI, "/ukwiki/20261101/dumpstatus.json", b'{"jobs": 1}', "dumpstatus.json does not have"),
    ],
)  # fmt: skip
def test_a_mirror_that_answers_nonsense_is_passed_over(
    site: DumpServer,
    mirror: DumpServer,
    caplog: pytest.LogCaptureFixture,
    source: Source,
    path: str,
    wrong: bytes | Fault,
    reason: str,
) -> None:
    kind = {GutenbergSource: 1, NewsSource: 2}.get(type(source), 0)
    mirrors = fill(site)[kind], fill(mirror)[kind]
    if isinstance(wrong, bytes):
        site.put(path, wrong)
    else:
        site.fail_always(path, wrong)
    both = dataclasses.replace(source, mirrors=mirrors)  # type: ignore[type-var]
    urls = [url for file in found(both, 0).all_files for url in file.urls]
    assert urls
    assert all(url.startswith(mirror.url) for url in urls)
    assert f"a mirror is skipped: {site.url}" in caplog.text
    with pytest.raises(SiteError, match=re.escape(reason)):
        ask(dataclasses.replace(both, mirrors=mirrors[:1]), 0)  # type: ignore[type-var]


def test_dates_in_the_future_are_passed_over(
    site: DumpServer, caplog: pytest.LogCaptureFixture
) -> None:
    wikis, _, news = fill(site)
    site.add_wiki("ukwiki", "20991231", wiki_files("20991231"))
    site.add_entities("20991231", b"entities")
    site.add_news("en", 2099, b"news", time.time() - 9 * DAY)
    sources = (
        WikimediaSource("ukwiki", mirrors=(wikis,)),
        EntitiesSource((wikis,)),
        NewsSource(mirrors=(news,)),
    )
    assert [found(source).date for source in sources] == ["20261101", "20261102", "2024"]
    for folder in (f"{site.url}/ukwiki/", f"{site.url}/wikidatawiki/entities/"):
        assert f"{folder}: skipped folders with dates in the future: 20991231" in caplog.text
    assert f"{news}/en/: skipped because the year is in the future: 2099" in caplog.text


def test_a_fixed_source_asks_nobody() -> None:
    files = {"dump": (RemoteFile("a.bz2", ("http://127.0.0.1:1/a.bz2",)),)}
    assert ask(FixedSource("mine", "20261101", files)) == RemoteDump("mine", "20261101", files)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WikimediaSource("../etc"), "is not the name of a wiki"),
        (lambda: WikimediaSource("ukwiki", mirrors=()), "the list of mirrors for ukwiki is empty"),
        (
            lambda: EntitiesSource(("ftp://me:p4ss@mirror",)),
            r"^mirror 'ftp://\*\*\*@mirror' must begin with https://",
        ),
        (
            lambda: EntitiesSource(("https://me:p4/ss@mirror",)),
            "^mirror 1 of wikidata is not a valid address",
        ),
        (lambda: NewsSource("en/.."), "language must be a code like en"),
    ],
)
def test_sources_that_cannot_be_are_refused(make: Callable[[], Source], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("contact", ["", " ", "a\nb", "Jürgen"])
def test_a_contact_is_asked_for(contact: str) -> None:
    with pytest.raises(ValueError, match="an e-mail address"):
        name_ourselves(contact)


def test_listings_of_several_servers_are_understood() -> None:
    page = (
        b'<a href="?C=N;O=D">Name</a> <a href="../">../</a> <A HREF="20261101/">x</A>'
        b'<a href="/dumps/ukwiki/20261020">y</a><a name="z"><a href="http://h/20269/">'
        b'<a href="latest/">latest</a><a href="a%20b.gz">'
    )
    assert dates_in(page) == ["20261101", "20261020"]
    assert dates_in(b'<a href="2026-11-01/"><a href="20261020/"><a href="/x/2026-12-01">', "-") == [
        "20261201",
        "20261101",
    ]
    assert {"latest", "20269", "20261101"} <= set(names_in(page))


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ('<a href="x.bz2">x.bz2</a>      01-Jul-2026 12:34      2345678901\n', 2345678901),  # nginx
        ('<a href="x.bz2">x.bz2</a>  2026-07-01 12:34:56  17', 17),
        ('<td><a href="x.bz2">x.bz2</a></td><td align="right">2026-07-01 12:34  </td>'
         '<td align="right">973 </td><td>&nbsp;</td></tr>\n', 973),  # Apache
        ('<td><a href="x.bz2">x.bz2</a></td><td>2026-07-01 12:34</td><td align="right">2.2G</td>', None),
        ('<a href="x.bz2">x.bz2</a>  01-Jul-2026 12:34  22M\n', None),
        ('<a href="x.bz2">x.bz2</a>  01-Jul-2026 12:34  -\n', None),
        ('<li><a href="x.bz2">x.bz2</a></li>', None),  # http.server
        ('<a href="x.bz2">x.bz2</a>  Jul 1 2026\n', None),
    ],
)  # fmt: skip
def test_sizes_of_listings(row: str, size: int | None) -> None:
    page = (
        f'<pre><a href="../">../</a>\n{row}<a href="y">y</a> 01-Jul-2026 12:34 5\n</pre>Server 80\n'
    )
    assert sizes_in(page.encode()) == {"y": 5} | ({} if size is None else {"x.bz2": size})


def test_merging_knows_sizes_where_there_are_no_checksums() -> None:
    def offer(host: str, size: int) -> RemoteDump:
        return RemoteDump("gutenberg", "20261101", {"books": (RemoteFile("b", (host,), size),)})

    merged = merge_offers([offer("a", 5), offer("b", 6), offer("c", 5), offer("d", -1)])
    assert [one.files["books"][0].urls for one in merged] == [("a", "c", "d"), ("b", "d")]


def test_errors_are_described_in_a_line() -> None:
    assert describe_error(ValueError()) == "ValueError"
    assert describe_error(ValueError("two\n  lines")) == "two lines"


def test_a_host_that_is_silent_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    """Of 41 languages, not each waits for a server that is down; another one is asked each time."""
    caplog.set_level("INFO")
    silent = "http://127.0.0.1:1"
    with DumpServer() as site:
        site.add_gutenberg(b"books", b"catalogue", time.time() - 9 * DAY)
        session = open_session("corpusmill/test (mail@example.org)", 0)
        for wiki in ("ukwiki", "elwiki"):
            with pytest.raises(SiteError, match=r"127\.0\.0\.1:1: .*refused"):
                find_offers(WikimediaSource(wiki, mirrors=(silent,)), session)
        assert find_offers(GutenbergSource(mirrors=(silent, f"{site.url}/feeds")), session)
    asked = [one.message for one in caplog.records if ": querying " in one.message]
    assert asked == [f"ukwiki: querying {silent}", f"gutenberg: querying {site.url}/feeds"]


@pytest.mark.parametrize("attribute", ["-href=x", " href=x", "x", " href", "="])
def test_links_without_an_end_are_searched_in_linear_time(attribute: str) -> None:
    page = lambda size: b"<a href=" + attribute.encode() * (size // len(attribute))  # noqa: E731
    assert not call_linear(lambda given: list(names_in(given)), page, 100_000)
