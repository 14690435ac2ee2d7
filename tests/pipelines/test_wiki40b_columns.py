"""Rows with all columns, and articles that are left out on request."""

import dataclasses
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from corpusmill.pipelines.sample_builds import sample_config
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Article
from corpusmill.transforms.wikipedia import article_accounts
from corpusmill.transforms.wikipedia.article_rows import pack_article, rows_with
from corpusmill.transforms.wikipedia.drop_older_pages import read_ids
from corpusmill.transforms.wikitext.article_markers import plain_article, render_article
from corpusmill.transforms.wikitext.sections import Section
from tests.makers.wiki_builds import ENTITIES, Build, build, entity_table, sample_wiki
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN


def released_rows(demo: Path) -> dict[str, dict[str, str]]:
    """Item → row of the build without these settings."""
    (folder,) = (demo / "wiki40b" / "uk").glob("2*")
    return {row["wikidata_id"]: row for row in Build(folder).articles()}


@pytest.fixture(scope="module")
def full(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    asked = min(released_rows(demo))
    folder = tmp_path_factory.mktemp("full")
    listed = folder / "asked.txt"
    listed.write_text(f"{asked} # the first\nukwiki:999999\n\n", "utf-8")
    config = dataclasses.replace(
        sample_config("uk", entity_table(ENTITIES)),
        columns="full",
        text="markdown",
        leave_out=[str(listed)],
        vocabulary_size=0,
    )
    return build(folder, config)


def test_rows_have_all_columns_beside_those_released(full: Build, demo: Path) -> None:
    released = released_rows(demo)
    pages = {page.revision_id: page for page in sample_wiki("uk").pages}
    rows = full.articles()
    assert rows
    for row in rows:
        assert tuple(row) == (*article_accounts.FULL, "markdown")
        title, *blocks = row["markdown"].split("\n\n")
        assert row["text"].startswith(f"\n_START_ARTICLE_\n{title.removeprefix('# ')}\n")
        assert all(blocks)
        # The paragraphs of the text, and what it leaves out.
        plain = plain_article(row["text"]).split("\n\n")
        assert {one.lstrip("#- \\") for one in plain} <= {
            line.lstrip("#- \\") for block in [*blocks, title] for line in block.split("\n")
        }
        assert {name: row[name] for name in article_accounts.RELEASED} == released[
            row["wikidata_id"]
        ]
        page = pages[int(row["version_id"])]
        assert (row["title"], row["page_id"]) == (page.title, page.page_id)
        assert row["url"].endswith(f"&oldid={row['version_id']}")
        assert row["revision_date"][:2] == "20"
        assert row["language"] == "uk"
        assert row["words"] > 0
    everything = "\n".join(row["markdown"] for row in rows)
    assert "\n- " in everything
    assert "\n## " in everything
    assert any(row["wikidata_classes"].startswith("Q") for row in rows)
    assert released.keys() - {row["wikidata_id"] for row in rows} == {min(released)}
    assert [one.reason for one in full.rejected() if one.stage == "leave-out"] == ["listed"]
    assert full.manifest["counts"]["rejected"]["leave-out/listed"] == 1


def test_files_say_what_they_are(full: Build) -> None:
    (path,) = full.folder.glob("train-*.parquet")
    metadata = pq.read_schema(path).metadata
    assert metadata[b"corpusmill.signature"].decode() == full.manifest["signature"]
    assert b"columns:full|text:markdown" in metadata[b"corpusmill.signature"]
    assert metadata[b"corpusmill.license"].startswith(b"cc-by-sa-3.0 or cc-by-sa-4.0")
    card = (full.folder / "README.md").read_text("utf-8")
    assert f"living or dead: {full.manifest['counts']['about_people']:,} of" in card


@pytest.mark.parametrize(
    "corpus", ["wiki40b/uk", "lm1b/*", "pg19/*", "simplebooks/*", "flores101/*"]
)
def test_files_of_all_corpora_say_what_they_are(corpus: str) -> None:
    path = min(GOLDEN.glob(f"{corpus}/*/test-*.parquet"))
    metadata = pq.read_schema(path).metadata
    manifest = json.loads((path.parent / "manifest.json").read_text("utf-8"))
    named = {name.decode(): text.decode() for name, text in metadata.items()}
    card = (path.parent / "README.md").read_text("utf-8")
    head = yaml.safe_load(card.split("---\n")[1])
    assert {name: text for name, text in named.items() if name.startswith("corpusmill.")} == {
        "corpusmill.signature": manifest["signature"],
        "corpusmill.version": manifest["version"],
        "corpusmill.license": head["license"],
    }


@pytest.mark.parametrize(
    ("revised", "license_id"),
    read_cases("pipelines/wiki40b_columns", "licences_go_by_the_date_of_the_revision"),
)
def test_licences_go_by_the_date_of_the_revision(revised: str, license_id: str) -> None:
    assert article_accounts.license_of(revised) == license_id


def test_addresses() -> None:
    source = article_accounts.RowSource("zh-tw", "zhwiki")
    assert source.url("C++ / 100% & 富士", "7") == (
        "https://zh.wikipedia.org/w/index.php?title=C%2B%2B_/_100%25_%26_%E5%AF%8C%E5%A3%AB&oldid=7"
    )


def test_plain_text_is_a_column_behind_those_released() -> None:
    columns = article_accounts.columns_of("released", "plain")
    sections = [Section("", ("A.",)), Section("B", ("C.", "D."))]
    packed = pack_article(Article(7, "T", "8", render_article("T", sections)))
    kind = rows_with(columns, article_accounts.RowSource("uk", "ukwiki"))
    assert kind.schema.names == list(columns) == [*article_accounts.RELEASED, "plain_text"]
    assert kind.values(packed._replace(wikidata_id="Q1"))[-1] == "T\n\nA.\n\nB\n\nC.\n\nD."


def test_lists_of_ids(tmp_path: Path) -> None:
    listed = tmp_path / "asked.txt"
    listed.write_text("\ufeffQ42\n# nobody\n ukwiki:7 by letter\n", "utf-8")
    assert read_ids([str(listed)]) == {"Q42", "ukwiki:7"}
    listed.write_text("Q42\n1088\n", "utf-8")
    with pytest.raises(InputError, match=r"line 2: '1088' is not an id like Q42"):
        read_ids([str(listed)])
