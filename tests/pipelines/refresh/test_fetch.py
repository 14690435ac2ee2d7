"""`corpusmill fetch` against a site over real HTTP: what one build needs, of every kind of source."""

import bz2
import gzip
import io
import re
import shlex
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.run.corpora import rows
from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.dump_server import DumpServer, Garbage
from tests.pipelines.refresh.wiki_site import (
    NEW,
    OLD,
    dump_of,
    dump_path,
    put_dump,
    put_export,
    tree,
)

CONTACT = ("--contact", "tests@example.org")
DAY = 86_400.0


def put_news(site: DumpServer) -> None:
    for year in (2007, 2008, 2009):
        site.add_news("de", year, gzip.compress(f"Satz {year}.\n".encode()), time.time() - 9 * DAY)


def put_books(site: DumpServer) -> None:
    books = io.BytesIO()
    with zipfile.ZipFile(books, "w") as archive:
        archive.writestr("txt-files.tar", b"")
    site.add_gutenberg(books.getvalue(), b"catalogue", 1_790_000_000.0)


def put_sites(site: DumpServer) -> None:
    for wiki in ("enwikinews", "enwikibooks", "enwikivoyage"):
        name = f"{wiki}-{OLD}-pages-articles-multistream.xml.bz2"
        site.add_wiki(wiki, OLD, {name: bz2.compress(b"pages")})


UK = f"downloads/ukwiki/{OLD}/ukwiki-{OLD}"
NEWS = "downloads/news-de/2008/news.200"
DUMP = ("wiki40b", "--language", "uk")
CASES = {  # name → what the site has, arguments, path of the mirror, the command that builds
    "a wiki, as a dump": (
        lambda site: put_dump(site, OLD),
        DUMP,
        "",
        f"corpusmill wiki40b --language uk --dump {UK}-pages-articles-multistream.xml.bz2"
        f" --page-props {UK}-page_props.sql.gz --output corpora",
    ),
    "a wiki, as a newer export with the table of the dump": (
        lambda site: (put_dump(site, OLD), put_export(site, NEW)),
        DUMP,
        "",
        "corpusmill wiki40b --language uk --dump"
        f" downloads/ukwiki/{NEW}/ukwiki-2026-11-20-p1p5000.xml.bz2"
        f" downloads/ukwiki/{NEW}/ukwiki-2026-11-20-p5001p9000.xml.bz2"
        f" --page-props downloads/ukwiki/{NEW}/ukwiki-{OLD}-page_props.sql.gz --output corpora",
    ),
    "of both layouts the one that is asked for": (
        lambda site: (put_dump(site, OLD), put_export(site, NEW)),
        (*DUMP, "--layout", "dumps"),
        "",
        f"corpusmill wiki40b --language uk --dump {UK}-pages-articles-multistream.xml.bz2"
        f" --page-props {UK}-page_props.sql.gz --output corpora",
    ),
    "news of some years": (
        put_news,
        ("lm1b", "--language", "de", "--last-year", "2008"),
        "/news-crawl",
        f"corpusmill lm1b --language de --input {NEWS}7.de.shuffled.deduped.gz"
        f" {NEWS}8.de.shuffled.deduped.gz --output corpora",
    ),
    "books, whose names tell no date": (
        put_books,
        ("pg19",),
        "/feeds",
        "corpusmill pg19 --books downloads/gutenberg/20260921/txt-files.tar.zip --catalog"
        " downloads/gutenberg/20260921/pg_catalog.csv --dump-date 20260921 --output corpora",
    ),
    "three sites": (
        put_sites,
        ("flores101",),
        "",
        "corpusmill flores101 source"
        + "".join(
            f" --{name} downloads/en{name}/{OLD}/en{name}-{OLD}-pages-articles-multistream.xml.bz2"
            for name in ("wikinews", "wikibooks", "wikivoyage")
        )
        + " --output corpora",
    ),
}


@pytest.fixture
def empty_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: DumpServer) -> DumpServer:
    monkeypatch.chdir(tmp_path)
    return mirror


@pytest.mark.parametrize("name", CASES)
def test_the_build_that_is_named_finds_its_files(
    name: str, empty_site: DumpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    put, arguments, path, command = CASES[name]
    put(empty_site)
    assert run_cli("fetch", *arguments, *CONTACT, "--mirror", f"{empty_site.url}{path}") == 0
    printed = capsys.readouterr().out
    assert f"\n  {command}\n" in printed
    words = shlex.split(command)
    files = [word for word in words if word.startswith("downloads/")]
    assert files
    assert all(Path(file).is_file() for file in files)
    settings, beam_flags = make_parser().parse_known_args(words[1:])
    assert settings.command in rows()
    assert not beam_flags


def fetch_uk(site: DumpServer, *more: str) -> int:
    return run_cli("fetch", *DUMP, *CONTACT, "--mirror", site.url, *more)


def test_a_dry_run_says_what_there_is(
    empty_site: DumpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    put_dump(empty_site, OLD)
    assert fetch_uk(empty_site, "--dry-run") == 0
    sizes = {name: len(content) for name, content in dump_of(OLD).items() if "index" not in name}
    first, _, _, *rows, last = capsys.readouterr().out.splitlines()
    assert first == f"ukwiki of {OLD} → downloads/ukwiki/{OLD}"
    assert sorted(row.split() for row in rows) == sorted(
        [name, "sha1", f"{size:,}"] for name, size in sizes.items()
    )
    assert last.split() == ["2", "files", f"{sum(sizes.values()):,}"]
    assert not tree(Path())


FAILURES: dict[str, tuple[Callable[[DumpServer], object], Sequence[str], int, str]] = {
    "a checksum that is wrong": (
        lambda site: (put_dump(site, OLD), site.fail(dump_path(OLD), *[Garbage()] * 4)),
        DUMP,
        1,
        r"ukwiki-\d+-pages-articles-multistream\.xml\.bz2 from http.*",
    ),
    "no finished dump": (
        lambda site: put_dump(site, OLD, ("pagepropstable",)),
        DUMP,
        1,
        "ukwiki: no dump is finished yet; try again later",
    ),
    "no such wiki": (lambda site: None, DUMP, 1, "ukwiki: .*there is no such folder.*"),
    "a flag of another corpus": (
        lambda site: None,
        ("pg19", "--language", "uk"),
        2,
        "--language cannot be used with pg19",
    ),
    "no language": (
        lambda site: None,
        ("wiki40b",),
        2,
        "--language is missing: give the code of the Wikipedia to download",
    ),
    "too many connections": (
        lambda site: None,
        (*DUMP, "--connections", "9"),
        2,
        ".*<= 3.*connections.*",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_cannot_be_fetched(
    name: str, empty_site: DumpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    put, arguments, status, message = FAILURES[name]
    put(empty_site)
    assert run_cli("fetch", *arguments, *CONTACT, "--mirror", empty_site.url) == status
    printed = capsys.readouterr()
    (error,) = [line for line in printed.err.splitlines() if line.startswith("corpusmill: error: ")]
    assert re.fullmatch(f"corpusmill: error: {message}", error)
    assert "all files are downloaded" not in printed.out
