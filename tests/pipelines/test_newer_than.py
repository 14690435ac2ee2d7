"""Builds of the pages that an older dump does not have."""

import random
from pathlib import Path

import pytest

from pipelines.builds.launch import launch
from pipelines.engines.errors import BuildError
from pipelines.wiki40b import Wiki40b
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import WikiFiles, build, run_cli

OLD = "ukwiki-20240101-pages-articles.xml"


def older_pages(files: WikiFiles) -> list[SamplePage]:
    """Every other page of the wiki, and two that were deleted since."""
    gone = [SamplePage(number, 0, f"Gone {number}", "text", number) for number in (2, 9_999_999)]
    return [*files.wiki.pages[::2], *gone]


def write_older(files: WikiFiles, path: Path, seed: int = 0) -> str:
    pages = older_pages(files)
    random.Random(seed).shuffle(pages)
    dump_files.write_xml(path, files.wiki.header, pages)
    return str(path)


def test_wiki40b_of_new_pages(uk: WikiFiles, demo: Path, tmp_path: Path) -> None:
    older = write_older(uk, tmp_path / OLD)
    settings = {"dump": uk.multistream, "vocabulary_size": 0}
    built = build(tmp_path / "1", uk.linked(**settings, newer_than=[older]))
    in_older = {page.page_id for page in older_pages(uk)}
    fates = {
        page.page_id: "in-older-dump"
        if page.page_id in in_older
        else uk.wiki.expected[page.page_id]
        for page in uk.wiki.pages
    }
    assert built.reasons() == {page: fate for page, fate in fates.items() if fate != "kept"}
    versions = {page.revision_id for page in uk.wiki.pages if fates[page.page_id] == "kept"}
    assert built.version_ids() == versions
    whole = build(tmp_path / "0", uk.linked(**settings)).articles()
    of_new = [row for row in whole if int(row["version_id"]) in versions]
    key = "wikidata_id"
    assert sorted(built.articles(), key=lambda row: row[key]) == sorted(
        of_new, key=lambda row: row[key]
    )
    built.check_files()

    pages, new = len(uk.wiki.pages), len(fates) - len(in_older & fates.keys())
    assert built.folder.parts[-2] == "uk-newer-than-20240101"
    assert built.manifest["settings"]["newer_than"] == "20240101"
    assert built.manifest["signature"] == (
        "wiki40b|lang:uk|dump:20260101|newer-than:20240101|v:1.3.0"
    )
    assert built.manifest["newer_than"] == {
        "dbname": "ukwiki",
        "date": "20240101",
        "pages": len(in_older),
        "largest_id": 9_999_999,
        "largest_read_id": max(fates),
        "is_dated": True,
        "pages_read": pages,
        "new_pages": new,
    }
    card = (built.folder / "README.md").read_text("utf-8")
    assert (
        f"All pages are absent from ukwiki 20240101 ({len(in_older)} pages, largest page id 9999999):"
        f" {new} of {pages} pages read are new."
    ) in card
    inputs = {file["role"]: file["name"] for file in built.manifest["inputs"]}
    assert inputs["newer-than"] == OLD

    # Neither the order of pages, in both dumps, nor the number of workers decides.
    shuffled = list(uk.wiki.pages)
    random.Random(1).shuffle(shuffled)
    dump = uk.write_xml("", shuffled, "-shuffled")
    older = write_older(uk, tmp_path / f"{OLD}.bz2", 1)
    again = uk.linked(**settings | {"dump": dump}, newer_than=[older])
    assert build(tmp_path / "2", again, workers=2).tree_but_inputs() == built.tree_but_inputs()


def test_an_older_dump_that_is_the_newer_one(uk: WikiFiles, tmp_path: Path) -> None:
    older = write_older(uk, tmp_path / "undated.xml")
    corpus = Wiki40b(uk.config(dump=uk.multistream, newer_than=[older], vocabulary_size=0))
    largest = max(page.page_id for page in uk.wiki.pages)
    with pytest.raises(BuildError, match=rf"is not older: .* has page ids up to {largest}\. Dates"):
        launch(corpus, str(tmp_path / "out"), workers=1)


def test_a_dump_in_which_nothing_is_new(
    uk: WikiFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--language", "uk", "--dump", uk.multistream, "--output", tmp_path, "--workers", "1"]
    assert run_cli("wiki40b", *given, "--newer-than", "10000000") == 1
    pages = f"none of the {len(uk.wiki.pages)} pages is newer than page id 10000000 of ukwiki"
    assert pages in capsys.readouterr().err
    assert run_cli("wiki40b", *given, "--newer-than", "12", "13") == 2
    assert run_cli("wiki40b", "--languages", "uk", "--newer-than", "1", "--output", tmp_path) == 2
