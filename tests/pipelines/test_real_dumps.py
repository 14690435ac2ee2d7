"""Builds from real dumps: Wikipedias of 2023, 2016 and 2019-2021, with what Wikidata says of them."""

import bz2
import csv
import functools
import re
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
from corpusmill.transforms.files.records import Page, SubwordStats
from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page
from corpusmill.transforms.wikitext.article_markers import MARKERS_WITH_LINE_FEEDS, parse_article
from tests.makers.wiki_builds import Build, build, entity_table, run_cli
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data

pytestmark = needs_real_data

WIKIPEDIA, WIKIDATA = DATA / "wikipedia", DATA / "wikidata"
ENTITIES = str(WIKIDATA / "wikidata-sample-all.json.gz")
ITEMS_PER_SITE = str(WIKIDATA / "wikidatawiki-sample-wb_items_per_site.sql.gz")
DUMPS = {
    "uk": "ukwiki-20230501-pages-articles-multistream.xml.bz2",
    "el": "elwiki-20230501-pages-articles-multistream.xml.bz2",
    "vi": "viwiki-20230501-pages-articles-multistream.xml.bz2",
    "en": "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
}
# Pages, those in namespace 0, and redirects among them, as the folder's README counts them.
COUNTED = {"uk": (532, 525, 13), "el": (933, 545, 21), "vi": (970, 360, 86), "en": (206, 205, 99)}


def config_of(language: str, **settings: Any) -> Wiki40bConfig:
    dump = [str(WIKIPEDIA / DUMPS[language])]
    return Wiki40bConfig(**({"language": language, "dump": dump} | settings))


def page_props(language: str) -> list[str]:
    return [str(WIKIDATA / f"{language}wiki-sample-page_props.sql.gz")]


@functools.cache
def blocks_of(path: Path) -> list[bytes]:
    """The pages by another way: the dump decompressed at once, and cut by a regular expression."""
    return re.findall(rb"<page>.*?</page>", bz2.decompress(path.read_bytes()), re.DOTALL)


@functools.cache
def pages_of(language: str) -> list[Page]:
    return [parse_page(page) for page in blocks_of(WIKIPEDIA / DUMPS[language])]


def mapped_items(language: str) -> dict[int, str]:
    """Page id → QID of the pages whose item is known."""
    with (WIKIDATA / "mapping.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {int(row["page_id"]): row["qid"] for row in rows if row["dump"] == language}


@pytest.fixture(scope="module", params=DUMPS)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def some(language: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A dump without nine of ten articles that have no item. Templates and redirects are all there."""
    items, whole = mapped_items(language), WIKIPEDIA / DUMPS[language]
    path = tmp_path_factory.mktemp("some") / f"{language}wiki-20230501-pages-articles.xml"
    with path.open("wb") as file:
        file.write(bz2.decompress(whole.read_bytes()).split(b"<page>")[0])
        for number, (block, page) in enumerate(
            zip(blocks_of(whole), pages_of(language), strict=True)
        ):
            is_article = page.namespace == 0 and not page.is_redirect
            if not is_article or page.page_id in items or number % 10 == 0:
                file.write(block + b"\n")
        file.write(b"</mediawiki>\n")
    return [str(path)]


@pytest.fixture(scope="module")
def linked(language: str, some: list[str], tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A build with page properties and entities."""
    tables = {"page_props": page_props(language), "entities": entity_table(ENTITIES)}
    config = config_of(language, dump=some, **tables)
    return build(tmp_path_factory.mktemp("linked"), config)


@pytest.fixture(scope="session")
def all_unlinked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Build]:
    """Builds from the dumps alone, so of every article."""
    output = tmp_path_factory.mktemp("unlinked")
    return {language: build(output, config_of(language)) for language in DUMPS}


@pytest.fixture
def unlinked(language: str, all_unlinked: dict[str, Build]) -> Build:
    return all_unlinked[language]


@pytest.fixture
def el(all_unlinked: dict[str, Build]) -> Build:
    return all_unlinked["el"]


def test_kept_and_rejected_are_the_pages_of_the_dump(language: str, unlinked: Build) -> None:
    pages, articles, redirects = COUNTED[language]
    counts = unlinked.manifest["counts"]
    assert counts["pages_read"] == pages
    assert counts["kept"]["total"] + counts["rejected"]["total"] == pages
    assert counts["rejected"].get("screen-pages/other-namespace", 0) == pages - articles
    assert counts["rejected"]["screen-pages/redirect"] == redirects
    assert unlinked.manifest["lost"] == []
    unlinked.check_files()


def test_every_page_is_accounted_for_by_its_id(language: str, unlinked: Build) -> None:
    pages = pages_of(language)
    assert len(pages) == COUNTED[language][0]
    kept = {int(article["wikidata_id"].partition(":")[2]) for article in unlinked.articles()}
    rejected = set(unlinked.reasons())
    assert not kept & rejected
    assert kept | rejected == {page.page_id for page in pages}
    revisions = {page.page_id: str(page.revision_id) for page in pages}
    for article in unlinked.articles():
        assert article["version_id"] == revisions[int(article["wikidata_id"].partition(":")[2])]


def test_the_articles_are_those_with_an_item(language: str, linked: Build) -> None:
    """No item of the mapped pages is one of Wikimedia's own."""
    items, pages = mapped_items(language), pages_of(language)
    expected = {
        str(page.revision_id): items[page.page_id] for page in pages if page.page_id in items
    }
    assert len(expected) == {"uk": 1, "el": 11, "vi": 7, "en": 30}[language]
    found = {article["version_id"]: article["wikidata_id"] for article in linked.articles()}
    assert found == expected
    assert linked.manifest["counts"]["class_unknown"] == (28 if language == "en" else 0)
    by_join = {one.reason for one in linked.rejected() if one.stage == "join-wikidata"}
    assert by_join == {"no-entity"}


def test_articles_are_laid_out_under_the_title_of_their_page(
    language: str, unlinked: Build
) -> None:
    titles = {str(page.revision_id): page.title for page in pages_of(language)}
    articles = unlinked.articles()
    # A hundred pages of ukwiki are years: nothing but lists.
    assert len(articles) > 0.7 * (COUNTED[language][1] - COUNTED[language][2])
    for article in articles:
        title, sections = parse_article(article["text"])
        assert title == titles[article["version_id"]]
        assert all(section.paragraphs and all(section.paragraphs) for section in sections)
        assert not re.search(r"\[\[|\]\]|\{\{|\}\}|<ref|&nbsp;|'''", article["text"]), title


def test_titles_link_as_properties_do(
    language: str, some: list[str], linked: Build, tmp_path: Path
) -> None:
    """Of en, properties know items by other evidence than sitelinks, too."""
    tables = {"items_per_site": [ITEMS_PER_SITE], "entities": entity_table(ENTITIES)}
    built = build(tmp_path, config_of(language, dump=some, **tables))
    by_title = {article["version_id"]: article for article in built.articles()}
    by_property = {article["version_id"]: article for article in linked.articles()}
    assert by_title
    assert by_title.items() <= by_property.items()
    if language != "en":
        assert by_title == by_property


def test_the_same_bytes_by_two_workers_and_from_the_xz_of_the_same_pages(
    el: Build, tmp_path: Path
) -> None:
    """The .xz is cut inside the page after the last one of the multistream copy."""
    two = build(tmp_path / "2", config_of("el", vocabulary_size=0), workers=2)
    xz = [str(WIKIPEDIA / "elwiki-truncated-100k.xml.xz")]
    how = {"dump_date": "20230501", "on_corrupt": "keep-good", "vocabulary_size": 0}
    cut = build(tmp_path / "3", config_of("el", dump=xz, **how))
    one = {name: data for name, data in el.tree().items() if name.endswith(".parquet")}
    assert len(one) > 3
    for built in (two, cut):
        assert {name: data for name, data in built.tree().items() if name in one} == one
    (lost,) = cut.manifest["lost"]
    assert lost["message"].startswith("the file ends inside a page")


def test_a_dump_without_siteinfo(tmp_path: Path) -> None:
    dump = [str(WIKIPEDIA / "enwiki-table-markup.xml.bz2")]
    built = build(tmp_path, Wiki40bConfig(language="en", dump=dump))
    counts = built.manifest["counts"]
    assert counts["pages_read"] == 5
    assert counts["kept"]["total"] + counts["rejected"]["total"] == 5
    assert any("no siteinfo" in caveat for caveat in built.manifest["caveats"])
    assert not any(
        "{|" in article["text"] or "||" in article["text"] for article in built.articles()
    )


@pytest.mark.parametrize(
    ("name", "language", "message"), read_cases("pipelines/real_dumps", "bad_files")
)
def test_bad_files(
    tmp_path: Path, name: str, language: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = WIKIPEDIA / name
    flags = ["--language", language, "--dump", path, "--output", tmp_path, "--workers", 1]
    assert run_cli("wiki40b", *flags) == 1
    shown = capsys.readouterr().err
    assert f"corpusmill: error: {path}, byte " in shown
    assert message in shown
    if "ends inside" in message:
        assert re.search(r"last whole page: \d+ \S", shown)
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


def test_the_vocabulary_covers_what_it_was_not_learned_from(language: str, unlinked: Build) -> None:
    """At least 99.9 %, as in the paper, even without the characters that are spelled in bytes. It is
    lossless, and has a piece for each marker.
    """
    (model,) = unlinked.folder.glob("sentencepiece/*.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    assert [len(processor.encode(marker)) for marker in MARKERS_WITH_LINE_FEEDS] == [1, 1, 1, 1]
    for split in ("validation", "test"):
        counts = unlinked.stats[split]
        in_pieces = SubwordStats(*(counts[name] for name in SubwordStats._fields))
        assert in_pieces.coverage == 1
        assert in_pieces.own_piece_coverage >= 0.999
        assert 3.5 < in_pieces.characters_per_piece < 5
        texts = [article["text"] for article in unlinked.articles(split)]
        assert texts
        encoded = processor.encode(texts)
        assert processor.decode(encoded) == texts
        assert sum(map(len, encoded)) == counts["pieces"]


def test_the_mini_dumps_in_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their heads all name enwiki: they are refused, until that is said not to matter."""
    for language in ("de", "fr", "ro"):
        folder = tmp_path / "dumps" / f"{language}wiki" / "20200101"
        folder.mkdir(parents=True)
        dump = folder / f"{language}wiki-20200101-pages-articles.xml.bz2"
        dump.symlink_to(WIKIPEDIA / "minidumps" / language / "wiki.xml.bz2")
    given = ("--languages", "de,fr,ro", "--dumps", tmp_path / "dumps", "--workers", 1)
    flags = ("wiki40b", *given, "--output", tmp_path / "output")
    assert run_cli(*flags) == 1
    assert "a dump of enwiki, not of dewiki" in capsys.readouterr().out
    assert run_cli(*flags, "--ignore-siteinfo", "--accept", "empty-train") == 0
    assert "3 built" in capsys.readouterr().out
    titles = {
        article["text"].splitlines()[2]
        for mark in (tmp_path / "output" / "wiki40b").glob("*/*/COMPLETED")
        for article in Build(mark.parent).articles()
    }
    assert titles == {"Arthur Schopenhauer", "Berlin", "Antoine Meillet", "Autriche"}
