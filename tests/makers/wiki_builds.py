"""Small wikis, their builds, and what a build holds: for the tests of pipelines."""

import dataclasses
import functools
import hashlib
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.entities import Entities
from corpusmill.pipelines.entities_settings import EntitiesConfig
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.records import Rejected
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.tools import pack_samples
from tests.tools.golden_tree import tree_of
from tests.tools.pack_samples import SAMPLES, Wiki

DATE = "20260101"
ENTITIES = str(SAMPLES / "wikidata" / f"wikidata-{DATE}-all.json.gz")


class Build:
    """A finished build."""

    def __init__(self, folder: Path):
        assert (folder / "COMPLETED").is_file(), f"no finished build: {folder}"
        self.folder = folder
        self.manifest = self._json("manifest.json")
        self.stats = self._json("stats.json")

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))

    def articles(self, split: str = "*") -> list[dict[str, str]]:
        """All articles, in the order of the files."""
        paths = sorted(self.folder.glob(f"{split}-*.parquet"))
        return _rows(paths)

    def version_ids(self) -> set[int]:
        """The revisions of the articles, which name them."""
        versions = [int(article["version_id"]) for article in self.articles()]
        assert len(versions) == len(set(versions))
        return set(versions)

    def rejected(self) -> list[Rejected]:
        """All rejections, in the order of the files."""
        rows = _rows(sorted(self.folder.glob("rejected/*.parquet")))
        return [Rejected(**row) for row in rows]

    def reasons(self) -> dict[int, str]:
        """Page id → why it was rejected. A page must not be rejected twice."""
        found = [one for one in self.rejected() if one.id.isdigit()]
        reasons = {int(one.id): one.reason for one in found}
        assert len(found) == len(reasons)
        return reasons

    def tree(self) -> dict[str, bytes]:
        """Name → bytes of all files."""
        return tree_of(self.folder)

    def tree_but_inputs(self) -> dict[str, bytes]:
        """The tree without what depends on the names and the packing of the inputs."""
        tree = self.tree()
        del tree["COMPLETED"]
        manifest = json.loads(tree["manifest.json"])
        del manifest["inputs"]
        tree["manifest.json"] = json.dumps(manifest).encode()
        return tree

    def check_fates(self, wiki: Wiki, pages: Iterable[SamplePage] = ()) -> None:
        """Asserts that pages of the wiki, all of them by default, are kept or rejected as it says."""
        fates = {page: wiki.expected[page.page_id] for page in pages or wiki.pages}
        kept = {page.revision_id for page, fate in fates.items() if fate == "kept"}
        assert self.version_ids() == kept
        rejected = {page.page_id: fate for page, fate in fates.items() if fate != "kept"}
        assert self.reasons() == rejected

    def check_files(self) -> None:
        """Asserts that the folder holds what the manifest lists, with the hashes it tells."""
        mark = (self.folder / "COMPLETED").read_text("utf-8")
        manifest = (self.folder / "manifest.json").read_bytes()
        assert mark == f"{hashlib.sha256(manifest).hexdigest()}  manifest.json\n"
        tree = self.tree()
        for file in self.manifest["outputs"]:
            content = tree.pop(file["name"])
            assert (file["bytes"], file["sha256"]) == (
                len(content),
                hashlib.sha256(content).hexdigest(),
            )
        assert tree.keys() == {"COMPLETED", "manifest.json"}


def _rows(paths: Iterable[Path]) -> list[dict[str, str]]:
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def build(output: Path, config: Wiki40bConfig, *, workers: int = 1, replace: bool = False) -> Build:
    """Builds below `output`."""
    corpus = Wiki40b(config)
    launch(corpus, str(output), workers=workers, replace=replace, accept=DOUBTS)
    return Build(output.joinpath(*corpus.path))


@functools.cache
def _tables() -> tempfile.TemporaryDirectory[str]:
    """Makes the folder of entity tables, which exists as long as the tests run."""
    return tempfile.TemporaryDirectory(prefix="corpusmill-tables-")


def entity_table(dump: str) -> str:
    """The folder of the entity table of a Wikidata dump. Each is built once."""
    key = hashlib.sha256(dump.encode() + Path(dump).read_bytes()).hexdigest()[:16]
    output = Path(_tables().name) / key
    corpus = Entities(EntitiesConfig(dump=[dump]))
    target = output.joinpath(*corpus.path)
    if not target.exists():
        launch(corpus, str(output), workers=1)
    return str(target)


def run_cli(*arguments: object) -> int:
    """The exit status of the command."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:  # argparse
        return int(end.code or 0)


class Ran(NamedTuple):
    """The output of a command."""

    out: str
    err: str


class Command:
    """Runs a command, whose status must be as expected."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: object):
        self.capsys = capsys
        self.words = words

    def __call__(self, *arguments: object, status: int = 0) -> Ran:
        self.capsys.readouterr()
        found = run_cli(*self.words, *arguments)
        ran = Ran(*self.capsys.readouterr())
        assert found == status, ran.err
        return ran


def files_below(folder: Path) -> list[str]:
    """Everything that is not a folder, hidden or not."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def outputs_below(folder: Path) -> list[str]:
    """The same without what finished stages of a build that failed keep for the next run."""
    return [name for name in files_below(folder) if ".stages/" not in name]


@dataclasses.dataclass(frozen=True)
class WikiFiles:
    """The input files of a small wiki in one folder."""

    folder: Path
    wiki: Wiki

    def stem(self, what: str) -> Path:
        return self.folder / f"{self.wiki.dbname}-{DATE}-{what}"

    @property
    def multistream(self) -> Path:
        return self.stem("pages-articles-multistream.xml.bz2")

    @property
    def index(self) -> Path:
        return self.stem("pages-articles-multistream-index.txt.bz2")

    def write_multistream(self, pages_per_stream: int = 10) -> Path:
        dump_files.write_multistream(
            self.multistream, self.index, self.wiki.header, self.wiki.pages, pages_per_stream
        )
        return self.multistream

    def write_xml(self, suffix: str, pages: Sequence[SamplePage] = (), part: str = "") -> Path:
        path = self.stem(f"pages-articles{part}.xml{suffix}")
        dump_files.write_xml(path, self.wiki.header, pages or self.wiki.pages)
        return path

    def write_page_props(self, only: Iterable[str] = ()) -> Path:
        path = self.stem("page_props.sql.gz")
        rows = [row for row in self.wiki.page_props if not only or row[1] in only]
        dump_files.write_page_props(path, rows, self.wiki.dbname)
        return path

    def write_items_per_site(self) -> Path:
        path = self.folder / f"wikidatawiki-{DATE}-wb_items_per_site.sql.gz"
        titles = {page.page_id: page.title for page in self.wiki.pages}
        rows = [
            (int(value[1:]), self.wiki.dbname, titles[page_id])
            for page_id, name, value in self.wiki.page_props
            if name == "wikibase_item"
        ]
        dump_files.write_items_per_site(path, [(1, "otherwiki", "Київ"), *rows])
        return path

    def write_page_table(self, absent: Iterable[int] = ()) -> Path:
        path = self.stem("page.sql.gz")
        pages = [page for page in self.wiki.pages if page.page_id not in set(absent)]
        dump_files.write_page_table(path, pages, self.wiki.dbname)
        return path

    def config(self, **settings: Any) -> Wiki40bConfig:
        """Settings; paths may be Path objects, and one file need not stand in a list."""
        values: dict[str, Any] = {
            name: [str(path) for path in (value if isinstance(value, list) else [value])]
            if name in ("dump", "page_props", "items_per_site", "page_table")
            else value
            for name, value in settings.items()
        }
        if "entities" in values:
            values["entities"] = entity_table(str(values["entities"]))
        return Wiki40bConfig(**({"language": self.wiki.language} | values))

    def linked(self, **settings: Any) -> Wiki40bConfig:
        """Settings with the multistream dump, and the tables that link pages to items and know these."""
        tables = {"page_props": self.write_page_props(), "entities": ENTITIES}
        return self.config(**({"dump": self.multistream} | tables | settings))


def sample_wiki(language: str) -> Wiki:
    """One of the bundled wikis."""
    return pack_samples.load_wiki(SAMPLES / "wikipedia" / f"{language}wiki")


def repeated_wiki(language: str, copies: int) -> Wiki:
    """A bundled wiki over and over: pages of their own, about the same items."""
    wiki = sample_wiki(language)
    step = 1000
    return wiki._replace(
        pages=tuple(
            page._replace(
                page_id=page.page_id + step * copy,
                revision_id=page.revision_id + step * copy,
                title=f"{page.title} ({copy})" if copy else page.title,
            )
            for copy in range(copies)
            for page in wiki.pages
        ),
        page_props=tuple(
            (page_id + step * copy, name, value)
            for copy in range(copies)
            for page_id, name, value in wiki.page_props
        ),
        expected={
            page_id + step * copy: expected
            for copy in range(copies)
            for page_id, expected in wiki.expected.items()
        },
    )


def with_bulk(wiki: Wiki, characters: int) -> Wiki:
    """Puts templates between the pages that make the dump large and cost a build nothing."""
    step = 50_000
    bulk = [
        SamplePage(
            9000 + number, 10, f"Template:Bulk {number}", random_hex(number, step), 9000 + number
        )
        for number in range(characters // step)
    ]
    expected = {page.page_id: "other-namespace" for page in bulk}
    at = len(wiki.pages) // 2
    pages = (*wiki.pages[:at], *bulk, *wiki.pages[at:])
    return wiki._replace(pages=pages, expected=wiki.expected | expected)


def random_hex(seed: int, characters: int) -> str:
    """Digits that compress badly."""
    return hashlib.shake_256(str(seed).encode()).hexdigest(characters // 2)
