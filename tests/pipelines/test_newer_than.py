"""Builds of the pages that an older dump does not have."""

import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.flores101 import Flores101
from corpusmill.pipelines.flores101_settings import Flores101Config
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.translation.source_table import read_source
from tests.makers import dump_files
from tests.makers.documents import make_documents, write_documents
from tests.makers.dump_files import SamplePage
from tests.makers.wiki_builds import Build, WikiFiles, build, run_cli
from tests.tools.pack_samples import SAMPLES, load_wiki

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


@pytest.mark.slow
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
        f"wiki40b|lang:uk|dump:20260101|newer-than:20240101|v:{VERSION}"
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
    with pytest.raises(
        BuildError, match=rf"is not older: .* has page ids only up to {largest}\. To"
    ):
        launch(corpus, str(tmp_path / "out"), workers=1)


def test_a_dump_in_which_nothing_is_new(
    uk: WikiFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--language", "uk", "--dump", uk.multistream, "--output", tmp_path, "--workers", "1"]
    assert run_cli("wiki40b", *given, "--newer-than", "10000000") == 1
    pages = f"none of the {len(uk.wiki.pages)} pages is newer than page id 10000000 of ukwiki"
    assert pages in capsys.readouterr().err
    assert run_cli("wiki40b", *given, "--newer-than", "12", "13") == 2


@pytest.mark.slow
def test_many_languages_and_a_folder_of_older_dumps(
    uk: WikiFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dumps = tmp_path / "dumps"
    new, old = (dumps / "ukwiki" / date for date in ("20260101", "20240101"))
    for folder in (new, old):
        folder.mkdir(parents=True)
    shutil.copy(uk.multistream, new)
    write_older(uk, old / OLD)
    given = ["--languages", "uk", "--dumps", dumps, "--output", tmp_path / "many", "--workers", "1"]
    settings = ["--vocabulary-size", "0"]
    assert run_cli("wiki40b", *given, *settings, "--newer-than", dumps) == 0
    built = Build(tmp_path / "many" / "wiki40b" / "uk-newer-than-20240101" / f"20260101-{VERSION}")
    one = uk.config(dump=uk.multistream, newer_than=[str(old / OLD)], vocabulary_size=0)
    assert built.tree_but_inputs() == build(tmp_path / "one", one).tree_but_inputs()
    capsys.readouterr()
    assert run_cli("wiki40b", *given, "--newer-than", "1") == 2
    assert "--newer-than must be folders of older dumps" in capsys.readouterr().err
    assert run_cli("wiki40b", *given, "--newer-than", old / OLD) == 1
    assert f"{OLD}: a file, not a folder" in capsys.readouterr().err


VOYAGE = load_wiki(SAMPLES / "wikimedia" / "enwikivoyage")


def write_sources(folder: Path, seed: int, parts: int) -> dict[str, Any]:
    """A dump, an older one without every third page, and documents, in some order and some files."""
    folder.mkdir()
    chance = random.Random(seed)
    pages, documents = list(VOYAGE.pages), make_documents()
    older = [page for number, page in enumerate(pages) if number % 3]
    for several in (pages, older, documents):
        chance.shuffle(several)
    dump = folder / "enwikivoyage-20260101-pages-articles.xml"
    dump_files.write_xml(dump, VOYAGE.header, pages)
    old = folder / "enwikivoyage-20250101-pages-articles.xml"
    dump_files.write_xml(old, VOYAGE.header, older)
    for part in range(parts):
        write_documents(folder / f"{part}.jsonl", documents[part::parts])
    return {
        "wikivoyage": [str(dump)],
        "documents": [f"news={folder / '*.jsonl'}"],
        "newer_than": [f"wikivoyage={old}", "news=2026-02-10"],
    }


@pytest.mark.slow
def test_source_sentences_that_are_new(tmp_path: Path) -> None:
    trees = []
    for number, parts in ((1, 1), (2, 3)):
        given = write_sources(tmp_path / str(number), number, parts) | {"sentences": 60}
        corpus = Flores101(Flores101Config(**given))
        output = tmp_path / f"out{number}"
        launch(corpus, str(output), workers=number)
        built = Build(output.joinpath(*corpus.path))
        trees.append(built.tree_but_inputs())
    assert trees[0] == trees[1]
    built.check_files()

    sentences = read_source((built.folder / "source.tsv").read_text("utf-8"))
    older = {f"wikivoyage:{page.page_id}" for n, page in enumerate(VOYAGE.pages) if n % 3}
    dates = {f"news:{one['id']}": one["date"] for one in make_documents()}
    assert {one.domain for one in sentences} == {"wikivoyage", "news"}
    assert not older & {one.article for one in sentences}
    assert all(dates[one.article] > "2026-02-10" for one in sentences if one.domain == "news")
    licences = {f"news:{one['id']}": one["licence"] for one in make_documents()}
    assert all(one.licence == licences.get(one.article, "CC BY-SA 4.0") for one in sentences)
    rows = pq.read_table(built.folder / "dev-00000-of-00001.parquet").to_pylist()
    assert rows == [one._asdict() for one in sentences if one.split == "dev"]

    account = built.stats["domains"]["wikivoyage"]
    new = [page.page_id for number, page in enumerate(VOYAGE.pages) if not number % 3]
    kept = sum(VOYAGE.expected[page_id] == "kept" for page_id in new)
    assert (account["pages"], account["articles"]) == (len(VOYAGE.pages), kept)
    [shortage] = built.stats["shortages"]
    assert shortage.startswith(f"wikivoyage: {kept} of 9 articles, ")
    reasons = {f"{one.stage}/{one.reason}" for one in built.rejected()}
    assert "wikivoyage/drop-older-pages/in-older-dump" in reasons
    assert "news/drop-older-documents/older-document" in reasons
    findings = built.manifest["newer_than"]
    assert (findings["wikivoyage"]["pages"], findings["wikivoyage"]["new_pages"]) == (
        len(older),
        len(VOYAGE.pages) - len(older),
    )
    assert findings["news"]["newer_than"] == "2026-02-10"
    assert built.folder.parts[-2] == (
        "en-domains-wikivoyage-news-sentences-60-articles-17"
        "-newer-than-wikivoyage-20250101-news-2026-02-10"
    )
    card = (built.folder / "README.md").read_text("utf-8")
    assert "- wikivoyage: All pages are absent from enwikivoyage 20250101 (" in card
    later = sum(date > "2026-02-10" for date in dates.values())
    assert f"- news: All documents are later than 2026-02-10: {later} of 30 documents" in card
    assert "| CC BY-SA 4.0 | " in card
    assert card.startswith(
        "---\nlicense:\n- cc-by-4.0\n- cc-by-sa-4.0\n- cc0-1.0\n- other\nlanguage: en\n"
    )
    assert {file["role"] for file in built.manifest["inputs"]} == {
        "wikivoyage",
        "news",
        "newer-than",
    }


def test_documents_alone_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_documents(tmp_path / "news.jsonl.xz", make_documents())
    command = ["flores101", "source", "--documents", f"news={path}", "--output", tmp_path]
    assert run_cli(*command, "--sentences", "40", "--workers", "1") == 0
    assert "news" in capsys.readouterr().out
    (folder,) = tmp_path.glob("flores101/*/undated-*")
    card = (folder / "README.md").read_text("utf-8")
    assert "Sentences of documents (news), drawn with corpusmill" in card
    assert "- news: Documents of 2026-01-01 to 2026-06-28." in card
    bad = write_documents(tmp_path / "bad.jsonl", [make_documents()[0] | {"date": "soon"}])
    command[3] = f"news={bad}"
    assert run_cli(*command, "--workers", "1") == 1
    assert "bad.jsonl: line 1: the date is 'soon'" in capsys.readouterr().err
