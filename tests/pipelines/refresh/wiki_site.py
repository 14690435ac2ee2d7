"""A miniature Ukrainian Wikipedia on a dump site, in two editions, and a configuration that follows it."""

import bz2
import functools
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from corpusmill.pipelines.wiki40b_settings import VERSION
from tests.makers import dump_files
from tests.makers.wiki_builds import Command, sample_wiki
from tests.pipelines.refresh.dump_server import DumpServer
from tests.tools.pack_samples import Wiki

OLD, NEW = "20261101", "20261120"
BUILD = "{ vocabulary_size = 0, wiki_templates = false }"  # what takes the longest is left out
SMALL = "min_documents = 1"  # the sample has few
CHANGED_WORDS = "Новина цього видання. "


@functools.cache
def old_wiki() -> Wiki:
    """The sample."""
    return sample_wiki("uk")


@functools.cache
def new_wiki() -> Wiki:
    """The sample weeks later: of its kept articles one is gone, one is changed, and one is new."""
    wiki = old_wiki()
    gone, changed, doubled = kept_pages(wiki)[:3]
    pages = [page for page in wiki.pages if page.page_id != gone]
    for at, page in enumerate(pages):
        if page.page_id == changed:
            pages[at] = page._replace(
                wikitext=CHANGED_WORDS * 9 + "\n\n" + page.wikitext,
                revision_id=page.revision_id + 1,
            )
        if page.page_id == doubled:
            more = page._replace(page_id=8_001, revision_id=8_002, title=f"{page.title} (нове)")
    props = [*wiki.page_props, (8_001, "wikibase_item", "Q424242")]
    return wiki._replace(pages=(*pages, more), page_props=tuple(props))


def kept_pages(wiki: Wiki) -> list[int]:
    """Ids of pages that are in the corpus."""
    return [page_id for page_id, expected in wiki.expected.items() if expected == "kept"]


@functools.cache
def dump_of(date: str) -> Mapping[str, bytes]:
    """Name → content of the files of a dump."""
    wiki = old_wiki() if date == OLD else new_wiki()
    stem = f"ukwiki-{date}"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        dump_files.write_multistream(
            folder / f"{stem}-pages-articles-multistream.xml.bz2",
            folder / f"{stem}-pages-articles-multistream-index.txt.bz2",
            wiki.header,
            wiki.pages,
            10,
        )
        props = folder / f"{stem}-page_props.sql.gz"
        dump_files.write_page_props(props, wiki.page_props, wiki.dbname)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def put_dump(site: DumpServer, date: str, unfinished: tuple[str, ...] = ()) -> None:
    """Puts the dump of a date on the site."""
    site.add_wiki("ukwiki", date, dump_of(date), unfinished=unfinished)


def put_export(site: DumpServer, date: str) -> None:
    """Puts the same pages on the site as a Content File Export of two files."""
    multistream = dump_of(date)[Path(dump_path(date)).name]
    pages = bz2.compress(bz2.decompress(multistream))
    site.add_export("ukwiki", date, {"p1p5000.xml.bz2": pages, "p5001p9000.xml.bz2": pages})


def dump_path(date: str) -> str:
    """Returns the path of the pages on the site."""
    return f"/ukwiki/{date}/ukwiki-{date}-pages-articles-multistream.xml.bz2"


class Place:
    """A folder with refresh.toml, in which a refresh works."""

    site: DumpServer
    refresh: Command

    def __init__(self, folder: Path):
        self.folder = folder
        self.config = folder / "refresh.toml"
        self.editions = folder / "corpora" / "wiki40b" / "uk-no-wiki-templates"
        self.downloads = folder / "downloads"
        self.metrics = folder / "metrics.prom"
        self.state = folder / "state" / "wiki40b-uk.json"

    def configure(
        self,
        url: str,
        more: str = "",
        corpus: str = "",
        corpora: str = "",
        min_documents: str = SMALL,
    ) -> None:
        """Writes refresh.toml.

        Args:
          more: lines of [refresh].
          corpus: lines of the [[corpus]] that there is.
          corpora: other [[corpus]].
          min_documents: the line of the [[corpus]] that says how many there must be.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(
            f'[refresh]\noutput = "corpora"\ndownloads = "downloads"\nstate = "state"\n'
            f'contact = "tests@example.org"\nmetrics = "metrics.prom"\nworkers = 1\n'
            f'mirrors = ["{url}"]\n{more}\n'
            f'[[corpus]]\nkind = "wiki40b"\nlanguage = "uk"\n{min_documents}\nbuild = {BUILD}\n{corpus}\n'
            f"{corpora}\n",
            "utf-8",
        )

    def edition(self, date: str) -> Path:
        """The folder of an edition."""
        return self.editions / f"{date}-{VERSION}"

    def current(self) -> str:
        """The edition that consumers would take; "" for none."""
        path = self.editions / "CURRENT"
        return path.read_text("utf-8").rstrip("\n") if path.exists() else ""

    def loaded(self) -> list[str]:
        """The editions that Hugging Face datasets knows, the one that it loads without a name first."""
        card = self.editions / "README.md"
        return re.findall(r"^- config_name: (.+)$", card.read_text("utf-8"), re.MULTILINE)

    def finished(self) -> list[str]:
        """The finished builds."""
        return sorted(path.parent.name for path in self.editions.glob("*/COMPLETED"))


def tree(folder: Path) -> dict[str, bytes]:
    """Name → bytes of all files below."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
