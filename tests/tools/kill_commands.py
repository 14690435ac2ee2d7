"""Commands that tests/tools/kills.py runs, each in a folder of its own, on the bundled samples."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.refresh.wiki_site import NEW, OLD, Place, put_dump
from tests.pipelines.translation.offices import Office, good
from tests.pipelines.translation.small_projects import find_bad, run, source_file, use_checks
from tests.tools.pack_samples import SAMPLES

ROOT = Path(__file__).parents[2]
OUTPUT = "out"
WORKERS = ("--workers", "2")
WIKI = SAMPLES / "wikipedia" / "ukwiki"
BOOKS = SAMPLES / "gutenberg"
LANGUAGES = "fra,deu"


class Inputs(NamedTuple):
    """The inputs of commands besides the samples."""

    finished: Path  # command → folder in which it has run
    prepared: Path  # command → folder that it begins with
    url: str  # of the dump site


class Command(NamedTuple):
    """A command."""

    arguments: Callable[[Inputs], tuple[object, ...]]
    needs: tuple[str, ...] = ()  # commands that have to be finished before
    prepare: Callable[[Inputs, Path], None] | None = None  # makes the folder that it begins with


@contextlib.contextmanager
def dump_site() -> Iterator[str]:
    """The address of a site with two dumps."""
    with DumpServer() as site:
        put_dump(site, OLD)
        put_dump(site, NEW)
        yield site.url


def _entities(_: Inputs) -> tuple[object, ...]:
    dump = SAMPLES / "wikidata" / "wikidata-20260101-all.json.gz"
    return "entities", "--dump", dump, "--output", OUTPUT, *WORKERS


def _finished_build(inputs: Inputs, folder: Path) -> None:
    shutil.copytree(inputs.finished / "entities", folder)


def _wiki40b(inputs: Inputs) -> tuple[object, ...]:
    (table,) = (inputs.finished / "entities" / OUTPUT).glob("entities/wikidata/*-*")
    return (
        *("wiki40b", "--language", "uk", "--entities", table, "--vocabulary-size", 0),
        *("--dump", WIKI / "ukwiki-20260101-pages-articles-multistream.xml.bz2"),
        *("--page-props", WIKI / "ukwiki-20260101-page_props.sql.gz"),
        *("--output", OUTPUT, *WORKERS),
    )


def _multilingual(inputs: Inputs) -> tuple[object, ...]:
    corpus = inputs.finished / "wiki40b" / OUTPUT / "wiki40b" / "uk"
    sizes = ("--vocabulary-sizes", 64_000)
    return "multilingual", "--corpora", corpus, *sizes, "--output", OUTPUT, *WORKERS


def _subwords(inputs: Inputs) -> tuple[object, ...]:
    corpora = [inputs.finished / name / OUTPUT for name in ("wiki40b", "pg19")]
    return "subwords", "--corpora", *corpora, "--size", 2000, "--output", OUTPUT, *WORKERS


def _lm1b(_: Inputs) -> tuple[object, ...]:
    news = SAMPLES / "news"
    return (
        *("lm1b", "--input", news / "news.20??.en.shuffled*", news / "training-monolingual.tgz"),
        *("--dump-date", "2007-2011", "--shards", 10, "--heldout-shards", 5),
        *("--output", OUTPUT, *WORKERS),
    )


def _pg19(_: Inputs) -> tuple[object, ...]:
    return (
        *("pg19", "--books", BOOKS / "library", "--dump-date", "20260101", "--members", "hash"),
        *("--catalog", BOOKS / "pg_catalog.csv", BOOKS / "rdf-files.tar.bz2"),
        *("--metadata", BOOKS / "metadata.csv", "--output", OUTPUT, *WORKERS),
    )


def _simplebooks(_: Inputs) -> tuple[object, ...]:
    return (
        *("simplebooks", "--books", BOOKS / "library", "--dump-date", "20260101"),
        *("--catalog", BOOKS / "pg_catalog.csv", BOOKS / "rdf-files.tar.bz2"),
        *("--heldout-books", 2, "--small-tokens", 5000, "--output", OUTPUT, *WORKERS),
    )


def _source(_: Inputs) -> tuple[object, ...]:
    name = "en{0}/en{0}-20260101-pages-articles-multistream.xml.bz2"
    sites = ("wikinews", "wikibooks", "wikivoyage")
    dumps = [(f"--{one}", SAMPLES / "wikimedia" / name.format(one)) for one in sites]
    flags = [word for dump in dumps for word in dump]
    return "flores101", "source", *flags, "--sentences", 150, "--output", OUTPUT, *WORKERS


def _packets(_: Inputs) -> tuple[object, ...]:
    sent = ("--languages", LANGUAGES, "--to", "outbox", "--by", "Ama")
    return "flores101", "packets", "--project", "project", "--source", "source.tsv", *sent


def _with_source(_: Inputs, folder: Path) -> None:
    folder.mkdir(parents=True)
    source_file(folder)


def _import(_: Inputs) -> tuple[object, ...]:
    return "flores101", "import", "--project", "project", "inbox", "--by", "Ama"


def _sent(_: Inputs, folder: Path) -> None:
    """Packets are out, and their answers are in the inbox."""
    folder.mkdir(parents=True)
    office = Office(folder)
    office.make(LANGUAGES)
    (folder / "inbox").mkdir()
    for code in LANGUAGES.split(","):
        answer = office.translate(good(), code=code)
        answer.rename(folder / "inbox" / f"{code}.tsv")


def _check(_: Inputs) -> tuple[object, ...]:
    return "flores101", "check", "--project", "project", "--by", "Ama", *WORKERS


def _answered(inputs: Inputs, folder: Path) -> None:
    """Answers are imported."""
    _sent(inputs, folder)
    assert run("import", "--project", folder / "project", folder / "inbox").status == 0


def _package(_: Inputs) -> tuple[object, ...]:
    flags = ("--without-review", "--with-test")
    return "flores101", "package", "--project", "project", "--output", OUTPUT, *flags


def _checked(inputs: Inputs, folder: Path) -> None:
    """Answers have passed the checks."""
    _answered(inputs, folder)
    with pytest.MonkeyPatch.context() as patch:
        use_checks(patch, find_bad)
        assert run("check", "--project", folder / "project").status == 0


def _refresh(_: Inputs) -> tuple[object, ...]:
    return "refresh", "--config", "refresh.toml"


def configure(folder: Path, url: str) -> None:
    """Writes the configuration, which names the site."""
    place = Place(folder)
    place.configure(url, "keep = 1")
    text = place.config.read_text("utf-8")
    place.config.write_text(text.replace("workers = 1", "workers = 2"), "utf-8")


def _old_edition(_: Inputs, folder: Path) -> None:
    """The edition before is the current one."""
    with DumpServer() as site:
        put_dump(site, OLD)
        configure(folder, site.url)
        command = [sys.executable, "-m", "corpusmill", "refresh", "--config", "refresh.toml"]
        own = os.environ | {"PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=folder, env=own, check=True, capture_output=True)


COMMANDS = {
    "entities": Command(_entities),
    "entities --replace": Command(
        lambda inputs: (*_entities(inputs), "--replace"), ("entities",), _finished_build
    ),
    "wiki40b": Command(_wiki40b, ("entities",)),
    "multilingual": Command(_multilingual, ("wiki40b",)),
    "lm1b": Command(_lm1b),
    "pg19": Command(_pg19),
    "simplebooks": Command(_simplebooks),
    "subwords": Command(_subwords, ("wiki40b", "pg19")),
    "flores101 source": Command(_source),
    "flores101 packets": Command(_packets, (), _with_source),
    "flores101 import": Command(_import, (), _sent),
    "flores101 check": Command(_check, (), _answered),
    "flores101 package": Command(_package, (), _checked),
    "refresh": Command(_refresh, (), _old_edition),
}
