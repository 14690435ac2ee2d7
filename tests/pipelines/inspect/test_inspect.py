"""`corpusmill inspect`: pages of a dump, and documents of builds."""

import io
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from rich.cells import cell_len

from corpusmill.pipelines.inspect.build_facts import find_document
from corpusmill.pipelines.inspect.explain import find_page
from corpusmill.pipelines.sample_builds import SAMPLES
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.read_dumps import read_siteinfo
from corpusmill.transforms.wikitext.language import load_language
from tests.makers.edition_builds import make_edition
from tests.makers.wiki_builds import run_cli
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN

DUMP = Path(SAMPLES) / "wikipedia/ukwiki/ukwiki-20260101-pages-articles-multistream.xml.bz2"
INDEX = DUMP.with_name("ukwiki-20260101-pages-articles-multistream-index.txt.bz2")
WIKI = ("inspect", "wiki", "--language", "uk")


def golden(corpus: str) -> str:
    return str(next(path.parent for path in sorted((GOLDEN / corpus).rglob("COMPLETED"))))


@pytest.mark.parametrize(
    "title", ["Вербовий Брід", '«Сіль» & "Ключ"', "Тиша: хроніка одного двору"]
)
def test_a_page_is_found_with_an_index_and_without_one(title: str, tmp_path: Path) -> None:
    language, site = load_language("uk"), read_siteinfo(str(DUMP))
    alone = tmp_path / DUMP.name
    shutil.copy(DUMP, alone)
    found, whole = (
        find_page([str(path)], title, language, site, wiki_templates=True) for path in (DUMP, alone)
    )
    assert found.page == whole.page
    assert found.page.title == title
    called = found.of_wiki.definitions.items()
    assert called <= whole.of_wiki.definitions.items()  # only those that the page needs
    without = find_page([str(DUMP)], title, language, site, wiki_templates=False)
    assert not without.of_wiki.definitions


@pytest.mark.parametrize("has_index", [True, False])
@pytest.mark.parametrize(
    ("title", "near"), read_cases("pipelines/inspect", "a_page_that_is_not_there_is_an_error_1")
)
def test_a_page_that_is_not_there_is_an_error(
    title: str, near: str, has_index: bool, tmp_path: Path
) -> None:
    language, site = load_language("uk"), read_siteinfo(str(DUMP))
    shutil.copy(DUMP, tmp_path)
    if has_index:
        shutil.copy(INDEX, tmp_path)
    dump = [str(tmp_path / DUMP.name)]
    with pytest.raises(InputError) as error:
        find_page(dump, title, language, site, wiki_templates=True)
    message = f"no page with the title {title!r}{near}"
    assert message in error.value.message
    assert bool(near) or error.value.message == message


def test_an_index_of_another_dump_is_an_error(tmp_path: Path) -> None:
    shutil.copy(INDEX, tmp_path)
    dump = tmp_path / DUMP.name
    dump.write_bytes(b"x" + DUMP.read_bytes())
    with pytest.raises(InputError, match="no stream begins at byte"):
        find_page(
            [str(dump)], "Київ", load_language("uk"), read_siteinfo(str(DUMP)), wiki_templates=True
        )


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_page_fits_the_screen(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpusmill.transforms.files.terminal.screen_columns", lambda: columns)
    assert run_cli(*WIKI, "--dump", DUMP, "--title", "Вербовий Брід") == 0
    shown = capsys.readouterr().out
    assert max(map(cell_len, shown.splitlines())) <= columns
    assert ("\n  text\n" in shown) == (columns < 76)
    told = re.sub(r"[\s|]+", " ", shown)
    for words in ("38 м заввишки", "revision: 46037389", "Примітки · dropped", "guessed: "):
        assert words in told
    assert re.search(r"languages/\s*uk\.toml:\d+", told)


def test_the_html_has_each_part_and_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    page = tmp_path / "Сторінка.wikitext"
    page.write_text(
        "Є {{Км}} <b>&lt;i></b> [[шлях|шляху]].<ref>a</ref>\n== Примітки ==\nx", "utf-8"
    )
    assert run_cli(*WIKI, "--wikitext", page, "--html", path) == 0
    assert capsys.readouterr().out == f"written: {path}\n"
    text = path.read_text("utf-8")
    assert re.search(
        r'class="template" title="→ км\ntable: км\nlanguages/uk.toml:\d+">{{Км}}<', text
    )
    assert "<p>Є км &lt;i&gt; шляху.</p>" in text
    assert re.search(r"hold no prose <code>languages/uk.toml:\d+</code>", text)
    assert not re.search(r"<script|src=|href=\"[^d]", text)


def test_wikitext_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Тут є слово.".encode())))
    assert run_cli(*WIKI, "--wikitext", "-") == 0
    assert capsys.readouterr().out.count("Тут є слово.") == 2


def test_sentences_with_unknown_values_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.txt"
    page.write_text("Тут є слово. Має {{Вік|1950}} років.", "utf-8")
    assert run_cli(*WIKI, "--wikitext", page) == 0
    out = capsys.readouterr().out
    for line in ("unknown values: вік × 1", "dropped sentences: Має років."):
        assert line in re.sub(r"[ |│]+", " ", out)


def test_tables_of_a_user_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text('[templates]\n"Власний" = "<{1}>"\n', "utf-8")
    page = tmp_path / "page.txt"
    page.write_text("Є {{Власний|a}} тут.", "utf-8")
    assert run_cli(*WIKI, "--wikitext", page, "--templates", tmp_path / "own.toml") == 0
    assert "--templates, or CLDR" in re.sub(r"[\s|]+", " ", capsys.readouterr().out)


WRONG = [
    (["wiki", "--title", "A", "--dump", "x"], "--language is missing"),
    (["wiki", "--language", "uk"], "either --dump and --title, or --wikitext"),
    (["wiki", "--language", "uk", "--dump", "x"], "--title is missing"),
    (["wiki", "Q1", "--language", "uk"], "has no argument ID"),
    ([golden("pg19")], "the id of a document is missing"),
    ([golden("pg19"), "90001", "--html", "x"], "--html needs --dump"),
    ([golden("pg19"), "1"], "no document and no rejected record has the book_id '1'"),
    ([golden("entities"), "Q5"], "contains no documents"),
    ([GOLDEN / "wiki40b", "Q5"], "builds of wiki40b/en"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_is_wrong_is_said(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli("inspect", *words) != 0
    assert message in capsys.readouterr().err


# Rows: build, id or title, what stands first, and facts that are told.
DOCUMENTS = [
    ("wiki40b/uk", "Q900000403", "kept in", {"title": "Вербовий Брід"}),
    ("pg19", "90001", "kept in", {"source": "https://www.gutenberg.org/ebooks/90001"}),
    ("pg19", "The Little Red Boat", "kept in", {"book_id": "90001"}),
    ("pg19", "90020", "kept in", {"latest_year": "1901", "date_source": "author-death"}),
    ("simplebooks", "90001", "kept in", {"book_id": "90001"}),
    ("flores101", "dev-0001", "kept in dev", {"id": "dev-0001", "domain": "wikibooks"}),
]


@pytest.mark.parametrize(("corpus", "identity", "fate", "facts"), DOCUMENTS)
def test_a_document_says_where_it_is_from(
    corpus: str, identity: str, fate: str, facts: dict[str, str]
) -> None:
    (origin,) = find_document(golden(corpus), identity)
    assert origin.fate.startswith(fate)
    assert facts.items() <= dict(origin.facts).items()
    assert origin.text


def test_columns_without_a_value_are_not_shown() -> None:
    (origin,) = find_document(golden("pg19"), "90001")
    assert dict(origin.facts)["publication_date"] == "1904"
    assert "latest_year" not in dict(origin.facts)


def test_the_newest_edition_below_a_folder_is_taken(tmp_path: Path) -> None:
    for date, title in (("20260101", "Old"), ("20260201", "New")):
        text = f"\n_START_ARTICLE_\n{title}\n_START_PARAGRAPH_\nText."
        rows = [{"wikidata_id": "Q1", "text": text, "version_id": "1"}]
        folder = make_edition(tmp_path, {"train": [rows]}, date=date)
        (folder / "stats.json").write_text("{}", "utf-8")
    (origin,) = find_document(str(tmp_path), "Q1")
    assert dict(origin.facts)["title"] == "New"


def test_a_rejected_document_says_why() -> None:
    origins = find_document(golden("wiki40b/uk"), "Ключ (значення)")
    assert [origin.fate for origin in origins] == ["rejected"]
    told = dict(origins[0].facts)
    page = "https://uk.wikipedia.org/wiki/" + quote("Ключ_(значення)")
    assert (told["reason"], told["page"]) == ("disambiguation", page)
    assert not origins[0].text


def test_the_source_of_an_article_is_shown_with_its_dump(
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = golden("wiki40b/uk")
    assert run_cli("inspect", build, "Вербовий Брід", "--dump", DUMP) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("kept in ")
    assert "Примітки · dropped" in shown
