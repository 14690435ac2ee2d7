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
from tests.pipelines.translation.small_projects import find_bad, source_file, use_checks
from tests.tools.pack_samples import SAMPLES

ROOT = Path(__file__).parents[2]
LANGUAGES = "fra,deu"
BUILD = " --output out --workers 2"
BOOKS = (
    " --books {samples}/gutenberg/library --dump-date 20260101"
    " --catalog {samples}/gutenberg/pg_catalog.csv {samples}/gutenberg/rdf-files.tar.bz2"
)
DUMP = "{samples}/wikimedia/%s/%s-20260101-pages-articles-multistream.xml.bz2"
SITES = "".join(
    f" --{one} {DUMP % ('en' + one, 'en' + one)}" for one in ("wikinews", "wikibooks", "wikivoyage")
)


class Inputs(NamedTuple):
    """The inputs of commands besides the samples."""

    finished: Path  # command → folder in which it has run
    prepared: Path  # command → folder that it begins with
    url: str  # of the dump site


class Command(NamedTuple):
    """A command."""

    words: str  # with the folders in braces
    needs: tuple[str, ...] = ()  # commands that have to be finished before
    prepare: Callable[[Inputs, Path], None] | None = None  # makes the folder that it begins with

    def arguments(self, inputs: Inputs) -> list[str]:
        """The words, with the paths of the folders."""
        folders = {"samples": SAMPLES, "finished": inputs.finished}
        tables = inputs.finished.glob("entities/out/entities/wikidata/*-*")
        folders["table"] = next(tables, Path())
        return [word.format(**folders) for word in self.words.split()]


@contextlib.contextmanager
def dump_site() -> Iterator[str]:
    """The address of a site with two dumps."""
    with DumpServer() as site:
        put_dump(site, OLD)
        put_dump(site, NEW)
        yield site.url


def _finished_build(inputs: Inputs, folder: Path) -> None:
    shutil.copytree(inputs.finished / "entities", folder)


def _with_source(_: Inputs, folder: Path) -> None:
    folder.mkdir(parents=True)
    source_file(folder)


def _sent(_: Inputs, folder: Path) -> None:
    """Packets are out, and their answers are in the inbox."""
    folder.mkdir(parents=True)
    office = Office(folder)
    office.make(LANGUAGES)
    (folder / "inbox").mkdir()
    for code in LANGUAGES.split(","):
        answer = office.translate(good(), code=code)
        answer.rename(folder / "inbox" / f"{code}.tsv")


def _answered(inputs: Inputs, folder: Path) -> None:
    """Answers are imported."""
    _sent(inputs, folder)
    Office(folder).do("import", folder / "inbox")


def _checked(inputs: Inputs, folder: Path) -> None:
    """Answers have passed the checks."""
    _answered(inputs, folder)
    with pytest.MonkeyPatch.context() as patch:
        use_checks(patch, find_bad)
        Office(folder).do("check")


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


_ENTITIES = "entities --dump {samples}/wikidata/wikidata-20260101-all.json.gz" + BUILD
_WIKI = "{samples}/wikipedia/ukwiki/ukwiki-20260101-"
COMMANDS = {
    "entities": Command(_ENTITIES),
    "entities --replace": Command(f"{_ENTITIES} --replace", ("entities",), _finished_build),
    "wiki40b": Command(
        f"wiki40b --language uk --entities {{table}} --vocabulary-size 0{BUILD}"
        f" --dump {_WIKI}pages-articles-multistream.xml.bz2 --page-props {_WIKI}page_props.sql.gz",
        ("entities",),
    ),
    "lm1b": Command(
        "lm1b --input {samples}/news/news.20??.en.shuffled* {samples}/news/training-monolingual.tgz"
        " --dump-date 2007-2011 --shards 10 --heldout-shards 5" + BUILD
    ),
    "pg19": Command(
        f"pg19{BOOKS} --members hash --metadata {{samples}}/gutenberg/metadata.csv{BUILD}"
    ),
    "simplebooks": Command(f"simplebooks{BOOKS} --heldout-books 2 --small-tokens 5000{BUILD}"),
    "subwords": Command(
        "subwords --corpora {finished}/wiki40b/out {finished}/pg19/out --size 2000" + BUILD,
        ("wiki40b", "pg19"),
    ),
    "flores101 source": Command(f"flores101 source{SITES} --sentences 150{BUILD}"),
    "flores101 packets": Command(
        "flores101 packets --project project --source source.tsv --to outbox --by Ama"
        f" --languages {LANGUAGES}",
        prepare=_with_source,
    ),
    "flores101 import": Command("flores101 import --project project inbox --by Ama", prepare=_sent),
    "flores101 check": Command(
        "flores101 check --project project --by Ama --workers 2", prepare=_answered
    ),
    "flores101 package": Command(
        "flores101 package --project project --output out --without-review --with-test",
        prepare=_checked,
    ),
    "refresh": Command("refresh --config refresh.toml", prepare=_old_edition),
}
