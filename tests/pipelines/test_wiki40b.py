"""The method of Wiki-40B as a whole: what is kept, what is not and why, in the same bytes always."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.pipelines.wiki40b_settings import VERSION, Wiki40bConfig
from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.text import SPLITS, fingerprint, split_of
from corpusmill.transforms.wikitext.article_markers import parse_article
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import (
    ENTITIES,
    Build,
    WikiFiles,
    build,
    repeated_wiki,
    sample_wiki,
    with_bulk,
)
from tests.tools.case_tables import read_cases

LANGUAGES = ("en", "ja", "uk")
STAGES = {
    "redirect": "screen-pages",
    "other-namespace": "screen-pages",
    "deleted": "screen-pages",
    "empty-source": "screen-pages",
    "marker-in-source": "screen-pages",
    "empty-after-cleaning": "clean-wikitext",
    "disambiguation": "join-wikidata",
    "internal-entity": "join-wikidata",
    "list": "join-wikidata",
    "no-entity": "join-wikidata",
}


def demo_build(demo: Path, language: str) -> Build:
    return Build(demo / "wiki40b" / language / f"20260101-{VERSION}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sample_page_is_kept_or_rejected_as_its_author_says(
    demo: Path, language: str
) -> None:
    wiki, built = sample_wiki(language), demo_build(demo, language)
    built.check_fates(wiki)
    assert {one.reason: one.stage for one in built.rejected()} == STAGES
    titles = {str(page.page_id): page.title for page in wiki.pages}
    assert all(one.title == titles[one.id] for one in built.rejected())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_accounts_of_the_manifest(demo: Path, language: str) -> None:
    wiki, built = sample_wiki(language), demo_build(demo, language)
    counts = built.manifest["counts"]
    kept, rejected = counts["kept"]["total"], counts["rejected"]["total"]
    assert counts["pages_read"] == kept + rejected == len(wiki.pages)
    by_reason = Counter(wiki.expected.values())
    assert kept == by_reason.pop("kept")
    assert counts["rejected"] == {
        f"{STAGES[reason]}/{reason}": count for reason, count in by_reason.items()
    } | {"total": rejected}
    assert counts["class_unknown"] == {"en": 1, "ja": 1, "uk": 0}[language]
    assert built.manifest["lost"] == built.manifest["caveats"] == []
    for split in SPLITS:
        articles = built.articles(split)
        assert counts["kept"][split] == built.stats[split]["articles"] == len(articles)
    built.check_files()


@pytest.mark.parametrize("language", LANGUAGES)
def test_articles_are_texts_in_the_layout_with_their_item(demo: Path, language: str) -> None:
    wiki, built = sample_wiki(language), demo_build(demo, language)
    items = {page: value for page, name, value in wiki.page_props if name == "wikibase_item"}
    pages = {str(page.revision_id): page for page in wiki.pages}
    for article in built.articles():
        page = pages[article["version_id"]]
        title, sections = parse_article(article["text"])
        assert title == page.title
        assert sections
        assert article["wikidata_id"] == items[page.page_id]


def test_the_split_of_an_entity_is_the_same_in_every_language(demo: Path) -> None:
    splits: dict[str, set[str]] = {}
    for language in LANGUAGES:
        for split in SPLITS:
            for article in demo_build(demo, language).articles(split):
                splits.setdefault(article["wikidata_id"], set()).add(split)
                assert split == split_of(article["wikidata_id"])
    assert all(len(found) == 1 for found in splits.values())
    assert len(splits["Q39231"]) == 1


def test_articles_stand_in_the_order_of_their_fingerprints(demo: Path) -> None:
    for split in SPLITS:
        ids = [article["wikidata_id"] for article in demo_build(demo, "en").articles(split)]
        assert ids == sorted(ids, key=fingerprint)


# Byte-identical builds.


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> WikiFiles:
    """A wiki of several work units, with all its files."""
    wiki = with_bulk(repeated_wiki("en", 2), 2_200_000)
    files = WikiFiles(tmp_path_factory.mktemp("big"), wiki)
    assert files.write_multistream().stat().st_size > work_units.MIN_UNIT_BYTES
    return files


def big_config(big: WikiFiles, dump: Any) -> Wiki40bConfig:
    return big.linked(dump=dump, shard_bytes=20_000)


@pytest.fixture(scope="module")
def reference(big: WikiFiles, tmp_path_factory: pytest.TempPathFactory) -> Build:
    built = build(tmp_path_factory.mktemp("reference"), big_config(big, big.multistream))
    assert len(list(built.folder.glob("train-*.parquet"))) > 2
    return built


@pytest.mark.slow
def test_the_reference_is_right(big: WikiFiles, reference: Build) -> None:
    reference.check_fates(big.wiki)
    reference.check_files()


@pytest.mark.slow
def test_part_files_of_any_packing_in_any_order_give_the_bytes_of_the_whole(
    big: WikiFiles, reference: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = big.wiki.pages
    cuts = [0, 30, 31, 50, 60, len(pages)]
    parts = [
        big.write_xml(suffix, pages[start:end], f"{number}")
        for number, (suffix, start, end) in enumerate(
            zip((".bz2", "", ".gz", ".xz", ".zst"), cuts, cuts[1:], strict=False), start=1
        )
    ]
    pattern = str(big.folder / "enwiki-20260101-pages-articles?.xml*")
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", 3000)
    orders: list[tuple[int, Any]] = [(1, parts[::-1]), (2, [parts[2], pattern])]
    for workers, order in orders:
        built = build(tmp_path / str(workers), big_config(big, order), workers=workers)
        assert built.tree_but_inputs() == reference.tree_but_inputs()
        dumps = [file["name"] for file in built.manifest["inputs"] if file["role"] == "dump"]
        assert sorted(dumps) == [path.name for path in parts]


@pytest.mark.slow
def test_part_files_that_overlap_give_a_page_once_whatever_the_shard_size(
    big: WikiFiles, reference: Build, tmp_path: Path
) -> None:
    """Of the page that stands in both, one has an older revision."""
    pages = list(big.wiki.pages)
    older = pages[1]._replace(revision_id=7, wikitext="An '''old''' text.")
    parts = [
        big.write_xml("", [older, *pages[60:]], "-b"),
        big.write_xml("", pages[:61], "-a"),
    ]
    built = build(tmp_path, big.linked(dump=parts))
    for split in SPLITS:
        assert len(list(built.folder.glob(f"{split}-*.parquet"))) == 1
        assert built.articles(split) == reference.articles(split)
    detail = "the dump files overlap; the newest revision stays"
    repeated = [one for one in built.rejected() if one.reason == "repeated-page"]
    assert {*built.rejected()} - {*repeated} == {*reference.rejected()}
    expected = [(older, "join-wikidata")]
    if big.wiki.expected[pages[60].page_id] == "kept":
        expected.append((pages[60], "join-wikidata"))
    assert sorted(repeated) == sorted(
        Rejected(str(page.page_id), page.title, stage, "repeated-page", detail)
        for page, stage in expected
    )
    counts = built.manifest["counts"]
    assert counts["pages_read"] == len(pages) + 2
    assert counts["pages_read"] == counts["kept"]["total"] + counts["rejected"]["total"]


# What links pages to items, and what is known of items.


def expected_reasons(files: WikiFiles, **changed: str) -> dict[int, str]:
    expected = files.wiki.expected | {int(page.lstrip("p")): why for page, why in changed.items()}
    return {page: why for page, why in expected.items() if why != "kept"}


def test_titles_link_as_properties_do(uk: WikiFiles, demo: Path, tmp_path: Path) -> None:
    config = uk.config(
        dump=uk.multistream, items_per_site=uk.write_items_per_site(), entities=ENTITIES
    )
    built = build(tmp_path, config)
    assert built.tree_but_inputs() == demo_build(demo, "uk").tree_but_inputs()


@pytest.mark.slow
def test_the_dates_of_the_tables_that_link_pages_are_told(
    uk: WikiFiles, demo: Path, tmp_path: Path
) -> None:
    """Page 42 has been renamed, and 57 is newer than page_props, and so is 42."""
    moved = next(page for page in uk.wiki.pages if page.page_id == 42)
    title = f"{moved.title} (місто)"
    comment = f"moved page [[{moved.title}]] to [[{title}]]"
    left = SamplePage(9999, 0, moved.title, f"#REDIRECT [[{title}]]", 99990, redirect_to=title)
    pages = [moved._replace(title=title) if page is moved else page for page in uk.wiki.pages]
    pages.append(left._replace(comment=comment, timestamp="2026-01-15T00:00:00Z"))
    dump = uk.folder / "ukwiki-20260201-pages-articles.xml"
    dump_files.write_xml(dump, uk.wiki.header, pages)
    rows = [row for row in uk.wiki.page_props if row[0] not in (42, 57)]
    page_props = uk.folder / "ukwiki-20251201-page_props.sql.gz"
    dump_files.write_page_props(page_props, rows, "ukwiki")
    built = build(tmp_path, uk.config(dump=dump, page_props=page_props, entities=ENTITIES))
    assert built.reasons() == expected_reasons(uk) | {9999: "redirect"}
    same = {article["version_id"]: article for article in demo_build(demo, "uk").articles()}
    for article in built.articles():
        assert article["wikidata_id"] == same[article["version_id"]]["wikidata_id"]
    assert built.manifest["settings"]["linked_from"] == [
        {"table": "page_props", "by": "page id", "date": "20251201"},
        {"table": "entities", "by": "title", "date": "20260101"},
    ]
    linked = built.manifest["counts"]["linked"]
    assert (linked["title"], linked["redirect"], linked["not_linked"]) == (1, 1, 1)
    by_page, by_title = built.manifest["caveats"]
    assert "page_props (of 20251201, the dump of 20260201)" in by_page
    assert "unless the title redirects to it since 20260101" in by_title
    card = (built.folder / "README.md").read_text("utf-8")
    assert "page_props of 20251201 (by page id), entities of 20260101 (by title)" in card
    assert "| redirect | 1 |" in card


def test_without_an_entity_dump_classes_are_unknown_and_the_build_says_so(
    uk: WikiFiles, tmp_path: Path
) -> None:
    built = build(tmp_path, uk.config(dump=uk.multistream, page_props=uk.write_page_props()))
    # disambiguation is known by the page property alone
    assert built.reasons() == expected_reasons(uk, p301="kept", p310="kept", p311="kept")
    counts = built.manifest["counts"]
    assert counts["class_unknown"] == counts["kept"]["total"] == len(built.articles())
    (caveat,) = built.manifest["caveats"]
    assert caveat.startswith("No entity table was given")
    assert caveat in (built.folder / "README.md").read_text("utf-8")
    assert built.manifest["settings"]["identity"] == "wikidata item"


def test_without_tables_the_identity_is_the_page_and_the_build_says_so(
    uk: WikiFiles, tmp_path: Path
) -> None:
    built = build(tmp_path, uk.config(dump=uk.multistream))
    # disambiguation is known by template; what an entity would tell is not known
    changed = {"p310": "kept", "p311": "kept", "p330": "kept"}
    assert built.reasons() == expected_reasons(uk, **changed)
    stages = {one.id: (one.stage, one.detail) for one in built.rejected()}
    assert stages["300"][0] == stages["301"][0] == "screen-pages"
    assert stages["300"][1].startswith("template ")
    pages = {str(page.revision_id): page.page_id for page in uk.wiki.pages}
    for split in SPLITS:
        for article in built.articles(split):
            identity = f"ukwiki:{pages[article['version_id']]}"
            assert article["wikidata_id"] == identity
            assert split == split_of(identity)
    (caveat,) = built.manifest["caveats"]
    assert "pages are not linked to Wikidata" in caveat
    assert '"ukwiki:<page id>"' in caveat
    assert built.manifest["settings"]["identity"] == "page id"
    assert built.manifest["counts"]["class_unknown"] == 0


def test_a_class_counts_by_way_of_its_superclasses(demo: Path) -> None:
    details = {
        one.id: (one.reason, one.detail)
        for one in demo_build(demo, "uk").rejected()
        if one.id in ("310", "311")
    }
    assert details == {
        "310": ("list", "Q900000503 is a Q13406463"),
        "311": ("internal-entity", "Q900000504 is a Q900000802"),
    }


@pytest.mark.slow
def test_of_near_duplicates_one_stays(tmp_path: Path) -> None:
    """Every page of the wiki is there twice; titles of the copies are longer."""
    files = WikiFiles(tmp_path, repeated_wiki("en", 2))
    config = files.config(dump=files.write_xml(""), near_duplicates=0.3, vocabulary_size=0)
    built = build(tmp_path / "out", config)
    dropped = {int(one.id) for one in built.rejected() if one.stage == "drop-duplicates"}
    kept = {page.page_id for page in files.wiki.pages if page.revision_id in built.version_ids()}
    assert {number + 1000 for number in dropped} == kept
    counts = built.manifest["counts"]
    assert counts["rejected"]["drop-duplicates/near-duplicate"] == len(dropped) == 21
    assert counts["pages_read"] == counts["kept"]["total"] + counts["rejected"]["total"]
    assert counts["pages_read"] == len(files.wiki.pages)
    assert built.manifest["settings"]["near_duplicates"] == 0.3
    assert built.manifest["settings"]["minhash"] == {"permutations": 128, "ngram_words": 8}
    built.check_files()


# Settings and names.


@pytest.mark.parametrize(
    ("name", "setting", "date"),
    read_cases("pipelines/wiki40b", "the_place_of_a_build_tells_language_date_and_version"),
)
def test_the_place_of_a_build_tells_language_date_and_version(
    uk: WikiFiles, name: str, setting: str, date: str
) -> None:
    path = uk.folder / name
    uk.write_xml("").rename(path)
    corpus = Wiki40b(uk.config(dump=path, dump_date=setting))
    assert corpus.path == ("wiki40b", "uk", f"{date}-{VERSION}")
    assert corpus.provenance().signature == f"wiki40b|lang:uk|dump:{date}|v:{VERSION}"


def test_a_dump_without_siteinfo_is_known_by_its_language(uk: WikiFiles) -> None:
    path = uk.folder / "dump.xml"
    path.write_text('<mediawiki xml:lang="uk">\n</mediawiki>\n', "utf-8")
    corpus = Wiki40b(uk.config(dump=path))
    assert any("no siteinfo" in caveat for caveat in corpus.caveats())
