"""The bundled samples, and the helpers that pack them."""

import bz2
import gzip
import io
import json
import re
import shutil
import tomllib
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

from corpusmill.transforms.files.records import TOPICS
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.tools import pack_samples
from tests.tools.pack_samples import SAMPLES, Wiki
from tests.tools.real_data import DATA, needs_real_data

WIKIS = [pack_samples.load_wiki(folder) for folder in pack_samples.wiki_folders()]
SITES = [pack_samples.load_wiki(folder) for folder in pack_samples.site_folders()]
FOLDERS = {
    folder.name: folder for folder in pack_samples.wiki_folders() + pack_samples.site_folders()
}
# Namespaces of articles: 110 is that of Wikijunior.
ARTICLES = {"enwikinews": {0}, "enwikibooks": {0, 110}, "enwikivoyage": {0}}
SENTENCE_BREAK = re.compile(r"""(?<=[.!?…])["”]? +(?=["“\w\[{'])""")
REASONS = {
    "redirect",
    "disambiguation",
    "internal-entity",
    "list",
    "other-namespace",
    "no-entity",
    "deleted",
    "empty-source",
    "marker-in-source",
    "empty-after-cleaning",
}
HEADER = dump_files.dump_header("enwiki", "en", "Wikipedia", {0: "", 10: "Template"})
PAGES = [
    SamplePage(1, 0, "Fish & \"Chips\": a 'history'", "'''Fish''' <b>&</b> chips", 11),
    SamplePage(2, 0, "Chips", "#REDIRECT [[X]]", 12, redirect_to="Fish & \"Chips\": a 'history'"),
    SamplePage(3, 0, "Gone", "secret", 13, deleted=True, contributor="", comment=None),
    SamplePage(5, 10, "Template:A", "", 14, contributor="192.0.2.1", comment="<x>", minor=True),
    SamplePage(8, 0, "Ясен & 木", "дерево " * 50, 15, model="css"),
]


def wiki_id(wiki: Wiki) -> str:
    return wiki.dbname


def site_of(dbname: str) -> Wiki:
    return next(site for site in SITES if site.dbname == dbname)


def most_sentences(wikitext: str) -> int:
    """Of the lines of running text, roughly: abbreviations count as ends of sentences."""
    lines = (line for line in wikitext.split("\n") if not line.startswith(("*", "|", "!")))
    return max(len(SENTENCE_BREAK.split(line)) for line in lines)


def streams(path: Path) -> dict[int, bytes]:
    """Byte offset → what the bz2 stream that starts there holds."""
    found, data, offset = {}, path.read_bytes(), 0
    while offset < len(data):
        decompressor = bz2.BZ2Decompressor()
        found[offset] = decompressor.decompress(data[offset:])
        offset = len(data) - len(decompressor.unused_data)
    return found


def index_lines(path: Path) -> list[tuple[int, int, str]]:
    lines = (line.split(":", 2) for line in bz2.decompress(path.read_bytes()).decode().splitlines())
    return [(int(offset), int(page_id), title) for offset, page_id, title in lines]


def test_three_wikis() -> None:
    assert [wiki.dbname for wiki in WIKIS] == ["enwiki", "jawiki", "ukwiki"]


def test_three_sites_beside_the_wikipedias() -> None:
    assert [site.dbname for site in SITES] == ["enwikibooks", "enwikinews", "enwikivoyage"]
    for site in SITES:
        address = f"<base>https://en.{site.dbname[2:]}.org/wiki/Main_Page</base>"
        assert address in site.header
        assert f"<dbname>{site.dbname}</dbname>" in site.header
    for wiki in WIKIS:
        assert f"<base>https://{wiki.language}.wikipedia.org/wiki/Main_Page</base>" in wiki.header


def test_packed_files_equal_what_the_sources_give() -> None:
    assert pack_samples.stale_files() == []


def test_a_changed_source_makes_a_packed_file_stale(tmp_path: Path) -> None:
    for path in SAMPLES.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(SAMPLES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    page = next((tmp_path / "wikipedia/ukwiki/pages").glob("88 *"))
    page.write_text("Інший текст.\n", encoding="utf-8")
    name = "ukwiki-20260101-pages-articles-multistream"
    stale = {path.name for path in pack_samples.stale_files(tmp_path)}
    assert f"{name}.xml.bz2" in stale
    assert stale <= {f"{name}.xml.bz2", f"{name}-index.txt.bz2"}


def test_a_site_without_its_packed_file_is_stale(tmp_path: Path) -> None:
    for folder in ("wikidata", "news", "gutenberg", "wikimedia/enwikinews"):
        shutil.copytree(SAMPLES / folder, tmp_path / folder)
    packed = Path("wikimedia/enwikinews/enwikinews-20260101-pages-articles-multistream.xml.bz2")
    (tmp_path / packed).unlink()
    assert packed in pack_samples.stale_files(tmp_path)


def test_samples_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 1_000_000


@pytest.mark.parametrize("wiki", WIKIS, ids=wiki_id)
def test_every_kind_of_page_is_there(wiki: Wiki) -> None:
    counts = Counter(wiki.expected.values())
    assert counts.keys() == REASONS | {"kept"}
    assert 14 <= counts["kept"] <= 20
    assert counts["redirect"] == 2


@pytest.mark.parametrize("wiki", WIKIS, ids=wiki_id)
def test_expected_agrees_with_what_the_dump_says(wiki: Wiki) -> None:
    linked = {page_id for page_id, name, _ in wiki.page_props if name == "wikibase_item"}
    for page in wiki.pages:
        expected = wiki.expected[page.page_id]
        assert (expected == "redirect") == (bool(page.redirect_to) and page.namespace == 0)
        assert (expected == "other-namespace") == (page.namespace != 0)
        assert (expected == "deleted") == page.deleted
        assert (expected == "empty-source") == (page.wikitext == "")
        assert (expected == "marker-in-source") == ("_START_SECTION_" in page.wikitext)
        if expected not in {"redirect", "other-namespace"}:
            assert (expected == "no-entity") == (page.page_id not in linked), page.title


@pytest.mark.parametrize("site", SITES, ids=wiki_id)
def test_expected_of_a_site_agrees_with_what_its_dump_says(site: Wiki) -> None:
    assert site.page_props == ()
    for page in site.pages:
        expected = site.expected[page.page_id]
        is_elsewhere = page.namespace not in ARTICLES[site.dbname]
        assert (expected == "other-namespace") == is_elsewhere, page.title
        assert (expected == "redirect") == bool(page.redirect_to), page.title
        assert (expected == "deleted") == page.deleted, page.title
        assert (expected == "empty-source") == (page.wikitext == ""), page.title
        if expected == "kept":
            assert most_sentences(page.wikitext) >= 3, page.title


def test_news_of_every_kind() -> None:
    assert Counter(site_of("enwikinews").expected.values()) == {
        "kept": 27,
        "no-passage": 5,
        "unfinished": 4,
        "unpublished": 1,
        "brief": 1,
        "redirect": 1,
        "other-namespace": 4,
        "deleted": 1,
        "empty-source": 1,
    }


def test_news_is_kept_where_it_is_published_and_has_a_passage() -> None:
    news = site_of("enwikinews")
    for page in news.pages:
        expected = news.expected[page.page_id]
        visible = re.sub(r"<!--.*?-->|<nowiki>.*?</nowiki>", "", page.wikitext, flags=re.DOTALL)
        tags = set(re.findall(r"{{(develop|review|abandoned|editing)\b", visible))
        assert (expected == "unfinished") == bool(tags), page.title
        if expected in {"kept", "no-passage", "brief"}:
            assert "{{publish}}" in visible, page.title
            assert (expected != "no-passage") == (most_sentences(page.wikitext) >= 3), page.title
        if expected == "unpublished":
            assert "{{publish}}" in page.wikitext
            assert "{{publish}}" not in visible


def test_news_is_of_all_topics() -> None:
    rows = tomllib.loads((FOLDERS["enwikinews"] / "pages.toml").read_text(encoding="utf-8"))["page"]
    kept = {row["id"] for row in rows if row["expected"] == "kept"}
    assert {row["topic"] for row in rows if row["id"] in kept} == set(TOPICS)
    assert all(row["expected"] in {"kept", "no-passage"} for row in rows if "topic" in row)


@pytest.mark.parametrize("wiki", [*WIKIS, *SITES], ids=wiki_id)
def test_ids_ascend_and_names_are_for_readers(wiki: Wiki) -> None:
    page_ids = [page.page_id for page in wiki.pages]
    assert page_ids == sorted(set(page_ids))
    for path in (FOLDERS[wiki.dbname] / "pages").iterdir():
        page_id, _, name = unicodedata.normalize("NFC", path.stem).partition(" ")
        title = next(page.title for page in wiki.pages if page.page_id == int(page_id))
        assert name == re.sub(r'[\\/:*?"<>|]', "_", title)


def test_packed_pages_parse_to_the_sources() -> None:
    for wiki in [*WIKIS, *SITES]:
        stem = FOLDERS[wiki.dbname] / f"{wiki.dbname}-20260101-pages-articles-multistream"
        root = ElementTree.fromstring(bz2.decompress(Path(f"{stem}.xml.bz2").read_bytes()))
        space = root.tag.removesuffix("mediawiki")
        texts = [
            (page.findtext(f"{space}title"), page.findtext(f"{space}revision/{space}text") or "")
            for page in root.iter(f"{space}page")
        ]
        assert texts == [(p.title, "" if p.deleted else p.wikitext) for p in wiki.pages]


def test_classes_of_internal_pages_lead_to_the_internal_root() -> None:
    path = SAMPLES / "wikidata/wikidata-20260101-all.json.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    entities = [json.loads(line.rstrip(",")) for line in lines[1:-1]]
    classes = {entity["id"]: entity["claims"] for entity in entities}
    assert len(classes) == len(entities)

    def targets(item: str, name: str) -> list[str]:
        statements = (classes.get(item) or {}).get(name, [])
        return [
            statement["mainsnak"]["datavalue"]["value"]["id"]
            for statement in statements
            if statement["rank"] != "deprecated"
        ]

    def is_internal(item: str) -> bool:
        seen, queue = set(), targets(item, "P31")
        while queue:
            if (parent := queue.pop()) not in seen:
                seen.add(parent)
                queue += targets(parent, "P279")
        return "Q17442446" in seen

    for wiki in WIKIS:
        categories = {page.page_id for page in wiki.pages if page.namespace == 14}
        for page_id, name, value in wiki.page_props:
            if name == "wikibase_item":
                expected = wiki.expected[page_id] in {"disambiguation", "internal-entity", "list"}
                assert is_internal(value) == (expected or page_id in categories), value
    assert any(entity["sitelinks"] == [] for entity in entities)


def test_page_xml_in_both_export_formats() -> None:
    assert dump_files.page_xml(PAGES[1]) == (
        "  <page>\n    <title>Chips</title>\n    <ns>0</ns>\n    <id>2</id>\n"
        '    <redirect title="Fish &amp; &quot;Chips&quot;: a &#039;history&#039;" />\n'
        "    <revision>\n      <id>12</id>\n      <timestamp>2025-12-01T00:00:00Z</timestamp>\n"
        "      <contributor>\n        <username>Sample writer</username>\n"
        "        <id>9944513</id>\n      </contributor>\n"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        '      <text bytes="15" xml:space="preserve">#REDIRECT [[X]]</text>\n'
        "      <sha1>o2szh39bbaksyp4msz4gtxev92jik24</sha1>\n    </revision>\n  </page>\n"
    )
    newer = dump_files.page_xml(PAGES[3], "0.11")
    assert "      <comment>&lt;x&gt;</comment>\n      <origin>14</origin>\n" in newer
    assert '      <text bytes="0" sha1="phoiac9h4m842xq45sp7s6u21eteeq1" />\n' in newer
    assert '      <text deleted="deleted" />\n      <sha1 />\n' in dump_files.page_xml(PAGES[2])


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_write_xml_compresses_by_name_and_repeats_its_bytes(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"a.xml{suffix}", tmp_path / f"b.xml{suffix}"
    dump_files.write_xml(first, HEADER, PAGES)
    dump_files.write_xml(second, HEADER, PAGES)
    assert first.read_bytes() == second.read_bytes()
    magic = {"": b"<mediawiki", ".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ"}[suffix]
    assert first.read_bytes().startswith(magic)


def test_multistream_offsets_lead_to_their_pages(tmp_path: Path) -> None:
    xml_path, index_path = tmp_path / "x.xml.bz2", tmp_path / "x-index.txt.bz2"
    dump_files.write_multistream(xml_path, index_path, HEADER, PAGES, pages_per_stream=2)
    by_offset, lines = streams(xml_path), index_lines(index_path)
    pages = [dump_files.page_xml(page).encode() for page in PAGES]
    assert list(by_offset.values()) == [
        HEADER.encode(),
        b"".join(pages[:2]),
        b"".join(pages[2:4]),
        pages[4],
        b"</mediawiki>\n",
    ]
    assert [page_id for _, page_id, _ in lines] == [1, 2, 3, 5, 8]
    assert lines[0][2] == "Fish &amp; &quot;Chips&quot;: a 'history'"
    for (offset, page_id, title), page in zip(lines, pages, strict=True):
        assert page in by_offset[offset]
        assert f"<title>{title}</title>\n".encode() in page
        assert f"<id>{page_id}</id>\n".encode() in page


def test_multistream_equals_single_stream_when_decompressed(tmp_path: Path) -> None:
    dump_files.write_multistream(tmp_path / "a.bz2", tmp_path / "i.bz2", HEADER, PAGES, 1)
    dump_files.write_xml(tmp_path / "b.xml", HEADER, PAGES)
    assert bz2.decompress((tmp_path / "a.bz2").read_bytes()) == (tmp_path / "b.xml").read_bytes()


@pytest.mark.parametrize("suffix", ["", ".bz2"])
def test_repeat_dump_renames_copies_and_leaves_the_rest(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"source.xml{suffix}"
    dump_files.write_xml(source, HEADER, PAGES)
    xml_path, index_path = tmp_path / "x.xml.bz2", tmp_path / "x-index.txt.bz2"
    dump_files.repeat_dump(source, xml_path, index_path, copies=3, pages_per_stream=4)
    copies = [
        page._replace(
            page_id=page.page_id + 8 * copy, title=page.title + (f" ({copy + 1})" if copy else "")
        )
        for copy in range(3)
        for page in PAGES
    ]
    dump_files.write_multistream(tmp_path / "y.bz2", tmp_path / "y-index.bz2", HEADER, copies, 4)
    assert xml_path.read_bytes() == (tmp_path / "y.bz2").read_bytes()
    assert index_path.read_bytes() == (tmp_path / "y-index.bz2").read_bytes()


@pytest.mark.parametrize("chunk_bytes", [1, 7, 100, 1000, 1 << 20])
def test_pages_are_split_wherever_chunks_end(chunk_bytes: int) -> None:
    pages = [dump_files.page_xml(page).encode() for page in PAGES]
    dump = io.BytesIO(HEADER.encode() + b"".join(pages) + b"</mediawiki>\n")
    assert list(dump_files._split_pages(dump, chunk_bytes)) == [HEADER.encode(), *pages]


def test_sql_values_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "props.sql.gz"
    dump_files.write_page_props(path, [(1, "a", "it's \"\\\n),("), (2, "wikibase_item", "Q1")])
    inserted = [
        line
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
        if line.startswith("INSERT")
    ]
    assert inserted == [
        r"INSERT INTO `page_props` VALUES (1,'a','it\'s \"\\\n),(',NULL),"
        r"(2,'wikibase_item','Q1',NULL);"
    ]


def test_page_table_holds_titles_as_the_database_does(tmp_path: Path) -> None:
    path = tmp_path / "page.sql.gz"
    dump_files.write_page_table(path, [PAGES[3], PAGES[1]._replace(title="Hot: chips")])
    sql = gzip.decompress(path.read_bytes()).decode()
    assert "(5,10,'A',0,0," in sql
    assert "(2,0,'Hot:_chips',1,0," in sql


def test_items_per_site_rows_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "items.sql.gz"
    dump_files.write_items_per_site(
        path, [(42, "enwiki", "Douglas Adams"), (1, "ukwiki", "Всесвіт")]
    )
    sql = gzip.decompress(path.read_bytes()).decode()
    assert "VALUES (1,42,'enwiki','Douglas Adams'),(2,1,'ukwiki','Всесвіт');" in sql


@needs_real_data
@pytest.mark.parametrize(("wiki", "unlike"), [("ukwiki", 0), ("viwiki", 14), ("elwiki", 6)])
def test_real_pages_are_written_as_they_stand(wiki: str, unlike: int) -> None:
    """Reads real pages into SamplePage and compares the XML, but for parent and user ids.

    The sizes and hashes of a few revisions of 2003-2005 are not those of the text shown.
    """
    path = DATA / f"wikipedia/{wiki}-20230501-pages-articles-multistream.xml.bz2"
    xml = bz2.decompress(path.read_bytes()).decode()
    blocks = re.findall(r"  <page>\n.*?  </page>\n", xml, re.DOTALL)
    assert len(blocks) > 500
    ours = [without_user_id(dump_files.page_xml(read_page(block))) for block in blocks]
    real = [without_user_id(re.sub(r" *<parentid>\d+</parentid>\n", "", block)) for block in blocks]
    assert sum(mine != theirs for mine, theirs in zip(ours, real, strict=True)) == unlike


def without_user_id(block: str) -> str:
    return re.sub(r"(</username>\n +<id>)\d+", r"\g<1>", block)


def read_page(block: str) -> SamplePage:
    page = ElementTree.fromstring(block)
    revision = page.find("revision")
    assert revision is not None
    redirect = page.find("redirect")
    name = revision.findtext("contributor/username") or revision.findtext("contributor/ip") or ""
    return SamplePage(
        page_id=int(page.findtext("id") or 0),
        namespace=int(page.findtext("ns") or 0),
        title=page.findtext("title") or "",
        wikitext=revision.findtext("text") or "",
        revision_id=int(revision.findtext("id") or 0),
        timestamp=revision.findtext("timestamp") or "",
        redirect_to="" if redirect is None else redirect.attrib["title"],
        model=revision.findtext("model") or "",
        contributor=name,
        comment=read_comment(revision.find("comment")),
        minor=revision.find("minor") is not None,
    )


def read_comment(comment: ElementTree.Element | None) -> str | None:
    if comment is None:
        return ""
    return None if comment.attrib else comment.text
